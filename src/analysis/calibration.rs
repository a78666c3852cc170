//! Settings learned from a measured run: rates of ops, scratch memory by op type, rounding of tensors.
//!
//! For each recording: settings with the current and the learned value and its basis, and sentences about what could
//! not be learned. Nothing is applied. Times and scratch memory of single ops are stored in the graph
//! ([`highwater_model::workload::learn_ops`]); the settings here carry over to other graphs, sizes and batches.

mod rates;
mod rounding;
mod workspaces;

use std::sync::Arc;

use super::device_sessions::first_bindings;
use super::error::AnalysisError;
use super::request::Request;
use super::running::running_request;
use highwater_model::graph::{Graph, MeasuredOp, Sizes};
use highwater_model::progress::Progress;
use highwater_model::workload::{Recording, learn_ops};
use highwater_options::{DumpedSettings, Lowered, Options};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedSetting {
    pub key: &'static str,
    /// The current value as text.
    pub now: String,
    /// As the option's text.
    pub learned: String,
    /// Its basis, and how well it fits: a sentence.
    pub from: String,
    /// Why it fits the measurement poorly: a sentence. Such a setting is applied only where it is asked for by name.
    pub poor_fit: Option<String>,
}

/// The settings learned from one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    pub recording: String,
    /// The graph whose ops were measured.
    pub graph: Option<String>,
    /// In the order of the option table.
    pub settings: Vec<LearnedSetting>,
    /// Why something could not be learned, or need not be: sentences.
    pub notes: Vec<String>,
}

impl Calibration {
    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The learned settings, as one step of editing.
    pub fn stamped(&self, is_wanted: impl Fn(&LearnedSetting) -> bool) -> DumpedSettings {
        let mut options = Options::new();
        for setting in self.settings.iter().filter(|setting| is_wanted(setting)) {
            options
                .set_text(setting.key, &setting.learned)
                .expect("a learned value is valid for its option");
        }
        DumpedSettings {
            options,
            ..DumpedSettings::default()
        }
    }
}

struct Measured<'a> {
    graph: &'a Graph,
    sizes: Sizes,
    ops: Vec<MeasuredOp>,
}

/// Learns from each recording of the workload; empty ones are left out. O(ops + blocks), a sort.
///
/// # Errors
/// [`AnalysisError`]: a dimension has no value, or the work was cancelled.
pub fn calibrations(request: &Request, progress: &Progress<'_>) -> Result<Vec<Calibration>, AnalysisError> {
    let lowered = request.lowered();
    if request.workload.graphs().is_empty() {
        return learned_from_recordings(request, &lowered, progress);
    }
    let (running, _) = running_request(request, &lowered, progress)?;
    learned_from_recordings(&running, &lowered, progress)
}

/// As [`calibrations`], for a request with the graphs that run.
pub(super) fn learned_from_recordings(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Vec<Calibration>, AnalysisError> {
    let bindings = if request.workload.graphs().is_empty() || request.workload.recordings().is_empty() {
        Vec::new()
    } else {
        first_bindings(request)?
    };
    let mut all = Vec::new();
    for recording in request.workload.recordings() {
        progress.check()?;
        if recording.is_host || recording.is_summary() || !recording.has_content() && recording.ops.is_empty() {
            continue;
        }
        let graphs = request.workload.graphs().iter().zip(&bindings);
        let found = graphs.map(|(entry, bindings)| (entry, bindings, learn_ops(&entry.graph, recording).ops));
        // The first of those with most measured ops.
        let best = found.fold(None, |best: Option<(_, _, Vec<MeasuredOp>)>, next| match best {
            Some(best) if best.2.len() >= next.2.len() => Some(best),
            _ => Some(next),
        });
        progress.check()?;
        let best = best.filter(|(_, _, ops)| !ops.is_empty());
        let graph = best.as_ref().map(|(entry, _, _)| entry.name.clone());
        let measured = best.map(|(entry, bindings, ops)| Measured {
            graph: &entry.graph,
            sizes: entry.graph.sizes(bindings),
            ops,
        });
        all.push(calibration(request, lowered, recording, graph, measured.as_ref()));
    }
    Ok(all)
}

fn calibration(
    request: &Request,
    lowered: &Lowered,
    recording: &Arc<Recording>,
    graph: Option<String>,
    measured: Option<&Measured<'_>>,
) -> Calibration {
    let mut calibration = Calibration {
        recording: recording.name.clone(),
        graph,
        ..Calibration::default()
    };
    match measured {
        Some(measured) => {
            rates::learn(&mut calibration, measured, lowered.rates);
            workspaces::learn(&mut calibration, measured, &request.options);
        }
        None if recording.ops.is_empty() => calibration.notes.push(
            "The recording has no measured ops, so rates and scratch memory cannot be learned; use a TensorFlow \
             RunMetadata or a kernel table."
                .to_owned(),
        ),
        None if request.workload.graphs().is_empty() => calibration.notes.push(format!(
            "{} ops were measured, but no graph is open; open the graph together with the recording.",
            recording.ops.len()
        )),
        None => calibration.notes.push(format!(
            "No name of the {} measured ops matches an op of the open graphs, so rates and scratch memory cannot be \
             learned.",
            recording.ops.len()
        )),
    }
    rounding::learn(&mut calibration, recording, lowered.tensor_rounding);
    calibration
}
