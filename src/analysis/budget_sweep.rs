//! Runs under many budgets: what computing anew costs against how much memory there is, for several heuristics.
//!
//! In: a tape, heuristics, parts of the unlimited peak. Out: a [`BudgetSweepPoint`] for each, in order. Points are shared out
//! over the cores; each is worked out by itself, so that the answer does not depend on timing.

use std::sync::atomic::{AtomicUsize, Ordering};

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{Heuristic, RematCounts, RematRequest, RematStatus, remat};

use super::passes::part_of;

/// One run to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetSweepTask {
    /// What is evicted.
    pub heuristic: &'static Heuristic,
    /// The part of the unlimited peak.
    pub ratio: f64,
    /// That peak, as the heuristic's engine counts.
    pub unlimited: Bytes,
}

/// What one run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSweepPoint {
    /// What was evicted.
    pub heuristic: &'static Heuristic,
    /// The part of the unlimited peak.
    pub ratio: f64,
    /// The budget.
    pub budget: Bytes,
    /// How it ended.
    pub status: RematStatus,
    /// (base + anew) / base, up to where it ended.
    pub overhead: f64,
    /// The cost of all ops, once each.
    pub base_compute: Nanos,
    /// The cost of what was computed anew.
    pub remat_compute: Nanos,
    /// The highest bytes in use, as the engine counts.
    pub peak: Bytes,
    /// How often things happened.
    pub counts: RematCounts,
}

/// The parts of the peak that a sweep tries unless others are asked for, from large to small.
pub const SWEEP_RATIOS: [f64; 18] = [
    0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1,
];

/// Most threads.
const MAX_THREADS: usize = 8;

/// Runs every task; `base` gives everything but heuristic and budget.
///
/// # Errors
/// [`Cancelled`].
pub fn sweep(
    tape: &Tape,
    tasks: &[BudgetSweepTask],
    base: &RematRequest,
    progress: &Progress<'_>,
) -> Result<Vec<BudgetSweepPoint>, Cancelled> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let n_threads = cores.min(MAX_THREADS).min(tasks.len());
    if n_threads <= 1 {
        return tasks.iter().map(|task| point(tape, task, base, progress)).collect();
    }
    let next = AtomicUsize::new(0);
    let cancel = progress.cancel_flag();
    let work = || -> Result<Vec<(usize, BudgetSweepPoint)>, Cancelled> {
        let progress = Progress::silent(cancel);
        let mut points = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(at) else { return Ok(points) };
            points.push((at, point(tape, task, base, &progress)?));
        }
    };
    let parts: Vec<Result<Vec<(usize, BudgetSweepPoint)>, Cancelled>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        let joined = handles.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut points = Vec::with_capacity(tasks.len());
    for part in parts {
        points.extend(part?);
    }
    points.sort_by_key(|(at, _)| *at);
    Ok(points.into_iter().map(|(_, point)| point).collect())
}

fn point(
    tape: &Tape,
    task: &BudgetSweepTask,
    base: &RematRequest,
    progress: &Progress<'_>,
) -> Result<BudgetSweepPoint, Cancelled> {
    let budget = part_of(task.unlimited, task.ratio);
    let request = RematRequest {
        heuristic: task.heuristic,
        budget: Some(budget),
        ..base.clone()
    };
    let run = remat(tape, &request, progress)?;
    Ok(BudgetSweepPoint {
        heuristic: task.heuristic,
        ratio: task.ratio,
        budget,
        overhead: run.overhead(),
        status: run.status,
        base_compute: run.base_compute,
        remat_compute: run.remat_compute,
        peak: run.peak,
        counts: run.counts,
    })
}

/// The smallest budget of a heuristic at which it, and every larger budget that was tried, ran to its end within the
/// budget; `None` where even the largest did not.
pub fn feasible_limit(points: &[BudgetSweepPoint], heuristic: &Heuristic) -> Option<Bytes> {
    let mut of_heuristic: Vec<&BudgetSweepPoint> = points.iter().filter(|point| point.heuristic == heuristic).collect();
    of_heuristic.sort_by_key(|point| std::cmp::Reverse(point.budget));
    let feasible = of_heuristic.iter().take_while(|point| point.is_feasible());
    feasible.last().map(|point| point.budget)
}

impl BudgetSweepPoint {
    /// Whether the run reached its end, and never used more than its budget because nothing could be evicted.
    pub fn is_feasible(&self) -> bool {
        self.status == RematStatus::Ok && self.peak <= self.budget
    }
}
