//! Recordings: what a real run held on one device, as a tool wrote it down.
//!
//! ```text
//! steps      events in the order of the file (or of their times)
//! blocks     what was asked for: held on steps birth..end, at an address where the tool knows it
//! regions    what the allocator took from the device to serve them: address ranges held on steps birth..end
//! totals     curves that the file states itself
//! marks      single events: out of memory, an annotation, a snapshot
//! ops        measured ops with their times and scratch memory
//! ```
//!
//! Nothing here is computed by a model: what a tool did not write is absent, and never filled in. Invariants (asked by
//! [`Recording::check`]): every range is within `n_steps` and not empty, blocks are sorted by birth, times do not
//! decrease, names are in range.

mod parts;

pub use parts::{
    BlockAddress, MarkKind, RecordedBlock, RecordedFrame, RecordedMark, RecordedOp, RecordedRegion, RecordedTotal,
    StackIdx, TotalKind,
};

use super::names::Names;
use crate::typed_id;
use crate::units::{Bytes, Nanos, Step};

typed_id!(
    /// A text of a recording.
    RecordedName
);

/// What a run held on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// What it is of, as users know it: `device0`, `NPU:0`, `PTA`.
    pub name: String,
    /// The device, as the tables of one profiler call it alike: `NPU:0`; empty where they do not.
    pub device: String,
    /// Which tool wrote it, in a few words.
    pub recorder: String,
    /// Number of steps.
    pub n_steps: u32,
    /// When each step was, non-decreasing; empty where only the order is known.
    pub times: Vec<Nanos>,
    /// Blocks by birth.
    pub blocks: Vec<RecordedBlock>,
    /// Regions by birth.
    pub regions: Vec<RecordedRegion>,
    /// Curves that the file states.
    pub totals: Vec<RecordedTotal>,
    /// Single events by step.
    pub marks: Vec<RecordedMark>,
    /// Measured ops by start.
    pub ops: Vec<RecordedOp>,
    /// Texts by [`RecordedName`].
    pub names: Names,
    /// Lines of stacks.
    pub frames: Vec<RecordedFrame>,
    /// Stacks, innermost line first, as positions in `frames`; each distinct stack once.
    pub stacks: Vec<Box<[u32]>>,
    /// Settings of the allocator that the file states.
    pub settings: Vec<(String, String)>,
    /// What the file holds how often, and sums that it states, by the file's own words.
    pub counts: Vec<(String, u64)>,
    /// Whether `inspect` lists the blocks stream by stream.
    pub by_stream: bool,
}

/// Peaks of a recording, each with the first step that reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedPeaks {
    /// Bytes asked for, blocks older than the recording included.
    pub live: (Bytes, Option<Step>),
    /// Bytes asked for by blocks that the recording saw beginning.
    pub seen: (Bytes, Option<Step>),
    /// Bytes of regions, or of the stated curve where there are no regions.
    pub reserved: (Bytes, Option<Step>),
}

impl Recording {
    /// A text; empty where there is none.
    pub fn text(&self, name: RecordedName) -> &str {
        self.names.get(name.0 as usize)
    }

    /// The curve of a kind, where the file states one.
    pub fn total(&self, kind: TotalKind) -> Option<&RecordedTotal> {
        self.totals.iter().find(|total| total.kind == kind)
    }

    /// Whether it is of a device of this name, or does not say of which.
    pub fn is_of_device(&self, device: &str) -> bool {
        self.device == device || self.device.is_empty()
    }

    /// Whether there is anything to see: a block, a region, an event, or a curve above zero.
    pub fn has_content(&self) -> bool {
        let mut samples = self.totals.iter().flat_map(|total| &total.samples);
        let is_something = !self.blocks.is_empty() || !self.regions.is_empty() || !self.marks.is_empty();
        self.n_steps > 0 && (is_something || samples.any(|(_, bytes)| *bytes > Bytes::ZERO))
    }

    /// Whether the file says what was taken from the device.
    pub fn states_reserved(&self) -> bool {
        !self.regions.is_empty() || self.total(TotalKind::Reserved).is_some()
    }

