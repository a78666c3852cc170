//! The allocator: a request's way from its size to a block, and a block's way back.
//!
//! `size` rounds, `search` finds free blocks, `obtain` gets new memory in the order in which the original
//! tries it, `grow` maps pages, `release` gives memory back, `collect` gives back what is old, `free` ends blocks,
//! `state` reads and starts from whole states.

mod collect;
mod free;
mod grow;
mod obtain;
mod pools;
mod release;
mod search;
mod size;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use size::round;
pub use state::{BlockState, InvalidState, SegmentState, StartRange, Use};

use crate::block::{Block, BlockId, Blocks, Kind, NONE, ORDINARY};
use crate::device::Device;
use crate::event::{Action, Event, Observer};
use crate::pool::Pool;
use crate::private_pools::PrivatePools;
use crate::settings::{Settings, SettingsError};
use crate::stats::Stats;
use crate::streams::Streams;
use crate::version::{Capture, Framework, Rules, Ties, WholeFraction};

/// The default pools' places.
const SMALL_POOL: u32 = 0;
const LARGE_POOL: u32 = 1;

/// Unit of sizes.
const MIN_BLOCK: u64 = 512;
/// Largest rounded size of the small pool.
const SMALL_LIMIT: u64 = 1 << 20;
/// Every segment of a small pool; also the page of expandable ones.
const SMALL_SEGMENT: u64 = 2 << 20;
/// Segments of requests from here on have the request's size.
const EXACT_LIMIT: u64 = 10 << 20;

/// What a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Names the block until it is freed.
    pub block: BlockId,
    /// Device address.
    pub addr: u64,
    /// Bytes of the block.
    pub size: u64,
}

/// The request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {size} bytes were asked for")]
pub struct OutOfMemory {
    /// Rounded bytes.
    pub size: u64,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Request {
    requested: u64,
    /// Rounded.
    size: u64,
    stream: u64,
    pool: u32,
    /// Bytes of a segment for it.
    segment: u64,
    /// Whether expandable segments serve it.
    expands: bool,
}

impl Request {
    fn is_small(&self) -> bool {
        self.size <= SMALL_LIMIT
    }
}

/// An expandable segment.
#[derive(Clone, Copy, Debug)]
struct Range {
    addr: u64,
    page: u64,
}

/// The caching allocator of one device.
#[derive(Clone, Debug)]
pub struct Allocator<D, O> {
    rules: Rules,
    settings: Settings,
    device: D,
    observer: O,
    blocks: Blocks,
    pools: Vec<Pool>,
    private: PrivatePools,
    streams: Streams,
    ranges: Vec<Range>,
    stats: Stats,
    /// Most bytes that may be reserved.
    limit: Option<u64>,
    /// The last number given to a segment or a block object.
    last_number: u64,
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// An empty allocator with the rules of the settings' version.
    pub fn new(device: D, observer: O, settings: Settings) -> Self {
        let rules = settings.version.rules();
        Self::with_rules(device, observer, settings, rules)
    }

    /// An empty allocator with other rules, such as another order of ties.
    pub fn with_rules(device: D, observer: O, settings: Settings, rules: Rules) -> Self {
        let fraction = settings.fraction;
        let mut allocator = Self {
            rules,
            settings,
            device,
            observer,
            blocks: Blocks::default(),
            pools: vec![Pool::new(true, None), Pool::new(false, None)],
            private: PrivatePools::default(),
            streams: Streams::default(),
            ranges: Vec::new(),
            stats: Stats::default(),
            limit: None,
            last_number: 0,
        };
        if fraction < 1.0 {
            allocator.set_fraction(fraction);
        }
        allocator
    }

    /// Counters so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The device below.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device below, to read its log.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Who reads the memory history.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The reader of the memory history; the allocator ends.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// The rules of its version.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes settings at run time. A fraction named here changes what `throw_on_cudamalloc_oom` compares with, not
    /// the limit.
    ///
    /// # Errors
    /// What the version refuses; nothing changes then.
    pub fn apply(&mut self, conf: &str) -> Result<(), SettingsError> {
        self.settings.apply(conf)
    }

    /// Limits the reserved bytes to a part of the device.
    pub fn set_fraction(&mut self, fraction: f64) {
        let is_whole = fraction >= 1.0 && self.rules.whole_fraction == WholeFraction::NoLimit;
        self.limit = (!is_whole).then(|| floor(fraction, self.device.total()));
    }

