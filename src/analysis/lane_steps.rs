//! The numbers of steps that people read.
//!
//! The axis of several recordings counts the events of all; of one recording people read its own events, as `inspect`
//! counts them. Everywhere else the numbers are those of the axis.

use std::ops::Range;

use super::comparison::Comparison;
use super::lane::RecordedLane;
use super::lane_set::LaneKind;
use highwater_model::units::Step;
use highwater_model::workload::GraphIdx;

impl Comparison {
    /// The recording of a lane whose events are not the steps of the axis.
    fn own_events(&self, lane: usize) -> Option<&RecordedLane> {
        let recorded = self.lanes.get(lane)?.recorded.as_ref()?;
        let is_apart = self.lane_kind() == LaneKind::Recordings && !recorded.event_steps.is_empty();
        is_apart.then_some(recorded)
    }

    /// The number of a step in a lane: of one of several recordings the last own event until then. O(log events).
    pub fn shown_step(&self, lane: usize, step: Step) -> Step {
        let own = self.own_events(lane);
        own.map_or(step, |recorded| recorded.event_at(step).unwrap_or_default())
    }

    /// The exclusive end of steps, in the numbers of [`Self::shown_step`]. O(log events).
    pub fn shown_end(&self, lane: usize, end: Step) -> Step {
        match (self.own_events(lane), end.0.checked_sub(1)) {
            (Some(recorded), Some(last)) => recorded.event_at(Step(last)).map_or(Step(0), |event| Step(event.0 + 1)),
            _ => end,
        }
    }

    /// `step 5 926`, `event 41`, `before event 0`; of a part of a file `event 41 (1 041 of the file)`.
    pub fn step_text(&self, lane: usize, step: Step) -> String {
        let word = self.axis_word();
        let range = self.lanes.get(lane).and_then(|row| self.recording(row.id)?.range);
        let in_file = |event: Step| {
            let number = range.map(|range| Step(range.in_file(event.0)));
            number.map_or_else(String::new, |number| format!(" ({number} of the file)"))
        };
        match self.own_events(lane).map(|recorded| recorded.event_at(step)) {
            Some(None) => format!("before {word} 0"),
            Some(Some(event)) => format!("{word} {event}{}", in_file(event)),
            None => format!("{word} {step}{}", in_file(step)),
        }
    }

    /// `events 3 to 9`; `end` is exclusive.
    pub fn steps_text(&self, lane: usize, start: Step, end: Step) -> String {
        let last = Step(end.0.saturating_sub(1).max(start.0));
        let [start, last] = [start, last].map(|step| self.shown_step(lane, step));
        format!("{}s {start} to {last}", self.axis_word())
    }

    /// The step of the axis with a number of [`Self::shown_step`]; `None` where there is none.
    pub fn axis_step(&self, lane: usize, shown: Step) -> Option<Step> {
        match self.own_events(lane) {
            Some(recorded) => recorded.event_steps.get(shown.0 as usize).copied().map(Step),
            None => (shown.0 < self.n_shown_steps(lane)).then_some(shown),
        }
    }

    /// How many steps or own events a lane has.
    pub fn n_shown_steps(&self, lane: usize) -> u32 {
        if let Some(recorded) = self.own_events(lane) {
            return u32::try_from(recorded.event_steps.len()).unwrap_or(u32::MAX);
        }
        // Runs that are aligned by their numbers may be of different lengths.
        let recording = self.lanes.get(lane).and_then(|row| self.recording(row.id));
        let is_apart = self.lane_kind() == LaneKind::Recordings;
        let own = recording.filter(|_| is_apart).map(|recording| recording.n_steps);
        own.map_or(self.axis.n_steps, |own| own.min(self.axis.n_steps))
    }

    /// The steps of the axis on which a lane has figures: of a recording from its first event to its last.
    pub fn own_steps(&self, lane: usize) -> Range<u32> {
        let row = self.lanes.get(lane);
        let recorded = row.and_then(|row| row.recorded.as_ref().zip(self.recording(row.id)));
        match recorded.filter(|_| self.lane_kind() == LaneKind::Recordings) {
            Some((recorded, recording)) => recorded.own_steps(recording.n_steps),
            None => 0..self.axis.n_steps,
        }
    }

    /// Whether the axis counts the events of several recordings.
    pub fn has_common_axis(&self) -> bool {
        (0..self.lanes.len()).any(|lane| self.own_events(lane).is_some())
    }

    /// What the axis counts, in the plural.
    pub fn axis_text(&self) -> String {
        let whose = if self.has_common_axis() {
            " of all recordings"
        } else {
            ""
        };
        format!("{}s{whose}", self.axis_word())
    }

    /// The lane that shows the blocks of a graph: that of their recording, else the first.
    pub fn lane_of_blocks(&self, graph: GraphIdx) -> usize {
        let id = self.measured_lane(graph);
        let lane = id.and_then(|id| self.lanes.iter().position(|lane| lane.id == id));
        lane.unwrap_or(0)
    }
}
