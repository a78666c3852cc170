//! A call of `memory_optimize` with findings, hazards and figures.

use super::{
    Hazard, NameReuse, NameReuseRequest, ReuseDefect, ReuseFigures, hazards, name_reuse, reuse_figures, verify,
};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::BlockProgram;

#[derive(Clone, Copy, Debug)]
pub struct ReuseQuestion<'a> {
    pub program: &'a BlockProgram,
    pub request: &'a NameReuseRequest,
    /// Variables that the caller fetches besides those of fetch ops.
    pub fetched: &'a [Box<str>],
    /// The value of -1.
    pub batch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseReport {
    pub reuse: NameReuse,
    /// Renames that changed values.
    pub findings: Vec<ReuseDefect>,
    pub hazards: Vec<Hazard>,
    pub figures: ReuseFigures,
}

/// Runs the pass and verifies it. The cost of [`name_reuse`] and [`verify`], plus O(n log n) in the names of the
/// program.
///
/// # Errors
/// [`Cancelled`].
pub fn reuse_report(question: &ReuseQuestion<'_>, progress: &Progress<'_>) -> Result<ReuseReport, Cancelled> {
    let ReuseQuestion {
        program,
        request,
        fetched,
        batch,
    } = *question;
    let reuse = name_reuse(program, request, progress)?;
    progress.check()?;
    let findings = verify(program, &reuse.program, progress)?;
    let hazards = hazards(program, request, &reuse, fetched, batch);
    progress.check()?;
    let figures = reuse_figures(program, &reuse.program, &reuse.renames, batch);
    Ok(ReuseReport {
        reuse,
        findings,
        hazards,
        figures,
    })
}
