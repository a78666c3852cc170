//! Plans that searches found before their end: of the running comparison, and of searches that the user stopped.

use super::super::planner::{PlannerRow, PlannerTable};
use super::super::task::{SWEEPS, TaskKind};
use super::Session;
use highwater_analysis::FoundPlan;

#[derive(Debug, Default)]
pub(super) struct FoundPlans {
    /// The smallest ones of the running comparison, one by strategy and problem; the last found last.
    running: Vec<FoundPlan>,
    /// Of stopped searches. They take the place of a search until the user searches again.
    pub(super) stopped: Vec<FoundPlan>,
}

/// Adds a plan, in the place of a larger one of the same strategy and problem.
fn put(found: FoundPlan, plans: &mut Vec<FoundPlan>) {
    let mut known = plans.iter();
    if let Some(position) = known.position(|one| one.is_of(found.strategy, &found.problem)) {
        let planned = &plans[position].planned;
        if found.planned.is_unfinished && planned.plan.footprint <= found.planned.plan.footprint {
            return;
        }
        plans.remove(position);
    }
    plans.push(found);
}

impl Session {
    /// The smallest plan so far of the search that the comparison runs.
    pub fn found_plan(&self) -> Option<&FoundPlan> {
        let last = self.found.running.last().filter(|found| found.planned.is_unfinished);
        last.filter(|_| self.worker.progress(TaskKind::Compare).is_some())
    }

    pub(super) fn take_found_plan(&mut self, found: FoundPlan) {
        put(found, &mut self.found.running);
    }

    /// Forgets the plans of the last comparison, before a new one.
    pub(super) fn drop_found_plans(&mut self) {
        self.found.running.clear();
    }

    /// Cancels the tasks that the user may stop. A running search ends with the smallest plan so far, which the lanes
    /// and the planner's table then show.
    pub(super) fn stop_tasks(&mut self) {
        // Smaller plans may be on their way.
        self.poll();
        let mut of_lanes = Vec::new();
        if self.found_plan().is_some() {
            of_lanes = std::mem::take(&mut self.found.running);
        }
        let is_search = !of_lanes.is_empty();
        self.stop_row();
        for found in of_lanes {
            put(found, &mut self.found.stopped);
        }
        for sweep in SWEEPS {
            self.discard(sweep);
        }
        self.worker.cancel_all();
        if is_search {
            self.show_stopped();
        }
    }

    /// Stops the planner alone, with the smallest plan of its running search.
    pub(super) fn stop_plans(&mut self) {
        self.poll();
        self.stop_row();
        self.discard(TaskKind::Plans);
    }

    /// Keeps the plan of the planner's running search.
    fn stop_row(&mut self) {
        let table = self.plans.table.as_mut();
        let table = table.filter(|_| self.worker.is_waiting(TaskKind::Plans));
        if let Some(found) = table.and_then(PlannerTable::stop_row) {
            put(found, &mut self.found.stopped);
        }
    }

    /// Searches again for the plans whose search was stopped.
    pub(super) fn restart_searches(&mut self) {
        self.found.stopped.clear();
        self.plans.change(PlannerTable::restart_rows);
        if self.is_preview() {
            self.compare();
        }
        self.next_part::<PlannerTable>();
    }
}

impl PlannerRow {
    /// Whether its search was stopped.
    pub fn is_stopped(&self) -> bool {
        self.result.as_ref().is_ok_and(|figures| figures.is_unfinished)
    }
}
