//! The rows of the line-up, and plans stacked from theirs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::field::Field;
use crate::gaps::n_reads;
use crate::improve::Stack;
use crate::problem::{Limits, Placement, Plan, PlanError, Task, Tried};
use crate::strategies::{BEST, Effort, STRATEGIES, Strategy};
use highwater_model::threads::both;

/// Rows besides the sweeps, with the most work for which they run: placed shapes that gap filling reads, plus a
/// constant per shape (see [`work_of`]). 2^28 limits a row to about a third of a second.
const LINE_UP: &[(&str, u64)] = &[
    ("greedy_by_size", 1 << 31),
    ("first_fit", 1 << 28),
    ("greedy_by_breadth", 1 << 28),
    ("gap_first_size", 1 << 29),
    ("gap_first_area", 1 << 28),
    ("gap_first_width", 1 << 28),
    ("gap_best_size", 1 << 28),
    ("gap_best_area", 1 << 28),
    ("gap_best_width", 1 << 31),
    ("shared_by_size", 1 << 22),
    ("shared_by_breadth", 1 << 22),
    ("shared_min_cost_flow", 1 << 19),
    ("hill_climb", 1 << 22),
    ("ge_default", 1 << 21),
];

/// Work of a shape that overlaps no other.
const WORK_OF_ONE: u64 = 64;

/// Work grows by one per this many shapes, because of cache misses.
const SHAPES_PER_WORK: u64 = 512;

/// Above this work the sweeps run first.
const LONG: u64 = 1 << 26;

/// Below this work a second thread does not pay.
const TOO_LITTLE_TO_SHARE: u64 = 1 << 18;

/// The fraction of the nodes that a search within the line-up may use.
const SHARE_OF_A_ROW: u64 = 32;

/// The fraction of the nodes that stacking the fullest step of a plan may use.
const SHARE_OF_A_STACK: u64 = 4;

/// Up to this many shapes no plan is stacked: the exact search does as well.
const FEW: usize = 1_000;

/// Work of gap filling.
fn work_of(field: &Field<'_>, task: &Task<'_>) -> Result<u64, PlanError> {
    let n_shapes = field.items().len() as u64;
    let of_one = WORK_OF_ONE + n_shapes / SHAPES_PER_WORK;
    Ok(n_reads(field, task.progress)?.saturating_add(n_shapes.saturating_mul(of_one)))
}

/// The rows that ran, and what was made of their plans.
pub(super) struct LineUp<'a> {
    task: &'a Task<'a>,
    stack: Option<Stack<'a>>,
    /// In the order of the table.
    pub(super) results: Vec<(Placement, Tried)>,
    /// A plan at the target with the fullest step of one of them.
    pub(super) stacked: Option<Vec<u64>>,
    /// Nodes besides those of the rows.
    pub(super) nodes: u64,
}

impl<'a> LineUp<'a> {
    pub(super) fn run(task: &'a Task<'a>, field: &'a Field<'a>) -> Result<Self, PlanError> {
        let work = work_of(field, task)?;
        let mut stages = vec![line_up(work)];
        if work > LONG {
            let rows = line_up(work).into_iter();
            let (sweeps, others) = rows.partition(|row| row.effort == Effort::Sweep);
            stages = vec![sweeps, others];
        }
        let mut line_up = Self {
            task,
            stack: None,
            results: Vec::new(),
            stacked: None,
            nodes: 0,
        };
        for rows in stages {
            let mut results = run_all(task, &rows, work > TOO_LITTLE_TO_SHARE)?;
            let is_done = results.iter().any(|(_, tried)| tried.footprint.get() <= task.target());
            if !is_done && line_up.stack.is_none() && field.items().len() > FEW {
                line_up.stack = Stack::new(task, field, task.limits.nodes / SHARE_OF_A_STACK)?;
            }
            if is_done || line_up.stack(&mut results)? {
                line_up.results.append(&mut results);
                break;
            }
            line_up.results.append(&mut results);
        }
        let position = |tried: &Tried| STRATEGIES.iter().position(|row| row.name == tried.strategy);
        line_up.results.sort_by_key(|(_, tried)| position(tried));
        Ok(line_up)
    }

