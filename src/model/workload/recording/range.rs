//! A range of the events of a recording: a part of a file of gigabytes.
//!
//! ```text
//! file        0 ........ first ........ end ........ of
//! recording              0 ........ n_steps
//! ```
//!
//! In: a recording, and numbers of events or of steps. Out: the same recording from one event to another: blocks and segments
//! that begin before are older, and what ends behind is not freed. So every height within the range is that of the whole.

use super::{RecordedBlock, RecordedRegion, Recording};
use crate::units::{Step, grouped};

/// Which events are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventRange {
    /// From a number, up to another (exclusive).
    Numbers { first: u32, end: u32 },
    /// From the begin of the last steps on (see [`Recording::step_marks`]).
    LastSteps(u32),
}

/// The events of the file that a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRange {
    /// The event that is step 0.
    pub first: u32,
    /// Exclusive.
    pub end: u32,
    /// Events of the file.
    pub of: u32,
}

impl RecordedRange {
    /// The number that the file has for an event.
    pub const fn in_file(&self, event: u32) -> u32 {
        self.first.saturating_add(event)
    }

    /// Whether the file goes on behind it.
    pub const fn is_cut_at_end(&self) -> bool {
        self.end < self.of
    }

    /// What was read, and what follows from that for figures.
    pub fn sentence(&self) -> String {
        let [first, last, of] =
            [self.first, self.end.saturating_sub(1), self.of].map(|event| grouped(u64::from(event)));
        let before = if self.first > 0 {
            format!(
                ", event {first} is event 0 here; what is live before it is known from the state at the end of the file, without \
                 its call sites where it is freed within the file"
            )
        } else {
            String::new()
        };
        format!(
            "only events {first} to {last} of {of} are read{before}; peaks, totals and what is not freed are of this range, not of \
             the file"
        )
    }
}

/// What is said of a recording without step marks.
pub const NO_STEP_MARKS: &str = "no annotation marks steps; record them with torch.profiler.record_function(\"step 3\") or a profiler's \
                                 schedule (ProfilerStep#3), and _record_memory_history(global_record_annotations=True); or \
                                 choose events by number with --event-range";

/// What is said of a recording whose annotations have no place.
const NO_TIMES: &str = "no annotation marks steps: its events have no times, so that annotations have no place; choose events by \
                        number with --event-range";

