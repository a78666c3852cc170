//! The line-up: exact where a proof is feasible, otherwise the best of the portfolio, improved until the node limit.
//!
//! Every sweep runs for any number of buffers; other rows run up to the work that [`LINE_UP`] allows them. Where that
//! takes long the sweeps run first, and nothing follows a plan that reaches the bound. Two threads share the rows. A
//! row's plan does not depend on the thread or on timing, so neither does the winner: the smallest footprint, the
//! earlier row on a tie. With a capacity the line-up ends at the first row, in its order, that fits.

mod core;
mod line_up;

use self::line_up::LineUp;
use super::exact;
use super::field::Field;
use super::improve::{Stack, improve};
use super::problem::{Placement, PlanError, Task, Tried};
use super::strategies::STRATEGIES;
use highwater_model::units::Bytes;

/// A node of the exact search costs as much as one of the improvement, plus one per this many shapes, because it
/// sometimes reads all of them.
const SHAPES_PER_NODE: u64 = 128;

/// Most shapes of a small problem.
const SMALL: usize = 5000;

/// The fraction of the nodes kept for stacking the fullest step of the improved plan.
const SHARE_OF_THE_LAST: u64 = 8;

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let LineUp {
        mut results,
        stacked,
        nodes,
        ..
    } = LineUp::run(task, &field)?;
    let mut tried: Vec<Tried> = results.iter().map(|(_, tried)| *tried).collect();
    let first_best = (0..results.len()).min_by_key(|row| tried[*row].footprint);
    let mut best = first_best.map_or_else(Placement::default, |row| std::mem::take(&mut results[row].0));
    drop(results);
    if let Some(offsets) = stacked {
        best.offsets = offsets;
    }
    let used = nodes + tried.iter().map(|row| row.nodes).sum::<u64>();
    let mut search = Search {
        task,
        field: &field,
        best,
        exact: None,
        left: task.limits.nodes.saturating_sub(used),
        searched: 0,
    };
    search.run()?;
    tried.extend(search.exact);
    let mut best = search.best;
    best.nodes = used + search.searched;
    tried.sort_by_key(|row| STRATEGIES.iter().position(|other| other.name == row.strategy));
    best.tried = tried;
    // Offsets may have changed since a row made them.
    best.regions = Vec::new();
    Ok(best)
}

struct Search<'a> {
    task: &'a Task<'a>,
    field: &'a Field<'a>,
    best: Placement,
    /// Result of the exact search, if it ran.
    exact: Option<Tried>,
    /// Nodes left, where a node of the exact search counts as several.
    left: u64,
    /// Nodes searched, each counted once.
    searched: u64,
}

impl Search<'_> {
    /// Small problems mostly need a proof: the exact search runs first. If that was not enough, the improvement gives it
    /// a lower plan to start from, it searches the core, and then the whole with the remaining nodes. Large problems are improved; then the exact search
    /// takes the parts that are small enough.
    fn run(&mut self) -> Result<(), PlanError> {
        if self.field.items().len() <= SMALL {
            self.exact(self.left / 2)?;
            self.improve(self.left / 3)?;
            self.core(self.left)?;
        } else {
            self.improve(self.left - self.left / SHARE_OF_THE_LAST)?;
            self.stack()?;
        }
        self.exact(self.left)
    }

    /// Whether the plan reaches the target.
    fn is_done(&self) -> bool {
        let footprint = self.field.footprint(&self.best.offsets);
        footprint <= self.task.target().max(self.best.bound) || self.task.limits.is_stopped()
    }

    /// Nodes of the improvement that cost as much as one of the exact search.
    fn price(&self) -> u64 {
        1 + self.field.items().len() as u64 / SHAPES_PER_NODE
    }

    fn exact(&mut self, nodes: u64) -> Result<(), PlanError> {
        let price = self.price();
        let nodes = nodes / price;
        if self.is_done() || nodes == 0 {
            return Ok(());
        }
        let clock = self.task.limits.clock;
        let start = clock.map(|clock| clock());
        let incumbent = std::mem::take(&mut self.best.offsets);
        let found = exact::solve(self.task, Some(incumbent), nodes)?;
        let elapsed_ns = clock.zip(start).map(|(clock, start)| clock().saturating_sub(start));
        let before = self.exact.take();
        self.exact = Some(Tried {
            strategy: "exact",
            footprint: Bytes(self.field.footprint(&found.offsets)),
            nodes: found.nodes + before.map_or(0, |before| before.nodes),
            elapsed_ns: elapsed_ns.map(|time| time + before.and_then(|before| before.elapsed_ns).unwrap_or(0)),
        });
        self.left = self.left.saturating_sub(found.nodes.saturating_mul(price));
        self.searched += found.nodes;
        self.best.offsets = found.offsets;
        self.best.bound = self.best.bound.max(found.bound);
        self.offer();
        Ok(())
    }

    /// Stacks the fullest step of the plan.
    fn stack(&mut self) -> Result<(), PlanError> {
        if self.is_done() {
            return Ok(());
        }
        let Some(stack) = Stack::new(self.task, self.field, self.left)? else {
            return Ok(());
        };
        let (stacked, nodes) = stack.plan(self.task, &self.best.offsets, self.left)?;
        self.left = self.left.saturating_sub(nodes);
        self.searched += nodes;
        if let Some(offsets) = stacked {
            self.best.offsets = offsets;
            self.offer();
        }
        Ok(())
    }

    fn improve(&mut self, nodes: u64) -> Result<(), PlanError> {
        if self.is_done() || nodes == 0 {
            return Ok(());
        }
        let incumbent = std::mem::take(&mut self.best.offsets);
        let improved = improve(self.task, self.field, incumbent, nodes)?;
        self.left = self.left.saturating_sub(improved.nodes);
        self.searched += improved.nodes;
        self.best.offsets = improved.offsets;
        self.offer();
        Ok(())
    }

    fn offer(&self) {
        self.task.offer(&self.best.offsets, self.best.bound);
    }
}
