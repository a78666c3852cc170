//! The line-up: exact where that can be proved, otherwise the best of the portfolio, improved until the node limit.

use super::problem::{Placement, Plan, PlanError, Task, Tried};
use super::strategies::{BEST, Effort, STRATEGIES};

/// The smallest footprint of all rows; the earlier row on a tie.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let mut best: Option<(u64, Placement)> = None;
    let mut tried = Vec::new();
    for row in STRATEGIES
        .iter()
        .filter(|row| row.name != BEST && row.effort != Effort::Recorded)
    {
        let start = task.limits.clock.map(|clock| clock());
        let placement = (row.place)(task)?;
        let elapsed_ns = task
            .limits
            .clock
            .zip(start)
            .map(|(clock, start)| clock().saturating_sub(start));
        let footprint = Plan::new(task.problem, task.shapes.spread(&placement.offsets)).footprint;
        tried.push(Tried {
            strategy: row.name,
            footprint,
            nodes: placement.nodes,
            elapsed_ns,
        });
        if best.as_ref().is_none_or(|(smallest, _)| footprint.get() < *smallest) {
            best = Some((footprint.get(), placement));
        }
    }
    let (_, mut placement) = best.unwrap_or_default();
    placement.tried = tried;
    Ok(placement)
}
