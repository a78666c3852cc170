//! The device at one step of a lane: asked for by step, worked out by the worker, newest wins.
//!
//! One picture is being worked out at a time. What is asked for meanwhile waits, and only the last of it: so pictures
//! follow a moving pointer as fast as they can be made, and none is made for a step that nobody looks at any more.

use highwater_analysis::LaneId;
use highwater_model::units::Step;
use highwater_sim::DevicePicture;

/// Which picture: the answer by number, the lane, the step.
pub(super) type DeviceKey = (u64, LaneId, Step);

/// The device at a step of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAt {
    /// Of which lane.
    pub lane: LaneId,
    /// What holds memory there.
    pub picture: DevicePicture,
}

/// What was asked for, what is being worked out, and what is known.
#[derive(Debug, Default)]
pub(super) struct DeviceWatch {
    pub(super) wanted: Option<DeviceKey>,
    /// What the worker has in hand, with the job's generation.
    pub(super) asked: Option<(DeviceKey, u64)>,
    pub(super) known: Option<(DeviceKey, DeviceAt)>,
}

impl DeviceWatch {
    /// What the worker has to do next; nothing while it is at work, or where it is known.
    pub(super) fn next(&self) -> Option<DeviceKey> {
        let known = self.known.as_ref().map(|(key, _)| *key);
        self.wanted.filter(|key| self.asked.is_none() && known != Some(*key))
    }

    /// Whether the worker has something in hand.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }
}
