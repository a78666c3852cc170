//! Recordings: the memory of a real run on one device, recorded by a tool.
//!
//! ```text
//! steps      events in the order of the file (or of their times)
//! blocks     requests: held on steps birth..end, at an address where the tool knows it
//! regions    device memory of the allocator: address ranges held on steps birth..end
//! totals     curves that the file states
//! marks      single events: out of memory, an annotation, a snapshot
//! phases     named ranges of events: annotations with a begin and an end
//! ops        measured ops with their times and scratch memory
//! ```
//!
//! Nothing here is modelled: facts that a tool did not record are absent. Invariants (checked by [`Recording::check`]):
//! every range is within `n_steps` and not empty, blocks are sorted by birth, times do not decrease, names are in
//! range.

mod call_sites;
mod categories;
mod event_log;
mod event_times;
mod events;
mod frame_rules;
mod line_patterns;
mod parts;
mod phases;
mod range;
mod segments;
mod summary;
mod tables;

pub use call_sites::{CallSite, CallSiteKind, CallSites, call_site_text};
pub use categories::{Category, CategoryBasis, CategoryRule, CategoryRules, REQUESTER_RULES, Requester, RequesterRule};
pub use event_log::{EndedAtFirst, EventAction, EventLog};
pub use event_times::EventTimes;
pub use events::RecordedEvent;
pub use frame_rules::{FrameKind, FrameRule, FrameRuleError, FrameRules, is_python_file};
pub use parts::{
    AllocatorSimulation, BlockAddress, FailedRequest, MarkKind, NoteKind, RecordedBlock, RecordedFrame, RecordedMark,
    RecordedMemory, RecordedOp, RecordedRegion, RecordedTotal, StackIdx, TotalKind,
};
pub use phases::{PhasePairs, RecordedPhase};
pub use range::{EventRange, NO_STEP_MARKS, RecordedRange};
pub use segments::{Segment, Segments, segment_of};
pub use summary::WholeRecording;
pub use tables::{RecordedNames, RecordedStacks};

use std::num::Wrapping;
use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use super::cann_log::LoggedProcess;
use super::names::Names;
use crate::typed_id;
use crate::units::{Bytes, Step};

typed_id!(
    /// A text of a recording.
    RecordedName
);

/// The kind of regions of expandable segments.
const EXPANDABLE: &str = "expandable";

/// Between the kind of a region and its private pool.
const POOL: &str = ", pool ";

/// The kind of a region with its private pool, as [`Recording::segment_kind`] takes it apart.
pub fn pooled_kind(kind: &str, pool: (u64, u64)) -> String {
    format!("{kind}{POOL}({}, {})", pool.0, pool.1)
}

/// The memory of a run on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The name known to users: `device0`, `NPU:0`, `PTA`.
    pub name: String,
    /// The device name common to the tables of one profiler, `NPU:0`; empty where they have none.
    pub device: String,
    /// Whether it is pinned memory of the host, which has another allocator and belongs to no figure of the device.
    pub is_host: bool,
    /// `None` where the file does not state it.
    pub device_memory: Option<RecordedMemory>,
    /// The recording tool, in a few words.
    pub recorder: String,
    pub n_steps: u32,
    /// What each step did; empty where the tool states no single events.
    pub events: EventLog,
    /// What the first event ends, where that is a free.
    pub ended_at_first: Option<EndedAtFirst>,
    /// The time of each step, non-decreasing; empty where only the order is known.
    pub times: EventTimes,
    pub blocks: Vec<RecordedBlock>,
    pub regions: Vec<RecordedRegion>,
    pub totals: Vec<RecordedTotal>,
    pub marks: Vec<RecordedMark>,
    /// By start, the longest first.
    pub phases: Vec<RecordedPhase>,
    pub ops: Vec<RecordedOp>,
    pub names: Names,
    pub frames: Vec<RecordedFrame>,
    /// Innermost line first, as positions in `frames`; each distinct stack once.
    pub stacks: Vec<Box<[u32]>>,
    /// By stack: which line asked for the memory.
    pub call_sites: CallSites,
    /// Of a simulated allocator: how it was made. `None` for what was measured.
    pub simulation: Option<AllocatorSimulation>,
    /// Settings of the allocator that the file states.
    pub settings: Vec<(String, String)>,
    /// Which fields a snapshot has: `event.time_us`; `event` alone where what its events lack is known, too.
    pub fields: Vec<String>,
    /// Counts and sums of the file's contents, in the file's words.
    pub counts: Vec<(String, u64)>,
    /// Whether `inspect` lists the blocks stream by stream.
    pub by_stream: bool,
    /// Among the blocks that are a parameter or a state of the optimizer: bytes of parameters, as gradients show.
    pub undecided_parameters: Bytes,
    /// The events of the file that it has; `None` for all.
    pub range: Option<RecordedRange>,
    /// Of a summary: facts of the whole recording.
    pub whole: Option<Box<WholeRecording>>,
    /// Of a log of CANN: all that it tells of the process.
    pub process: Option<Arc<LoggedProcess>>,
}

