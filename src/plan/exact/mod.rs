//! Exact placement: branch and bound, partition by partition, from a greedy plan down to the lower bound.
//!
//! * [`build`] makes the flat arrays of a partition (a run of steps that no shape crosses): a [`part`];
//! * [`skyline`] holds the placed shapes and their consequences, [`interval_propagation`] those of empty floors;
//!   [`search`] tries all branches at one capacity, remembering [`failed`] states; [`order`] orders the branches;
//!   [`race`] tries one capacity in several orders;
//! * [`descent`] chooses the capacities.
//!
//! The partition that determines the footprint is searched until it reaches the lower bound of the whole, or until the
//! nodes are used up. "Impossible" is always a proof: every pruning rule keeps at least one plan if there is any.
//! Complexity: exponential at worst, hence the node limit; memory O(sections x live shapes) of one partition at a time,
//! and partitions too large for that (see [`build`]) keep the greedy plan.

mod build;
mod descent;
mod failed;
mod flags;
mod height;
mod interval_propagation;
mod lists;
mod order;
mod part;
mod race;
mod search;
mod skyline;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use self::descent::Partition;
use self::flags::EndFlags;
use self::height::Height;
use self::race::{Ledger, lanes};
use super::gap_fit::greedy_by_size;
use super::problem::{Placement, PlanError, Task};
use highwater_model::progress::Cancelled;
use highwater_model::units::Bytes;
use highwater_model::workload::Shapes;

/// The smallest footprint found within the node limit.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    solve(task, None, task.limits.nodes)
}

/// Starts from a known plan (offsets by item), with its own node limit.
pub(super) fn solve(task: &Task<'_>, incumbent: Option<Vec<u64>>, nodes: u64) -> Result<Placement, PlanError> {
    task.progress.check()?;
    let offsets = match incumbent {
        Some(offsets) => offsets,
        None => greedy_by_size(task)?.offsets,
    };
    let mut ledger = Ledger {
        nodes_left: nodes,
        nodes_used: 0,
        is_race: task.limits.race,
        progress: task.progress,
        flags: EndFlags {
            cancel: task.progress.cancel_flag(),
            stop: task.limits.stop,
        },
    };
    let mut descent = Descent {
        task,
        capacity: task.limits.capacity.map(Bytes::get),
        partitions: Vec::new(),
        offsets,
        bound: task.bound,
    };
    if !descent.is_too_low() && !ledger.is_over() {
        descent.find_partitions()?;
        descent.run(&mut ledger)?;
    }
    Ok(Placement {
        offsets: descent.offsets,
        bound: descent.bound,
        nodes: ledger.nodes_used,
        ..Placement::default()
    })
}

/// The partitions whose plan is higher than the goal.
struct Descent<'a> {
    task: &'a Task<'a>,
    capacity: Option<u64>,
    partitions: Vec<Partition>,
    /// The best plan, by item.
    offsets: Vec<u64>,
    /// Proved lower bound.
    bound: u64,
}

impl Descent<'_> {
    /// Whether the capacity is proved to be too small.
    fn is_too_low(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.bound > capacity)
    }

    /// Lower footprints do not count.
    fn goal(&self) -> u64 {
        self.capacity.unwrap_or(0).max(self.bound)
    }

    fn find_partitions(&mut self) -> Result<(), Cancelled> {
        let shapes = self.task.shapes;
        for items in partitions(shapes) {
            self.task.progress.check()?;
            let end = |item: &u32| self.offsets[*item as usize] + shapes.items[*item as usize].size;
            let height = items.iter().map(end).max().unwrap_or(0);
            if height <= self.goal() {
                continue;
            }
            // Rounding up to alignments may give a higher bound than the sums of the whole.
            let is_aligned = items.iter().any(|item| shapes.items[*item as usize].alignment > 1);
            if is_aligned {
                let least = build::least_height(shapes, &items, self.task.progress)?;
                self.bound = self.bound.max(least);
            }
            self.partitions.push(Partition {
                items,
                round: 0,
                height,
                bound: 0,
                is_beyond: false,
            });
        }
        Ok(())
    }

    /// The partition to search. The highest one determines the footprint, and where that one is too large to search, no
    /// other helps. At a given capacity all must fit, so they take turns, and a proof for one of them is an answer,
    /// even if another is too large to search.
    fn next(&self) -> Option<usize> {
        let goal = self.goal();
        let open = self.partitions.iter().enumerate();
        let open = open.filter(|(_, partition)| partition.height > goal);
        let next = match self.capacity {
            Some(_) if self.is_too_low() => None,
            Some(_) => open
                .filter(|(_, partition)| !partition.is_beyond)
                .max_by_key(|(idx, partition)| (Reverse(partition.round), partition.height, Reverse(*idx))),
            None => open.max_by_key(|(idx, partition)| (partition.height, Reverse(*idx))),
        };
        let (idx, partition) = next?;
        (!partition.is_beyond).then_some(idx)
    }

    /// Searches one partition after the other.
    fn run(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        while let Some(idx) = self.next().filter(|_| !ledger.is_over()) {
            let (shapes, partition) = (self.task.shapes, &self.partitions[idx]);
            let alignments = partition
                .items
                .iter()
                .map(|item| shapes.items[*item as usize].alignment);
            let top = partition.height.saturating_add(alignments.max().unwrap_or(1));
            if build::unit(shapes, &partition.items) > top / u64::from(u32::MAX) {
                self.search_while_next::<u32>(idx, ledger)?;
            } else {
                self.search_while_next::<u64>(idx, ledger)?;
            }
        }
        ledger.report()
    }

    /// Searches a partition while it is the next one.
    fn search_while_next<T: Height>(&mut self, idx: usize, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let (shapes, progress) = (self.task.shapes, self.task.progress);
        let Some(part) = build::build::<T>(shapes, &self.partitions[idx].items, progress)? else {
            self.partitions[idx].is_beyond = true;
            return Ok(());
        };
        let mut lanes = lanes(&part, ledger.flags);
        let bound = part.bound.next_multiple_of(part.grain);
        self.partitions[idx].bound = self.partitions[idx].bound.max(bound);
        self.bound = self.bound.max(bound);
        while self.next() == Some(idx) && !ledger.is_over() {
            let (goal, is_only_goal) = (self.goal(), self.capacity.is_some());
            let partition = &mut self.partitions[idx];
            for (item, offset) in partition.descend(&part, &mut lanes, goal, is_only_goal, ledger)? {
                self.offsets[item as usize] = offset;
            }
            self.bound = self.bound.max(self.partitions[idx].bound);
            self.task.offer(&self.offsets, self.bound);
        }
        Ok(())
    }
}

/// The items of each run of steps that no item crosses, by step. Items without bytes are left out. O(n log n).
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
