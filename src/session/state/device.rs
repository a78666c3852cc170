//! Pictures of the device at a step of a lane.

use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::{AllocatorState, Comparison, LaneId};
use highwater_model::progress::Progress;
use highwater_model::units::Step;
use highwater_sim::{DevicePicture, picture};

/// The device at a step of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAt {
    pub lane: LaneId,
    pub picture: DevicePicture,
    /// The allocator of a recorded lane; `None` where the file lists no segments.
    pub allocator: Option<AllocatorState>,
}

/// A request for the device at a step of a lane.
pub(super) struct DeviceTask {
    comparison: Arc<Comparison>,
    /// The lane, by position.
    lane: usize,
    step: Step,
}

impl Task for DeviceTask {
    type Key = (LaneId, Step);
    type Output = DeviceAt;

    const KIND: TaskKind = TaskKind::Device;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.device
    }

    fn new(session: &Session, (lane, step): &Self::Key) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        Some(Self {
            lane: comparison.lanes.iter().position(|row| row.id == *lane)?,
            comparison: Arc::clone(comparison),
            step: *step,
        })
    }

    fn perform(self, _: &Progress<'_>) -> Result<DeviceAt, Failure> {
        let lane = &self.comparison.lanes[self.lane];
        Ok(DeviceAt {
            lane: lane.id,
            picture: picture(&lane.simulation, self.step),
            allocator: self.comparison.allocator_state(self.lane, self.step).ok(),
        })
    }

    fn waits(_: &Self::Key, _: &Self::Key) -> bool {
        true
    }
}

impl Session {
    /// The last picture of the device; perhaps of another step (see [`Self::has_device_at`]).
    pub fn device_at(&self) -> Option<&DeviceAt> {
        self.device.known()
    }

    /// Whether the last picture is of this step of the answer on the screen.
    pub fn has_device_at(&self, lane: LaneId, step: Step) -> bool {
        self.device.has(self.revision, &(lane, step))
    }

    /// Whether this step of the answer on the screen was requested last.
    pub fn wants_device_at(&self, lane: LaneId, step: Step) -> bool {
        self.device.wants(self.revision, &(lane, step))
    }
}
