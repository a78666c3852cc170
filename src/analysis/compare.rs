//! Workload + options -> comparison: the whole pipeline as one pure call, with progress and cancel.

use super::advice::advice;
use super::alignment::add_recordings;
use super::allocator_lanes::with_allocator_lanes;
use super::comparison::{Comparison, chosen_memory};
use super::eager_lanes::add_eager_lanes;
use super::error::AnalysisError;
use super::logged_peaks::logged_peaks;
use super::pins::add_pins;
use super::request::Request;
use super::reuse_lanes::reuse_lanes;
use super::study::study_of;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_options::without_effect;

impl Request {
    /// Whether some lane's plan is searched for, which may take seconds.
    pub fn has_search(&self) -> bool {
        study_of(&self.workload).has_search(self)
    }
}

/// Compares the lanes of the options, then of pins, then of recordings next to graphs.
///
/// # Errors
/// [`AnalysisError`]; out of memory is an answer, not an error, and so is a pin that cannot be simulated.
pub fn compare(request: &Request, progress: &Progress<'_>) -> Result<Comparison, AnalysisError> {
    let own;
    let request = match request.workload.with_rules(&request.recording_rules) {
        Some(workload) => {
            own = Request {
                workload: workload.into(),
                ..request.clone()
            };
            &own
        }
        None => request,
    };
    let lowered = request.lowered();
    let with_settings = with_allocator_lanes(request, chosen_memory(request, &lowered), progress)?;
    let simulated;
    let mut found = Diagnostics::new();
    let request = match with_settings {
        Some(with) => {
            found = with.diagnostics;
            simulated = Request {
                workload: with.workload.into(),
                ..request.clone()
            };
            &simulated
        }
        None => request,
    };
    let study = study_of(&request.workload);
    let mut comparison = study.compare(request, &lowered, progress)?;
    comparison.diagnostics.extend(&found);
    comparison.reuse_lanes = reuse_lanes(request, &lowered, progress)?;
    if let [off, on] = &comparison.reuse_lanes[..]
        && let (Ok(without), Ok(with)) = (&off.figures, &on.figures)
    {
        let message = format!(
            "variable reuse: Paddle's executor holds {} of variables without memory_optimize and {} with it; the \
             policy lanes use GE's planner, which always reuses memory, so compare with the lane {}",
            without.variables, with.variables, off.lane
        );
        comparison.diagnostics.info(message, "");
    }
    comparison.without_effect = without_effect(&request.options, &*request.files);
    let advised = advice(study, request, &lowered, &comparison, progress)?;
    (comparison.advice, comparison.assumption) = (advised.findings, advised.assumption);
    add_pins(&mut comparison, request, &[], progress)?;
    if study.takes_recordings() {
        if request.is_logged_without_pages() {
            let text = "the log has no pages of variables, so an engine before 8.5 is simulated; \
                        simulation.engine_version selects another";
            comparison.diagnostics.info(text.to_owned(), "");
        }
        for (text, log) in logged_peaks(&comparison) {
            comparison.diagnostics.info(text, &log);
        }
        add_recordings(&mut comparison, lowered.strategy, lowered.alignment, progress)?;
        add_eager_lanes(&mut comparison, request, lowered.strategy, progress)?;
    }
    Ok(comparison)
}
