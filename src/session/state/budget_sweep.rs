//! Lanes of runs under budgets, and the sweep over many of them.

use std::sync::Arc;

use super::super::budget_sweep::BudgetSweepTable;
use super::super::document::Document;
use super::super::jobs::{Answer, Job};
use super::{Notice, Session};
use highwater_analysis::{LaneChoice, LaneSet, LaneStrategies, MAX_PASS_LANES, RematLane, opening_lanes, study_of};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;

/// The sweep and what it was asked for.
#[derive(Debug, Default)]
pub(super) struct BudgetSweepWatch {
    table: Option<BudgetSweepTable>,
    /// The settings that the table belongs to.
    of: Option<Document>,
    /// The graph that was asked for.
    asked: Option<GraphIdx>,
    /// What the worker has in hand; 0 is nothing.
    generation: u64,
}

impl Session {
    /// The sweep, as far as it is known.
    pub fn sweep(&self) -> Option<&BudgetSweepTable> {
        self.sweep.table.as_ref()
    }

    /// Whether the sweep on the screen was made with other settings than those of the document.
    pub fn is_sweep_stale(&self) -> bool {
        self.sweep.of.as_ref().is_some_and(|of| *of != self.sweep_settings())
    }

    /// Whether points of the sweep are still to come.
    pub fn is_sweeping(&self) -> bool {
        self.sweep.generation != 0
    }

    /// What a sweep depends on: neither lanes nor the budget.
    fn sweep_settings(&self) -> Document {
        let mut settings = self.document.clone();
        settings.lanes = LaneSet::Policies;
        settings.strategies = LaneStrategies::default();
        settings.options.reset(keys::EVICTION_THRESHOLD);
        settings.options.reset(keys::REMAT_HEURISTIC);
        settings
    }

    /// Starts a sweep; one of the same graph under the same settings that was stopped goes on instead.
    pub(super) fn start_sweep(&mut self, graph: GraphIdx) {
        if self.load_generation != 0 {
            // What is loaded is not what the document names.
            return;
        }
        let is_same = self.sweep.asked == Some(graph) && !self.is_sweep_stale();
        if is_same && self.sweep.table.as_ref().is_some_and(BudgetSweepTable::is_unfinished) {
            if !self.is_sweeping() {
                self.next_points();
            }
            return;
        }
        let Some(loaded) = &self.loaded else { return };
        let request = self.request(Arc::clone(&loaded.workload));
        self.sweep.of = Some(self.sweep_settings());
        self.sweep.table = None;
        self.sweep.asked = Some(graph);
        self.sweep.generation = self.worker.send(Job::BudgetSweepSubject(Box::new(request), graph));
    }

    /// Forgets the sweep: it is about sources that are gone.
    pub(super) fn drop_sweep(&mut self) {
        self.stop_sweep();
        self.sweep = BudgetSweepWatch::default();
    }

    /// Ends the sweep where it is.
    pub(super) fn stop_sweep(&mut self) {
        self.sweep.generation = 0;
        if let Some(table) = &mut self.sweep.table {
            table.is_running = false;
        }
        self.worker.cancel_sweep();
    }

    /// Takes what the worker says about the sweep; gives back what is about something else.
    pub(super) fn take_sweep(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.sweep.generation || generation == 0 {
            let is_old = matches!(answer, Answer::BudgetSweepSubject(_) | Answer::Swept(_));
            return (!is_old).then_some(answer);
        }
        match answer {
            Answer::BudgetSweepSubject(None) => {
                self.sweep.generation = 0;
                self.notice = Some(Notice::Failed(
                    "there is nothing to run under a budget: open a graph or a DTR log".to_owned(),
                ));
            }
            // Settings changed while the tape was made: nothing of the sweep is known yet, so it begins anew.
            Answer::BudgetSweepSubject(Some(_)) if self.sweep.of.as_ref() != Some(&self.sweep_settings()) => {
                self.sweep.generation = 0;
                if let Some(graph) = self.sweep.asked {
                    self.start_sweep(graph);
                }
            }
            Answer::BudgetSweepSubject(Some(subject)) => {
                self.sweep.table = Some(BudgetSweepTable::new(subject));
                self.next_points();
            }
            Answer::Swept(points) => {
                if let Some(table) = &mut self.sweep.table {
                    table.take(points);
                }
                self.next_points();
            }
            Answer::Failed(message) => {
                self.stop_sweep();
                self.notice = Some(Notice::Failed(message));
            }
            // A comparison came in between: go on behind it.
            Answer::Cancelled if self.sweep.table.is_some() => self.next_points(),
            Answer::Cancelled => {
                self.sweep.generation = 0;
                if let Some(graph) = self.sweep.asked {
                    self.start_sweep(graph);
                }
            }
            _ => {}
        }
        None
    }

    /// Asks for the next points.
    fn next_points(&mut self) {
        let Some(table) = &mut self.sweep.table else { return };
        let tasks = table.next();
        table.is_running = !tasks.is_empty();
        self.sweep.generation = if tasks.is_empty() {
            0
        } else {
            self.worker.send(Job::SweepPoints(Arc::clone(&table.subject), tasks))
        };
    }

    /// Opens a lane of a run under a budget; the oldest makes room where there are too many.
    pub(super) fn add_remat_lane(&mut self, lane: RematLane) {
        let mut lanes = match &self.document.lanes {
            LaneSet::Remat(lanes) => lanes.clone(),
            LaneSet::Policies | LaneSet::NameReuse => self.opening_lanes(),
        };
        if lanes.contains(&lane) {
            return;
        }
        if lanes.len() + 1 >= MAX_PASS_LANES {
            lanes.remove(0);
        }
        lanes.push(lane);
        self.document.lanes = LaneSet::Remat(lanes);
    }

    /// The lanes of runs under budgets that are there although nobody opened them: those of a tape.
    fn opening_lanes(&self) -> Vec<RematLane> {
        let tape = self
            .loaded
            .as_ref()
            .filter(|loaded| study_of(&loaded.workload).lane_choice() == LaneChoice::Budgets);
        let request = tape.map(|loaded| self.request(Arc::clone(&loaded.workload)));
        request.map_or_else(Vec::new, |request| opening_lanes(&request))
    }

    /// Closes such a lane; without any the policies are compared again.
    pub(super) fn remove_remat_lane(&mut self, position: usize) {
        let LaneSet::Remat(lanes) = &mut self.document.lanes else {
            return;
        };
        if position < lanes.len() {
            lanes.remove(position);
        }
        if lanes.is_empty() {
            self.document.lanes = LaneSet::Policies;
        }
    }
}
