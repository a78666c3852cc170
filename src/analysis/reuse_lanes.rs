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
use highwater_rewrite::name_reuse::{ReuseQuestion, block_program, reuse_report};

/// The lane without the pass.
pub const REUSE_OFF: &str = "variable_reuse_off";
/// The lane with the pass as the options call it.
pub const REUSE_ON: &str = "variable_reuse";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseLane {
    /// [`REUSE_OFF`] or [`REUSE_ON`].
    pub lane: &'static str,
    pub title: &'static str,
    /// The exception that Paddle raises instead, as `Class: text`.
    pub figures: Result<ExecutorFigures, String>,
}

/// What the executor holds of temporary variables: the largest program of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutorFigures {
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
    let (mut off, mut on) = (ExecutorFigures::default(), ExecutorFigures::default());
    let mut exception = None;
    for (entry, bindings) in graphs.iter().zip(first_bindings(request)?) {
        let converted = block_program(&entry.graph, &bindings);
        let question = ReuseQuestion {
            program: &converted.program,
            request: &lowered.name_reuse,
            fetched: &converted.fetched,
            batch: 1,
        };
        let report = reuse_report(&question, progress)?;
        let figures = &report.figures;
        off.variables = off.variables.max(figures.bytes_before);
        off.peak_live = off.peak_live.max(figures.peak_before);
        on.variables = on.variables.max(figures.bytes_after);
        on.peak_live = on.peak_live.max(figures.peak_after);
        on.hits += report.reuse.hits();
        exception = exception.or(report.reuse.exception);
    }
    let lane = |lane, title, figures| ReuseLane { lane, title, figures };
    Ok(vec![
        lane(REUSE_OFF, "Paddle's executor without variable reuse", Ok(off)),
        lane(
            REUSE_ON,
            "Paddle's executor with memory_optimize",
            exception.map_or(Ok(on), Err),
        ),
    ])
}
