//! The difference of two lanes: which are asked for, and what is known of them.

use std::sync::Arc;

use super::Session;
use crate::jobs::{Answer, Job};
use highwater_analysis::LaneId;
use highwater_timeline::LaneDifference;

/// What is known of the difference.
#[derive(Debug, Default)]
pub(super) struct DifferenceWatch {
    wanted: Option<(LaneId, LaneId)>,
    known: Option<Arc<LaneDifference>>,
    generation: u64,
}

impl DifferenceWatch {
    pub(super) const fn is_waiting(&self) -> bool {
        self.generation != 0
    }
}

impl Session {
    /// The difference of two lanes, where one is asked for and worked out; while a newer answer is worked out, that of the last.
    pub fn difference(&self) -> Option<&LaneDifference> {
        self.difference.known.as_deref()
    }

    /// Which difference is asked for, the first lane less the second, whether or not it is worked out.
    pub const fn difference_order(&self) -> Option<(LaneId, LaneId)> {
        self.difference.wanted
    }

    /// Asks for the first lane less the second, or for none.
    pub(super) fn set_difference(&mut self, lanes: Option<(LaneId, LaneId)>) {
        self.difference.wanted = lanes;
        self.want_difference();
    }

    /// Works the difference out again, as after a new answer.
    pub(super) fn want_difference(&mut self) {
        self.difference.generation = 0;
        let wanted = self.difference.wanted.zip(self.answer.as_ref());
        let Some(((first, second), (comparison, _))) = wanted else {
            self.difference.known = None;
            return;
        };
        let has = |id: LaneId| comparison.lanes.iter().any(|lane| lane.id == id);
        if !has(first) || !has(second) {
            // The lanes may come back with another answer.
            self.difference.known = None;
            return;
        }
        let job = Job::Difference(Arc::clone(comparison), (first, second));
        self.difference.generation = self.worker.send(job);
    }

    /// Takes what is about the difference; gives back what is not.
    pub(super) fn take_difference(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.difference.generation || generation == 0 {
            return match answer {
                Answer::Difference(_) => None,
                other => Some(other),
            };
        }
        self.difference.generation = 0;
        match answer {
            Answer::Difference(known) => {
                self.difference.known = known;
                None
            }
            other => Some(other),
        }
    }
}
