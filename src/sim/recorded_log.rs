//! A recording of a real run as an event log, so that measured and simulated lanes have one form.
//!
//! ```text
//! recording   region 0x7f..00, 20 MiB, events 3..90     block x: 4 MiB at 0x7f..80, events 5..17
//! log         DeviceMalloc .......... DeviceFree             Alloc ........... Free
//! ```
//!
//! In: a [`Recording`], and the step of each of its events on the common axis. Out: a [`Simulation`] in form only: its
//! events are those of the file. Rules: adjacent ranges of an expandable segment are one virtual range with pages;
//! every other region is separate device memory, so that unmapped addresses count nowhere. A block without an address, or outside all held regions, is in a
//! separate range without memory, where blocks are stacked by best fit, only for drawing ([`RecordedLog::n_stacked`]
//! counts them). Within a step ends come before begins, blocks before their regions.

mod stack;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::iter::Peekable;
use std::sync::Arc;

use super::event::{
    Event, EventKind, OutOfMemory, Region, RegionAddress, RegionId, RegionKind, Simulation, Subject, SubjectId,
};
use super::event_log::{EventLog, RecordedEvents, occupied};
use super::policies::StaticMemoryPolicy;
use highwater_model::graph::Id as _;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{MarkKind, RecordedBlock, Recording};
use stack::Stack;

/// Changes between two checks of the cancel flag.
const CHANGES_PER_CHECK: usize = 1 << 12;

#[derive(Debug)]
pub struct RecordedLog {
    pub simulation: Simulation,
    /// Blocks whose place is only for drawing.
    pub n_stacked: u64,
}

/// The step of each event of a recording on the common axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSteps {
    /// This many events, each on the step of its number.
    Own(u32),
    /// One step per event, not decreasing.
    Named(Arc<[u32]>),
}

impl EventSteps {
    /// The step of an event; `None` beyond the last.
    #[inline]
    pub fn get(&self, event: Step) -> Option<u32> {
        match self {
            Self::Own(n_events) => (event.0 < *n_events).then_some(event.0),
            Self::Named(steps) => steps.get(event.idx()).copied(),
        }
    }

    /// Whether several events share a step. O(events).
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Named(steps) => steps.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }
}

/// A change of a block or a region, in the order within a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    BlockEnds,
    RegionEnds,
    RegionBegins,
    BlockBegins,
    Mark,
}

/// Writes the log. `steps` maps events to the common axis, which has `n_steps`. O(n log n) in blocks and regions.
///
/// # Errors
/// [`Cancelled`].
pub fn recorded_log(
    recording: &Arc<Recording>,
    steps: EventSteps,
    n_steps: u32,
    progress: &Progress<'_>,
) -> Result<RecordedLog, Cancelled> {
    progress.check()?;
    let mut changes = Changes::new(recording, progress)?;
    let total = changes.most();
    let mut writer = Writer::new(recording, steps, n_steps);
    for position in 0_usize.. {
        let Some((at, change, number)) = changes.next() else {
            break;
        };
        if position.is_multiple_of(CHANGES_PER_CHECK) {
            progress.set("reading the recording", position as u64, total)?;
        }
        writer.step = writer.events.step(at);
        writer.follow(change, number);
    }
    writer.log.events = EventLog::recorded(writer.events);
    Ok(RecordedLog {
        n_stacked: writer.n_stacked,
        simulation: writer.log,
    })
}

/// Step, change, and number of the block, region or mark.
type When = (Step, Change, u32);

/// Changes in order. Blocks are sorted by birth, so only the ends of live ones are kept.
struct Changes<'a> {
    recording: &'a Recording,
    /// The next block to begin.
    next_block: usize,
    /// Ends of live blocks, the earliest on top.
    ends: BinaryHeap<Reverse<(Step, u32)>>,
    /// Regions and marks.
    others: Peekable<std::vec::IntoIter<When>>,
}

impl<'a> Changes<'a> {
    fn new(recording: &'a Recording, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let mut others = Vec::with_capacity(2 * recording.regions.len());
        for (number, region) in (0_u32..).zip(&recording.regions) {
            others.push((region.birth, Change::RegionBegins, number));
            if region.end.0 < recording.n_steps {
                others.push((region.end, Change::RegionEnds, number));
            }
        }
        for (number, mark) in (0_u32..).zip(&recording.marks) {
            if mark.kind == MarkKind::OutOfMemory {
                others.push((mark.step, Change::Mark, number));
            }
        }
        Ok(Self {
            recording,
            next_block: 0,
            ends: BinaryHeap::new(),
            others: progress.sorted(others)?.into_iter().peekable(),
        })
    }

