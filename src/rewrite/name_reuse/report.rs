//! A call of `memory_optimize` with everything that can be said about it.

use super::{Hazard, NameReuse, NameReuseRequest, ReuseFigures, Unsafe, hazards, name_reuse, reuse_figures, verify};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::BlockProgram;

/// What is asked about a program.
#[derive(Clone, Copy, Debug)]
pub struct ReuseQuestion<'a> {
    /// The program.
    pub program: &'a BlockProgram,
    /// The call.
    pub request: &'a NameReuseRequest,
    /// Variables that the caller is known to fetch, beside those of fetch ops.
    pub fetched: &'a [Box<str>],
    /// What -1 stands for.
    pub batch: u64,
}

/// The answer with what can be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseReport {
    /// The pass's own answer.
    pub reuse: NameReuse,
    /// Renames that changed what ops see.
    pub findings: Vec<Unsafe>,
    /// What the caller should know.
    pub hazards: Vec<Hazard>,
    /// Bytes before and after.
    pub figures: ReuseFigures,
}

/// Runs the pass and looks at its answer. As long as [`name_reuse`] and [`verify`] take, and O(n log n) in the names of
/// the program.
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
