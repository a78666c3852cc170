//! Whole states: what an allocator holds, and an allocator that starts from what another one held.

use std::collections::BTreeMap;

use super::{Allocator, Range};
use crate::block::{Block, BlockId, Kind, NONE, ORDINARY, Place};
use crate::device::Device;
use crate::event::Observer;
use crate::settings::Settings;
use crate::version::{Rules, Ties};

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The program holds it.
    Allocated,
    /// Freed, waiting for other streams.
    Pending,
    /// Free.
    Inactive,
}

impl Use {
    /// The name in snapshots.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocated => "active_allocated",
            Self::Pending => "active_pending_free",
            Self::Inactive => "inactive",
        }
    }
}

/// A block of a segment. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockState {
    /// Device address.
    pub addr: u64,
    /// Bytes of the block.
    pub size: u64,
    /// Bytes asked for; 0 where it is free.
    pub requested: u64,
    /// What it is doing.
    pub state: Use,
}

/// A segment, or a run of mapped pages of an expandable one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentState {
    /// First address.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Handle of its stream.
    pub stream: u64,
    /// Whether it belongs to a small pool.
    pub is_small: bool,
    /// Whether it is a run of mapped pages.
    pub is_expandable: bool,
    /// Number of its private pool.
    pub pool: Option<u64>,
    /// Blocks by address, without gaps.
    pub blocks: Vec<BlockState>,
}

impl SegmentState {
    /// Sum over blocks of a kind of use.
    pub fn sum(&self, is_counted: impl Fn(Use) -> bool, bytes: impl Fn(&BlockState) -> u64) -> u64 {
        let blocks = self.blocks.iter().filter(|block| is_counted(block.state));
        blocks.map(bytes).sum()
    }
}

/// Reserved addresses that hold runs of mapped pages of a start state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRange {
    /// First address.
    pub addr: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// Handle of its stream.
    pub stream: u64,
    /// Whether it belongs to a small pool.
    pub is_small: bool,
    /// Number of its private pool.
    pub pool: Option<u64>,
}

