//! Strategies of lanes, and the planner's table.

use std::sync::Arc;

use super::super::command_line::{CommandLine, Origin};
use super::super::jobs::{Answer, Job};
use super::super::planner::{BestPlan, PlannerTable};
use super::{Notice, Session};
use highwater_analysis::{LaneId, LaneKind};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;
use highwater_plan::{BEST, find};

impl Session {
    /// The planner's table, as far as it is known.
    pub fn planner_table(&self) -> Option<&PlannerTable> {
        self.planner.as_ref()
    }

    /// The best plan that lanes have shown of the answer's problem; `None` where it is about none.
    pub const fn best_plan(&self) -> Option<&BestPlan> {
        self.best_plan.as_ref()
    }

    /// Whether the table that was asked for last belongs to the answer on the screen and to this graph.
    pub fn has_planner_table(&self, graph: GraphIdx) -> bool {
        self.answer.is_none() || self.planner_asked == Some((self.n_answers, graph))
    }

    /// Starts the table for a graph of the answer; what is known of the same problem stays.
    pub(super) fn list_plans(&mut self, graph: GraphIdx) {
        let Some((comparison, _)) = &self.answer else { return };
        self.planner_asked = Some((self.n_answers, graph));
        self.planner_awaited = true;
        self.planner_generation = self.worker.send(Job::PlannerSubject {
            comparison: Arc::clone(comparison),
            graph,
            known: self.planner.as_ref().map(|table| Arc::clone(&table.subject)),
        });
    }

    /// Takes what the worker says about the table; gives back what is about something else.
    pub(super) fn take_plans(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.planner_generation {
            let is_old = matches!(answer, Answer::Planned(_) | Answer::PlannerSubject(_));
            return (!is_old).then_some(answer);
        }
        self.planner_awaited &= matches!(answer, Answer::Progress { .. });
        match answer {
            Answer::PlannerSubject(None) => self.planner = None,
            Answer::PlannerSubject(Some((subject, lower_bound))) => {
                let is_known = |table: &PlannerTable| Arc::ptr_eq(&table.subject, &subject);
                if !self.planner.as_ref().is_some_and(is_known) {
                    self.planner = Some(PlannerTable::new(subject, lower_bound));
                }
                self.next_plan();
            }
            Answer::Planned(row) => {
                if let Some(table) = &mut self.planner {
                    table.pending.retain(|strategy| *strategy != row.strategy);
                    table.rows.push(row);
                }
                self.next_plan();
            }
            Answer::Failed(message) => {
                self.stop_plans();
                self.notice = Some(Notice::Failed(message));
            }
            Answer::Cancelled => self.stop_plans(),
            _ => {}
        }
        None
    }

    /// Asks for the next row.
    fn next_plan(&mut self) {
        let Some(table) = &mut self.planner else { return };
        table.is_running = !table.pending.is_empty();
        if let Some(strategy) = table.pending.first() {
            self.planner_generation = self.worker.send(Job::PlannerRow(Arc::clone(&table.subject), strategy));
        }
    }

    fn stop_plans(&mut self) {
        if let Some(table) = &mut self.planner {
            table.is_running = false;
        }
    }

    /// The command that prints the figures on the screen.
    pub fn command_line(&self) -> String {
        let line = CommandLine::new(self.document(), Origin::default());
        match &self.answer {
            Some((comparison, _)) if comparison.lane_kind() == LaneKind::Strategies => {
                let strategy = comparison.main_lane().map(|lane| comparison.lanes[lane].strategy.name);
                line.plan(strategy.unwrap_or(BEST))
            }
            _ => line.compare(None),
        }
    }

    /// Whether rows of the table are still to come.
    pub(super) fn is_planning(&self) -> bool {
        self.planner_awaited || self.planner.as_ref().is_some_and(|table| table.is_running)
    }

    /// Chooses how arenas are placed, of one lane or of all.
    pub(super) fn choose_strategy(&mut self, lane: Option<LaneId>, strategy: Option<&'static str>) {
        let row = strategy.and_then(|name| find(name).ok());
        match (lane, row) {
            (Some(lane), _) => self.document.strategies.set(lane, row),
            (None, row) => {
                self.document.strategies.clear();
                match row {
                    // The table's names are the option's choices.
                    Some(row) => drop(self.document.options.set_text(keys::PLACEMENT_STRATEGY, row.name)),
                    None => self.document.options.reset(keys::PLACEMENT_STRATEGY),
                }
            }
        }
    }
}
