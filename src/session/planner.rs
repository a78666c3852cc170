//! The planner's table: every strategy over one problem, each with its time.

use std::sync::Arc;
use std::time::Instant;

use highwater_analysis::{Comparison, FoundPlan, PlanSearch, PlanWatch, arena_problem, dumped_plan, entry_order};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{AllocationOrder, GraphIdx, ProblemEntry, RecordedPlan};
use highwater_plan::{EXACT, Effort, Limits, PlacementProblem, PlanError, PlanRequest, Planned, STRATEGIES, Strategy};

/// Beyond so many buffers the table has sweep strategies alone.
const MAX_BUFFERS: usize = 200_000;

/// The cost of a node of the exact search grows with the buffers: the limit of nodes is divided by 1 + buffers / this.
const BUFFERS_PER_NODE: u64 = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerSubject {
    /// 0 for a problem.
    pub graph: GraphIdx,
    pub problem: PlacementProblem,
    /// The plan in the source.
    pub recorded: Option<RecordedPlan>,
    /// The order of allocations and frees, where it is known beyond steps.
    pub order: Option<AllocationOrder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerRow {
    pub strategy: &'static Strategy,
    pub result: Result<PlannerFigures, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannerFigures {
    pub footprint: Bytes,
    pub proved_bound: Bytes,
    pub nodes: u64,
    /// `None` of a plan whose search was stopped elsewhere.
    pub elapsed: Option<Nanos>,
    /// Whether the search goes on, or was stopped.
    pub is_unfinished: bool,
}

#[derive(Clone, Debug)]
pub struct PlannerTable {
    pub subject: Arc<PlannerSubject>,
    /// The largest sum of sizes of buffers that are live at once.
    pub lower_bound: Bytes,
    /// In the order of the runs.
    pub rows: Vec<PlannerRow>,
    pub pending: Vec<&'static Strategy>,
    /// The smallest plan so far of the running search.
    pub searching: Option<SearchingRow>,
    /// The revision of the answer, and the graph, that it was made for.
    pub(super) order: (u64, GraphIdx),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchingRow {
    pub row: PlannerRow,
    pub(super) found: FoundPlan,
}

impl PlannerTable {
    pub(super) fn new(subject: Arc<PlannerSubject>, lower_bound: Bytes) -> Self {
        Self {
            pending: rows_for(&subject),
            subject,
            lower_bound,
            rows: Vec::new(),
            searching: None,
            order: (0, GraphIdx(0)),
        }
    }

    pub(super) fn take(&mut self, row: PlannerRow) {
        self.pending.retain(|strategy| *strategy != row.strategy);
        self.rows.push(row);
    }

    pub fn proved_bound(&self) -> Bytes {
        let proved = self
            .rows
            .iter()
            .filter_map(|row| Some(row.result.as_ref().ok()?.proved_bound));
        proved.max().unwrap_or_default().max(self.lower_bound)
    }

    pub fn smallest(&self) -> Option<Bytes> {
        let footprints = self
            .rows
            .iter()
            .filter_map(|row| Some(row.result.as_ref().ok()?.footprint));
        footprints.min()
    }
}

/// The best plan of a problem that any lane has shown.
#[derive(Clone, Debug)]
pub struct BestPlan {
    of: Arc<ProblemEntry>,
    pub footprint: Bytes,
    /// The strategy that found it first.
    pub strategy: &'static Strategy,
    pub proved_bound: Bytes,
}

impl BestPlan {
    /// Updates from the lanes of an answer; `None` where the answer is about no problem.
    pub(super) fn of_answer(known: Option<Self>, comparison: &Comparison) -> Option<Self> {
        let entry = comparison.stated_problem()?;
        let mut best = known.filter(|known| Arc::ptr_eq(&known.of, entry));
        for lane in &comparison.lanes {
            let Some((_, planned)) = lane.plans.first() else {
                continue;
            };
            let (footprint, proved) = (planned.plan.footprint, planned.proved_bound);
            let known = best.get_or_insert_with(|| Self {
                of: Arc::clone(entry),
                footprint,
                strategy: lane.strategy,
                proved_bound: proved,
            });
            known.proved_bound = known.proved_bound.max(proved);
            if footprint < known.footprint {
                (known.footprint, known.strategy) = (footprint, lane.strategy);
            }
        }
        best
    }
}

/// The strategies that suit the size, quick ones first.
fn rows_for(subject: &PlannerSubject) -> Vec<&'static Strategy> {
    let is_wanted = |row: &&Strategy| match row.effort {
        Effort::Sweep => true,
        Effort::Heuristic | Effort::Search => subject.problem.buffers.len() <= MAX_BUFFERS,
        Effort::Recorded => row.suits(subject.recorded.as_ref()),
    };
    let mut rows: Vec<&'static Strategy> = STRATEGIES.iter().filter(is_wanted).collect();
    rows.sort_by_key(|row| match row.effort {
        Effort::Sweep | Effort::Recorded => 0,
        Effort::Heuristic => 1,
        Effort::Search => 2,
    });
    rows
}

/// The arena of a graph, or the problem; `None` where the graph has no arena.
pub(super) fn subject_of(comparison: &Comparison, graph: GraphIdx) -> Option<PlannerSubject> {
    if let Some(entry) = comparison.stated_problem() {
        return Some(PlannerSubject {
            graph,
            problem: entry.problem.clone(),
            recorded: entry.recorded.clone(),
            order: entry.order.clone(),
        });
    }
    let session = &comparison.session;
    let is_static = session
        .graphs
        .get(graph.0 as usize)
        .is_some_and(|graph| graph.is_static);
    let run = session.runs.iter().find(|run| run.graph == graph)?;
    let entry = comparison.workload.graphs().get(graph.0 as usize)?;
    let dumped = entry.dumped.as_ref().and_then(|dumped| dumped.offsets.as_ref());
    is_static.then(|| PlannerSubject {
        graph,
        problem: arena_problem(&run.bound.program, &run.bound.engine_sizes),
        recorded: dumped.and_then(|plan| dumped_plan(plan, &run.bound.program.lifetimes).ok()),
        order: Some(entry_order(entry, &run.bound.program, &run.bound.io)),
    })
}

/// # Errors
/// [`Cancelled`]; a missing plan is a result.
pub(super) fn run_row(
    subject: &PlannerSubject,
    strategy: &'static Strategy,
    stopped: Vec<FoundPlan>,
    report: impl Fn(SearchingRow) + Send + Sync + 'static,
    progress: &Progress<'_>,
) -> Result<PlannerRow, Cancelled> {
    let mut request = PlanRequest {
        recorded: subject.recorded.as_ref(),
        order: subject.order.as_ref(),
        ..PlanRequest::new(&subject.problem)
    };
    if strategy.name == EXACT {
        request.limits.nodes = Limits::DEFAULT_NODES / (1 + subject.problem.buffers.len() as u64 / BUFFERS_PER_NODE);
    }
    #[expect(clippy::disallowed_methods, reason = "the worker owns a clock")]
    let start = Instant::now();
    let elapsed = move || Nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let search = PlanSearch {
        nodes: request.limits.nodes,
        watch: Some(PlanWatch::new(move |found| {
            let result = Ok(PlannerFigures::of(&found.planned, Some(elapsed())));
            let row = PlannerRow { strategy, result };
            report(SearchingRow { row, found });
        })),
        stopped,
    };
    let planned = search.place(strategy, &request, progress);
    let elapsed = elapsed();
    let result = match planned {
        Err(PlanError::Cancelled(cancelled)) => return Err(cancelled),
        Err(error) => Err(error.to_string()),
        // A plan of a stopped search is taken as it is, in no time.
        Ok(planned) => figures(subject, &planned, (!planned.is_unfinished).then_some(elapsed), progress)?,
    };
    Ok(PlannerRow { strategy, result })
}

fn figures(
    subject: &PlannerSubject,
    planned: &Planned,
    elapsed: Option<Nanos>,
    progress: &Progress<'_>,
) -> Result<Result<PlannerFigures, String>, Cancelled> {
    if let Err(defect) = highwater_plan::verify_with(&subject.problem, &planned.plan, progress)? {
        return Ok(Err(format!("invalid plan: {defect}")));
    }
    Ok(Ok(PlannerFigures::of(planned, elapsed)))
}

impl PlannerFigures {
    const fn of(planned: &Planned, elapsed: Option<Nanos>) -> Self {
        Self {
            footprint: planned.plan.footprint,
            proved_bound: planned.proved_bound,
            nodes: planned.nodes,
            elapsed,
            is_unfinished: planned.is_unfinished,
        }
    }
}
