//! A range of events of a pickle, kept while it is read: the others are read and given up.
//!
//! ```text
//! events   0 ..... first ........ end ............ the state at the end of the file
//!          given up  kept          the first of each address is kept: it tells what was live at `end`
//! ```
//!
//! In: completed events in the order of their lists, at the moment when the machine has read them. Out: which of them stay; what of
//! the final state was otherwise at the end of the range. A block that is freed behind the range before anything else happens at
//! its address was live at its end; a final block at an address that the file uses behind the range was not there yet. Events
//! that map and unmap are kept and undone one by one. Lists that kept events share with others (call stacks) are found by a
//! pass over the file before, which keeps nothing but their places in the memo.

use std::collections::{BTreeMap, BTreeSet};

use super::device::{Device, FinalBlock, FinalSegment};
use super::keys;
use super::regions::kind_by_size;
use super::rows::{Action, Entry, NONE, Segment, has};
use super::value::Heap;
use highwater_model::workload::RecordedRange;

/// Which events of a list are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// From a number, up to another (exclusive).
    Numbers(u32, u32),
    /// From a time on, in microseconds.
    Since(u64),
}

/// What is done with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    GiveUp,
}

/// A list of events, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct TraceCut {
    n_events: u32,
    first: u32,
    pub(super) n_within: u32,
    /// Of the last event before the range.
    time_before: Option<u64>,
    /// Addresses of blocks that events behind the range use.
    touched: BTreeSet<u64>,
    has_times: bool,
}

impl TraceCut {
    pub(super) fn range(&self) -> RecordedRange {
        RecordedRange {
            first: self.first,
            end: self.first + self.n_within,
            of: self.n_events,
        }
    }

    /// Whether a time, in microseconds, is one of the events before the range, or earlier.
    pub(super) fn is_before(&self, time_us: u64) -> bool {
        self.time_before.is_some_and(|before| time_us <= before)
    }

    fn judge(&mut self, kept: Kept, entry: &Entry) -> Verdict {
        let number = self.n_events;
        self.n_events = self.n_events.saturating_add(1);
        let is_before = match kept {
            Kept::Numbers(first, _) => number < first,
            Kept::Since(time) => self.n_within == 0 && entry.has(has::TIME) && entry.time_us < time,
        };
        if is_before {
            self.first = number + 1;
            self.time_before = Some(entry.time_us).filter(|_| entry.has(has::TIME));
            return Verdict::GiveUp;
        }
        if !matches!(kept, Kept::Numbers(_, end) if number >= end) {
            self.n_within += 1;
            self.has_times |= entry.has(has::TIME);
            return Verdict::Keep;
        }
        match entry.action {
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => Verdict::Keep,
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted if entry.has(has::ADDRESS) => {
                let is_first = self.touched.insert(entry.address);
                if is_first && entry.action != Action::Alloc {
                    Verdict::Keep
                } else {
                    Verdict::GiveUp
                }
            }
            _ => Verdict::GiveUp,
        }
    }
}

/// Decides about events while a pickle is read.
#[derive(Debug)]
pub(super) struct EventFilter {
    kept: Kept,
    /// Places of the memo whose lists kept values name.
    pub(super) wanted: BTreeSet<u32>,
    /// By list of events.
    pub(super) cuts: BTreeMap<u32, TraceCut>,
}

impl EventFilter {
    pub(super) fn new(kept: Kept, wanted: BTreeSet<u32>) -> Self {
        Self {
            kept,
            wanted,
            cuts: BTreeMap::new(),
        }
    }

    /// The next event of a list.
    pub(super) fn judge(&mut self, list: u32, entry: &Entry) -> Verdict {
        self.cuts.entry(list).or_default().judge(self.kept, entry)
    }

    /// Whether no event is within the range, though there are some.
    pub(super) fn is_empty(&self) -> bool {
        !self.cuts.is_empty() && self.cuts.values().all(|cut| cut.n_within == 0)
    }

