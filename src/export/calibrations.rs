//! The answer of `learn` as JSON.

use serde_json::{Value as Json, json};

use super::json_parts::{diagnostics_json, list};
use highwater_analysis::Calibration;
use highwater_model::diagnostics::Diagnostics;

/// The settings that recordings of a workload teach.
pub fn calibrations_json(workload: &str, calibrations: &[Calibration], diagnostics: &Diagnostics) -> Json {
    let learned = list(calibrations, |one| {
        json!({
            "recording": one.recording,
            "graph": one.graph,
            "settings": list(&one.settings, |setting| {
                json!({
                    "key": setting.key,
                    "now": setting.now,
                    "learned": setting.learned,
                    "from": setting.from,
                    "poor_fit": setting.poor_fit,
                })
            }),
            "notes": one.notes,
        })
    });
    json!({"workload": workload, "learned": learned, "diagnostics": diagnostics_json(diagnostics)})
}
