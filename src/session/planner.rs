//! The planner's table: every strategy over one problem, one after the other, each with its time.

use std::sync::Arc;
use std::time::Instant;

use crate::plan::{Effort, PlanError, PlanRequest, Planned, Problem, STRATEGIES, Strategy, plan};
use crate::progress::{Cancelled, Progress};
use crate::units::{Bytes, Nanos};
use crate::workload::{GraphIdx, RecordedPlan};

/// Strategies that are more than a sweep are left out of the table beyond so many buffers.
const MAX_BUFFERS: usize = 200_000;

/// What the table is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerSubject {
    /// The graph whose arena is placed; of a problem the only one.
    pub graph: GraphIdx,
    /// What to place.
    pub problem: Problem,
    /// The plan that the source carries.
    pub recorded: Option<RecordedPlan>,
}

/// One strategy's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerRow {
    /// The strategy.
    pub strategy: &'static Strategy,
    /// Its figures, or why there are none.
    pub result: Result<PlannerFigures, String>,
}

/// What a strategy reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannerFigures {
    /// Its footprint.
    pub footprint: Bytes,
    /// Whether no plan can be smaller.
    pub is_optimal: bool,
    /// The best bound that it proved.
    pub proved_bound: Bytes,
    /// Search nodes.
    pub nodes: u64,
    /// How long it took.
    pub elapsed: Nanos,
}

/// The table as far as it is known.
#[derive(Clone, Debug)]
pub struct PlannerTable {
    /// What it is about.
    pub subject: Arc<PlannerSubject>,
    /// The largest sum of sizes that are live at once.
    pub lower_bound: Bytes,
    /// Rows in the order in which they were worked out.
    pub rows: Vec<PlannerRow>,
    /// Whether more rows will come.
    pub is_running: bool,
}

impl PlannerTable {
    /// The best bound that any strategy proved.
    pub fn proved_bound(&self) -> Bytes {
        let proved = self
            .rows
            .iter()
            .filter_map(|row| Some(row.result.as_ref().ok()?.proved_bound));
        proved.max().unwrap_or_default().max(self.lower_bound)
    }
}

/// Runs every strategy that fits the size, the quick ones first, and hands out each row as soon as it is known.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn run_all(
    subject: &PlannerSubject,
    progress: &Progress<'_>,
    say: &dyn Fn(PlannerRow),
) -> Result<(), Cancelled> {
    let is_wanted = |row: &&Strategy| match row.effort {
        Effort::Sweep => true,
        Effort::Heuristic | Effort::Search => subject.problem.buffers.len() <= MAX_BUFFERS,
        Effort::Recorded => subject.recorded.is_some(),
    };
    let mut rows: Vec<&'static Strategy> = STRATEGIES.iter().filter(is_wanted).collect();
    rows.sort_by_key(|row| row.effort == Effort::Search);
    for strategy in rows {
        let request = PlanRequest {
            recorded: subject.recorded.as_ref(),
            ..PlanRequest::new(&subject.problem)
        };
        #[expect(clippy::disallowed_methods, reason = "the worker owns a clock")]
        let start = Instant::now();
        let planned = plan(strategy, &request, progress);
        let elapsed = Nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let result = match planned {
            Err(PlanError::Cancelled(cancelled)) => return Err(cancelled),
            Err(error) => Err(error.to_string()),
            Ok(planned) => figures(subject, (&planned, elapsed), progress)?,
        };
        say(PlannerRow { strategy, result });
    }
    Ok(())
}

fn figures(
    subject: &PlannerSubject,
    (planned, elapsed): (&Planned, Nanos),
    progress: &Progress<'_>,
) -> Result<Result<PlannerFigures, String>, Cancelled> {
    if let Err(defect) = crate::plan::verify_with(&subject.problem, &planned.plan, progress)? {
        return Ok(Err(format!("no valid plan: {defect}")));
    }
    Ok(Ok(PlannerFigures {
        footprint: planned.plan.footprint,
        is_optimal: planned.is_optimal(),
        proved_bound: planned.proved_bound,
        nodes: planned.nodes,
        elapsed,
    }))
}
