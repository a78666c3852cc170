//! Lanes of runs under budgets, and the sweep over budgets.

use std::sync::Arc;

use super::super::budget_sweep::{BudgetSweepSubject, BudgetSweepTable, sweep_points, sweep_subject};
use super::super::document::Document;
use super::super::task::{Outcome, TaskKind};
use super::{Notice, Session};
use highwater_analysis::{LaneChoice, LaneSet, LaneStrategies, MAX_PASS_LANES, RematLane, opening_lanes, study_of};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;

#[derive(Debug, Default)]
pub(super) struct BudgetSweep {
    table: Option<BudgetSweepTable>,
    settings: Option<Document>,
    graph: Option<GraphIdx>,
}

impl Session {
    pub fn sweep(&self) -> Option<&BudgetSweepTable> {
        self.budget_sweep.table.as_ref()
    }

    /// Whether the sweep was made with other settings than those of the document.
    pub fn is_sweep_stale(&self) -> bool {
        let settings = self.budget_sweep.settings.as_ref();
        settings.is_some_and(|settings| *settings != self.budget_sweep_settings())
    }

    pub fn is_sweeping(&self) -> bool {
        self.worker.is_waiting(TaskKind::BudgetSweep)
    }

    /// The document without settings that do not affect the sweep: lanes and the budget.
    fn budget_sweep_settings(&self) -> Document {
        let mut settings = self.document.clone();
        settings.lanes = LaneSet::Policies;
        settings.strategies = LaneStrategies::default();
        settings.options.reset(keys::EVICTION_THRESHOLD);
        settings.options.reset(keys::REMAT_HEURISTIC);
        settings
    }

    /// Starts a sweep, or continues a stopped one of the same graph and settings.
    pub(super) fn start_budget_sweep(&mut self, graph: GraphIdx) {
        if self.worker.is_waiting(TaskKind::Load) {
            // The document names other sources than those that are loaded.
            return;
        }
        let is_same = self.budget_sweep.graph == Some(graph) && !self.is_sweep_stale();
        let table = self.budget_sweep.table.as_ref();
        if is_same && table.is_some_and(BudgetSweepTable::is_unfinished) {
            if !self.is_sweeping() {
                self.next_budgets();
            }
            return;
        }
        let Some(loaded) = &self.loaded else { return };
        let request = self.request(Arc::clone(&loaded.workload));
        self.budget_sweep = BudgetSweep {
            table: None,
            settings: Some(self.budget_sweep_settings()),
            graph: Some(graph),
        };
        self.worker.send(
            TaskKind::BudgetSweep,
            move |progress| Ok(sweep_subject(&request, graph, progress)?),
            move |session, outcome| match outcome {
                Outcome::Done(subject) => session.take_budget_subject(graph, subject),
                Outcome::Failed(_) => session.stop_budget_sweep(),
                // A comparison interrupted it.
                Outcome::Cancelled => session.start_budget_sweep(graph),
            },
        );
    }

    fn take_budget_subject(&mut self, graph: GraphIdx, subject: Option<BudgetSweepSubject>) {
        let Some(subject) = subject else {
            self.notice = Some(Notice::Failed(
                "there is nothing to run under a budget: open a graph or a DTR log".to_owned(),
            ));
            return;
        };
        if self.is_sweep_stale() {
            // Settings changed while the tape was made.
            self.start_budget_sweep(graph);
        } else {
            self.budget_sweep.table = Some(BudgetSweepTable::new(Arc::new(subject)));
            self.next_budgets();
        }
    }

    pub(super) fn drop_budget_sweep(&mut self) {
        self.stop_budget_sweep();
        self.budget_sweep = BudgetSweep::default();
    }

    /// Stops the sweep; its points stay.
    pub(super) fn stop_budget_sweep(&mut self) {
        self.discard(TaskKind::BudgetSweep);
        if let Some(table) = &mut self.budget_sweep.table {
            table.is_running = false;
        }
    }

    fn next_budgets(&mut self) {
        let Some(table) = &mut self.budget_sweep.table else {
            return;
        };
        let points = table.next();
        table.is_running = !points.is_empty();
        if !table.is_running {
            return;
        }
        let subject = Arc::clone(&table.subject);
        self.worker.send(
            TaskKind::BudgetSweep,
            move |progress| Ok(sweep_points(&subject, &points, progress)?),
            |session, outcome| match outcome {
                Outcome::Done(points) => {
                    if let Some(table) = &mut session.budget_sweep.table {
                        table.take(points);
                    }
                    session.next_budgets();
                }
                Outcome::Failed(_) => session.stop_budget_sweep(),
                // A comparison interrupted the sweep, which continues after it.
                Outcome::Cancelled => session.next_budgets(),
            },
        );
    }

    /// Adds a lane; the oldest is removed where there are too many.
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

    /// The lanes with budgets that a tape opens with.
    fn opening_lanes(&self) -> Vec<RematLane> {
        let tape = self
            .loaded
            .as_ref()
            .filter(|loaded| study_of(&loaded.workload).lane_choice() == LaneChoice::Budgets);
        let request = tape.map(|loaded| self.request(Arc::clone(&loaded.workload)));
        request.map_or_else(Vec::new, |request| opening_lanes(&request))
    }

    /// Without such lanes the policies are compared again.
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