/// How call stacks are read: rules of a document, before the built-in ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingRules {
    pub frames: FrameRules,
    pub categories: CategoryRules,
}

impl RecordingRules {
    /// Whether the document has none.
    pub fn is_empty(&self) -> bool {
        self.frames.own().is_empty() && self.categories.own().is_empty()
    }
}

/// Peaks of a recording, each with the first step that reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedPeaks {
    /// Requested bytes, blocks that predate the recording included.
    pub live: (Bytes, Option<Step>),
    /// Requested bytes of blocks allocated within the recording.
    pub seen: (Bytes, Option<Step>),
    /// Bytes of regions, or of the stated curve where there are no regions.
    pub reserved: (Bytes, Option<Step>),
}

impl Recording {
    /// Empty where there is none.
    pub fn text(&self, name: RecordedName) -> &str {
        self.names.get(name.0 as usize)
    }

    /// What a block is called: its call site, else the text that the file states.
    pub fn block_name(&self, block: &RecordedBlock) -> &str {
        match self.site_of(block) {
            Some(site) => self.call_sites.text(site),
            None => self.text(block.name),
        }
    }

    /// The position of a block's call site; `None` without a call stack.
    pub fn site_of(&self, block: &RecordedBlock) -> Option<u32> {
        self.call_sites.of_stack(block.stack?)
    }

    /// The lines of a block's call stack, innermost first.
    pub fn stack_of(&self, block: &RecordedBlock) -> impl DoubleEndedIterator<Item = &RecordedFrame> {
        let stack = block.stack.and_then(|stack| self.stacks.get(stack.idx()));
        let lines = stack.map_or(&[][..], |stack| &**stack).iter();
        lines.filter_map(|line| self.frames.get(*line as usize))
    }

    /// Finds the call sites and the categories by rules. O(lines of all stacks + blocks log steps).
    pub fn apply_rules(&mut self, rules: &RecordingRules) {
        self.call_sites = CallSites::new(self, &rules.frames);
        categories::infer(self, &rules.categories);
    }

    /// The curve of a kind, where the file states one.
    pub fn total(&self, kind: TotalKind) -> Option<&RecordedTotal> {
        self.totals.iter().find(|total| total.kind == kind)
    }

    /// The kind of a segment (`large`, `small`, `expandable`), and its private pool where it has one.
    pub fn segment_kind(&self, kind: RecordedName) -> (&str, Option<&str>) {
        let text = self.text(kind);
        text.split_once(POOL)
            .map_or((text, None), |(kind, pool)| (kind, Some(pool)))
    }

    /// Whether a region is a range of an expandable segment.
    pub fn is_expandable(&self, region: &RecordedRegion) -> bool {
        self.segment_kind(region.kind).0 == EXPANDABLE
    }

