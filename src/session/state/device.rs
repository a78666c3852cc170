//! Pictures of the device: asking the worker, and taking what it says.

use std::sync::Arc;

use super::super::device::DeviceAt;
use super::super::jobs::{Answer, Job};
use super::{Notice, Session};
use highwater_analysis::LaneId;
use highwater_model::units::Step;

impl Session {
    /// The last picture of the device that was worked out; perhaps of another step (see [`Self::has_device_at`]).
    pub fn device_at(&self) -> Option<&DeviceAt> {
        self.device.known.as_ref().map(|(_, at)| at)
    }

    /// Whether the picture that was worked out last is of this step of the answer on the screen.
    pub fn has_device_at(&self, lane: LaneId, step: Step) -> bool {
        let key = (self.n_answers, lane, step);
        self.device.known.as_ref().is_some_and(|(known, _)| *known == key)
    }

    /// Whether this step of the answer on the screen was asked for last.
    pub fn wants_device_at(&self, lane: LaneId, step: Step) -> bool {
        self.device.wanted == Some((self.n_answers, lane, step))
    }

    /// Wants a picture of the device; what was wanted before and is not worked out yet is forgotten.
    pub(super) fn want_device(&mut self, lane: LaneId, step: Step) {
        self.device.wanted = Some((self.n_answers, lane, step));
        self.next_device();
    }

    fn next_device(&mut self) {
        let Some((number, lane, step)) = self.device.next() else {
            return;
        };
        let Some((comparison, _)) = self.answer.as_ref().filter(|_| number == self.n_answers) else {
            return;
        };
        let Some(position) = comparison.lanes.iter().position(|row| row.id == lane) else {
            return;
        };
        let generation = self.worker.send(Job::DevicePicture {
            comparison: Arc::clone(comparison),
            lane: position,
            step,
        });
        self.device.asked = Some(((number, lane, step), generation));
    }

    /// Takes what the worker says about the device; gives back what is about something else.
    pub(super) fn take_device(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let Some((key, _)) = self.device.asked.filter(|(_, asked)| *asked == generation) else {
            return Some(answer);
        };
        match answer {
            Answer::Progress { .. } => return None,
            Answer::DevicePicture(picture) => {
                let at = DeviceAt {
                    lane: key.1,
                    picture: *picture,
                };
                self.device.known = Some((key, at));
            }
            Answer::Failed(message) => {
                // It would fail again.
                self.device.wanted = None;
                self.notice = Some(Notice::Failed(message));
            }
            _ => {}
        }
        self.device.asked = None;
        self.next_device();
        None
    }
}
