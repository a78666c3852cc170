//! Runs under many budgets: the cost of recomputation against memory, for several heuristics.
//!
//! Points come in the order of the tasks; threads share them, and the result does not depend on timing.

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::threads::on_threads;
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{Heuristic, RematCounts, RematRequest, RematStatus, remat};

use super::passes::part_of;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetSweepTask {
    pub heuristic: &'static Heuristic,
    /// Ratio of the unconstrained peak.
    pub ratio: f64,
    /// The unconstrained peak, as the heuristic's engine counts.
    pub unlimited: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSweepPoint {
    pub heuristic: &'static Heuristic,
    /// Ratio of the unconstrained peak.
    pub ratio: f64,
    pub budget: Bytes,
    pub status: RematStatus,
    /// (base + recomputation) / base, until the run ended.
    pub overhead: f64,
    /// The cost of all ops, once each.
    pub base_compute: Nanos,
    /// The cost of recomputation.
    pub remat_compute: Nanos,
    /// As the engine counts.
    pub peak: Bytes,
    pub counts: RematCounts,
}

/// The default ratios of a sweep, descending.
pub const SWEEP_RATIOS: [f64; 18] = [
    0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1,
];

/// Runs every task on the threads of the work; `base` gives everything but heuristic and budget.
///
/// # Errors
/// [`Cancelled`].
pub fn sweep(
    tape: &Tape,
    tasks: &[BudgetSweepTask],
    base: &RematRequest,
    progress: &Progress<'_>,
) -> Result<Vec<BudgetSweepPoint>, Cancelled> {
    let cancel = progress.cancel_flag();
    let run = |task: &BudgetSweepTask| point(tape, task, base, &Progress::silent(cancel));
    on_threads(tasks.iter().collect(), progress, run).into_iter().collect()
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

/// The smallest budget of a heuristic such that it and every larger budget of the points was feasible; `None` where the
/// largest was not.
pub fn feasible_limit(points: &[BudgetSweepPoint], heuristic: &Heuristic) -> Option<Bytes> {
    let mut of_heuristic: Vec<&BudgetSweepPoint> = points.iter().filter(|point| point.heuristic == heuristic).collect();
    of_heuristic.sort_by_key(|point| std::cmp::Reverse(point.budget));
    let feasible = of_heuristic.iter().take_while(|point| point.is_feasible());
    feasible.last().map(|point| point.budget)
}

impl BudgetSweepPoint {
    /// Whether the run reached its end and stayed within its budget.
    pub fn is_feasible(&self) -> bool {
        self.status == RematStatus::Ok && self.peak <= self.budget
    }
}
