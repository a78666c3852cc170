//! Which free block a request gets, and how much of it.

use super::{Allocator, MIN_BLOCK, Request, SMALL_LIMIT};
use crate::block::{BlockId, Kind, NONE};
use crate::device::Device;
use crate::event::Observer;
use crate::free_set::{Cursor, FreeSet};

/// Blocks from here on are aligned by `torch_npu`.
const ALIGNED_FROM: u64 = 2 << 20;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Takes a free block for the request out of its pool.
    pub(super) fn search(&mut self, request: &Request) -> Option<BlockId> {
        let pool = request.pool as usize;
        if self.collects() {
            self.pools[pool].searches += 1;
        }
        let free = self.pools[pool].free_of(request.stream)?;
        let at = self.candidate(free, request)?;
        let id = free.get(at);
        let size = self.blocks[id].size;
        let is_allowed = if request.size < self.settings.max_split {
            size < self.settings.max_split
        } else {
            size < request.size.wrapping_add(self.settings.slack())
        };
        if !is_allowed {
            return None;
        }
        self.pools[pool].free_of_mut(request.stream).remove_at(at);
        self.count_taken(id);
        Some(id)
    }

    fn candidate(&self, free: &FreeSet, request: &Request) -> Option<Cursor> {
        let mut at = free.at_least(request.size)?;
        if !request.expands {
            while self.blocks[free.get(at)].is_expandable() {
                at = free.after(at)?;
            }
            return Some(at);
        }
        // A block at the growing end counts as large as it can become, so that it is used last.
        while self.blocks[free.get(at)].is_expandable() {
            let Some(next) = free.after(at) else {
                break;
            };
            if self.size_with_room(free.get(next)) >= self.size_with_room(free.get(at)) {
                break;
            }
            at = next;
        }
        Some(at)
    }

    fn size_with_room(&self, id: BlockId) -> u64 {
        let block = &self.blocks[id];
        if block.next == NONE {
            return block.size;
        }
        let next = &self.blocks[block.next];
        match next.kind {
            Kind::Unmapped => block.size + next.size,
            _ => block.size,
        }
    }

    pub(super) fn should_split(&self, id: BlockId, request: &Request, rest: u64) -> bool {
        let pool = &self.pools[self.blocks[id].pool as usize];
        let private = pool.private.map(|at| self.private.pools[at as usize].id);
        if private.is_some_and(|id| !self.private.splits(id)) {
            return false;
        }
        if pool.is_small || request.expands {
            return rest >= MIN_BLOCK;
        }
        request.size < self.settings.max_split && rest > SMALL_LIMIT
    }

    /// Cuts a gap off the low end, so that the block starts at an aligned address; as it is where that does not fit.
    pub(super) fn align(&mut self, id: BlockId, size: u64) -> BlockId {
        let unit = self.settings.npu.base_alignment;
        let block = &self.blocks[id];
        if !self.settings.expandable || !block.is_expandable() || size < ALIGNED_FROM || unit == 0 {
            return id;
        }
        let gap = block.addr.next_multiple_of(unit) - block.addr;
        if gap == 0 || block.size < gap + size {
            return id;
        }
        let low = self.split(id, gap);
        self.put_free(low);
        id
    }
}