impl Recording {
    /// The events of a range; `None` where there are none.
    ///
    /// # Errors
    /// Last steps are asked for, and nothing marks steps.
    pub fn events_of(&self, wanted: EventRange) -> Result<Option<(u32, u32)>, &'static str> {
        let (first, end) = match wanted {
            EventRange::Numbers { first, end } => (first, end.min(self.n_steps)),
            EventRange::LastSteps(count) => {
                let marks = self.step_marks();
                let skipped = marks.len().saturating_sub(count as usize);
                let first = marks
                    .get(skipped)
                    .ok_or(if self.times.is_empty() && !self.blocks.is_empty() {
                        NO_TIMES
                    } else {
                        NO_STEP_MARKS
                    })?;
                (first.start.0, self.n_steps)
            }
        };
        Ok((first < end).then_some((first, end)))
    }

    /// From one event to another (exclusive), which it has. O(blocks + regions + steps).
    #[must_use]
    pub fn within(mut self, first: u32, end: u32) -> Self {
        let of = self.n_steps;
        let clip = |birth: Step, stop: Step| {
            let (from, to) = (birth.0.max(first), stop.0.min(end));
            (from < to).then(|| (Step(from - first), Step(to - first)))
        };
        let block = |block: &RecordedBlock| {
            let (birth, stop) = clip(block.birth, block.end)?;
            Some(RecordedBlock {
                birth,
                end: stop,
                freed_at: Step(block.freed_at.0.saturating_sub(first).clamp(birth.0 + 1, stop.0)),
                is_older: block.is_older || block.birth.0 < first,
                is_freed: block.is_freed && (block.end.0 < end || end == of),
                ..*block
            })
        };
        self.blocks = self.blocks.iter().filter_map(block).collect();
        let region = |region: &RecordedRegion| {
            let (birth, stop) = clip(region.birth, region.end)?;
            Some(RecordedRegion {
                birth,
                end: stop,
                is_older: region.is_older || region.birth.0 < first,
                ..*region
            })
        };
        self.regions = self.regions.iter().filter_map(region).collect();
        for total in &mut self.totals {
            let samples = std::mem::take(&mut total.samples);
            let n_before = samples.partition_point(|(step, _)| step.0 < first);
            // A value holds until the next.
            let has_first = samples.get(n_before).is_some_and(|(step, _)| step.0 == first);
            let held = n_before.checked_sub(1).filter(|_| !has_first);
            let held = held.map(|last| (Step(0), samples[last].1));
            let within = samples[n_before..].iter().take_while(|(step, _)| step.0 < end);
            total.samples = held
                .into_iter()
                .chain(within.map(|(step, bytes)| (Step(step.0 - first), *bytes)))
                .collect();
        }
        self.marks.retain(|mark| (first..end).contains(&mark.step.0));
        for mark in &mut self.marks {
            mark.step.0 -= first;
        }
        self.phases.retain_mut(|phase| match clip(phase.start, phase.end) {
            Some((start, stop)) => {
                (phase.start, phase.end) = (start, stop);
                true
            }
            None => false,
        });
        if let Some((from, to)) = self.times.get(first as usize).zip(self.times.get(end as usize - 1)) {
            self.ops.retain(|op| (from..=to).contains(&op.start));
        }
        let times = self.times.iter().skip(first as usize).take((end - first) as usize);
        self.times = times.collect();
        self.n_steps = end - first;
        self.counts.clear();
        self.range = Some(RecordedRange { first, end, of });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RecordedName, RecordedPhase, RecordedTotal, TotalKind};
    use super::*;
    use crate::units::{Bytes, Nanos};

    fn recording(ranges: &[(u32, u32, u64)], n_steps: u32) -> Recording {
        let mut blocks: Vec<RecordedBlock> = ranges
            .iter()
            .map(|(birth, length, bytes)| {
                let birth = birth % n_steps;
                let end = (birth + 1 + length).min(n_steps);
                let mut block = RecordedBlock::new(RecordedName(0), Step(birth), Step(end), Bytes(*bytes));
                block.is_freed = end < n_steps;
                block
            })
            .collect();
        blocks.sort_by_key(|block| block.birth);
        let samples = blocks.iter().map(|block| (block.birth, block.bytes)).collect();
        Recording {
            n_steps,
            names: ["step 1"].into_iter().collect(),
            times: (0..u64::from(n_steps)).map(Nanos).collect(),
            totals: vec![RecordedTotal {
                kind: TotalKind::Reserved,
                samples,
            }],
            phases: vec![RecordedPhase {
                name: RecordedName(0),
                start: Step(n_steps / 2),
                end: Step(n_steps),
            }],
            blocks,
            ..Recording::default()
        }
    }

    /// Live bytes at a step, by every block.
    fn live(recording: &Recording, step: u32) -> u64 {
        let held = recording
            .blocks
            .iter()
            .filter(|one| one.birth.0 <= step && step < one.end.0);
        held.map(|one| one.bytes.get()).sum()
    }

    fn stated(recording: &Recording, step: u32) -> u64 {
        let samples = recording.totals[0].samples.iter();
        let last = samples.take_while(|(at, _)| at.0 <= step).last();
        last.map_or(0, |(_, bytes)| bytes.get())
    }

    #[test]
    fn heights_within_a_range_are_those_of_the_whole() {
        // Numbers that are the same in every run.
        let mut state = 7_u32;
        let mut below = |end: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % end
        };
        for _ in 0..500 {
            let n_steps = 1 + below(40);
            let ranges: Vec<(u32, u32, u64)> = (0..below(40))
                .map(|_| (below(40), below(40), u64::from(1 + below(99))))
                .collect();
            let whole = recording(&ranges, n_steps);
            let first = below(n_steps);
            let end = (first + 1 + below(40)).min(n_steps);
            let part = whole.clone().within(first, end);
            assert_eq!(part.check(), Ok(()));
            for step in first..end {
                assert_eq!(live(&part, step - first), live(&whole, step), "{ranges:?}");
                assert_eq!(stated(&part, step - first), stated(&whole, step), "{ranges:?}");
                let time = |of: &Recording, step: u32| of.times.get(step as usize);
                assert_eq!(time(&part, step - first), time(&whole, step));
            }
            let most = (first..end).map(|step| live(&whole, step)).max();
            assert_eq!(Some(part.peaks().live.0.get()), most);
            let of = n_steps;
            assert_eq!(part.range, Some(RecordedRange { first, end, of }));
            let last = whole.events_of(EventRange::LastSteps(3));
            assert_eq!(last, Ok(Some((n_steps / 2, n_steps))));
        }
    }

    #[test]
    fn ranges_without_events_and_steps_without_marks_are_refused() {
        let mut one = recording(&[(0, 3, 5)], 10);
        let numbers = |first, end| EventRange::Numbers { first, end };
        assert_eq!(one.events_of(numbers(3, 99)), Ok(Some((3, 10))));
        assert_eq!(one.events_of(numbers(10, 99)), Ok(None));
        one.phases.clear();
        assert_eq!(one.events_of(EventRange::LastSteps(1)), Err(NO_STEP_MARKS));
        assert!(one.within(3, 5).range.is_some_and(|range| range.is_cut_at_end()));
    }
}