    /// Stacks the fullest step of plans, the smallest plan first, until one reaches the target. Returns whether one did.
    fn stack(&mut self, results: &mut [(Placement, Tried)]) -> Result<bool, PlanError> {
        let Some(stack) = &self.stack else { return Ok(false) };
        let limits = self.task.limits;
        results.sort_by_key(|(_, tried)| tried.footprint);
        for (placement, _) in results.iter() {
            let left = (limits.nodes / 2).saturating_sub(self.nodes);
            if left == 0 || self.stacked.is_some() || limits.is_stopped() {
                break;
            }
            let nodes = left.min(limits.nodes / SHARE_OF_A_STACK);
            let (stacked, nodes) = stack.plan(self.task, &placement.offsets, nodes)?;
            self.nodes += nodes;
            if let Some(offsets) = &stacked {
                self.task.offer(offsets, 0);
            }
            self.stacked = stacked;
        }
        Ok(self.stacked.is_some())
    }
}

/// The rows that run for this much work, in the order of the table.
fn line_up(work: u64) -> Vec<&'static Strategy> {
    let is_in = |row: &&Strategy| match row.effort {
        Effort::Sweep => row.name != BEST,
        Effort::Heuristic | Effort::Search => LINE_UP.iter().any(|(name, most)| *name == row.name && work <= *most),
        Effort::Recorded => false,
    };
    STRATEGIES.iter().filter(is_in).collect()
}

/// Results of the rows in their order: all of them, or up to the first that fits a capacity.
fn run_all(task: &Task<'_>, rows: &[&'static Strategy], is_shared: bool) -> Result<Vec<(Placement, Tried)>, PlanError> {
    let rows_left = Rows {
        all: rows,
        next: AtomicUsize::new(0),
        last: AtomicUsize::new(rows.len()),
        results: Mutex::new(Vec::new()),
    };
    if is_shared && task.progress.n_threads() > 1 {
        let quiet = task.quiet();
        let helper = || quiet.run(|task| rows_left.run(task));
        let (own, other) = both(task.progress, || rows_left.run(task), helper);
        own.and(other)?;
    } else {
        rows_left.run(task)?;
    }
    let last = rows_left.last.into_inner();
    let mut results = rows_left.results.into_inner().unwrap_or_default();
    results.sort_unstable_by_key(|(row, ..)| *row);
    results.retain(|(row, ..)| *row <= last);
    Ok(results
        .into_iter()
        .map(|(_, placement, tried)| (placement, tried))
        .collect())
}

/// Rows that threads take one after the other.
struct Rows<'a> {
    all: &'a [&'static Strategy],
    next: AtomicUsize,
    /// The first row that fits the capacity; later ones do not count.
    last: AtomicUsize,
    results: Mutex<Vec<(usize, Placement, Tried)>>,
}

impl Rows<'_> {
    fn run(&self, task: &Task<'_>) -> Result<(), PlanError> {
        let limits = Limits {
            nodes: task.limits.nodes / SHARE_OF_A_ROW,
            ..*task.limits
        };
        let task = Task {
            limits: &limits,
            ..*task
        };
        loop {
            let position = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = self.all.get(position) else {
                return Ok(());
            };
            if position > self.last.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (placement, tried) = run_row(&task, row)?;
            task.offer(&placement.offsets, 0);
            if limits.capacity.is_some_and(|capacity| tried.footprint <= capacity) {
                self.last.fetch_min(position, Ordering::Relaxed);
            }
            if let Ok(mut results) = self.results.lock() {
                results.push((position, placement, tried));
            }
        }
    }
}

fn run_row(task: &Task<'_>, row: &Strategy) -> Result<(Placement, Tried), PlanError> {
    let now = || task.limits.clock.map(|clock| clock());
    let start = now();
    let placement = (row.place)(task)?;
    let elapsed_ns = now().zip(start).map(|(now, start)| now.saturating_sub(start));
    let footprint = Plan::new(task.problem, task.shapes.spread(&placement.offsets)).footprint;
    let tried = Tried {
        strategy: row.name,
        footprint,
        nodes: placement.nodes,
        elapsed_ns,
    };
    Ok((placement, tried))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_but_the_exact_ones_is_in_the_line_up_of_a_small_problem() {
        let rows: Vec<&str> = line_up(0).iter().map(|row| row.name).collect();
        for row in STRATEGIES {
            // The engine's default is the better of its assigners.
            let is_in_default = ["ge_binary", "ge_max", "ge_no_reuse"].contains(&row.name);
            let is_apart = row.name == BEST || row.name == "exact" || row.effort == Effort::Recorded || is_in_default;
            assert_eq!(rows.contains(&row.name), !is_apart, "{}", row.name);
        }
        for (name, _) in LINE_UP {
            assert!(rows.contains(name), "{name} is no row");
        }
    }
}
