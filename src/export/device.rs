//! Figures of a device for programs: `device.figures` of `compare`, and the answer of `devices`.

use serde::Serialize;

use highwater_model::workload::{Basis, Device, DeviceFigure};
use highwater_options::figure_option;

/// One figure, and what it rests on.
#[derive(Serialize, Debug)]
pub struct WireFigure {
    figure: &'static str,
    value: u64,
    unit: &'static str,
    basis: &'static str,
    why: Option<String>,
    option: &'static str,
}

impl WireFigure {
    /// Every figure of a device.
    pub fn all(device: &Device) -> Vec<Self> {
        let one = |figure: DeviceFigure| {
            let basis = device.basis(figure);
            Self {
                figure: figure.name(),
                value: device.figure(figure),
                unit: figure.unit().name(),
                basis: basis.name(),
                why: match basis {
                    Basis::Source(text) | Basis::Estimate(text) => Some(text.to_string()),
                    Basis::User => None,
                },
                option: figure_option(figure),
            }
        };
        DeviceFigure::ALL.into_iter().map(one).collect()
    }
}

/// Devices with all their figures.
#[derive(Serialize, Debug)]
pub struct WireDevices {
    devices: Vec<WireProfile>,
}

#[derive(Serialize, Debug)]
struct WireProfile {
    name: String,
    summary: String,
    figures: Vec<WireFigure>,
}

impl WireDevices {
    /// The wire form of devices.
    pub fn new(devices: &[Device]) -> Self {
        let one = |device: &Device| WireProfile {
            name: device.name.clone(),
            summary: device.summary.clone(),
            figures: WireFigure::all(device),
        };
        Self {
            devices: devices.iter().map(one).collect(),
        }
    }
}
