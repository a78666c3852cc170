//! The state before the first event: the final state, walked back.

use std::collections::BTreeMap;

use super::{Inconsistent, Recording};
use crate::allocator::{BlockState, SegmentState, StartRange, Use, round};
use crate::device::LAST_ADDRESS;
use crate::event::{Action, Event};
use crate::settings::Settings;

/// Segments of the small pools.
const SMALL_SEGMENT: u64 = 2 << 20;

/// Free blocks of large ordinary pools are larger.
const SMALL_LIMIT: u64 = 1 << 20;

/// Address ranges of a device of unknown size are this long at most.
const UNKNOWN_DEVICE: u64 = 1 << 40;

/// A live block of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Device address.
    pub addr: u64,
    /// Bytes asked for.
    pub requested: u64,
    /// Handle of the stream.
    pub stream: u64,
    /// Number of the private pool.
    pub pool: Option<u64>,
    /// Allocated or pending.
    pub state: Use,
}

/// The state before the first event.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Segments with their blocks, by address.
    pub segments: Vec<SegmentState>,
    /// Reserved ranges that hold the runs of mapped pages.
    pub ranges: Vec<StartRange>,
    /// Live blocks by address.
    pub live: Vec<Live>,
}

/// An event and its position.
pub(super) struct Where<'e> {
    pub(super) index: usize,
    pub(super) event: &'e Event,
}

impl Where<'_> {
    pub(super) fn error(&self, what: &'static str) -> Inconsistent {
        Inconsistent::event(self.index, self.event, what)
    }
}

/// A live block on the way back; its size is known where it lives to the end.
#[derive(Clone, Copy)]
struct Held {
    live: Live,
    size: Option<u64>,
    /// Where the free block after it starts, as a later allocation shows.
    end: Option<u64>,
}

/// Memory of a segment, or mapped pages.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Memory {
    size: u64,
    stream: u64,
    pool: Option<u64>,
    /// None: not known of unmapped pages.
    is_small: Option<bool>,
}

/// The state on the way back.
struct Walk {
    live: BTreeMap<u64, Held>,
    segments: BTreeMap<u64, Memory>,
    mapped: BTreeMap<u64, Memory>,
}

/// Addresses and sizes whose sums cannot overflow.
fn check_addresses(recording: &Recording) -> Result<(), Inconsistent> {
    let is_placed = |event: &&Event| event.action != Action::OutOfMemory;
    let of_events = recording
        .events
        .iter()
        .filter(is_placed)
        .map(|event| (event.addr, event.size));
    let of_segments = recording.segments.iter().map(|segment| (segment.addr, segment.size));
    let blocks = recording.segments.iter().flat_map(|segment| &segment.blocks);
    let of_blocks = blocks.flat_map(|block| [(block.addr, block.size), (block.addr, block.requested)]);
    let is_beyond = |(addr, size): &(u64, u64)| addr.checked_add(*size).is_none_or(|end| end > LAST_ADDRESS);
    match of_events.chain(of_segments).chain(of_blocks).find(is_beyond) {
        Some((addr, size)) => Err(Inconsistent::Address { addr, size }),
        None => Ok(()),
    }
}

impl Start {
    /// Bytes of all segments.
    pub(super) fn reserved(&self) -> u64 {
        self.segments
            .iter()
            .fold(0, |sum, segment| sum.saturating_add(segment.size))
    }

    pub(super) fn of(recording: &Recording, settings: &Settings, total: Option<u64>) -> Result<Self, Inconsistent> {
        check_addresses(recording)?;
        let mut walk = Walk::from_end(&recording.segments);
        for (index, event) in recording.events.iter().enumerate().rev() {
            walk.back(&Where { index, event })?;
        }
        if !recording.tells_requests() {
            for held in walk.live.values_mut() {
                held.live.state = Use::Allocated;
            }
        }
        let ranges = walk.ranges(&recording.events, settings, total);
        walk.find_ends(&recording.events, settings);
        walk.finish(settings, ranges)
    }
}

impl Walk {
    fn from_end(segments: &[SegmentState]) -> Self {
        let mut walk = Self {
            live: BTreeMap::new(),
            segments: BTreeMap::new(),
            mapped: BTreeMap::new(),
        };
        for segment in segments {
            let memory = Memory {
                size: segment.size,
                stream: segment.stream,
                pool: segment.pool,
                is_small: Some(segment.is_small),
            };
            if segment.is_expandable {
                walk.mapped.insert(segment.addr, memory);
            } else {
                walk.segments.insert(segment.addr, memory);
            }
            for block in segment.blocks.iter().filter(|block| block.state != Use::Inactive) {
                let live = Live {
                    addr: block.addr,
                    requested: block.requested,
                    stream: segment.stream,
                    pool: segment.pool,
                    state: block.state,
                };
                let size = Some(block.size);
                walk.live.insert(block.addr, Held { live, size, end: None });
            }
        }
        walk
    }

