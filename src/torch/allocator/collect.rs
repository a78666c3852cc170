//! Collection of old free segments while a limit and a threshold are set.

use super::{Allocator, LARGE_POOL, floor};
use crate::block::BlockId;
use crate::device::Device;
use crate::event::Observer;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Frees segments of the default large pool that are at least as old as the average, in passes, until enough is
    /// freed or a pass frees nothing.
    pub(super) fn collect(&mut self) {
        let limit = self.limit.map(|limit| floor(self.settings.collection_threshold, limit));
        let Some(limit) = limit.filter(|limit| self.stats.reserved.current > *limit) else {
            return;
        };
        let needed = self.stats.reserved.current - limit;
        let pool = &self.pools[LARGE_POOL as usize];
        let searches = pool.searches;
        let mut unsplit: Vec<BlockId> = pool.iter().filter(|id| !self.blocks[*id].is_split()).collect();
        let mut ages: u64 = unsplit.iter().map(|id| self.age(*id, searches)).sum();
        let mut count = unsplit.len() as u64;
        unsplit.retain(|id| !self.blocks[*id].is_expandable());
        let mut freed = 0;
        while freed < needed && count > 0 {
            let (old, young): (Vec<BlockId>, Vec<BlockId>) = unsplit
                .into_iter()
                .partition(|id| is_old(self.age(*id, searches), ages, count));
            if old.is_empty() {
                break;
            }
            for id in old {
                ages -= self.age(id, searches);
                count -= 1;
                freed += self.blocks[id].size;
                self.release_segment(id);
            }
            unsplit = young;
        }
    }

    /// Searches of the pool since the block became free.
    fn age(&self, id: BlockId, searches: u64) -> u64 {
        searches.wrapping_sub(self.blocks[id].free_since)
    }
}

/// Whether an age reaches the average of all.
#[expect(clippy::cast_precision_loss, reason = "the original compares doubles")]
fn is_old(age: u64, ages: u64, count: u64) -> bool {
    age as f64 >= ages as f64 / count as f64
}
