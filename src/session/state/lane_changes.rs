//! What a lane holds otherwise than another: which two are asked for, and what is known of them.

use std::sync::Arc;

use super::Session;
use crate::jobs::{Answer, Job};
use highwater_analysis::{Comparison, LaneId};
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::LaneChanges;

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct ChangesWatch {
    wanted: Option<(LaneId, LaneId)>,
    known: Option<Arc<LaneChanges>>,
    /// The answer, by number, that is known or awaited.
    answer: u64,
    generation: u64,
}

impl ChangesWatch {
    pub(super) const fn is_waiting(&self) -> bool {
        self.generation != 0
    }
}

impl Session {
    /// The lane that figures of others are compared with, by position: the one that was chosen, else policy 0, else the first.
    pub fn baseline(&self, comparison: &Comparison) -> usize {
        let chosen = self
            .document
            .baseline
            .unwrap_or(LaneId::Policy(StaticMemoryPolicy::Dynamic));
        let position = |id: LaneId| comparison.lanes.iter().position(|lane| lane.id == id);
        position(chosen)
            .or_else(|| position(LaneId::Policy(StaticMemoryPolicy::Dynamic)))
            .unwrap_or(0)
    }

    /// What was worked out last; of the lanes before while those that are asked for are worked out.
    pub fn lane_changes(&self) -> Option<&LaneChanges> {
        self.lane_changes.known.as_deref()
    }

    /// Whether the changes from one lane to another are known or awaited, of the answer on the screen.
    pub fn wants_lane_changes(&self, lanes: (LaneId, LaneId)) -> bool {
        self.lane_changes.wanted == Some(lanes) && self.lane_changes.answer == self.n_answers
    }

    /// Whether they are known.
    pub fn has_lane_changes(&self, lanes: (LaneId, LaneId)) -> bool {
        let known = self.lane_changes.known.as_ref();
        self.wants_lane_changes(lanes)
            && !self.lane_changes.is_waiting()
            && known.is_some_and(|known| known.lanes == lanes)
    }

    /// Asks for what the second lane holds otherwise than the first.
    pub(super) fn compare_lanes(&mut self, lanes: (LaneId, LaneId)) {
        let Some((comparison, _)) = &self.answer else { return };
        let job = Job::LaneChanges(Arc::clone(comparison), lanes);
        self.lane_changes.wanted = Some(lanes);
        self.lane_changes.answer = self.n_answers;
        self.lane_changes.generation = self.worker.send(job);
    }

    /// Takes what is about the changes; gives back what is not.
    pub(super) fn take_lane_changes(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let is_own = generation == self.lane_changes.generation && generation != 0;
        if is_own {
            self.lane_changes.generation = 0;
        }
        match answer {
            Answer::LaneChanges(known) => {
                if is_own {
                    self.lane_changes.known = known;
                }
                None
            }
            other => Some(other),
        }
    }
}