    /// Whether the file states the bytes that the allocator holds for a block: as a snapshot does for blocks of its last
    /// event, or because they differ from the requested ones. A simulation knows them all.
    pub fn states_held(&self, block: &RecordedBlock) -> bool {
        let is_at_end = block.end.0 == self.n_steps && !block.is_freed;
        let is_whole_end = !self.range.is_some_and(|range| range.is_cut_at_end());
        self.simulation.is_some() || block.held > block.bytes || is_at_end && is_whole_end
    }

    /// Whether it lists requests to the allocator of a device.
    pub const fn lists_device_blocks(&self) -> bool {
        !self.blocks.is_empty() && !self.is_host
    }

    /// Whether its call stacks have paths of Windows, such as `D:\\train.py`. O(lines of stacks).
    pub fn is_of_windows(&self) -> bool {
        let is_windows = |file: &str| {
            let mut letters = file.chars();
            letters.next().is_some_and(|drive| drive.is_ascii_alphabetic())
                && letters.next() == Some(':')
                && matches!(letters.next(), Some('\\' | '/'))
        };
        self.frames.iter().any(|frame| is_windows(self.text(frame.file)))
    }

    /// Whether it is of this device, or states no device.
    pub fn is_of_device(&self, device: &str) -> bool {
        self.device == device || self.device.is_empty()
    }

    /// Whether there is anything to show: a block, a region, an event, or a curve above zero.
    pub fn has_content(&self) -> bool {
        if let Some(whole) = &self.whole {
            return whole.has_content;
        }
        let mut samples = self.totals.iter().flat_map(|total| &total.samples);
        let is_something = !self.blocks.is_empty() || !self.regions.is_empty() || !self.marks.is_empty();
        self.n_steps > 0 && (is_something || samples.any(|(_, bytes)| *bytes > Bytes::ZERO))
    }

    /// Whether it holds the state at one moment and no events. O(blocks).
    pub fn is_one_moment(&self) -> bool {
        let is_state = |block: &RecordedBlock| block.is_older && !block.appears() && !block.is_freed;
        let event = self.events.get(Step(0)).map(|(action, _)| action);
        self.n_steps <= 1
            && matches!(event, None | Some(EventAction::Snapshot | EventAction::Other))
            && self.blocks.iter().all(is_state)
            && self.marks.iter().all(|mark| mark.kind == MarkKind::Snapshot)
            && self.ops.is_empty()
            && self.totals.is_empty()
    }

    /// Whether the file states reserved bytes.
    pub fn states_reserved(&self) -> bool {
        !self.regions.is_empty() || self.total(TotalKind::Reserved).is_some()
    }

    /// Whether the file states how much of the reserved bytes was live: blocks within regions, or curves of both.
    /// Blocks with a curve of the device do not suffice: the pool may serve others too; and where the live peak exceeds
    /// the regions, regions are missing. Arguments are the peaks of live and reserved bytes.
    pub fn states_use_of_reserved(&self, live: Bytes, reserved: Bytes) -> bool {
        if self.regions.is_empty() {
            return self.total(TotalKind::Reserved).is_some() && self.total(TotalKind::Allocated).is_some();
        }
        !self.blocks.is_empty() && !self.lacks_regions(live, reserved)
    }

    /// Whether the live peak exceeds the listed regions: the file does not list all of them. Arguments are both peaks.
    pub fn lacks_regions(&self, live: Bytes, reserved: Bytes) -> bool {
        !self.regions.is_empty() && live > reserved
    }

    /// Whether the file states live bytes.
    pub fn states_live(&self) -> bool {
        !self.blocks.is_empty() || self.total(TotalKind::Allocated).is_some()
    }

    /// O(blocks + regions + steps).
    pub fn peaks(&self) -> RecordedPeaks {
        if let Some(whole) = &self.whole {
            return whole.peaks;
        }
        let blocks = |block: &RecordedBlock| (block.birth, block.end, block.bytes);
        let live = self.peak_of(self.blocks.iter().map(blocks), |_| true);
        let seen = self.peak_of(self.blocks.iter().filter(|block| !block.is_older).map(blocks), |_| true);
        let stated = self.total(TotalKind::Reserved).map(RecordedTotal::peak);
        RecordedPeaks {
            live,
            seen,
            reserved: match stated {
                Some(stated) if self.regions.is_empty() => stated,
                _ => self.peak_of(self.region_ranges(), |_| true),
            },
        }
    }

