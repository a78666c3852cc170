//! The sweep over budgets: runs of one tape under many budgets.

use std::sync::Arc;

use highwater_analysis::{
    AnalysisError, BudgetSweepPoint, BudgetSweepTask, OpSource, Request, SWEEP_RATIOS, graph_tapes, study_of,
};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{GraphIdx, Tape};
use highwater_options::lower;
use highwater_rewrite::remat::{Engine, HEURISTICS, Heuristic, RematRequest, unlimited_peak};

/// Points per task.
const POINTS_A_JOB: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct BudgetSweepSubject {
    /// Of a tape the only one.
    pub graph: GraphIdx,
    pub tape: Arc<Tape>,
    /// Without heuristic and budget.
    pub base: RematRequest,
    /// Peak without a budget by heuristic, as its engine counts.
    pub unlimited: Vec<(&'static Heuristic, Bytes)>,
}

#[derive(Clone, Debug)]
pub struct BudgetSweepTable {
    pub subject: Arc<BudgetSweepSubject>,
    /// In the order of the runs.
    pub points: Vec<BudgetSweepPoint>,
    /// In order.
    pub(super) pending: Vec<BudgetSweepTask>,
    /// Done and pending.
    pub n_total: usize,
}

impl BudgetSweepTable {
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
        }
    }

    pub fn is_unfinished(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn next(&self) -> Vec<BudgetSweepTask> {
        self.pending.iter().take(POINTS_A_JOB).copied().collect()
    }

    /// Takes the points of the first pending tasks.
    pub(super) fn take(&mut self, points: Vec<BudgetSweepPoint>) {
        self.pending.drain(..points.len().min(self.pending.len()));
        self.points.extend(points);
    }
}

/// The tape of a graph under the request's settings, with the peak of every heuristic. `None` where there is no such tape or
/// graph.
pub(super) fn sweep_subject(
    request: &Request,
    graph: GraphIdx,
    progress: &Progress<'_>,
) -> Result<Option<BudgetSweepSubject>, AnalysisError> {
    let lowered = lower(&request.options, &request.environment, &request.device, &*request.files);
    let workload = &request.workload;
    let tape = match study_of(workload).ops(workload) {
        OpSource::Tape(_) => workload.tapes().get(graph.0 as usize).map(Arc::clone),
        OpSource::Graphs(_) => {
            let mut tapes = graph_tapes(request, &lowered)?.into_iter();
            tapes.nth(graph.0 as usize).map(|tape| Arc::new(tape.tape))
        }
        OpSource::Program(_) | OpSource::None => None,
    };
    let Some(tape) = tape else { return Ok(None) };
    let mut unlimited = Vec::new();
    // Without a budget all heuristics of the runtime make the same run.
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
