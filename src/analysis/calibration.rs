//! What a measured run teaches the simulation: rates of ops, scratch memory by op type, and how tensors are rounded up.
//!
//! In: a request whose workload holds recordings. Out: for each recording that teaches anything, settings with what holds
//! now, what was learned, and from how much of the run; and in sentences what could not be learned and why. Nothing is
//! applied here: settings are the user's. Times and scratch memory of single ops are known to the graph already
//! ([`highwater_model::workload::learned`]); what stands here is what carries over to other graphs, sizes and batches.

mod rates;
mod rounding;
mod workspaces;

use std::sync::Arc;

use super::session::first_bindings;
use super::{AnalysisError, Request, running_request};
use highwater_model::graph::{Graph, MeasuredOp, Sizes};
use highwater_model::progress::Progress;
use highwater_model::workload::{Recording, learned};
use highwater_options::{DumpedSettings, Lowered, Options, lower};

/// A setting that a run teaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedSetting {
    /// The option.
    pub key: &'static str,
    /// What holds now, as text.
    pub now: String,
    /// What was learned, as the option's text.
    pub learned: String,
    /// From what, and how well it fits: a sentence.
    pub from: String,
}

/// What one run teaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// The run, as its file calls it.
    pub recording: String,
    /// The graph whose ops it measured.
    pub graph: Option<String>,
    /// Settings, in the order of the option table.
    pub settings: Vec<LearnedSetting>,
    /// What could not be learned and why, and what is known already: sentences.
    pub notes: Vec<String>,
}

impl Calibration {
    /// The settings that differ from those of the request, as one step of editing.
    pub fn stamped(&self, is_wanted: impl Fn(&LearnedSetting) -> bool) -> DumpedSettings {
        let mut options = Options::new();
        for setting in self.settings.iter().filter(|setting| is_wanted(setting)) {
            options
                .set_text(setting.key, &setting.learned)
                .expect("what is learned is written as its option reads it");
        }
        DumpedSettings {
            options,
            ..DumpedSettings::default()
        }
    }
}

/// A graph with what was measured of its ops.
struct Measured<'a> {
    graph: &'a Graph,
    sizes: Sizes,
    ops: Vec<MeasuredOp>,
}

/// What each recording of the workload teaches; those that hold nothing at all are left out. O(ops + blocks), a sort.
///
/// # Errors
/// [`AnalysisError`]: a dimension has no value, or the work was cancelled.
pub fn calibrations(request: &Request, progress: &Progress<'_>) -> Result<Vec<Calibration>, AnalysisError> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    if request.workload.graphs().is_empty() {
        return taught(request, &lowered, progress);
    }
    let (running, _) = running_request(request, &lowered, progress)?;
    taught(&running, &lowered, progress)
}

/// The same of a request with the graphs that run.
pub(super) fn taught(
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
        if !recording.has_content() && recording.ops.is_empty() {
            continue;
        }
        let graphs = request.workload.graphs().iter().zip(&bindings);
        let found = graphs.map(|(entry, bindings)| (entry, bindings, learned(&entry.graph, recording).ops));
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
            "The recording measures no ops: rates and scratch memory cannot be learned from it. A RunMetadata of \
             TensorFlow or a table of kernels measures them."
                .to_owned(),
        ),
        None if request.workload.graphs().is_empty() => calibration.notes.push(format!(
            "{} ops were measured, and no graph is open that could say what they compute: open it beside the recording.",
            recording.ops.len()
        )),
        None => calibration.notes.push(format!(
            "None of the {} measured ops is named as an op of a graph that is open, so rates and scratch memory cannot be \
             learned.",
            recording.ops.len()
        )),
    }
    rounding::learn(&mut calibration, recording, lowered.tensor_rounding);
    calibration
}
