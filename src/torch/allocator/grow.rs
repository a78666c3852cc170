//! Expandable segments: mapping pages into reserved addresses.

use super::{Allocator, Range, Request};
use crate::block::{Block, BlockId, Kind, NONE, Place};
use crate::device::Device;
use crate::event::{Action, Observer};
use crate::version::{ShortRange, Ties};

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Maps memory after free or unmapped blocks until one is large enough; takes it out of its pool.
    pub(super) fn grow(&mut self, request: &Request) -> Option<BlockId> {
        let mut id = match self.growing_block(request) {
            Some(block) => block,
            None => self.reserve_range(request)?,
        };
        if self.blocks[id].kind == Kind::Unmapped {
            let bytes = self.blocks[id].size.min(request.size);
            self.map(id, bytes)?;
        }
        while self.blocks[id].size < request.size {
            let next = self.blocks[id].next;
            if next == NONE {
                return None;
            }
            let missing = request.size - self.blocks[id].size;
            let bytes = self.blocks[next].size.min(missing);
            self.map(next, bytes)?;
            id = next;
        }
        self.take_free(id);
        Some(id)
    }

    /// The first block by address that can grow to the request's size: an unmapped one, or the free one before it.
    fn growing_block(&self, request: &Request) -> Option<BlockId> {
        let unmapped = &self.pools[request.pool as usize].unmapped;
        let of_stream = (request.stream, 0, BlockId(0))..=(request.stream, u64::MAX, NONE);
        let mut starts = unmapped.range(of_stream).map(|(_, _, id)| {
            let prev = self.blocks[*id].prev;
            let is_free = prev != NONE && self.blocks[prev].is_available();
            if is_free { prev } else { *id }
        });
        starts.find(|start| self.room(*start, request.size) >= request.size)
    }

    /// Bytes of available blocks from here on, counted up to `enough`.
    fn room(&self, start: BlockId, enough: u64) -> u64 {
        let mut bytes = 0;
        let mut id = start;
        while bytes < enough && id != NONE && self.blocks[id].is_available() {
            bytes += self.blocks[id].size;
            id = self.blocks[id].next;
        }
        bytes
    }

    fn reserve_range(&mut self, request: &Request) -> Option<BlockId> {
        let page = self.settings.page(self.pools[request.pool as usize].is_small);
        let total = self.device.total();
        let size = total.saturating_add(total / 8).div_ceil(page).saturating_mul(page);
        let addr = self.device.reserve(size)?;
        if size < request.size && self.rules.short_range == ShortRange::GivenBack {
            self.device.unreserve(addr, size);
            return None;
        }
        let range = u32::try_from(self.ranges.len()).ok()?;
        self.ranges.push(Range { addr, page });
        let number = match self.rules.ties {
            Ties::BlockAge => self.next_number(),
            Ties::Address | Ties::SegmentAge => 0,
        };
        let place = Place {
            stream: request.stream,
            pool: request.pool,
            range,
            number,
        };
        let id = self.blocks.insert(Block {
            kind: Kind::Unmapped,
            ..Block::alone(place, addr, size)
        });
        self.put_unmapped(id);
        Some(id)
    }

    /// Maps the first bytes of an unmapped block, rounded up to pages; they merge with free neighbours.
    fn map(&mut self, id: BlockId, bytes: u64) -> Option<()> {
        let block = self.blocks[id];
        let page = self.ranges[block.range as usize].page;
        let count = bytes.div_ceil(page);
        if !self.device.create(page, count) {
            return None;
        }
        self.device.map(page, block.addr, count);
        let size = (count * page).min(block.size);
        self.take_unmapped(id);
        if size < block.size {
            let rest = self.cut_rest(id, size, Kind::Unmapped);
            self.put_unmapped(rest);
        }
        self.blocks[id].kind = Kind::Idle;
        self.merge(id);
        self.put_free(id);
        self.stats.reserved.add(size);
        self.stats.device_allocs += 1;
        self.tell(Action::SegmentMap, block.addr, size, block.stream, block.pool);
        Some(())
    }

    /// Cuts off what follows the first `size` bytes; it is the new block, of this kind.
    fn cut_rest(&mut self, id: BlockId, size: u64, kind: Kind) -> BlockId {
        let number = self.number_of_part(id);
        let old = self.blocks[id];
        let rest = self.blocks.insert(Block {
            addr: old.addr + size,
            size: old.size - size,
            number,
            prev: id,
            kind,
            ..old
        });
        if old.next != NONE {
            self.blocks[old.next].prev = rest;
        }
        let first = &mut self.blocks[id];
        first.next = rest;
        first.size = size;
        rest
    }

    /// Takes whole pages out of a free block of an expandable segment. What is left and right stays free.
    pub(super) fn unmap(&mut self, id: BlockId) {
        let block = self.blocks[id];
        let range = self.ranges[block.range as usize];
        let page = range.page;
        let first = (block.addr - range.addr).next_multiple_of(page);
        let end = block.end() - range.addr;
        let end = end - end % page;
        if first >= end {
            return;
        }
        let size = end - first;
        self.device.sync_stream(block.stream);
        self.device.unmap(page, range.addr + first, size / page);
        self.take_free(id);
        let before = range.addr + first - block.addr;
        if before > 0 {
            let low = self.split(id, before);
            self.put_free(low);
        }
        if self.blocks[id].size > size {
            let rest = self.cut_rest(id, size, Kind::Idle);
            self.put_free(rest);
        }
        self.blocks[id].kind = Kind::Unmapped;
        self.merge(id);
        self.put_unmapped(id);
        self.stats.reserved.subtract(size);
        self.stats.device_frees += 1;
        let addr = range.addr + first;
        self.tell(Action::SegmentUnmap, addr, size, block.stream, block.pool);
        self.drop_whole_range(id);
    }

    /// Gives a range back that holds nothing.
    fn drop_whole_range(&mut self, id: BlockId) {
        let block = self.blocks[id];
        if block.is_split() {
            return;
        }
        self.take_unmapped(id);
        self.blocks.remove(id);
        self.device.unreserve(block.addr, block.size);
    }

    pub(super) fn put_unmapped(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        let unmapped = &mut self.pools[block.pool as usize].unmapped;
        unmapped.insert((block.stream, block.addr, id));
    }

    pub(super) fn take_unmapped(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        let unmapped = &mut self.pools[block.pool as usize].unmapped;
        unmapped.remove(&(block.stream, block.addr, id));
    }
}
