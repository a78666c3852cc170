//! Strategies of lanes, and the planner's table.

use std::sync::Arc;

use super::super::planner::{PlannerSubject, PlannerTable};
use super::super::worker::{Answer, Job};
use super::Session;
use crate::analysis::{Comparison, LaneId, arena_problem};
use crate::options::keys;
use crate::plan::{BEST, find};
use crate::workload::GraphIdx;

impl Session {
    /// The planner's table, as far as it is known.
    pub fn planner_table(&self) -> Option<&PlannerTable> {
        self.planner.as_ref()
    }

    /// Whether the table that was asked for last belongs to the answer on the screen and to this graph.
    pub fn has_planner_table(&self, graph: GraphIdx) -> bool {
        let Some((comparison, _)) = &self.answer else {
            return true;
        };
        self.planner_asked == Some((Arc::as_ptr(comparison).addr(), graph))
    }

    /// Starts the table for a graph of the answer, unless it is there.
    pub(super) fn list_plans(&mut self, graph: GraphIdx) {
        let Some((comparison, _)) = &self.answer else { return };
        self.planner_asked = Some((Arc::as_ptr(comparison).addr(), graph));
        let Some(subject) = subject_of(comparison, graph) else {
            self.planner = None;
            return;
        };
        if self.planner.as_ref().is_some_and(|table| *table.subject == subject) {
            return;
        }
        let subject = Arc::new(subject);
        self.planner = Some(PlannerTable {
            lower_bound: subject.problem.lower_bound(),
            subject: Arc::clone(&subject),
            rows: Vec::new(),
            is_running: true,
        });
        self.planner_generation = self.worker.send(Job::Plans(subject));
    }

    /// Takes what the worker says about the table; gives back what is about something else.
    pub(super) fn take_plans(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.planner_generation {
            let is_old = matches!(answer, Answer::Planned(_) | Answer::AllPlanned);
            return (!is_old).then_some(answer);
        }
        if let Some(table) = &mut self.planner {
            match answer {
                Answer::Planned(row) => table.rows.push(row),
                Answer::Progress { .. } => {}
                _ => table.is_running = false,
            }
        }
        None
    }

    /// The command that prints the figures on the screen.
    pub fn command_line(&self) -> String {
        let document = self.document();
        match &self.answer {
            Some((comparison, _)) if comparison.is_problem() => {
                let strategy = comparison.main_lane().map(|lane| comparison.lanes[lane].strategy.name);
                document.plan_command_line(strategy.unwrap_or(BEST))
            }
            _ => document.command_line(None),
        }
    }

    /// Whether rows of the table are still to come.
    pub(super) fn is_planning(&self) -> bool {
        self.planner.as_ref().is_some_and(|table| table.is_running)
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

/// What is placed for a graph: its arena, or the problem itself. `None` where it has no arena.
fn subject_of(comparison: &Comparison, graph: GraphIdx) -> Option<PlannerSubject> {
    if let Some(entry) = comparison.workload.problems().first() {
        return Some(PlannerSubject {
            graph,
            problem: entry.problem.clone(),
            recorded: entry.recorded.clone(),
        });
    }
    let session = &comparison.session;
    let is_static = session
        .graphs
        .get(graph.0 as usize)
        .is_some_and(|graph| graph.is_static);
    let run = session.runs.iter().find(|run| run.graph == graph)?;
    is_static.then(|| PlannerSubject {
        graph,
        problem: arena_problem(&run.bound.program, &run.bound.engine_sizes),
        recorded: None,
    })
}
