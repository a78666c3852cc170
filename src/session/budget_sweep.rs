//! The sweep's table: runs of one tape under many budgets, a few points at a time.
//!
//! The worker gets a few points a job, so that files are read and comparisons made in between.

use std::sync::Arc;

use highwater_analysis::{AnalysisError, BudgetSweepPoint, BudgetSweepTask, Request, SWEEP_RATIOS, graph_tapes, sweep};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{GraphIdx, Tape};
use highwater_options::lower;
use highwater_rewrite::remat::{Engine, HEURISTICS, Heuristic, RematRequest, unlimited_peak};

/// Points a job.
const POINTS_A_JOB: usize = 4;

/// What is swept.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSweepSubject {
    /// The graph; of a tape the only one.
    pub graph: GraphIdx,
    /// What runs.
    pub tape: Arc<Tape>,
    /// Everything but heuristic and budget.
    pub base: RematRequest,
    /// Peaks without a budget, by heuristic, each as its engine counts.
    pub unlimited: Vec<(&'static Heuristic, Bytes)>,
}

/// The sweep as far as it is known.
#[derive(Clone, Debug)]
pub struct BudgetSweepTable {
    /// What is swept.
    pub subject: Arc<BudgetSweepSubject>,
    /// The runs that were made, in order.
    pub points: Vec<BudgetSweepPoint>,
    /// The runs to make.
    pub(super) pending: Vec<BudgetSweepTask>,
    /// How many there are in all.
    pub n_total: usize,
    /// Whether a job is being worked out; otherwise it was stopped, or all are there.
    pub is_running: bool,
}

impl BudgetSweepTable {
    /// A table without a point.
    pub(super) fn new(subject: Arc<BudgetSweepSubject>) -> Self {
        let tasks = subject.unlimited.iter().flat_map(|(heuristic, unlimited)| {
            SWEEP_RATIOS.iter().map(|ratio| BudgetSweepTask {
                heuristic,
                ratio: *ratio,
                unlimited: *unlimited,
            })
        });
        let pending: Vec<BudgetSweepTask> = tasks.collect();
        Self {
            n_total: pending.len(),
            pending,
            subject,
            points: Vec::new(),
            is_running: false,
        }
    }

    /// Whether runs are still to be made.
    pub fn is_unfinished(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The next tasks for the worker.
    pub(super) fn next(&self) -> Vec<BudgetSweepTask> {
        self.pending.iter().take(POINTS_A_JOB).copied().collect()
    }

    /// Takes what the worker made of the first of the pending tasks.
    pub(super) fn take(&mut self, points: Vec<BudgetSweepPoint>) {
        self.pending.drain(..points.len().min(self.pending.len()));
        self.points.extend(points);
    }
}

/// The tape of a graph under the request's settings, with the peaks of every heuristic; of several tapes or graphs the
/// one at the position. `None` where there is none.
pub(super) fn sweep_subject(
    request: &Request,
    graph: GraphIdx,
    progress: &Progress<'_>,
) -> Result<Option<BudgetSweepSubject>, AnalysisError> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    let tape = match request.workload.tapes().get(graph.0 as usize) {
        Some(tape) => Some(Arc::clone(tape)),
        None if request.workload.graphs().is_empty() => None,
        None => {
            let mut tapes = graph_tapes(request, &lowered)?.into_iter();
            tapes.nth(graph.0 as usize).map(|tape| Arc::new(tape.tape))
        }
    };
    let Some(tape) = tape else { return Ok(None) };
    let mut unlimited = Vec::new();
    // Without a budget all rules of the runtime make the same run.
    let mut of_runtime = None;
    for heuristic in HEURISTICS {
        let peak = match (heuristic.engine, of_runtime) {
            (Engine::Runtime(_), Some(peak)) => peak,
            _ => unlimited_peak(&tape, heuristic, progress)?,
        };
        if matches!(heuristic.engine, Engine::Runtime(_)) {
            of_runtime = Some(peak);
        }
        unlimited.push((heuristic, peak));
    }
    Ok(Some(BudgetSweepSubject {
        graph,
        tape,
        base: RematRequest {
            budget: None,
            ..lowered.dtr
        },
        unlimited,
    }))
}

/// Runs a few tasks.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn sweep_points(
    subject: &BudgetSweepSubject,
    tasks: &[BudgetSweepTask],
    progress: &Progress<'_>,
) -> Result<Vec<BudgetSweepPoint>, Cancelled> {
    sweep(&subject.tape, tasks, &subject.base, progress)
}
