//! What measured runs teach, as JSON.

use serde::Serialize;

use super::inspect::WireDiagnostic;
use highwater_analysis::Calibration;
use highwater_model::diagnostics::Diagnostics;

/// What runs teach.
#[derive(Debug, Serialize)]
pub struct WireCalibrations<'a> {
    workload: &'a str,
    learned: Vec<WireCalibration<'a>>,
    diagnostics: Vec<WireDiagnostic>,
}

#[derive(Debug, Serialize)]
struct WireCalibration<'a> {
    recording: &'a str,
    graph: Option<&'a str>,
    settings: Vec<WireSetting<'a>>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct WireSetting<'a> {
    key: &'a str,
    now: &'a str,
    learned: &'a str,
    from: &'a str,
}

impl<'a> WireCalibrations<'a> {
    /// Of a workload.
    pub fn new(workload: &'a str, calibrations: &'a [Calibration], diagnostics: &'a Diagnostics) -> Self {
        let learned = calibrations.iter().map(|one| WireCalibration {
            recording: &one.recording,
            graph: one.graph.as_deref(),
            settings: one
                .settings
                .iter()
                .map(|setting| WireSetting {
                    key: setting.key,
                    now: &setting.now,
                    learned: &setting.learned,
                    from: &setting.from,
                })
                .collect(),
            notes: &one.notes,
        });
        Self {
            workload,
            learned: learned.collect(),
            diagnostics: WireDiagnostic::all(diagnostics),
        }
    }
}
