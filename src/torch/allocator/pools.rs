//! What the program does with private pools.

use super::{Allocator, LARGE_POOL, SMALL_POOL};
use crate::device::Device;
use crate::event::Observer;
use crate::pool::Pool;
use crate::private_pools::{Filter, PrivatePool};

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Requests on the filter's streams go to the pool from now on, which gets a use.
    pub fn begin_pool(&mut self, id: u64, filter: Filter) {
        self.use_pool(id);
        self.private.open(id, filter);
    }

    /// The pool gets a use: what it caches stays.
    pub fn use_pool(&mut self, id: u64) {
        let at = self.private_place(id);
        self.private.pools[at].uses += 1;
    }

    /// Requests no longer go to the pool.
    pub fn end_pool(&mut self, id: u64) {
        self.private.close(id);
    }

    /// Takes a use off the pool; what it caches can be released once it has none.
    pub fn release_pool_use(&mut self, id: u64) {
        if let Some(at) = self.private.place(id) {
            let pool = &mut self.private.pools[at];
            pool.uses = pool.uses.saturating_sub(1);
        }
    }

    /// Free blocks of the pool serve requests that would fail.
    pub fn use_pool_on_oom(&mut self, id: u64) {
        self.private.use_on_oom(id);
    }

    /// Blocks of the pool are never split.
    pub fn never_split_pool(&mut self, id: u64) {
        self.private.never_split(id);
    }

    /// The place of a pool; a private one is made if it is new.
    pub(super) fn pool_place(&mut self, private: Option<u64>, is_small: bool) -> u32 {
        match private.map(|id| self.private_place(id)) {
            Some(at) if is_small => self.private.pools[at].small,
            Some(at) => self.private.pools[at].large,
            None if is_small => SMALL_POOL,
            None => LARGE_POOL,
        }
    }

    /// Where a private pool is, which is made if it is new.
    pub(super) fn private_place(&mut self, id: u64) -> usize {
        if let Some(at) = self.private.place(id) {
            return at;
        }
        let at = self.private.pools.len();
        let owner = u32::try_from(at).ok();
        let small = u32::try_from(self.pools.len()).unwrap_or(u32::MAX);
        self.pools.push(Pool::new(true, owner));
        self.pools.push(Pool::new(false, owner));
        self.private.pools.push(PrivatePool {
            id,
            small,
            large: small + 1,
            uses: 0,
        });
        at
    }
}
