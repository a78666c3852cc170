//! Figures of a device, as JSON (`device.figures` of `compare`, and the answer of `devices`) and as a table.

use serde_json::{Value as Json, json};

use super::blocks::{Table, text};
use super::json_parts::list;
use highwater_model::workload::{Basis, Device, DeviceFigure};
use highwater_options::figure_option;

/// Every figure of a device with the basis of its value.
pub(super) fn figures_json(device: &Device) -> Json {
    list(DeviceFigure::ALL, |figure| {
        let basis = device.basis(figure);
        json!({
            "figure": figure.name(),
            "value": device.figure(figure),
            "unit": figure.unit().name(),
            "basis": basis.name(),
            "why": match basis {
                Basis::Source(text) | Basis::Estimate(text) => Some(text.to_string()),
                Basis::User => None,
            },
            "option": figure_option(figure),
        })
    })
}

pub fn devices_json(devices: &[Device]) -> Json {
    let devices = list(devices, |device| {
        let cores = device.ai_cores.as_ref();
        json!({
            "name": device.name,
            "summary": device.summary,
            "figures": figures_json(device),
            "ai_cores": cores.map(|cores| json!({"value": cores.count, "source": &*cores.source})),
        })
    });
    json!({ "devices": devices })
}

/// The answer of `devices` for a terminal.
pub fn device_text(device: &Device) -> String {
    let cores = match &device.ai_cores {
        Some(cores) => format!("AI cores: {} ({})\n", cores.count, cores.source),
        None => String::new(),
    };
    let table = device_table(device).text();
    format!("{}: {}\n{table}{cores}", device.name, device.summary)
}

pub(super) fn device_table(device: &Device) -> Table {
    let caption = format!("Device {}: {}", device.name, device.summary);
    let mut table = Table::captioned(caption, &["figure", ">value", ">exact", "basis"]);
    for figure in DeviceFigure::ALL {
        let (unit, value) = (figure.unit(), device.figure(figure));
        let cells = [
            figure.label().to_owned(),
            unit.text(value),
            unit.exact(value),
            device.basis(figure).sentence(),
        ];
        table.cells(cells.iter().map(text).collect());
    }
    table
}
