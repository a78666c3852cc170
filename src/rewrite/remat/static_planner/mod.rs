//! MegEngine's static planner, which `DTRConfig` drives: it knows the op sequence and decides before the run.
//!
//! In: a tape and a request, whose budget is the eviction threshold. Out: a [`StaticPlan`]: the run, the sequence to
//! execute, and figures for comparison with the original. At each step it makes room for the step's results by
//! evicting, one by one, the variable with the lowest recomputation cost per byte and step of disuse, until the usage
//! with the new results is **below** the threshold; where nothing can be evicted it continues silently
//! (`steps_over_budget` counts that). So it never runs out of memory. Usage counts external storages between their
//! first and last reader. The tape's releases are not read: the order of ops determines lifetimes. Variables of 0 bytes
//! are never evicted. Nothing recurses: chains of any length use explicit stacks.

mod costs;
mod model;
mod planner;
mod search;
mod sequence;

pub use planner::MAX_EVENTS;
pub use sequence::{PlannedKind, PlannedOp, PlannedSequence};

use super::run::{RematRequest, RematRun};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;
use model::Model;
use planner::Planner;

/// Result of planning.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticPlan {
    /// Decisions and figures. Steps are numbers of ops; the clock of an event counts planned ops only.
    pub run: RematRun,
    pub sequence: PlannedSequence,
    /// Planned ops: those that make a result that is neither external nor a view.
    pub planned_steps: u32,
    /// The peak of planned bytes in the sequence, by plain liveness.
    pub sequence_peak: Bytes,
    /// Bytes that the planned ops read and write, once each.
    pub moved: u64,
    /// Bytes that the copies read and write.
    pub moved_by_copies: u64,
}

/// # Errors
/// [`Cancelled`].
pub fn plan_static(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<StaticPlan, Cancelled> {
    let model = Model::new(tape);
    let mut planner = Planner::new(&model, tape, request, progress);
    planner.plan()?;
    let moved_by_copies = planner.moved;
    let run = planner.run;
    let sequence = PlannedSequence::new(tape, &model, &run.events);
    Ok(StaticPlan {
        planned_steps: u32::try_from(model.steps.len()).unwrap_or(u32::MAX),
        sequence_peak: Bytes(sequence.liveness_peak(tape)),
        moved: model.steps.iter().fold(0, |sum, step| sum.saturating_add(step.moved)),
        moved_by_copies,
        run,
        sequence,
    })
}

/// # Errors
/// [`Cancelled`].
pub fn run_static_planner(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
    let model = Model::new(tape);
    let mut planner = Planner::new(&model, tape, request, progress);
    planner.plan()?;
    Ok(planner.run)
}
