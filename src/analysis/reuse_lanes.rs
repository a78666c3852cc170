//! Paddle's executor with and without variable reuse, by its own accounting.
//!
//! The lanes of policies place memory with GE's planner, which reuses memory whatever the names are, so they are no baseline of
//! `memory_optimize`: against them the pass seems to cost memory. The executor gives every variable its own allocation and
//! keeps it until the run ends.

use super::device_sessions::first_bindings;
use super::error::AnalysisError;
use super::request::Request;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_options::Lowered;
use highwater_rewrite::name_reuse::{ReuseFigures, ReuseQuestion, block_program, reuse_report};

/// The lane without the pass.
pub const REUSE_OFF: &str = "variable_reuse_off";
/// The lane with the pass as the options call it.
pub const REUSE_ON: &str = "variable_reuse";

/// What the executor holds of temporary variables: the largest program of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReuseLane {
    /// [`REUSE_OFF`] or [`REUSE_ON`].
    pub lane: &'static str,
    pub title: &'static str,
    /// Sum over variables, or over the slots that they share.
    pub variables: Bytes,
    /// The most that is alive at once.
    pub peak_live: Bytes,
    /// Variables that took the memory of another one.
    pub hits: usize,
}

/// The two lanes; none where no option calls `memory_optimize`, or the source has no graphs.
///
/// # Errors
/// As [`super::compare`].
pub fn reuse_lanes(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Vec<ReuseLane>, AnalysisError> {
    let graphs = request.workload.graphs();
    if !lowered.reuses_names || graphs.is_empty() {
        return Ok(Vec::new());
    }
    let mut largest = ReuseFigures::default();
    let mut hits = 0;
    for (entry, bindings) in graphs.iter().zip(first_bindings(request)?) {
        let converted = block_program(&entry.graph, &bindings);
        let question = ReuseQuestion {
            program: &converted.program,
            request: &lowered.name_reuse,
            fetched: &converted.fetched,
            batch: 1,
        };
        let report = reuse_report(&question, progress)?;
        hits += report.reuse.hits();
        largest.bytes_before = largest.bytes_before.max(report.figures.bytes_before);
        largest.bytes_after = largest.bytes_after.max(report.figures.bytes_after);
        largest.peak_before = largest.peak_before.max(report.figures.peak_before);
        largest.peak_after = largest.peak_after.max(report.figures.peak_after);
    }
    let off = ReuseLane {
        lane: REUSE_OFF,
        title: "Paddle's executor without variable reuse",
        variables: largest.bytes_before,
        peak_live: largest.peak_before,
        hits: 0,
    };
    let on = ReuseLane {
        lane: REUSE_ON,
        title: "Paddle's executor with memory_optimize",
        variables: largest.bytes_after,
        peak_live: largest.peak_after,
        hits,
    };
    Ok(vec![off, on])
}
