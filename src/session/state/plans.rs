//! Strategies of lanes, and the planner's table.

use std::sync::Arc;

use super::super::command_line::{CommandLine, Origin};
use super::super::planner::{BestPlan, PlannerTable, SearchingRow, run_row, subject_of};
use super::super::task::{Outcome, TaskKind};
use super::Session;
use highwater_analysis::{FoundPlan, LaneId, LaneKind};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;
use highwater_plan::{BEST, find};

/// The planner's table, and the revision and graph that were requested last.
#[derive(Debug, Default)]
pub(super) struct Plans {
    table: Option<PlannerTable>,
    wanted: Option<(u64, GraphIdx)>,
}

impl Plans {
    /// Keeps the plan of the running search as its row.
    pub(super) fn stop_row(&mut self) -> Option<FoundPlan> {
        let table = self.table.as_mut()?;
        let SearchingRow { row, found } = table.searching.take()?;
        table.take(row);
        Some(found)
    }

    /// Lists the strategies whose search was stopped as pending.
    pub(super) fn restart_rows(&mut self) {
        let Some(table) = &mut self.table else { return };
        let stopped = table.rows.extract_if(.., |row| row.is_stopped());
        table.pending.extend(stopped.map(|row| row.strategy));
    }
}

impl Session {
    pub fn planner_table(&self) -> Option<&PlannerTable> {
        self.plans.table.as_ref()
    }

    /// `None` where the answer is about no problem.
    pub const fn best_plan(&self) -> Option<&BestPlan> {
        self.best_plan.as_ref()
    }

    /// Whether the table that was requested last belongs to the answer on the screen and to this graph.
    pub fn has_planner_table(&self, graph: GraphIdx) -> bool {
        self.answer.is_none() || self.plans.wanted == Some((self.revision, graph))
    }

    /// Whether strategies of the table are pending.
    pub fn is_planner_running(&self) -> bool {
        self.worker.is_waiting(TaskKind::Plans)
    }

    /// Starts the table for a graph of the answer.
    pub(super) fn list_plans(&mut self, graph: GraphIdx) {
        let Some((comparison, _)) = &self.answer else { return };
        self.plans.wanted = Some((self.revision, graph));
        let comparison = Arc::clone(comparison);
        self.run(
            TaskKind::Plans,
            move |_| {
                let subject = subject_of(&comparison, graph);
                Ok(subject.map(|subject| (subject.problem.lower_bound(), subject)))
            },
            |session, subject| {
                let known = session.plans.table.take();
                session.plans.table = subject.map(|(lower_bound, subject)| {
                    // Rows of the same problem stay.
                    let known = known.filter(|table| *table.subject == subject);
                    known.unwrap_or_else(|| PlannerTable::new(Arc::new(subject), lower_bound))
                });
                session.next_plan();
            },
        );
    }

    /// Runs the next strategy.
    pub(super) fn next_plan(&mut self) {
        let Some(table) = &mut self.plans.table else { return };
        table.searching = None;
        let Some(strategy) = table.pending.first().copied() else {
            return;
        };
        let subject = Arc::clone(&table.subject);
        let stopped = self.found.stopped.clone();
        self.worker.send_in_parts(
            TaskKind::Plans,
            move |partial, progress| {
                let report = move |searching| {
                    partial.offer(|session: &mut Self| session.change_table(|table| table.searching = Some(searching)));
                };
                Ok(run_row(&subject, strategy, stopped, report, progress)?)
            },
            |session, outcome| {
                session.change_table(|table| table.searching = None);
                if let Outcome::Done(row) = outcome {
                    session.change_table(|table| table.take(row));
                    session.next_plan();
                }
            },
        );
    }

    fn change_table(&mut self, change: impl FnOnce(&mut PlannerTable)) {
        if let Some(table) = &mut self.plans.table {
            change(table);
        }
    }

    /// The command line that prints the figures on the screen.
    pub fn command_line(&self) -> String {
        let document = self.complete(&self.document);
        let line = CommandLine::new(&document, Origin::default());
        match &self.answer {
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