    fn region_ranges(&self) -> impl Iterator<Item = (Step, Step, Bytes)> + Clone {
        let regions = self.regions.iter();
        regions.map(|region| (region.birth, region.end, region.bytes))
    }

    /// Of the steps with the most reserved bytes the first with the most live bytes: the first of all may precede the
    /// allocations for which the segments are taken. `None` without segments. O(blocks + segments log segments + steps).
    pub fn fullest_step(&self) -> Option<Step> {
        let mut changes: Vec<(Step, i128)> = self
            .region_ranges()
            .flat_map(|(birth, end, bytes)| [(birth, i128::from(bytes.get())), (end, -i128::from(bytes.get()))])
            .collect();
        changes.sort_unstable();
        let (mut reserved, mut levels) = (0, Vec::<(Step, i128)>::new());
        for (step, change) in changes {
            reserved += change;
            match levels.last_mut().filter(|last| last.0 == step) {
                Some(last) => last.1 = reserved,
                None => levels.push((step, reserved)),
            }
        }
        let most = levels.iter().map(|(_, reserved)| *reserved).max()?;
        let mut levels = levels.iter().peekable();
        let mut now = 0;
        let blocks = self.blocks.iter();
        let of_blocks = blocks.map(|block| (block.birth, block.end, block.bytes));
        self.peak_of(of_blocks, |step| {
            while let Some((_, reserved)) = levels.next_if(|(start, _)| *start <= step) {
                now = *reserved;
            }
            now == most
        })
        .1
    }

    /// The peak of ranges within some steps, and the first of them that reaches it. Saturates.
    fn peak_of(
        &self,
        ranges: impl Iterator<Item = (Step, Step, Bytes)> + Clone,
        is_within: impl FnMut(Step) -> bool,
    ) -> (Bytes, Option<Step>) {
        let sum: u128 = ranges.clone().map(|(.., bytes)| u128::from(bytes.get())).sum();
        if sum <= u64::MAX.into() {
            // No value overflows, so differences may wrap around.
            let (peak, step) = highest(self.n_steps, ranges, |bytes| Wrapping(bytes.get()), is_within);
            return (Bytes(peak.0), step);
        }
        let (peak, step) = highest(self.n_steps, ranges, |bytes| i128::from(bytes.get()), is_within);
        (Bytes(u64::try_from(peak).unwrap_or(u64::MAX)), step)
    }

    /// Checks the invariants in the header of this file.
    ///
    /// # Errors
    /// The first violation, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        let n_names = self.names.len();
        let is_range = |birth: Step, end: Step| birth < end && end.0 <= self.n_steps;
        if !self.blocks.is_sorted_by_key(|block| block.birth) {
            return Err("the blocks are not sorted by birth".to_owned());
        }
        for (position, block) in self.blocks.iter().enumerate() {
            let is_freed_in_life = block.birth < block.freed_at && block.freed_at <= block.end;
            if !is_range(block.birth, block.end) || !is_freed_in_life || block.name.0 as usize >= n_names {
                return Err(format!("block {position} has an impossible range or name"));
            }
            if block.stack.is_some_and(|stack| stack.idx() >= self.stacks.len()) {
                return Err(format!("block {position} has an unknown stack"));
            }
        }
        if let Some(region) = self.regions.iter().find(|region| !is_range(region.birth, region.end)) {
            return Err(format!("the region at {:#x} has an impossible range", region.address));
        }
        if !self.times.is_empty() && (self.times.len() != self.n_steps as usize || !self.times.is_sorted()) {
            return Err("there is not one time for each step in ascending order".to_owned());
        }
        let mut samples = self.totals.iter().flat_map(|total| &total.samples);
        if samples.any(|(step, _)| step.0 >= self.n_steps) || self.marks.iter().any(|mark| mark.step.0 >= self.n_steps)
        {
            return Err("a sample or a mark is behind the last step".to_owned());
        }
        let mut phases = self.phases.iter();
        if phases.any(|phase| !is_range(phase.start, phase.end) || phase.name.0 as usize >= n_names) {
            return Err("a phase has an impossible range or name".to_owned());
        }
        let n_frames = self.frames.len();
        if self
            .stacks
            .iter()
            .any(|stack| stack.iter().any(|frame| *frame as usize >= n_frames))
        {
            return Err("a stack has an unknown line".to_owned());
        }
        Ok(())
    }
}

