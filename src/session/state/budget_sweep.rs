//! Lanes of runs under budgets, and the sweep over budgets.

use std::sync::Arc;

use super::super::budget_sweep::{BudgetSweepTable, sweep_subject};
use super::super::task::TaskKind;
use super::swept::{Part, Settings, Sweep, Swept};
use super::{Notice, Session};
use highwater_analysis::{LaneChoice, LaneSet, MAX_PASS_LANES, RematLane, opening_lanes, study_of, sweep};
use highwater_model::workload::GraphIdx;
use highwater_options::keys;

impl Swept for BudgetSweepTable {
    type Order = GraphIdx;

    const KIND: TaskKind = TaskKind::BudgetSweep;

    fn sweep(session: &mut Session) -> &mut Sweep<Self> {
        &mut session.budget_sweep
    }

    /// The document without settings that do not affect the runs: lanes and the budget.
    fn settings(session: &Session, _: &GraphIdx) -> Option<Settings> {
        let mut settings = session.document.without_lanes();
        settings.options.reset(keys::EVICTION_THRESHOLD);
        settings.options.reset(keys::REMAT_HEURISTIC);
        Some((settings, Arc::clone(session.judged.files())))
    }

    fn starts_again(&self) -> bool {
        !self.is_unfinished()
    }

    /// The tape with its peaks, then points.
    fn next(session: &Session) -> Option<Part> {
        let Some(table) = &session.budget_sweep.table else {
            return prepare(session);
        };
        let (tasks, subject) = (table.next(), Arc::clone(&table.subject));
        (!tasks.is_empty()).then(|| -> Part {
            Box::new(move |_, progress| {
                let points = sweep(&subject.tape, &tasks, &subject.base, progress)?;
                Ok(Box::new(|session| {
                    session.budget_sweep.change(|table| table.take(points));
                }))
            })
        })
    }
}

fn prepare(session: &Session) -> Option<Part> {
    let request = session
        .request()
        .filter(|_| !session.worker.is_waiting(TaskKind::Load))?;
    let graph = session.budget_sweep.order?;
    Some(Box::new(move |_, progress| {
        let subject = sweep_subject(&request, graph, progress)?;
        Ok(Box::new(|session| {
            let Some(subject) = subject else {
                let why = "nothing to run under a budget; open a graph or a DTR log";
                session.budget_sweep = Sweep::default();
                session.notice = Some(Notice::Failed(why.to_owned()));
                return;
            };
            // Where settings changed while the tape was made, it is made again.
            if !session.is_budget_sweep_stale() {
                session.budget_sweep.table = Some(BudgetSweepTable::new(Arc::new(subject)));
            }
        }))
    }))
}

impl Session {
    pub fn budget_sweep(&self) -> Option<&BudgetSweepTable> {
        self.budget_sweep.table.as_ref()
    }

    /// Whether the sweep was made with other settings than those of the document.
    pub fn is_budget_sweep_stale(&self) -> bool {
        self.budget_sweep.is_stale(self)
    }

    /// The number of the sweep, from 1.
    pub fn budget_sweep_number(&self) -> u64 {
        self.budget_sweep.number
    }

    pub fn is_budget_sweep_running(&self) -> bool {
        self.worker.is_waiting(TaskKind::BudgetSweep)
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
