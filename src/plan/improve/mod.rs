//! Improvement of plans that are too large to be solved exactly.
//!
//! [`stack`] makes plans at the bound from the order of others. Where it fails:
//! 1. [`peak`]: plans that fill the fullest steps first, then everything else.
//! 2. [`eject`]: sets a height a little below the plan's; shapes that end above it are removed and placed again where
//!    they eject the least, until all fit or patience ends. Then a lower height.
//!
//! Small problems are searched as a whole; of large ones the core: the shapes on the fullest steps that are not small.
//! The rest is filled in afterwards, and the core widened where that fails. No graph of overlaps is built. Nodes: one
//! per placement, and one per [`NODE`] neighbours read. Deterministic and anytime.

mod eject;
mod parts;
mod peak;
mod stack;

pub(super) use parts::{Core, complete};
pub(super) use stack::Stack;

use super::field::Field;
use super::problem::{PlanError, Task};
use highwater_model::progress::Cancelled;

/// Neighbours per node.
const NODE: u64 = 128;

struct Search<'a> {
    task: &'a Task<'a>,
    /// Footprint at which it may end.
    target: u64,
    /// Nodes left.
    left: u64,
    /// Nodes used.
    nodes: u64,
}

impl Search<'_> {
    /// Reports a plan, unless it is one of a part of the problem.
    fn offer(&self, field: &Field<'_>, plan: &Incumbent) {
        if std::ptr::eq(field.shapes, self.task.shapes) {
            self.task.offer(&plan.offsets, 0);
        }
    }

    /// Charges a placement among neighbours.
    fn charge(&mut self, n_near: usize) {
        self.nodes += 1 + n_near as u64 / NODE;
    }

    /// Runs a part of the search that leaves some nodes for later parts.
    fn leaving<T>(
        &mut self,
        reserve: u64,
        part: impl FnOnce(&mut Self) -> Result<T, Cancelled>,
    ) -> Result<T, Cancelled> {
        let left = self.left;
        self.left = left.saturating_sub(reserve);
        let result = part(self);
        self.left = left;
        result
    }

    /// Whether to end with the best plan; called before each placement.
    fn is_over(&self) -> Result<bool, Cancelled> {
        self.task.progress.check()?;
        Ok(self.nodes >= self.left || self.task.limits.is_stopped())
    }
}

/// A plan: offsets of all shapes.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub(super) offsets: Vec<u64>,
    pub(super) footprint: u64,
    pub(super) nodes: u64,
}

/// A plan that is no worse, made with about `nodes` nodes at most.
pub(super) fn improve(
    task: &Task<'_>,
    field: &Field<'_>,
    offsets: Vec<u64>,
    nodes: u64,
) -> Result<Incumbent, PlanError> {
    let footprint = field.footprint(&offsets);
    let mut best = Incumbent {
        offsets,
        footprint,
        nodes: 0,
    };
    let mut search = Search {
        task,
        target: task.target(),
        left: nodes,
        nodes: 0,
    };
    if footprint > search.target && nodes > 0 {
        let is_large = field.items().len() > parts::WHOLE;
        if is_large && peak::cost_of_filling(field) > nodes {
            return Ok(best);
        }
        if is_large {
            peak::fill_peaks(&mut search, field, &mut best)?;
        }
        parts::search(&mut search, field, &mut best)?;
    }
    best.nodes = search.nodes;
    Ok(best)
}
