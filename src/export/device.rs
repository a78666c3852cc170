//! Figures of a device as JSON: `device.figures` of `compare`, and the answer of `devices`.

use serde_json::{Value as Json, json};

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