    /// Whether the file says how much of what was taken from the device was in use: blocks within regions, or curves of
    /// both. Blocks beside a curve of the device are not enough: the pool may serve others too; and where more was in use
    /// than the regions come to, these are not all. Asked with the peaks of what was in use and of what was taken.
    pub fn states_use_of_reserved(&self, live: Bytes, reserved: Bytes) -> bool {
        if self.regions.is_empty() {
            return self.total(TotalKind::Reserved).is_some() && self.total(TotalKind::Allocated).is_some();
        }
        !self.blocks.is_empty() && !self.lacks_regions(live, reserved)
    }

    /// Whether more was in use than the listed regions come to: the file does not list all of them. Asked with both peaks.
    pub fn lacks_regions(&self, live: Bytes, reserved: Bytes) -> bool {
        !self.regions.is_empty() && live > reserved
    }

    /// Whether the file says what was in use.
    pub fn states_live(&self) -> bool {
        !self.blocks.is_empty() || self.total(TotalKind::Allocated).is_some()
    }

    /// Peaks. O(blocks + regions + steps).
    pub fn peaks(&self) -> RecordedPeaks {
        let blocks = |block: &RecordedBlock| (block.birth, block.end, block.bytes);
        let live = self.peak_of(self.blocks.iter().map(blocks));
        let seen = self.peak_of(self.blocks.iter().filter(|block| !block.is_older).map(blocks));
        let regions = self
            .regions
            .iter()
            .map(|region| (region.birth, region.end, region.bytes));
        let stated = self.total(TotalKind::Reserved).map(RecordedTotal::peak);
        RecordedPeaks {
            live,
            seen,
            reserved: match stated {
                Some(stated) if self.regions.is_empty() => stated,
                _ => self.peak_of(regions),
            },
        }
    }

    /// The peak of ranges and the first step that reaches it. Saturates.
    fn peak_of(&self, ranges: impl Iterator<Item = (Step, Step, Bytes)>) -> (Bytes, Option<Step>) {
        let mut change = vec![0_i128; self.n_steps as usize + 1];
        let mut is_any = false;
        for (birth, end, bytes) in ranges {
            is_any = true;
            change[birth.idx()] += i128::from(bytes.get());
            change[end.idx()] -= i128::from(bytes.get());
        }
        let (mut live, mut peak) = (0_i128, (0_i128, None));
        for (step, difference) in (0_u32..self.n_steps).zip(change) {
            live += difference;
            if peak.1.is_none() || live > peak.0 {
                peak = (live, Some(Step(step)));
            }
        }
        let bytes = Bytes(u64::try_from(peak.0).unwrap_or(u64::MAX));
        (bytes, peak.1.filter(|_| is_any))
    }

    /// Checks the invariants at the head of this file.
    ///
    /// # Errors
    /// The first that does not hold, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        let n_names = self.names.len();
        let is_range = |birth: Step, end: Step| birth < end && end.0 <= self.n_steps;
        if !self.blocks.is_sorted_by_key(|block| block.birth) {
            return Err("the blocks are not sorted by birth".to_owned());
        }
        for (position, block) in self.blocks.iter().enumerate() {
            let is_given_back = block.birth < block.given_back && block.given_back <= block.end;
            if !is_range(block.birth, block.end) || !is_given_back || block.name.0 as usize >= n_names {
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

/// Collects texts of a recording, each once.
#[derive(Debug, Default)]
pub struct RecordedNames {
    index: indexmap::IndexSet<Box<str>>,
}

impl RecordedNames {
    /// The name of a text.
    pub fn intern(&mut self, text: &str) -> RecordedName {
        let position = match self.index.get_index_of(text) {
            Some(position) => position,
            None => self.index.insert_full(text.into()).0,
        };
        RecordedName(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// The texts.
    pub fn finish(self) -> Names {
        self.index.iter().map(|text| &**text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(birth: u32, end: u32, bytes: u64, is_older: bool) -> RecordedBlock {
        RecordedBlock {
            name: RecordedName(0),
            birth: Step(birth),
            end: Step(end),
            given_back: Step(end),
            bytes: Bytes(bytes),
            held: Bytes(bytes),
            address: None,
            stream: 0,
            stack: None,
            is_older,
            is_freed: false,
        }
    }

    #[test]
    fn blocks_stay_small() {
        // A run of a day has tens of millions of them.
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
            times: vec![Nanos(2), Nanos(1)],
            ..whole
        };
        assert!(times.check().is_err_and(|text| text.contains("time")));
    }
}