    /// Asks for memory. None: 0 bytes need none.
    ///
    /// # Errors
    /// The device is full, or the limit is reached.
    pub fn alloc(&mut self, requested: u64, stream: u64) -> Result<Option<Grant>, OutOfMemory> {
        if requested == 0 {
            return Ok(None);
        }
        self.reap(false);
        self.serve(self.request(requested, stream))
    }

    /// Asks for memory of a certain pool, whatever is open.
    ///
    /// # Errors
    /// As [`Self::alloc`].
    pub fn alloc_in(&mut self, requested: u64, stream: u64, pool: Option<u64>) -> Result<Option<Grant>, OutOfMemory> {
        if requested == 0 {
            return Ok(None);
        }
        self.reap(false);
        let mut request = self.request(requested, stream);
        request.pool = self.pool_place(pool, request.is_small());
        self.serve(request)
    }

    fn serve(&mut self, mut request: Request) -> Result<Option<Grant>, OutOfMemory> {
        let mut found = self.search(&request);
        if found.is_none() && self.settings.npu.lazy_reclaim && self.streams.has_done() {
            self.reap(true);
            found = self.search(&request);
        }
        let block = match found {
            Some(block) => block,
            None => self.obtain(&mut request)?,
        };
        Ok(Some(self.hand_out(block, &request)))
    }

    /// Splits the block that was found and marks its low part as allocated. The block is in no pool.
    fn hand_out(&mut self, mut id: BlockId, request: &Request) -> Grant {
        if self.rules.framework == Framework::Npu {
            id = self.align(id, request.size);
        }
        let rest = self.blocks[id].size - request.size;
        if self.should_split(id, request, rest) {
            let low = self.split(id, request.size);
            self.put_free(id);
            id = low;
        }
        let block = &mut self.blocks[id];
        block.kind = Kind::Live;
        block.requested = request.requested;
        let block = *block;
        self.stats.allocated.add(block.size);
        self.stats.active.add(block.size);
        self.stats.requested.add(request.requested);
        self.stats.oversize_allocations += i64::from(block.size >= self.settings.max_split);
        self.tell(Action::Alloc, block.addr, request.requested, block.stream, block.pool);
        Grant {
            block: id,
            addr: block.addr,
            size: block.size,
        }
    }

    /// Cuts the low `size` bytes off a block; they are the new object, in no pool and idle.
    fn split(&mut self, id: BlockId, size: u64) -> BlockId {
        let number = self.number_of_part(id);
        let old = self.blocks[id];
        let low = self.blocks.insert(Block {
            size,
            number,
            next: id,
            has_captured_uses: false,
            ..old
        });
        if old.prev != NONE {
            self.blocks[old.prev].next = low;
        }
        let rest = &mut self.blocks[id];
        rest.prev = low;
        rest.addr += size;
        rest.size -= size;
        low
    }

    /// The number of a new object that is cut from a block.
    fn number_of_part(&mut self, id: BlockId) -> u64 {
        match self.rules.ties {
            Ties::Address => 0,
            Ties::BlockAge => self.next_number(),
            Ties::SegmentAge => self.blocks[id].number,
        }
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Puts an idle block among the free ones.
    fn put_free(&mut self, id: BlockId) {
        let pool = self.blocks[id].pool as usize;
        self.blocks[id].free_since = self.pools[pool].searches;
        let block = &self.blocks[id];
        self.pools[pool].insert(id, block);
        if block.range == ORDINARY && block.is_split() {
            self.stats.inactive_split_bytes += block.size;
            self.stats.inactive_splits += 1;
        }
    }

    /// Takes a block from among the free ones.
    fn take_free(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        self.pools[block.pool as usize].remove(id, block);
        self.count_taken(id);
    }

    fn count_taken(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        if block.range == ORDINARY && block.is_split() {
            self.stats.inactive_split_bytes -= block.size;
            self.stats.inactive_splits -= 1;
        }
    }

    fn tell(&mut self, action: Action, addr: u64, size: u64, stream: u64, pool: u32) {
        let private = self.pools[pool as usize].private;
        let pool = private.map(|at| self.private.pools[at as usize].id);
        self.observer.event(Event {
            action,
            addr,
            size,
            stream,
            pool,
        });
    }

    /// Whether a graph counts as being captured.
    fn is_capturing(&self) -> bool {
        self.rules.capture == Capture::OpenPool && self.private.is_any_open()
    }

    /// Whether free blocks have ages and can be collected.
    fn collects(&self) -> bool {
        self.limit.is_some() && self.settings.collection_threshold > 0.0
    }
}

/// A part of a number of bytes, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the original computes it in doubles"
)]
fn floor(part: f64, bytes: u64) -> u64 {
    (part * bytes as f64) as u64
}