    /// The last time of an event that was given up before the range.
    pub(super) fn last_time(&self) -> Option<u64> {
        self.cuts.values().filter_map(|cut| cut.time_before).max()
    }

    pub(super) fn n_events(&self) -> u32 {
        self.cuts.values().map(|cut| cut.n_events).max().unwrap_or(0)
    }
}

/// Makes the final state of a device that of the end of the range: `rows` are the kept events behind it, ascending.
pub(super) fn undo(heap: &Heap, device: &mut Device, cut: &TraceCut, rows: &[u32]) {
    let entries = || rows.iter().filter_map(|row| heap.rows.entries.get(*row));
    let mut blocks = crate::pages::Pages::default();
    for block in device
        .blocks
        .iter()
        .filter(|block| !cut.touched.contains(&block.address))
    {
        blocks.push(*block);
    }
    for entry in entries().filter(|entry| matches!(entry.action, Action::FreeRequested | Action::FreeCompleted)) {
        blocks.push(FinalBlock {
            address: entry.address,
            held: entry.size,
            bytes: entry.size,
            states_bytes: entry.has(has::SIZE),
            frames: NONE,
            extra: NONE,
            stream: heap.rows.stream_at(entry.stream),
        });
    }
    device.blocks = blocks;
    let mut segments: BTreeMap<u64, FinalSegment> = BTreeMap::new();
    for segment in &device.segments {
        segments.insert(segment.address, *segment);
    }
    for row in rows.iter().rev() {
        let Some(entry) = heap.rows.entries.get(*row) else {
            continue;
        };
        let Some(end) = entry.address.checked_add(entry.size) else {
            continue;
        };
        let is_mapped = matches!(entry.action, Action::SegmentAlloc | Action::SegmentMap);
        if !is_mapped && !matches!(entry.action, Action::SegmentFree | Action::SegmentUnmap) {
            continue;
        }
        cut_out(&mut segments, entry.address, end);
        if !is_mapped && entry.size > 0 {
            let row = unmapped(heap, &entry);
            let (address, bytes) = (entry.address, entry.size);
            segments.insert(address, FinalSegment { row, address, bytes });
        }
    }
    device.segments = segments.into_values().collect();
    // Sums of the file's end.
    device.states.clear();
    device.uneven = 0;
    for segment in &mut device.segments {
        (segment.row.allocated, segment.row.active) = (None, None);
    }
}

/// A segment that an event behind the range frees; its size tells its kind.
fn unmapped(heap: &Heap, entry: &Entry) -> Segment {
    let is_expandable = entry.action == Action::SegmentUnmap;
    let kind = match kind_by_size(entry.size) {
        "small" => keys::SMALL,
        "large" => keys::LARGE,
        _ => NONE,
    };
    Segment {
        device: None,
        address: Some(entry.address),
        total: Some(entry.size),
        allocated: None,
        active: None,
        stream: heap.rows.stream_at(entry.stream),
        kind: if is_expandable { NONE } else { kind },
        pool: NONE,
        is_expandable,
        blocks: NONE,
    }
}

/// Takes a range of addresses out of segments; what is left of them on both sides stays.
fn cut_out(segments: &mut BTreeMap<u64, FinalSegment>, from: u64, to: u64) {
    let below = segments.range(..from).next_back().map(|(start, _)| *start);
    let touched = segments.range(from..to).map(|(start, _)| *start);
    let touched: Vec<u64> = below.into_iter().chain(touched).collect();
    for start in touched {
        let Some(segment) = segments.get(&start).copied() else {
            continue;
        };
        let end = start.saturating_add(segment.bytes);
        if end <= from {
            continue;
        }
        segments.remove(&start);
        for (address, stop) in [(start, from), (to, end)] {
            if address < stop {
                let bytes = stop - address;
                segments.insert(
                    address,
                    FinalSegment {
                        address,
                        bytes,
                        ..segment
                    },
                );
            }
        }
    }
}
