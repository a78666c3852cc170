//! The line-up: exact where a proof is feasible, otherwise the best of the portfolio, improved until the node limit.
//!
//! Every sweep runs for any number of buffers; other rows run up to the work that [`LINE_UP`] allows them. Where that
//! takes long the sweeps run first, and nothing follows a plan that reaches the bound. Two threads share the rows. A
//! row's plan does not depend on the thread or on timing, so neither does the winner: the smallest footprint, the
//! earlier row on a tie. With a capacity the line-up ends at the first row, in its order, that fits.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::exact;
use super::field::Field;
use super::gaps::n_reads;
use super::improve::improve;
use super::problem::{Placement, Plan, PlanError, Task, Tried};
use super::strategies::{BEST, Effort, STRATEGIES, Strategy};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;

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

/// A node of the exact search costs as much as one of the improvement, plus one per this many shapes, because it
/// sometimes reads all of them.
const SHAPES_PER_NODE: u64 = 128;

/// Most shapes of a small problem.
const SMALL: usize = 5000;

/// The fraction of the nodes that a search within the line-up may use.
const SHARE_OF_A_ROW: u64 = 32;

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let work = work_of(&field, task)?;
    let mut results = run_line_up(task, work)?;
    let mut tried: Vec<Tried> = results.iter().map(|(_, tried)| *tried).collect();
    let first_best = (0..results.len()).min_by_key(|row| tried[*row].footprint);
    let best = first_best.map_or_else(Placement::default, |row| std::mem::take(&mut results[row].0));
    drop(results);
    let used: u64 = tried.iter().map(|row| row.nodes).sum();
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
    /// Small problems mostly need a proof: the exact search runs first, the improvement gives it a lower plan to start
    /// from if that was not enough, and it gets the remaining nodes. Large problems are improved; then the exact search
    /// takes the parts that are small enough.
    fn run(&mut self) -> Result<(), PlanError> {
        if self.field.items().len() <= SMALL {
            self.exact(self.left / 2)?;
            self.improve(self.left / 3)?;
        } else {
            self.improve(self.left)?;
        }
        self.exact(self.left)
    }

    /// Whether the plan reaches the target.
    fn is_done(&self) -> bool {
        let footprint = self.field.footprint(&self.best.offsets);
        footprint <= self.task.target().max(self.best.bound) || self.task.limits.is_stopped()
    }

    fn exact(&mut self, nodes: u64) -> Result<(), PlanError> {
        let price = 1 + self.field.items().len() as u64 / SHAPES_PER_NODE;
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
        Ok(())
    }
}

/// Work of gap filling.
fn work_of(field: &Field<'_>, task: &Task<'_>) -> Result<u64, PlanError> {
    let n_shapes = field.items().len() as u64;
    let of_one = WORK_OF_ONE + n_shapes / SHAPES_PER_WORK;
    Ok(n_reads(field, task.progress)?.saturating_add(n_shapes.saturating_mul(of_one)))
}

/// In the order of the table.
fn run_line_up(task: &Task<'_>, work: u64) -> Result<Vec<(Placement, Tried)>, PlanError> {
    let rows = line_up(work);
    let is_shared = work > TOO_LITTLE_TO_SHARE;
    if work <= LONG {
        return run_all(task, &rows, is_shared);
    }
    let (sweeps, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.effort == Effort::Sweep);
    let mut results = run_all(task, &sweeps, is_shared)?;
    if results.iter().all(|(_, tried)| tried.footprint.get() > task.target()) {
        results.append(&mut run_all(task, &others, is_shared)?);
    }
    results.sort_by_key(|(_, tried)| STRATEGIES.iter().position(|row| row.name == tried.strategy));
    Ok(results)
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
        let parts = (task.problem, task.shapes, task.recorded, task.limits);
        let (bound, flag, order) = (task.bound, task.progress.cancel_flag(), task.order);
        std::thread::scope(|scope| {
            let helper = scope.spawn(|| {
                let (problem, shapes, recorded, limits) = parts;
                let silent = Progress::silent(flag);
                rows_left.run(&Task {
                    problem,
                    shapes,
                    bound,
                    recorded,
                    order,
                    limits,
                    progress: &silent,
                })
            });
            let own = rows_left.run(task);
            let other = helper.join();
            own.and(other.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
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
        let limits = super::Limits {
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
