//! Strategies of lanes, and the planner's table.

use std::sync::Arc;

use super::super::command_line::{CommandLine, Origin};
use super::super::planner::{BestPlan, PlannerTable, SearchingRow, run_row, subject_of};
use super::super::task::{Failure, TaskKind};
use super::Session;
use super::swept::{Part, Sweep, Swept};
use highwater_analysis::{FoundPlan, LaneId, LaneKind};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;
use highwater_plan::{BEST, find};

impl Swept for PlannerTable {
    /// The revision of the answer, and the graph.
    type Order = (u64, GraphIdx);

    const KIND: TaskKind = TaskKind::Plans;

    fn sweep(session: &mut Session) -> &mut Sweep<Self> {
        &mut session.plans
    }

    /// The last table, which stays until the arena is known.
    fn new(session: &Session, _: &Self::Order) -> Result<Option<Self>, Failure> {
        Ok(session.plans.table.clone())
    }

    fn interrupt(&mut self) {
        self.searching = None;
    }

    /// The arena, then a strategy.
    fn next(session: &Session) -> Option<Part> {
        let order = session.plans.order.filter(|_| session.plans.failure.is_none())?;
        let table = session.plans.table.as_ref().filter(|table| table.order == order);
        let Some(table) = table else {
            return prepare(session, order);
        };
        // The pane asks again once there is a newer answer.
        let strategy = table.pending.first().copied().filter(|_| !session.is_stale())?;
        let subject = Arc::clone(&table.subject);
        let stopped = session.found.stopped.clone();
        Some(Box::new(move |partial, progress| {
            let report = move |searching| {
                partial.offer(|session: &mut Session| session.plans.change(|table| table.searching = Some(searching)));
            };
            let row = run_row(&subject, strategy, stopped, report, progress)?;
            Ok(Box::new(|session| {
                session.plans.change(|table| {
                    table.searching = None;
                    table.take(row);
                });
            }))
        }))
    }
}

/// Finds the arena of a graph of the answer. Rows of the same one stay.
fn prepare(session: &Session, order: (u64, GraphIdx)) -> Option<Part> {
    let comparison = Arc::clone(session.answers.comparison()?);
    Some(Box::new(move |_, _| {
        let subject = subject_of(&comparison, order.1);
        let found = subject.map(|subject| (subject.problem.peak_live(), subject));
        Ok(Box::new(move |session| {
            let known = session.plans.table.take();
            let Some((lower_bound, subject)) = found else {
                session.plans.failure = Some("the graph has no arena".to_owned());
                return;
            };
            let known = known.filter(|table| *table.subject == subject);
            let mut table = known.unwrap_or_else(|| PlannerTable::new(Arc::new(subject), lower_bound));
            (table.order, table.searching) = (order, None);
            session.plans.table = Some(table);
        }))
    }))
}

impl PlannerTable {
    /// Keeps the plan of the running search as its row.
    pub(super) fn stop_row(&mut self) -> Option<FoundPlan> {
        let SearchingRow { row, found } = self.searching.take()?;
        self.take(row);
        Some(found)
    }

    /// Lists the strategies whose search was stopped as pending.
    pub(super) fn restart_rows(&mut self) {
        let stopped = self.rows.extract_if(.., |row| row.is_stopped());
        self.pending.extend(stopped.map(|row| row.strategy));
    }
}

impl Session {
    pub fn planner_table(&self) -> Option<&PlannerTable> {
        self.plans.table.as_ref()
    }

    /// `None` where the answer is about no problem.
    pub const fn best_plan(&self) -> Option<&BestPlan> {
        self.answers.best_plan()
    }

    /// Whether the table that was requested last belongs to the answer on the screen and to this graph.
    pub fn has_planner_table(&self, graph: GraphIdx) -> bool {
        self.answers.pair().is_none() || self.plans.order == Some((self.answers.revision(), graph))
    }

    /// Whether strategies of the table are pending.
    pub fn is_planner_running(&self) -> bool {
        self.worker.is_waiting(TaskKind::Plans)
    }

    /// The command line that prints the figures on the screen.
    pub fn command_line(&self) -> String {
        let document = self.schedule.complete(&self.document);
        let line = CommandLine::new(&document, Origin::default());
        match self.answer() {
            Some((comparison, _)) if comparison.lane_kind() == LaneKind::Strategies => {
                let strategy = comparison.main_lane().map(|lane| comparison.lanes[lane].strategy.name);
                line.plan(strategy.unwrap_or(BEST))
            }
            _ => line.compare(None),
        }
    }

    /// Chooses the placement strategy of one lane or of all.
    pub(super) fn choose_strategy(&mut self, lane: Option<LaneId>, strategy: Option<&'static str>) {
        let row = strategy.and_then(|name| find(name).ok());
        match (lane, row) {
            (Some(lane), _) => self.document.strategies.set(lane, row),
            (None, row) => {
                self.document.strategies.clear();
                match row {
                    // Names of strategies are the choices of the option.
                    Some(row) => drop(self.document.options.set_text(keys::PLACEMENT_STRATEGY, row.name)),
                    None => self.document.options.reset(keys::PLACEMENT_STRATEGY),
                }
            }
        }
    }
}
