//! Giving memory back to the device.

use super::{Allocator, LARGE_POOL, Request, SMALL_POOL};
use crate::block::BlockId;
use crate::device::Device;
use crate::event::{Action, Observer};

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Gives everything back that is cached, also of private pools without uses.
    pub fn empty_cache(&mut self) {
        self.release_cached();
    }

    /// Gives back what one private pool caches, if it has no uses.
    pub fn empty_pool(&mut self, pool: u64) {
        let Some(at) = self.private.place(pool).filter(|at| self.private.pools[*at].uses == 0) else {
            return;
        };
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.sync_events(Some(at));
        self.release_private(at);
    }

    pub(super) fn release_cached(&mut self) {
        if !self.is_capturing() {
            self.sync_events(None);
            self.release_pool(LARGE_POOL);
            self.release_pool(SMALL_POOL);
        }
        let mut unused: Vec<(u64, u32)> = self
            .private
            .pools
            .iter()
            .zip(0..)
            .filter(|(pool, _)| pool.uses == 0)
            .map(|(pool, at)| (pool.id, at))
            .collect();
        unused.sort_unstable();
        for (_, at) in unused {
            self.release_private(at);
        }
    }

    fn release_private(&mut self, at: u32) {
        let pool = self.private.pools[at as usize];
        self.release_pool(pool.small);
        self.release_pool(pool.large);
    }

    /// Frees whole ordinary segments, then unmaps free parts of expandable ones, each in the pool's order.
    fn release_pool(&mut self, pool: u32) {
        let free: Vec<BlockId> = self.pools[pool as usize].iter().collect();
        let (expandable, ordinary): (Vec<BlockId>, Vec<BlockId>) =
            free.into_iter().partition(|id| self.blocks[*id].is_expandable());
        for id in ordinary {
            if !self.blocks[id].is_split() {
                self.release_segment(id);
            }
        }
        for id in expandable {
            self.unmap(id);
        }
        self.pools[pool as usize].forget_empty();
    }

    /// Gives an ordinary segment back that is one free block.
    pub(super) fn release_segment(&mut self, id: BlockId) {
        self.take_free(id);
        let block = self.blocks[id];
        self.blocks.remove(id);
        self.device.free(block.addr, block.size);
        self.stats.reserved.subtract(block.size);
        self.stats.segments -= 1;
        self.stats.device_frees += 1;
        self.stats.oversize_segments -= i64::from(block.size >= self.settings.max_split);
        self.tell(Action::SegmentFree, block.addr, block.size, block.stream, block.pool);
    }

    /// Frees oversize blocks until their sum reaches the request: one that is large enough, or several below it.
    /// False: they are not enough; what was freed stays freed. Parts of a segment are left alone: they are oversize where
    /// the setting changed after the segment was split, and the driver refuses to free them.
    pub(super) fn release_oversize(&mut self, request: &Request) -> bool {
        let wanted = request.size.max(self.settings.max_split);
        let Some(free) = self.pools[request.pool as usize].free_of(request.stream) else {
            return false;
        };
        if let Some(at) = free.at_least(wanted) {
            let id = free.get(at);
            if self.blocks[id].is_whole_segment() {
                self.release_segment(id);
                return true;
            }
        }
        let mut sum = 0;
        let mut chosen = Vec::new();
        for id in free.below(wanted) {
            let block = &self.blocks[id];
            if block.size < self.settings.max_split || sum >= wanted {
                break;
            }
            if block.is_whole_segment() {
                sum += block.size;
                chosen.push(id);
            }
        }
        for id in chosen {
            self.release_segment(id);
        }
        sum >= wanted
    }
}