    /// Undoes an event.
    fn back(&mut self, place: &Where<'_>) -> Result<(), Inconsistent> {
        let event = place.event;
        let memory = Memory {
            size: event.size,
            stream: event.stream,
            pool: event.pool,
            is_small: None,
        };
        match event.action {
            Action::Alloc => match self.live.remove(&event.addr) {
                Some(held) if held.live.requested == event.size => {}
                Some(_) => return Err(place.error("another number of bytes is live there")),
                None => return Err(place.error("nothing is live there")),
            },
            Action::FreeCompleted => {
                let live = Live {
                    addr: event.addr,
                    requested: event.size,
                    stream: event.stream,
                    pool: event.pool,
                    state: Use::Pending,
                };
                if self
                    .live
                    .insert(
                        event.addr,
                        Held {
                            live,
                            size: None,
                            end: None,
                        },
                    )
                    .is_some()
                {
                    return Err(place.error("the block is still live"));
                }
            }
            Action::FreeRequested => match self.live.get_mut(&event.addr) {
                Some(held) if held.live.state == Use::Pending => held.live.state = Use::Allocated,
                _ => return Err(place.error("nothing waits for its completion there")),
            },
            Action::SegmentAlloc => match self.segments.remove(&event.addr) {
                Some(segment) if segment.size == event.size => {}
                _ => return Err(place.error("no segment of this size is there")),
            },
            Action::SegmentFree => {
                let is_small = Some(event.size == SMALL_SEGMENT);
                if self
                    .segments
                    .insert(event.addr, Memory { is_small, ..memory })
                    .is_some()
                {
                    return Err(place.error("the segment is still there"));
                }
            }
            Action::SegmentMap => {
                if !self.remove_pages(event.addr, event.size) {
                    return Err(place.error("these pages are not mapped"));
                }
            }
            Action::SegmentUnmap => {
                if !self.insert_pages(event.addr, memory) {
                    return Err(place.error("these pages are still mapped"));
                }
            }
            Action::OutOfMemory => {}
        }
        Ok(())
    }

    fn remove_pages(&mut self, addr: u64, size: u64) -> bool {
        let Some((start, run)) = self
            .mapped
            .range(..=addr)
            .next_back()
            .map(|(start, run)| (*start, *run))
        else {
            return false;
        };
        let (end, run_end) = (addr.saturating_add(size), start.saturating_add(run.size));
        if end > run_end {
            return false;
        }
        self.mapped.remove(&start);
        if start < addr {
            let size = addr - start;
            self.mapped.insert(start, Memory { size, ..run });
        }
        if end < run_end {
            let size = run_end - end;
            self.mapped.insert(end, Memory { size, ..run });
        }
        true
    }

    /// Adds pages, which join the runs that they touch.
    fn insert_pages(&mut self, addr: u64, mut pages: Memory) -> bool {
        let mut start = addr;
        let end = addr.saturating_add(pages.size);
        if let Some((left, run)) = self.mapped.range(..end).next_back().map(|(left, run)| (*left, *run)) {
            let left_end = left.saturating_add(run.size);
            if left_end > addr {
                return false;
            }
            if left_end == addr && pages.joins(&run) {
                self.mapped.remove(&left);
                start = left;
                pages.size += run.size;
                pages.is_small = pages.is_small.or(run.is_small);
            }
        }
        if let Some(run) = self.mapped.get(&end).copied().filter(|run| pages.joins(run)) {
            self.mapped.remove(&end);
            pages.size += run.size;
            pages.is_small = pages.is_small.or(run.is_small);
        }
        self.mapped.insert(start, pages);
        true
    }

    /// Reserved ranges, guessed from the addresses that are mapped at the start or were later.
    fn ranges(&self, events: &[Event], settings: &Settings, total: Option<u64>) -> Vec<StartRange> {
        let mut seen: BTreeMap<u64, Memory> = BTreeMap::new();
        for event in events.iter().filter(|event| event.action == Action::SegmentMap) {
            seen.insert(
                event.addr,
                Memory {
                    size: event.size,
                    stream: event.stream,
                    pool: event.pool,
                    // Small requests map one page at a time, and pages of the large pool are larger.
                    is_small: Some(event.size == SMALL_SEGMENT),
                },
            );
        }
        for (addr, run) in &self.mapped {
            let known = seen.entry(*addr).or_insert(*run);
            known.size = known.size.max(run.size);
        }
        let total = total.unwrap_or(UNKNOWN_DEVICE);
        let mut ranges: Vec<StartRange> = Vec::new();
        for (addr, memory) in seen {
            let last = ranges.last();
            let same = |range: &StartRange| (range.stream, range.pool) == (memory.stream, memory.pool);
            let joins = |range: &StartRange| {
                let class = memory.is_small.is_none_or(|is_small| is_small == range.is_small);
                same(range) && class && addr + memory.size <= range.addr.saturating_add(range.size)
            };
            if !last.is_some_and(joins) {
                let is_small = memory.is_small.unwrap_or(memory.size % settings.large_segment != 0);
                let page = settings.page(is_small);
                let size = total.saturating_add(total / 8).div_ceil(page).saturating_mul(page);
                ranges.push(StartRange {
                    addr,
                    size,
                    stream: memory.stream,
                    is_small,
                    pool: memory.pool,
                });
            }
        }
        for at in 1..ranges.len() {
            let next = ranges[at].addr;
            let range = &mut ranges[at - 1];
            let page = settings.page(range.is_small);
            let room = next - range.addr;
            range.size = range.size.min(room - room % page);
        }
        let is_mapped = |range: &StartRange| {
            let end = range.addr.saturating_add(range.size);
            self.mapped.range(range.addr..end).next().is_some()
        };
        ranges.retain(is_mapped);
        ranges
    }