/// A start state that no allocator can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidState {
    /// Blocks leave a gap, overlap or do not end where their segment ends.
    #[error("the blocks of the segment at {addr:#x} do not fill it exactly")]
    Blocks {
        /// Address of the segment.
        addr: u64,
    },
    /// Two segments or ranges share addresses.
    #[error("two segments share the address {addr:#x}")]
    Overlap {
        /// Where they meet.
        addr: u64,
    },
    /// A run of pages without a range, or of another stream or pool than its range.
    #[error("the mapped pages at {addr:#x} belong to no range of their stream and pool")]
    NoRange {
        /// Address of the run.
        addr: u64,
    },
    /// A range that is not made of whole pages.
    #[error("the range at {addr:#x} is not made of whole pages of {page} bytes")]
    Pages {
        /// Address of the range.
        addr: u64,
        /// Bytes of a page.
        page: u64,
    },
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// An allocator that holds these segments; block numbers and segment numbers follow addresses, ages start now. The
    /// second part names the blocks that the program holds or that are pending, by address.
    ///
    /// # Errors
    /// A state that no allocator can have.
    pub fn from_state(
        (device, observer): (D, O),
        (settings, rules): (Settings, Rules),
        segments: &[SegmentState],
        ranges: &[StartRange],
    ) -> Result<(Self, BTreeMap<u64, BlockId>), InvalidState> {
        let mut allocator = Self::with_rules(device, observer, settings, rules);
        let mut sorted: Vec<&SegmentState> = segments.iter().collect();
        sorted.sort_by_key(|segment| segment.addr);
        if let Some(pair) = sorted
            .windows(2)
            .find(|pair| pair[0].addr.saturating_add(pair[0].size) > pair[1].addr)
        {
            return Err(InvalidState::Overlap { addr: pair[1].addr });
        }
        let mut held = BTreeMap::new();
        for segment in sorted.iter().filter(|segment| !segment.is_expandable) {
            allocator.start_segment(segment, &mut held)?;
        }
        let mut ranges: Vec<StartRange> = ranges.to_vec();
        ranges.sort_by_key(|range| range.addr);
        // By address, until a range takes them.
        let mut runs: Vec<Option<&SegmentState>> = sorted
            .into_iter()
            .filter(|segment| segment.is_expandable)
            .map(Some)
            .collect();
        let starts: Vec<u64> = runs.iter().flatten().map(|run| run.addr).collect();
        for range in &ranges {
            let end = range.addr.saturating_add(range.size);
            let belongs = |run: &mut &SegmentState| {
                let is_inside = run.addr >= range.addr && run.addr.saturating_add(run.size) <= end;
                let same = (run.stream, run.is_small, run.pool) == (range.stream, range.is_small, range.pool);
                is_inside && same
            };
            let within =
                starts.partition_point(|start| *start < range.addr)..starts.partition_point(|start| *start <= end);
            let own: Vec<&SegmentState> = runs[within].iter_mut().filter_map(|run| run.take_if(belongs)).collect();
            allocator.start_range(*range, &own, &mut held)?;
        }
        if let Some(run) = runs.iter().flatten().next() {
            return Err(InvalidState::NoRange { addr: run.addr });
        }
        Ok((allocator, held))
    }

    fn start_segment(&mut self, segment: &SegmentState, held: &mut BTreeMap<u64, BlockId>) -> Result<(), InvalidState> {
        let pool = self.pool_place(segment.pool, segment.is_small);
        let number = match self.rules.ties {
            Ties::SegmentAge => self.next_number(),
            Ties::Address | Ties::BlockAge => 0,
        };
        let first = Place {
            stream: segment.stream,
            pool,
            range: ORDINARY,
            number,
        };
        let ids = self.start_blocks(first, segment, held, NONE)?;
        self.stats.reserved.add(segment.size);
        self.stats.segments += 1;
        self.stats.oversize_segments += i64::from(segment.size >= self.settings.max_split);
        self.put_idle(&ids);
        Ok(())
    }

    fn start_range(
        &mut self,
        range: StartRange,
        runs: &[&SegmentState],
        held: &mut BTreeMap<u64, BlockId>,
    ) -> Result<(), InvalidState> {
        let page = self.settings.page(range.is_small);
        let ends = range.addr.checked_add(range.size).is_some();
        if !ends
            || range.size == 0
            || !range.size.is_multiple_of(page)
            || runs.iter().any(|run| !run.size.is_multiple_of(page))
        {
            return Err(InvalidState::Pages { addr: range.addr, page });
        }
        let place = Place {
            stream: range.stream,
            pool: self.pool_place(range.pool, range.is_small),
            range: u32::try_from(self.ranges.len()).unwrap_or(ORDINARY - 1),
            number: 0,
        };
        self.ranges.push(Range { addr: range.addr, page });
        let mut last = NONE;
        let mut at = range.addr;
        let mut ids = Vec::new();
        for run in runs {
            if !(run.addr - range.addr).is_multiple_of(page) {
                return Err(InvalidState::Pages { addr: range.addr, page });
            }
            last = self.start_unmapped(place, at, run.addr - at, last);
            let blocks = self.start_blocks(place, run, held, last)?;
            last = blocks.last().copied().unwrap_or(last);
            ids.extend(blocks);
            self.stats.reserved.add(run.size);
            at = run.addr + run.size;
        }
        self.start_unmapped(place, at, range.addr.saturating_add(range.size) - at, last);
        self.put_idle(&ids);
        Ok(())
    }

    fn start_unmapped(&mut self, place: Place, addr: u64, size: u64, prev: BlockId) -> BlockId {
        if size == 0 {
            return prev;
        }
        let id = self.start_block(place, addr, size, prev);
        self.blocks[id].kind = Kind::Unmapped;
        self.put_unmapped(id);
        id
    }

    /// The blocks of a segment after `prev`; free ones are in no pool yet.
    fn start_blocks(
        &mut self,
        place: Place,
        segment: &SegmentState,
        held: &mut BTreeMap<u64, BlockId>,
        mut prev: BlockId,
    ) -> Result<Vec<BlockId>, InvalidState> {
        let invalid = InvalidState::Blocks { addr: segment.addr };
        let mut at = segment.addr;
        let mut ids = Vec::with_capacity(segment.blocks.len());
        for block in &segment.blocks {
            if block.addr != at || block.size == 0 {
                return Err(invalid);
            }
            at = at.checked_add(block.size).ok_or(invalid)?;
            prev = self.start_block(place, block.addr, block.size, prev);
            ids.push(prev);
            if block.state == Use::Inactive {
                continue;
            }
            self.blocks[prev].requested = block.requested;
            self.stats.active.add(block.size);
            self.stats.requested.add(block.requested);
            if block.state == Use::Allocated {
                self.blocks[prev].kind = Kind::Live;
                self.stats.allocated.add(block.size);
                self.stats.oversize_allocations += i64::from(block.size >= self.settings.max_split);
            } else {
                self.hold(prev);
            }
            held.insert(block.addr, prev);
        }
        if at != segment.addr.saturating_add(segment.size) || segment.size == 0 {
            return Err(invalid);
        }
        Ok(ids)
    }

    fn start_block(&mut self, place: Place, addr: u64, size: u64, prev: BlockId) -> BlockId {
        let number = match self.rules.ties {
            Ties::BlockAge => self.next_number(),
            Ties::Address | Ties::SegmentAge => place.number,
        };
        let id = self.blocks.insert(Block {
            number,
            prev,
            ..Block::alone(place, addr, size)
        });
        if prev != NONE {
            self.blocks[prev].next = id;
        }
        id
    }

    fn put_idle(&mut self, ids: &[BlockId]) {
        for id in ids {
            if self.blocks[*id].kind == Kind::Idle && self.blocks[*id].events == 0 {
                self.put_free(*id);
            }
        }
    }

    /// All segments and runs of mapped pages, by address.
    pub fn segments(&self) -> Vec<SegmentState> {
        let is_mapped = |id: BlockId| id != NONE && self.blocks[id].kind != Kind::Unmapped;
        let heads = self.blocks.iter().filter(|(_, block)| {
            let continues = is_mapped(block.prev);
            block.kind != Kind::Unmapped && !continues
        });
        let mut segments: Vec<SegmentState> = heads.map(|(id, _)| self.segment_from(id)).collect();
        segments.sort_by_key(|segment| segment.addr);
        segments
    }

    fn segment_from(&self, head: BlockId) -> SegmentState {
        let first = &self.blocks[head];
        let pool = &self.pools[first.pool as usize];
        let mut blocks = Vec::new();
        let mut id = head;
        let mut end = first.addr;
        while id != NONE && self.blocks[id].kind != Kind::Unmapped {
            let block = &self.blocks[id];
            let state = if block.kind == Kind::Live {
                Use::Allocated
            } else if block.is_available() {
                Use::Inactive
            } else {
                Use::Pending
            };
            blocks.push(BlockState {
                addr: block.addr,
                size: block.size,
                requested: if state == Use::Inactive { 0 } else { block.requested },
                state,
            });
            end = block.end();
            id = block.next;
        }
        SegmentState {
            addr: first.addr,
            size: end - first.addr,
            stream: first.stream,
            is_small: pool.is_small,
            is_expandable: first.is_expandable(),
            pool: pool.private.map(|at| self.private.pools[at as usize].id),
            blocks,
        }
    }
}
