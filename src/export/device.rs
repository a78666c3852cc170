//! Figures of devices: `device.figures` of `compare` and a table of its report, and the answer of `devices`.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::answer::{Answer, Page};
use super::blocks::{Block, Table, paragraph};
use super::record::{Record, Rows};
use highwater_model::workload::{Basis, Device, DeviceFigure};
use highwater_options::figure_option;

/// Every figure of a device with the basis of its value.
fn figures(device: &Device) -> Rows<'_> {
    Rows::new(&DeviceFigure::ALL, move |figure| {
        let (unit, value, basis) = (figure.unit(), device.figure(*figure), device.basis(*figure));
        let why = match basis {
            Basis::Source(text) | Basis::Estimate(text) => Some(text.to_string()),
            Basis::User => None,
        };
        Record::new()
            .key("figure", figure.name())
            .shown("figure", figure.label())
            .key("value", value)
            .shown(">value", unit.text(value))
            .shown(">exact", unit.exact(value))
            .key("unit", unit.name())
            .key("basis", basis.name())
            .shown("basis", basis.sentence())
            .key("why", why)
            .key("option", figure_option(*figure))
    })
}

pub(super) fn figures_json(device: &Device) -> Json {
    json!(figures(device))
}

/// The profiles of devices.
#[derive(Clone, Copy, Debug)]
pub struct DevicesAnswer<'a>(pub &'a [Device]);

impl Answer for DevicesAnswer<'_> {
    fn page(&self) -> Page {
        Page(self.0.iter().flat_map(device_blocks).collect())
    }

    fn json(&self) -> impl Serialize {
        let devices = Rows::new(self.0, |device| {
            let cores = device.ai_cores.as_ref();
            Record::new()
                .key("name", &device.name)
                .key("summary", &device.summary)
                .key("figures", figures(device))
                .key(
                    "ai_cores",
                    cores.map(|cores| json!({"value": cores.count, "source": &*cores.source})),
                )
        });
        Record::new().key("devices", devices)
    }
}

fn device_blocks(device: &Device) -> Vec<Block> {
    let cores = device.ai_cores.as_ref();
    let cores = cores.map(|cores| paragraph(format!("AI cores: {} ({})", cores.count, cores.source)));
    let mut blocks = vec![paragraph(format!("{}: {}", device.name, device.summary))];
    blocks.extend(figures(device).blocks(usize::MAX));
    blocks.extend(cores);
    blocks
}

/// The figures of a device, below its name.
pub(super) fn device_table(device: &Device) -> Table {
    let caption = format!("Device {}: {}", device.name, device.summary);
    figures(device).captioned(caption, "").table(usize::MAX)
}