    /// An upper bound of the number of changes.
    fn most(&self) -> u64 {
        (2 * self.recording.blocks.len() + self.others.len()) as u64
    }

    fn next_begin(&self) -> Option<When> {
        let block = self.recording.blocks.get(self.next_block)?;
        let number = u32::try_from(self.next_block).ok()?;
        Some((block.birth, Change::BlockBegins, number))
    }

    fn next_end(&self) -> Option<When> {
        let Reverse((step, number)) = *self.ends.peek()?;
        Some((step, Change::BlockEnds, number))
    }

    fn next(&mut self) -> Option<When> {
        let heads = [self.next_begin(), self.next_end(), self.others.peek().copied()];
        let next = heads.into_iter().flatten().min()?;
        match next.1 {
            Change::BlockBegins => {
                let end = self.recording.blocks[self.next_block].end;
                self.next_block += 1;
                if end.0 < self.recording.n_steps {
                    self.ends.push(Reverse((end, next.2)));
                }
            }
            Change::BlockEnds => {
                self.ends.pop();
            }
            Change::RegionBegins | Change::RegionEnds | Change::Mark => {
                self.others.next();
            }
        }
        Some(next)
    }
}

struct Writer<'a> {
    recording: &'a Recording,
    step: Step,
    events: RecordedEvents,
    /// Its events are put in at the end.
    log: Simulation,
    /// Held regions by address: end and region of the log.
    held: BTreeMap<u64, (u64, RegionId)>,
    /// Expandable ranges by address.
    ranges: BTreeMap<u64, (u64, RegionId)>,
    /// By recorded region: the region of the log, and the page where it is one of an expandable range.
    of_region: Vec<(RegionId, Option<SubjectId>)>,
    /// By recorded region: the page that it would be.
    pages: Vec<SubjectId>,
    stack: Stack,
    stacked: Option<RegionId>,
    n_stacked: u64,
    reserved: Bytes,
}

impl<'a> Writer<'a> {
    fn new(recording: &'a Arc<Recording>, steps: EventSteps, n_steps: u32) -> Self {
        let mut log = Simulation::new(StaticMemoryPolicy::Dynamic, n_steps, Bytes(u64::MAX >> 1), 0);
        let pages = (1_u32..).zip(&recording.regions);
        let pages = pages.map(|(number, region)| log.add_subject(Subject::Page(number), region.bytes));
        let pages = pages.collect();
        let first_subject = log.subjects.add_blocks(recording);
        let mut writer = Self {
            recording,
            step: Step(0),
            events: RecordedEvents::new(recording, steps, n_steps, first_subject),
            log,
            pages,
            held: BTreeMap::new(),
            ranges: BTreeMap::new(),
            of_region: vec![(RegionId(0), None); recording.regions.len()],
            stack: Stack::default(),
            stacked: None,
            n_stacked: 0,
            reserved: Bytes::ZERO,
        };
        writer.add_ranges();
        writer
    }

