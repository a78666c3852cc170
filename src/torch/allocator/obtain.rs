//! New memory for a request, in the order in which the original tries it.

use super::{Allocator, LARGE_POOL, OutOfMemory, Request, floor};
use crate::block::{Block, BlockId, ORDINARY, Place};
use crate::device::Device;
use crate::event::{Action, Observer};
use crate::version::{Framework, Overflow, Ties};

/// How an attempt ended.
enum Attempt {
    /// A block in no pool.
    Found(BlockId),
    Failed,
    /// The process is not allowed more; nothing else is tried.
    Refused,
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Changes the request to what a request of an overflow pool would be where one serves it.
    pub(super) fn obtain(&mut self, request: &mut Request) -> Result<BlockId, OutOfMemory> {
        if self.collects() {
            if self.rules.framework == Framework::Npu {
                self.device.sync_device();
            }
            self.collect();
        }
        let steps: [fn(&mut Self, &mut Request) -> Attempt; 4] = match self.rules.overflow {
            Overflow::BeforeRelease => [
                Self::attempt,
                Self::search_overflow,
                Self::release_oversize_and_attempt,
                Self::release_all_and_attempt,
            ],
            Overflow::LastResort => [
                Self::attempt,
                Self::release_oversize_and_attempt,
                Self::release_all_and_attempt,
                Self::search_overflow,
            ],
        };
        let failure = OutOfMemory { size: request.size };
        for step in steps {
            match step(self, request) {
                Attempt::Found(block) => return Ok(block),
                Attempt::Failed => {}
                Attempt::Refused => return Err(failure),
            }
        }
        self.stats.ooms += 1;
        let free = self.device.free_bytes();
        self.tell(Action::OutOfMemory, free, request.size, request.stream, request.pool);
        Err(failure)
    }

    fn attempt(&mut self, request: &mut Request) -> Attempt {
        let reserved = self.stats.reserved.current.saturating_add(request.segment);
        if self.limit.is_some_and(|limit| reserved > limit) {
            return Attempt::Failed;
        }
        if self.settings.throws && reserved > floor(self.settings.fraction, self.device.total()) {
            return Attempt::Refused;
        }
        let found = if request.expands {
            self.grow(request)
        } else {
            self.allocate_segment(request)
        };
        found.map_or(Attempt::Failed, Attempt::Found)
    }

    fn allocate_segment(&mut self, request: &Request) -> Option<BlockId> {
        let size = request.segment;
        let addr = self.device.malloc(size)?;
        let number = match self.rules.ties {
            Ties::Address => 0,
            Ties::BlockAge | Ties::SegmentAge => self.next_number(),
        };
        self.stats.reserved.add(size);
        self.stats.segments += 1;
        self.stats.device_allocs += 1;
        self.stats.oversize_segments += i64::from(size >= self.settings.max_split);
        self.tell(Action::SegmentAlloc, addr, size, request.stream, request.pool);
        let place = Place {
            stream: request.stream,
            pool: request.pool,
            range: ORDINARY,
            number,
        };
        Some(self.blocks.insert(Block::alone(place, addr, size)))
    }

    /// A free block of an overflow pool, for requests that no private pool takes.
    fn search_overflow(&mut self, request: &mut Request) -> Attempt {
        if self.pools[request.pool as usize].private.is_some() {
            return Attempt::Failed;
        }
        let is_large = request.pool == LARGE_POOL;
        let pools = self.private.overflow();
        let places: Vec<u32> = pools
            .map(|pool| if is_large { pool.large } else { pool.small })
            .collect();
        let mut of_pool = *request;
        of_pool.expands &= self.rules.overflow == Overflow::LastResort;
        for pool in places {
            of_pool.pool = pool;
            if let Some(block) = self.search(&of_pool) {
                *request = of_pool;
                return Attempt::Found(block);
            }
        }
        Attempt::Failed
    }

    fn release_oversize_and_attempt(&mut self, request: &mut Request) -> Attempt {
        if self.settings.max_split == u64::MAX {
            return Attempt::Failed;
        }
        if self.rules.framework == Framework::Npu {
            self.device.sync_device();
        }
        if self.release_oversize(request) {
            self.attempt(request)
        } else {
            Attempt::Failed
        }
    }

    fn release_all_and_attempt(&mut self, request: &mut Request) -> Attempt {
        if self.rules.framework == Framework::Npu {
            self.device.sync_device();
        }
        self.release_cached();
        self.stats.alloc_retries += 1;
        self.attempt(request)
    }
}
