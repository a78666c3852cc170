//! The difference of two lanes, step by step.

use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::progress::Progress;
use highwater_timeline::LaneDifference;

/// The first lane less the second, by positions.
pub(super) struct DifferenceTask {
    comparison: Arc<Comparison>,
    lanes: (usize, usize),
}

impl Task for DifferenceTask {
    type Key = (LaneId, LaneId);
    type Output = LaneDifference;

    const KIND: TaskKind = TaskKind::Difference;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.difference
    }

    fn new(session: &Session, (first, second): &Self::Key) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        let position = |id: &LaneId| comparison.lanes.iter().position(|lane| lane.id == *id);
        Some(Self {
            lanes: position(first).zip(position(second))?,
            comparison: Arc::clone(comparison),
        })
    }

    fn perform(self, _: &Progress<'_>) -> Result<LaneDifference, Failure> {
        let lanes = &self.comparison.lanes;
        Ok(LaneDifference::new(&lanes[self.lanes.0], &lanes[self.lanes.1]))
    }
}

impl Session {
    /// The difference of two lanes, where one is wanted and known; of the last answer until that of a newer one is known.
    pub fn difference(&self) -> Option<&LaneDifference> {
        self.difference.known()
    }

    /// Which difference is wanted, the first lane less the second, whether or not it is known.
    pub fn difference_order(&self) -> Option<(LaneId, LaneId)> {
        self.difference.key().copied()
    }

    /// Wants the first lane less the second, or no difference. Lanes that the answer lacks may come back with another one.
    pub(super) fn set_difference(&mut self, lanes: Option<(LaneId, LaneId)>) {
        match lanes {
            Some(lanes) => self.ask::<DifferenceTask>(lanes),
            None => self.forget::<DifferenceTask>(),
        }
    }
}
