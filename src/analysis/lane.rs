//! One lane of a comparison: a simulation (or a recording) with its folds, and sentences about it.

use std::ops::Range;
use std::sync::Arc;

use super::arena::Plans;
use super::lane_set::LaneId;
use super::oom_report::OutOfMemoryReport;
use super::pin::PinnedLane;
use super::recorded_failures::RecordedFailures;
use super::recording_figures::Fragmentation;
use super::rewriting::LaneRewrite;
use highwater_model::units::{Bytes, Step};
use highwater_options::Finding;
use highwater_plan::Strategy;
use highwater_rewrite::remat::RematStatus;
use highwater_sim::fold::{Curves, Summary};
use highwater_sim::{DeviceSession, Refusals, Simulation, StaticMemoryPolicy};

/// A sentence about a lane, with figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub text: String,
    /// The step that it is about.
    pub step: Option<Step>,
}

/// One simulation with its folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub id: LaneId,
    /// The policy; of a problem's lane the one under which an arena is as large as its plan.
    pub policy: StaticMemoryPolicy,
    /// The name, where it is neither that of the policy nor that of the strategy.
    pub title: Option<String>,
    /// The device session, where it differs from that of the comparison.
    pub session: Option<Arc<DeviceSession>>,
    /// The changes of rewriting passes, where there are any.
    pub rewrite: Option<Arc<LaneRewrite>>,
    /// The strategy that places its static arenas.
    pub strategy: &'static Strategy,
    /// Whether the user chose the strategy for this lane alone.
    pub chosen: bool,
    pub plans: Plans,
    /// The event log.
    pub simulation: Simulation,
    /// One value per step of the common axis.
    pub curves: Curves,
    /// Whether several events may share a step (a long recording aligned to a short graph): steps then do not order the
    /// events within one.
    pub shares_steps: bool,
    pub summary: Summary,
    /// The first step whose reserved bytes differ from policy 0; `None` where none does or policy 0 was not simulated.
    pub first_divergence: Option<Step>,
    /// Where the peak comes from, and where the lane departs from policy 0.
    pub explanation: Vec<Remark>,
    pub out_of_memory_report: Option<OutOfMemoryReport>,
    /// Requests of an allocation trace that were refused; the trace continues after them.
    pub refusals: Option<Refusals>,
    /// Error-level findings that forbid its policy under the other settings and the schedule.
    pub forbidden: Vec<Finding>,
    /// Figures as documented, where policy 2 or 4 shares an arena as the engine does it.
    pub documented: Option<DocumentedArena>,
    /// What only a lane of a recording has.
    pub recorded: Option<RecordedLane>,
    /// The settings of a pinned lane, which are not those of the other lanes.
    pub pinned: Option<Arc<PinnedLane>>,
}

/// Facts of a lane that shows a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedLane {
    /// The step of each event, not decreasing; empty where every event is a step.
    pub event_steps: Arc<[u32]>,
    pub fragmentation: Fragmentation,
    pub failures: Arc<RecordedFailures>,
    /// Whether scratch memory of the simulation was learned from this very recording, so that peaks agree by construction.
    pub is_learned_from: bool,
}

impl RecordedLane {
    /// The steps of some events: first and exclusive end.
    pub fn steps_of(&self, start: Step, end: Step) -> (Step, Step) {
        let step = |event: u32| self.event_steps.get(event as usize).copied().unwrap_or(event);
        (
            Step(step(start.0)),
            Step(step(end.0.saturating_sub(1)).saturating_add(1)),
        )
    }

    /// The steps on which a recording of so many events has some: from the first event to the last. Empty without events.
    pub fn own_steps(&self, n_events: u32) -> Range<u32> {
        let (first, end) = self.steps_of(Step(0), Step(n_events));
        first.0..if n_events == 0 { first.0 } else { end.0 }
    }

    /// The last event on a step or before it; `None` where the recording begins later. O(log events).
    pub fn event_at(&self, step: Step) -> Option<Step> {
        if self.event_steps.is_empty() {
            return Some(step);
        }
        let behind = self.event_steps.partition_point(|other| *other <= step.0);
        Some(Step(u32::try_from(behind).ok()?.checked_sub(1)?))
    }
}

/// A shared arena as the vendor documents it: as large as the largest graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentedArena {
    pub peak_reserved: Bytes,
    pub out_of_memory: bool,
}

impl DocumentedArena {
    /// The peak, or that memory runs out, too.
    pub fn text(&self) -> String {
        let peak = self.peak_reserved.exact();
        if self.out_of_memory {
            format!("{peak}, where it runs out of memory, too,")
        } else {
            peak
        }
    }
}

impl Lane {
    /// Whether some run under a memory budget does not reach its end.
    pub fn stops_under_budget(&self) -> bool {
        let rewrites = self.rewrite.iter();
        let mut runs = rewrites.flat_map(|rewrite| rewrite.remat.iter().flatten());
        runs.any(|run| run.answer.status != RematStatus::Ok)
    }

    /// Whether a run does not reach its end, for lack of memory or under a budget: figures are those until then.
    pub fn ends_early(&self) -> bool {
        self.summary.out_of_memory || self.stops_under_budget()
    }

    /// Whether it runs to its end, meets every request, and no rule forbids it.
    pub fn may_be_recommended(&self) -> bool {
        !self.ends_early() && self.refusals.is_none() && self.forbidden.is_empty()
    }

    /// The exception of the original pass that made its program, as `Class: text`: the program runs as it was then.
    pub fn exception(&self) -> Option<&str> {
        self.rewrite.as_ref()?.names.as_ref()?.exception.as_deref()
    }

    /// Why a simulated run ended early, in a sentence with figures on its policy; `None` where it did not, and of a recording, which
    /// states its device's memory elsewhere or not at all.
    pub fn out_of_memory_text(&self) -> Option<String> {
        let clause = self.out_of_memory_clause()?;
        Some(format!("policy {} {clause}", self.policy.number()))
    }

    /// The same without its subject.
    pub(super) fn out_of_memory_clause(&self) -> Option<String> {
        let failed = self.simulation.out_of_memory.as_ref().filter(|_| !self.is_measured())?;
        Some(format!(
            "runs out of memory at step {}: {} requested, {} of {} reserved",
            failed.step, failed.requested, failed.in_use, self.simulation.device_bytes
        ))
    }

    /// Whether it shows a recording.
    pub const fn is_measured(&self) -> bool {
        matches!(self.id, LaneId::Measured(_))
    }
}
