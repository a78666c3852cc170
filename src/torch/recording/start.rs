//! The state before the first event: the final state, walked back.

use std::collections::BTreeMap;

use super::pages::{Memory, Pages};
use super::{Inconsistent, Recording, Stop, Stopped};
use crate::allocator::{BlockState, SegmentState, StartRange, Use, round};
use crate::device::LAST_ADDRESS;
use crate::event::{Action, Event};
use crate::settings::Settings;

/// Segments of the small pools.
const SMALL_SEGMENT: u64 = 2 << 20;

/// Free blocks of large ordinary pools are larger.
pub(super) const SMALL_LIMIT: u64 = 1 << 20;

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

/// The state on the way back.
struct Walk {
    live: BTreeMap<u64, Held>,
    segments: BTreeMap<u64, Memory>,
    mapped: Pages,
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

    pub(super) fn of(
        recording: &Recording,
        settings: &Settings,
        total: Option<u64>,
        stop: Stop<'_>,
    ) -> Result<Self, Inconsistent> {
        check_addresses(recording)?;
        let mut walk = Walk::from_end(&recording.segments);
        for (index, event) in recording.events.iter().enumerate().rev() {
            stop.look(index)?;
            walk.back(&Where { index, event })?;
        }
        if !recording.tells_requests() {
            for held in walk.live.values_mut() {
                held.live.state = Use::Allocated;
            }
        }
        let live = walk.live.values().map(|held| (held.live.addr, held.live.requested));
        walk.mapped.find_pools(live, &recording.events, settings, stop)?;
        let ranges = walk.mapped.ranges(&recording.events, settings, total, stop)?;
        walk.find_ends(&recording.events, settings, stop)?;
        walk.finish(settings, ranges)
    }
}

impl Walk {
    fn from_end(segments: &[SegmentState]) -> Self {
        let mut walk = Self {
            live: BTreeMap::new(),
            segments: BTreeMap::new(),
            mapped: Pages::default(),
        };
        for segment in segments {
            let memory = Memory {
                size: segment.size,
                stream: segment.stream,
                pool: segment.pool,
                is_small: Some(segment.is_small),
            };
            if segment.is_expandable {
                walk.mapped.runs.insert(segment.addr, memory);
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
                if !self.mapped.remove(event.addr, event.size) {
                    return Err(place.error("these pages are not mapped"));
                }
            }
            Action::SegmentUnmap => {
                if !self.mapped.insert(event.addr, memory) {
                    return Err(place.error("these pages are still mapped"));
                }
            }
            Action::OutOfMemory => {}
        }
        Ok(())
    }

    /// A free block after a live one is used from its low end, so that the lowest allocation there, while the live
    /// block lives, shows where that one ends.
    fn find_ends(&mut self, events: &[Event], settings: &Settings, stop: Stop<'_>) -> Result<(), Stopped> {
        let unknown = self.live.iter().filter(|(_, held)| held.size.is_none());
        let mut ends: BTreeMap<u64, u64> = unknown
            .map(|(addr, held)| (*addr, addr.saturating_add(round(settings, held.live.requested))))
            .collect();
        for (index, event) in events.iter().enumerate() {
            stop.look(index)?;
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
        Ok(())
    }

    fn finish(self, settings: &Settings, ranges: Vec<StartRange>) -> Result<Start, Inconsistent> {
        let mut segments = Vec::new();
        for (addr, memory) in &self.segments {
            segments.push(self.segment(*addr, memory, false, settings)?);
        }
        for (addr, memory) in &self.mapped.runs {
            segments.push(self.segment(*addr, memory, true, settings)?);
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