/// The highest sum of ranges within some steps, and the first that has it; no step without ranges. O(ranges + steps).
fn highest<T: Copy + Default + Ord + AddAssign + SubAssign>(
    n_steps: u32,
    ranges: impl Iterator<Item = (Step, Step, Bytes)>,
    number: impl Fn(Bytes) -> T,
    mut is_within: impl FnMut(Step) -> bool,
) -> (T, Option<Step>) {
    let mut change = vec![T::default(); n_steps as usize + 1];
    let mut is_any = false;
    for (birth, end, bytes) in ranges {
        is_any = true;
        change[birth.idx()] += number(bytes);
        change[end.idx()] -= number(bytes);
    }
    let (mut live, mut peak) = (T::default(), (T::default(), None));
    for (step, difference) in (0..n_steps).zip(change) {
        live += difference;
        if !is_within(Step(step)) {
            continue;
        }
        if peak.1.is_none() || live > peak.0 {
            peak = (live, Some(Step(step)));
        }
    }
    (peak.0, peak.1.filter(|_| is_any))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    fn block(birth: u32, end: u32, bytes: u64, is_older: bool) -> RecordedBlock {
        RecordedBlock {
            is_older,
            ..RecordedBlock::new(RecordedName(0), Step(birth), Step(end), Bytes(bytes))
        }
    }

    #[test]
    fn blocks_stay_small() {
        // A run of a day has tens of millions of blocks.
        assert!(size_of::<RecordedBlock>() <= 56);
        assert_eq!(BlockAddress::new(0).map(BlockAddress::get), Some(0));
        assert_eq!(BlockAddress::new(u64::MAX), None);
        assert_eq!(StackIdx::new(7).map(StackIdx::idx), Some(7));
    }

    #[test]
    fn peaks_are_told_with_and_without_what_is_older() {
        let recording = Recording {
            n_steps: 4,
            names: ["x"].into_iter().collect(),
            blocks: vec![block(0, 2, 7, true), block(1, 3, 5, false), block(2, 4, 6, false)],
            ..Recording::default()
        };
        assert_eq!(recording.check(), Ok(()));
        let peaks = recording.peaks();
        assert_eq!(peaks.live, (Bytes(12), Some(Step(1))));
        assert_eq!(peaks.seen, (Bytes(11), Some(Step(2))));
        assert_eq!(peaks.reserved, (Bytes::ZERO, None));
    }

    #[test]
    fn what_breaks_an_invariant_is_named() {
        let whole = Recording {
            n_steps: 2,
            names: ["x"].into_iter().collect(),
            blocks: vec![block(0, 2, 1, false)],
            ..Recording::default()
        };
        let empty = Recording {
            blocks: vec![block(1, 1, 1, false)],
            ..whole.clone()
        };
        assert!(empty.check().is_err_and(|text| text.contains("block 0")));
        let behind = Recording {
            blocks: vec![block(0, 3, 1, false)],
            ..whole.clone()
        };
        assert!(behind.check().is_err());
        let times = Recording {
            times: [Nanos(2), Nanos(1)].into_iter().collect(),
            ..whole
        };
        assert!(times.check().is_err_and(|text| text.contains("time")));
    }
}
