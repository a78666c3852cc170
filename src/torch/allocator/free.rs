//! The end of blocks: at once, or when other streams are done.

use super::Allocator;
use crate::block::{BlockId, Kind, NONE};
use crate::device::Device;
use crate::event::{Action, Observer};

/// With lazy reclaim, events are reaped from this many outstanding ones on.
const LAZY_EVENTS: usize = 512;

/// The count of events of a block whose end somebody else decides.
const HELD: u32 = u32::MAX;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// The program gives a block back. False: it is not allocated.
    pub fn free(&mut self, id: BlockId) -> bool {
        if !self.request_free(id) {
            return false;
        }
        if !self.blocks[id].has_uses {
            self.complete_free(id);
        } else if self.is_capturing() {
            self.streams.deferred.push(id);
        } else {
            self.record_uses(id);
        }
        true
    }

    /// The program gives a block back that stays active until [`Self::complete`]. False: it is not allocated.
    pub fn free_later(&mut self, id: BlockId) -> bool {
        if !self.request_free(id) {
            return false;
        }
        self.streams.take_uses(id);
        self.blocks[id].has_uses = false;
        self.hold(id);
        true
    }

    /// The block stays active until [`Self::complete`].
    pub(super) fn hold(&mut self, id: BlockId) {
        self.blocks[id].events = HELD;
    }

    /// Ends a block of [`Self::free_later`]. False: it is none.
    pub fn complete(&mut self, id: BlockId) -> bool {
        let Some(block) = self.blocks.get(id) else {
            return false;
        };
        if block.kind != Kind::Idle || block.events != HELD {
            return false;
        }
        self.blocks[id].events = 0;
        self.complete_free(id);
        true
    }

    /// Another stream uses the block. False: it is not allocated.
    pub fn record_stream(&mut self, id: BlockId, stream: u64) -> bool {
        let Some(block) = self.blocks.get(id).filter(|block| block.kind == Kind::Live) else {
            return false;
        };
        if block.stream != stream {
            self.blocks[id].has_uses = true;
            self.streams.add_use(id, stream);
            if self.is_capturing() {
                let is_known = std::mem::replace(&mut self.blocks[id].has_captured_uses, true);
                self.streams.add_captured_use(id, stream, is_known);
            }
        }
        true
    }

    /// All events that were recorded on the stream so far are done.
    pub fn finish_stream(&mut self, stream: u64) {
        self.streams.finish(stream);
    }

    fn request_free(&mut self, id: BlockId) -> bool {
        let Some(block) = self.blocks.get(id).filter(|block| block.kind == Kind::Live).copied() else {
            return false;
        };
        self.blocks[id].kind = Kind::Idle;
        self.stats.allocated.subtract(block.size);
        self.stats.oversize_allocations -= i64::from(block.size >= self.settings.max_split);
        let requested = block.requested;
        self.tell(Action::FreeRequested, block.addr, requested, block.stream, block.pool);
        true
    }

    fn record_uses(&mut self, id: BlockId) {
        for stream in self.streams.take_uses(id) {
            self.device.record_event(stream);
            self.streams.record(stream, id);
            self.blocks[id].events += 1;
        }
        self.blocks[id].has_uses = false;
    }

    fn record_deferred(&mut self) {
        for id in std::mem::take(&mut self.streams.deferred) {
            if std::mem::take(&mut self.blocks[id].has_captured_uses) {
                self.streams.drop_captured_uses(id);
            }
            self.record_uses(id);
            if self.blocks[id].events == 0 {
                self.complete_free(id);
            }
        }
    }

    /// Frees blocks whose other streams are done.
    pub(super) fn reap(&mut self, even_few: bool) {
        if self.is_capturing() {
            return;
        }
        if !self.streams.deferred.is_empty() {
            self.record_deferred();
        }
        let waits = self.settings.npu.lazy_reclaim && !even_few && self.streams.outstanding() <= LAZY_EVENTS;
        if waits || !self.streams.has_done() {
            return;
        }
        for id in self.streams.take_done() {
            self.end_event(id);
        }
    }

    /// Waits for all events, or for those of blocks of one private pool.
    pub(super) fn sync_events(&mut self, private: Option<u32>) {
        self.stats.sync_all_streams += 1;
        self.record_deferred();
        let (blocks, pools) = (&self.blocks, &self.pools);
        let is_chosen = |id: BlockId| private.is_none() || pools[blocks[id].pool as usize].private == private;
        for (stream, id) in self.streams.take_all(is_chosen) {
            self.device.sync_event(stream);
            self.end_event(id);
        }
    }

    fn end_event(&mut self, id: BlockId) {
        let block = &mut self.blocks[id];
        block.events -= 1;
        if block.events == 0 {
            self.complete_free(id);
        }
    }

    fn complete_free(&mut self, id: BlockId) {
        let block = self.blocks[id];
        let requested = block.requested;
        self.tell(Action::FreeCompleted, block.addr, requested, block.stream, block.pool);
        self.stats.active.subtract(block.size);
        self.stats.requested.subtract(requested);
        self.merge(id);
        self.put_free(id);
    }

    /// Merges with the left, then the right neighbour where they are of the same kind and available. The block stays
    /// the same object.
    pub(super) fn merge(&mut self, id: BlockId) {
        let block = self.blocks[id];
        if self.can_merge(block.prev, block.kind) {
            let left = self.take_neighbour(block.prev);
            let merged = &mut self.blocks[id];
            merged.addr = left.addr;
            merged.size += left.size;
            merged.prev = left.prev;
            if left.prev != NONE {
                self.blocks[left.prev].next = id;
            }
        }
        if self.can_merge(block.next, block.kind) {
            let right = self.take_neighbour(block.next);
            let merged = &mut self.blocks[id];
            merged.size += right.size;
            merged.next = right.next;
            if right.next != NONE {
                self.blocks[right.next].prev = id;
            }
        }
    }

    fn can_merge(&self, id: BlockId, kind: Kind) -> bool {
        id != NONE && self.blocks[id].kind == kind && self.blocks[id].is_available()
    }

    fn take_neighbour(&mut self, id: BlockId) -> crate::block::Block {
        let block = self.blocks[id];
        if block.kind == Kind::Unmapped {
            self.take_unmapped(id);
        } else {
            self.take_free(id);
        }
        self.blocks.remove(id);
        block
    }
}