    /// Expandable ranges that are adjacent or overlap are one, whenever they are mapped. No event reserves them: the file states
    /// mapped ranges alone.
    fn add_ranges(&mut self) {
        let recording = self.recording;
        let mut extents: Vec<(u64, u64)> = recording
            .regions
            .iter()
            .filter(|region| recording.is_expandable(region))
            .map(|region| (region.address, region.address.saturating_add(region.bytes.get())))
            .collect();
        extents.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (start, end) in extents {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        for (start, end) in joined {
            let at = RegionAddress::virtual_space(start);
            let id = self
                .log
                .add_region(region(RegionKind::ExpandableSegment, at, end - start));
            self.ranges.insert(start, (end, id));
        }
    }

    fn follow(&mut self, change: Change, number: u32) {
        let idx = number as usize;
        match change {
            Change::RegionBegins => self.begin_region(idx),
            Change::RegionEnds => self.end_region(idx),
            Change::BlockBegins => self.begin_block(idx),
            Change::BlockEnds => {
                if let Some(offset) = self.events.end(number) {
                    self.stack.free(offset);
                }
            }
            Change::Mark => {
                let mark = self.recording.marks[idx];
                self.record(EventKind::OutOfMemory, RegionId(0), 0, mark.bytes, SubjectId(0));
                let first = OutOfMemory {
                    step: self.step,
                    requested: mark.bytes,
                    in_use: self.reserved,
                    subject: Subject::Session,
                };
                self.log.out_of_memory.get_or_insert(first);
            }
        }
    }

    fn begin_region(&mut self, idx: usize) {
        let recorded = &self.recording.regions[idx];
        let (start, bytes) = (recorded.address, recorded.bytes);
        self.reserved += bytes;
        if self.recording.is_expandable(recorded)
            && let Some((base, id)) = find(&self.ranges, start, bytes.get())
        {
            let page = self.pages[idx];
            self.of_region[idx] = (id, Some(page));
            self.record(EventKind::PageAlloc, id, 0, bytes, page);
            self.record(EventKind::Map, id, start - base, bytes, page);
            return;
        }
        let id = self
            .log
            .add_region(region(RegionKind::Segment, RegionAddress::device(start), bytes.get()));
        self.of_region[idx] = (id, None);
        self.held.insert(start, (start.saturating_add(bytes.get()), id));
        self.record(EventKind::DeviceMalloc, id, 0, bytes, SubjectId(0));
    }

    fn end_region(&mut self, idx: usize) {
        let recorded = &self.recording.regions[idx];
        let (id, page) = self.of_region[idx];
        self.reserved = self.reserved.saturating_sub(recorded.bytes);
        let Some(page) = page else {
            if self.held.get(&recorded.address).is_some_and(|(_, held)| *held == id) {
                self.held.remove(&recorded.address);
            }
            self.record(EventKind::DeviceFree, id, 0, recorded.bytes, SubjectId(0));
            return;
        };
        let base = self.log.regions[id.idx()].at.offset();
        let offset = recorded.address.saturating_sub(base);
        self.record(EventKind::Unmap, id, offset, recorded.bytes, page);
        self.record(EventKind::PageFree, id, 0, recorded.bytes, page);
    }

    /// Blocks begin in the order of their numbers.
    fn begin_block(&mut self, idx: usize) {
        let block = &self.recording.blocks[idx];
        let bytes = occupied(block);
        if let Some((origin, region)) = self.stated(block, bytes) {
            return self.events.begin(region, origin);
        }
        let (region, offset) = self.stacked(bytes);
        self.events.begin_stacked(region, offset);
    }

    /// The region that holds the block's address, and where it starts.
    fn stated(&self, block: &RecordedBlock, bytes: Bytes) -> Option<(u64, RegionId)> {
        let address = block.address?.get();
        find(&self.held, address, bytes.get()).or_else(|| find(&self.ranges, address, bytes.get()))
    }

    fn stacked(&mut self, bytes: Bytes) -> (RegionId, u64) {
        self.n_stacked += 1;
        let id = match self.stacked {
            Some(id) => id,
            None => self
                .log
                .add_region(region(RegionKind::Unplaced, RegionAddress::virtual_space(0), 0)),
        };
        self.stacked = Some(id);
        let offset = self.stack.take(bytes.get());
        let size = &mut self.log.regions[id.idx()].bytes;
        *size = (*size).max(Bytes(offset.saturating_add(bytes.get())));
        (id, offset)
    }

    fn record(&mut self, kind: EventKind, region: RegionId, offset: u64, bytes: Bytes, subject: SubjectId) {
        self.events.push(Event {
            step: self.step,
            kind,
            region,
            subject,
            offset,
            bytes,
        });
    }
}

fn region(kind: RegionKind, at: RegionAddress, bytes: u64) -> Region {
    Region {
        kind,
        graph: None,
        bytes: Bytes(bytes),
        io: Bytes::ZERO,
        at,
    }
}

/// The extent that holds `bytes` at an address: its start and region. O(log extents).
fn find(extents: &BTreeMap<u64, (u64, RegionId)>, address: u64, bytes: u64) -> Option<(u64, RegionId)> {
    let (start, (end, id)) = extents.range(..=address).next_back()?;
    (address.checked_add(bytes)? <= *end).then_some((*start, *id))
}

#[cfg(test)]
mod tests;
