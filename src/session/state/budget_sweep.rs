//! Lanes of runs under budgets, and the sweep over budgets.

use std::sync::Arc;

use super::super::budget_sweep::{BudgetSweepSubject, BudgetSweepTable, sweep_subject};
use super::super::document::Document;
use super::super::task::TaskKind;
use super::{Notice, Session};
use highwater_analysis::{
    LaneChoice, LaneSet, LaneStrategies, MAX_PASS_LANES, RematLane, opening_lanes, study_of, sweep,
};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;

#[derive(Debug, Default)]
pub(super) struct BudgetSweep {
    table: Option<BudgetSweepTable>,
    settings: Option<Document>,
    graph: Option<GraphIdx>,
}

impl Session {
    pub fn budget_sweep(&self) -> Option<&BudgetSweepTable> {
        self.budget_sweep.table.as_ref()
    }

    /// Whether the sweep was made with other settings than those of the document.
    pub fn is_budget_sweep_stale(&self) -> bool {
        let settings = self.budget_sweep.settings.as_ref();
        settings.is_some_and(|settings| *settings != self.budget_sweep_settings())
    }

    pub fn is_budget_sweep_running(&self) -> bool {
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
        if self.loaded.is_none() || self.worker.is_waiting(TaskKind::Load) {
            // The document names other sources than those that are loaded.
            return;
        }
        let is_same = self.budget_sweep.graph == Some(graph) && !self.is_budget_sweep_stale();
        let table = self.budget_sweep.table.as_ref();
        if is_same && table.is_some_and(BudgetSweepTable::is_unfinished) {
            if !self.is_budget_sweep_running() {
                self.continue_budget_sweep();
            }
            return;
        }
        self.budget_sweep.table = None;
        self.budget_sweep.graph = Some(graph);
        self.continue_budget_sweep();
    }

    pub(super) fn drop_budget_sweep(&mut self) {
        self.discard(TaskKind::BudgetSweep);
        self.budget_sweep = BudgetSweep::default();
    }

    /// Sends the next part: the tape with its peaks, or points.
    fn continue_budget_sweep(&mut self) {
        let Some(table) = &self.budget_sweep.table else {
            self.prepare_budget_sweep();
            return;
        };
        let points = table.next();
        if points.is_empty() {
            return;
        }
        let subject = Arc::clone(&table.subject);
        self.run_part(
            TaskKind::BudgetSweep,
            move |progress| Ok(sweep(&subject.tape, &points, &subject.base, progress)?),
            |session, points| {
                if let Some(table) = &mut session.budget_sweep.table {
                    table.take(points);
                }
            },
            Self::continue_budget_sweep,
        );
    }

    fn prepare_budget_sweep(&mut self) {
        let request = self.request().filter(|_| !self.worker.is_waiting(TaskKind::Load));
        let Some((request, graph)) = request.zip(self.budget_sweep.graph) else {
            return;
        };
        self.budget_sweep.settings = Some(self.budget_sweep_settings());
        self.run_part(
            TaskKind::BudgetSweep,
            move |progress| Ok(sweep_subject(&request, graph, progress)?),
            Self::take_budget_subject,
            Self::continue_budget_sweep,
        );
    }

    fn take_budget_subject(&mut self, subject: Option<BudgetSweepSubject>) {
        let Some(subject) = subject else {
            self.budget_sweep = BudgetSweep::default();
            self.notice = Some(Notice::Failed(
                "nothing to run under a budget; open a graph or a DTR log".to_owned(),
            ));
            return;
        };
        // Where settings changed while the tape was made, it is made again.
        if !self.is_budget_sweep_stale() {
            self.budget_sweep.table = Some(BudgetSweepTable::new(Arc::new(subject)));
        }
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
        let request = tape.and_then(|_| self.request());
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
