//! The baseline, and the changes from the peak of one lane to that of another.

use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::progress::Progress;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::LaneChanges;

/// The changes from the first lane to the second.
pub(super) struct ChangesTask {
    comparison: Arc<Comparison>,
    lanes: (LaneId, LaneId),
}

impl Task for ChangesTask {
    type Key = (LaneId, LaneId);
    /// `None` where the answer lacks one of the lanes.
    type Output = Option<LaneChanges>;

    const KIND: TaskKind = TaskKind::LaneChanges;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.lane_changes
    }

    fn new(session: &Session, lanes: &Self::Key) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        Some(Self {
            comparison: Arc::clone(comparison),
            lanes: *lanes,
        })
    }

    fn perform(self, _: &Progress<'_>) -> Result<Self::Output, Failure> {
        Ok(LaneChanges::new(&self.comparison, self.lanes))
    }
}

impl Session {
    /// The position of the baseline: the lane that was chosen, else policy 0, else the first. A lane that ends early has
    /// no peak to compare with: unless it was chosen, the first one that completes takes its place.
    pub fn baseline(&self, comparison: &Comparison) -> usize {
        let usual = LaneId::Policy(StaticMemoryPolicy::Dynamic);
        let position = |id: LaneId| comparison.lanes.iter().position(|lane| lane.id == id);
        if let Some(chosen) = self.document.baseline.and_then(position) {
            return chosen;
        }
        let usual = position(usual).unwrap_or(0);
        let mut lanes = comparison.lanes.iter();
        match comparison.lanes.get(usual) {
            Some(lane) if lane.ends_early() => lanes.position(|lane| !lane.ends_early()).unwrap_or(usual),
            _ => usual,
        }
    }

    /// The last changes; of other lanes until those of the lanes that were requested last are known.
    pub fn lane_changes(&self) -> Option<&LaneChanges> {
        self.lane_changes.known()?.as_ref()
    }

    /// Whether the changes from one lane to another were requested last, of the answer on the screen.
    pub fn wants_lane_changes(&self, lanes: (LaneId, LaneId)) -> bool {
        self.lane_changes.wants(self.revision, &lanes)
    }

    /// Whether they are known.
    pub fn has_lane_changes(&self, lanes: (LaneId, LaneId)) -> bool {
        self.lane_changes.has(self.revision, &lanes) && self.lane_changes().is_some()
    }
}
