//! An allocator that gets what a program asked for.

use super::Input;
use crate::allocator::{Allocator, Grant};
use crate::block::BlockId;
use crate::device::Device;
use crate::event::Observer;

/// An allocator and the blocks of the allocations, by their numbers.
pub(super) struct Playback<D, O> {
    pub(super) allocator: Allocator<D, O>,
    pub(super) blocks: Vec<Option<BlockId>>,
    /// Requests that failed.
    pub(super) failed: usize,
}

impl<D: Device, O: Observer> Playback<D, O> {
    pub(super) fn ask(&mut self, requested: u64, stream: u64, pool: Option<u64>) -> Option<Grant> {
        let granted = self.allocator.alloc_in(requested, stream, pool);
        self.failed += usize::from(granted.is_err());
        granted.ok().flatten()
    }

    /// Asks for the next allocation, which has this number.
    pub(super) fn allocate(&mut self, id: u32, requested: u64, stream: u64, pool: Option<u64>) {
        let grant = self.ask(requested, stream, pool);
        self.blocks.push(grant.map(|grant| grant.block));
        if let Some(grant) = grant {
            self.allocator.observer_mut().granted(id, &grant);
        }
    }

    /// Does what the program did. What it asked for in vain is asked for again.
    pub(super) fn play(&mut self, input: &Input) -> Option<Grant> {
        let block = |id: u32| self.blocks.get(id as usize).copied().flatten();
        match *input {
            Input::Alloc {
                id,
                requested,
                stream,
                pool,
            } => self.allocate(id, requested, stream, pool),
            Input::Free(id) => {
                block(id).map(|block| self.allocator.free(block));
            }
            Input::FreeLater(id) => {
                block(id).map(|block| self.allocator.free_later(block));
            }
            Input::Complete(id) => {
                block(id).map(|block| self.allocator.complete(block));
            }
            Input::Used(pool) => self.allocator.use_pool(pool),
            Input::Unused(pool) => self.allocator.release_pool_use(pool),
            Input::Empty(_) => self.allocator.empty_cache(),
            Input::Failed { size, stream, pool, .. } => {
                let requested = size.saturating_sub(self.allocator.rules().spare_bytes);
                return self.ask(requested, stream, pool);
            }
        }
        None
    }
}
