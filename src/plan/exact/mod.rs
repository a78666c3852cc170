//! Exact placement: branch and bound, partition by partition, from a greedy plan down to the lower bound.
//!
//! * [`part`] makes flat arrays of a partition (a run of steps that no shape crosses);
//! * [`skyline`] is what is placed and what follows from it; [`search`] tries all ways at one capacity, remembering
//!   what [`failed`]; [`order`] says what is tried first; [`race`] puts one capacity to several orders;
//! * [`descent`] chooses the capacities.
//!
//! The partition that decides the footprint is worked on until it reaches the lower bound of the whole, or until the
//! nodes are used up. "Impossible" is always a proof: every rule that cuts a branch off keeps at least one plan if
//! there is any. Complexity: exponential at worst, hence the node limit; memory O(sections x shapes live at once +
//! pairs that meet), and partitions that are too large for that (see [`part`]) keep the greedy plan.

mod descent;
mod failed;
mod height;
mod lists;
mod order;
mod part;
mod race;
mod search;
mod skyline;

use std::cmp::Reverse;

use self::descent::{Descend, Descent};
use self::race::Ledger;
use super::greedy_by_size;
use super::problem::{Placement, PlanError, Task};
use crate::progress::Cancelled;
use crate::workload::Shapes;

/// The smallest footprint that the search reaches within the node limit.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    solve(task, None, task.limits.nodes)
}

/// The same from a plan that is known already (offsets by item), with a node limit of its own.
pub(super) fn solve(task: &Task<'_>, incumbent: Option<Vec<u64>>, nodes: u64) -> Result<Placement, PlanError> {
    task.progress.check()?;
    let mut offsets = match incumbent {
        Some(offsets) => offsets,
        None => greedy_by_size::place(task)?.offsets,
    };
    let capacity = task.limits.capacity.map(crate::units::Bytes::get);
    let goal = capacity.unwrap_or(0).max(task.bound);
    let mut ledger = Ledger {
        nodes_left: nodes,
        nodes_used: 0,
        is_race: task.limits.race,
        progress: task.progress,
        stop: task.limits.stop,
    };
    let mut bound = task.bound;
    if capacity.is_none_or(|capacity| capacity >= bound) && !ledger.is_over() {
        let mut line = Line::new(task, &offsets, goal)?;
        let outcome = line.descend(capacity, &mut bound, &mut ledger);
        for partition in &line.partitions {
            partition.write(&mut offsets);
        }
        outcome?;
    }
    Ok(Placement {
        offsets,
        bound,
        nodes: ledger.nodes_used,
        ..Placement::default()
    })
}

/// The partitions whose plan is higher than the goal.
struct Line {
    partitions: Vec<Box<dyn Descend>>,
    /// The height of those that are too large to search.
    beyond: u64,
}

impl Line {
    fn new(task: &Task<'_>, offsets: &[u64], goal: u64) -> Result<Self, Cancelled> {
        let shapes = task.shapes;
        let mut line = Self {
            partitions: Vec::new(),
            beyond: 0,
        };
        for items in partitions(shapes) {
            task.progress.check()?;
            let end = |item: &u32| offsets[*item as usize] + shapes.items[*item as usize].size;
            let height = items.iter().map(end).max().unwrap_or(0);
            if height > goal {
                line.add(task, items, height)?;
            }
        }
        Ok(line)
    }

    fn add(&mut self, task: &Task<'_>, items: Vec<u32>, height: u64) -> Result<(), Cancelled> {
        let alignments = items.iter().map(|item| task.shapes.items[*item as usize].alignment);
        let top = height.saturating_add(alignments.max().unwrap_or(1));
        let partition: Option<Box<dyn Descend>> = if part::unit(task.shapes, &items) > top / u64::from(u32::MAX) {
            let part = part::build::<u32>(task.shapes, items, task.progress)?;
            part.map(|part| Box::new(Descent::new(part, height)) as Box<dyn Descend>)
        } else {
            let part = part::build::<u64>(task.shapes, items, task.progress)?;
            part.map(|part| Box::new(Descent::new(part, height)) as Box<dyn Descend>)
        };
        match partition {
            Some(partition) => self.partitions.push(partition),
            None => self.beyond = self.beyond.max(height),
        }
        Ok(())
    }

    /// Works on one partition after the other; `bound` rises with what is proved.
    fn descend(&mut self, capacity: Option<u64>, bound: &mut u64, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let raised = |partitions: &[Box<dyn Descend>], bound: u64| {
            partitions
                .iter()
                .map(|partition| partition.bound())
                .fold(bound, u64::max)
        };
        *bound = raised(&self.partitions, *bound);
        let mut before = None;
        while !ledger.is_over() {
            let goal = capacity.unwrap_or(0).max(*bound);
            let open = self.partitions.iter().enumerate();
            // At one capacity all have to get there, so they take turns; else the highest is what counts.
            let next = open
                .filter(|(_, partition)| partition.height() > goal)
                .max_by_key(|(idx, partition)| {
                    let round = if capacity.is_some() { partition.round() } else { 0 };
                    (Reverse(round), partition.height(), Reverse(*idx))
                });
            let Some((idx, _)) = next else { break };
            if let Some(other) = before.replace(idx).filter(|other| *other != idx) {
                self.partitions[other].forget();
            }
            let partition = &mut self.partitions[idx];
            if partition.height() < self.beyond || capacity.is_some_and(|capacity| *bound > capacity) {
                break;
            }
            ledger.progress.check()?;
            partition.descend(goal, capacity.is_some(), ledger)?;
            *bound = raised(&self.partitions, *bound);
        }
        Ok(())
    }
}

/// The items of each run of steps that no item crosses, by step. Items without bytes are in none. O(n log n).
fn partitions(shapes: &Shapes) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0_u32..)
        .zip(&shapes.items)
        .filter(|(_, item)| item.n_pieces > 0)
        .map(|(idx, _)| idx)
        .collect();
    order.sort_unstable_by_key(|idx| (shapes.items[*idx as usize].lower, *idx));
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut end = 0;
    for idx in order {
        let item = &shapes.items[idx as usize];
        match found.last_mut() {
            Some(items) if item.lower < end => items.push(idx),
            _ => found.push(vec![idx]),
        }
        end = end.max(item.upper);
    }
    found
}