    /// A free block after a live one is used from its low end, so that the lowest allocation there, while the live
    /// block lives, shows where that one ends.
    fn find_ends(&mut self, events: &[Event], settings: &Settings) {
        let unknown = self.live.iter().filter(|(_, held)| held.size.is_none());
        let mut ends: BTreeMap<u64, u64> = unknown
            .map(|(addr, held)| (*addr, addr.saturating_add(round(settings, held.live.requested))))
            .collect();
        for event in events {
            match event.action {
                Action::Alloc => {
                    let Some((addr, end)) = ends.range(..event.addr).next_back() else {
                        continue;
                    };
                    let is_behind = event.addr >= *end && event.addr - end <= SMALL_LIMIT;
                    if let Some(held) = self.live.get_mut(addr).filter(|_| is_behind) {
                        let lowest = held.end.unwrap_or(u64::MAX);
                        held.end = Some(lowest.min(event.addr));
                    }
                }
                Action::FreeCompleted => {
                    ends.remove(&event.addr);
                }
                _ => {}
            }
        }
    }

    fn finish(self, settings: &Settings, ranges: Vec<StartRange>) -> Result<Start, Inconsistent> {
        let mut segments = Vec::new();
        for (addr, memory) in &self.segments {
            segments.push(self.segment(*addr, memory, false, settings)?);
        }
        for (addr, memory) in &self.mapped {
            let at = ranges.partition_point(|range| range.addr <= *addr);
            let range = at.checked_sub(1).map(|at| &ranges[at]);
            let is_small = memory.is_small.or(range.map(|range| range.is_small));
            let memory = Memory { is_small, ..*memory };
            segments.push(self.segment(*addr, &memory, true, settings)?);
        }
        segments.sort_by_key(|segment| segment.addr);
        let placed: usize = segments
            .iter()
            .map(|segment| {
                let is_live = |block: &&BlockState| block.state != Use::Inactive;
                segment.blocks.iter().filter(is_live).count()
            })
            .sum();
        if placed != self.live.len() {
            let is_inside = |addr: u64| {
                let at = segments.partition_point(|segment| segment.addr <= addr);
                at > 0 && addr < segments[at - 1].addr.saturating_add(segments[at - 1].size)
            };
            let outside = self.live.keys().find(|addr| !is_inside(**addr));
            let addr = outside.copied().unwrap_or_default();
            return Err(Inconsistent::Block { addr });
        }
        Ok(Start {
            segments,
            ranges,
            live: self.live.into_values().map(|held| held.live).collect(),
        })
    }

    /// A segment with its blocks: live ones, and what is between them.
    fn segment(
        &self,
        addr: u64,
        memory: &Memory,
        is_expandable: bool,
        settings: &Settings,
    ) -> Result<SegmentState, Inconsistent> {
        let end = addr.saturating_add(memory.size);
        let is_small = memory.is_small.unwrap_or(false);
        let keeps_rest = !is_expandable && !is_small && !settings.expandable;
        let mut blocks: Vec<BlockState> = Vec::new();
        let mut at = addr;
        let mut following = self.live.range(addr..end).peekable();
        while let Some((start, held)) = following.next() {
            if *start < at {
                return Err(Inconsistent::Block { addr: *start });
            }
            push_free(&mut blocks, at, *start);
            let next = following.peek().map_or(end, |(next, _)| **next);
            let mut size = held.size.unwrap_or_else(|| round(settings, held.live.requested));
            let rest = next.saturating_sub(start.saturating_add(size));
            // Rests of this kind are not split off.
            let is_whole = size >= settings.max_split;
            if held.size.is_none() && keeps_rest && (is_whole || rest <= SMALL_LIMIT) {
                size += rest;
            } else if let Some(found) = held.end.filter(|found| keeps_rest && *found <= next) {
                size = found - start;
            }
            at = start.saturating_add(size);
            if at > next {
                return Err(Inconsistent::Block { addr: *start });
            }
            blocks.push(BlockState {
                addr: *start,
                size,
                requested: held.live.requested,
                state: held.live.state,
            });
        }
        push_free(&mut blocks, at, end);
        Ok(SegmentState {
            addr,
            size: memory.size,
            stream: memory.stream,
            is_small,
            is_expandable,
            pool: memory.pool,
            blocks,
        })
    }
}

impl Memory {
    fn joins(&self, other: &Self) -> bool {
        (self.stream, self.pool) == (other.stream, other.pool)
    }
}

fn push_free(blocks: &mut Vec<BlockState>, addr: u64, end: u64) {
    if addr < end {
        blocks.push(BlockState {
            addr,
            size: end - addr,
            requested: 0,
            state: Use::Inactive,
        });
    }
}
