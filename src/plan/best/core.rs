//! The core of a problem, searched exactly: a search spends most of its nodes on shapes that are far smaller than the
//! distance to the bound. Without them it descends faster, and they are filled in afterwards.

use super::Search;
use crate::exact;
use crate::improve::{Core, complete};
use crate::problem::{PlanError, Task};

/// Shapes left out hold at most one part in this many of the distance to the bound at once.
const SMALL: u64 = 2;

impl Search<'_> {
    /// Lowers the plan by a search without the smallest shapes, with at most `nodes` nodes.
    pub(super) fn core(&mut self, nodes: u64) -> Result<(), PlanError> {
        let nodes = nodes / self.price();
        if self.is_done() || nodes == 0 {
            return Ok(());
        }
        let footprint = self.field.footprint(&self.best.offsets);
        let distance = footprint - self.task.bound.max(self.best.bound).min(footprint);
        let Some(core) = Core::new(self.task, self.field, distance / SMALL)? else {
            return Ok(());
        };
        let task = Task {
            shapes: &core.shapes,
            bound: core.shapes.lower_bound().get(),
            // Its plans are no plans of the whole.
            better: None,
            ..*self.task
        };
        let start = core.members.iter().map(|idx| self.best.offsets[*idx as usize]);
        let found = exact::solve(&task, Some(start.collect()), nodes)?;
        self.left = self.left.saturating_sub(found.nodes.saturating_mul(self.price()));
        self.searched += found.nodes;
        // No plan of the whole is lower than the lowest one of its core.
        self.best.bound = self.best.bound.max(found.bound);
        let filled = complete(self.task, self.field, &core.members, &found.offsets)?;
        self.left = self.left.saturating_sub(filled.nodes);
        self.searched += filled.nodes;
        if filled.footprint < footprint {
            self.best.offsets = filled.offsets;
            self.offer();
        }
        Ok(())
    }
}
