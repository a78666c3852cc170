//! The engine's allocators, call for call, over one simulated device.
//!
//! ```text
//! dynamic graphs   page pools | expandable pools | legacy bins          [`DynamicMemory`]
//! static graphs    own blocks | segment arena | documented arena        [`StaticMemory`]
//! others           fixed feature memory, weights, variables
//!                          |                |
//! device           driver mallocs       shared physical pages           [`SimulatedDevice`]
//! ```
//!
//! In: requests. Out: addresses, and the driver's call log. One file per allocator; allocators share only the device.
//! Rules, constants and the order of every call are the engine's.

pub mod call;
mod device_pool;
mod documented_arena;
pub mod driver;
mod expandable;
mod fixed_memory;
mod graph_pool;
mod layers;
mod legacy;
mod own_blocks;
mod page_pools;
pub mod page_range;
mod segment_arena;
pub mod shared_pages;
mod spans;
mod stitch;
#[cfg(test)]
mod test_support;

pub use documented_arena::{ArenaChange, DocumentedArena};
pub use driver::{Address, Call, CallCounts, Driver, DriverRules, PageHandle, PoolKey, Shortage};
pub use fixed_memory::FixedMemory;
pub use legacy::{LegacyBins, LegacyFigures};
pub use own_blocks::OwnBlocks;
pub use page_pools::{PagePoolRules, PagePools};
pub use segment_arena::SegmentArena;

use super::params::ArenaBehaviour;
use super::policies::StaticMemoryPolicy;
use highwater_model::units::Bytes;
pub use highwater_model::workload::ArenaSegment;
use shared_pages::SharedPages;

/// Page of expandable pools and of arenas in virtual memory.
pub const PAGE_BYTES: Bytes = Bytes::mib(8);

/// Page of fixed feature memory where no pool expands.
pub const SMALL_PAGE_BYTES: Bytes = Bytes::mib(2);

/// The driver, and the physical pages that expandable pools and static arenas share.
#[derive(Debug)]
pub struct SimulatedDevice {
    pub driver: Driver,
    /// Pages of [`PAGE_BYTES`].
    pub pages: SharedPages,
    /// Pages of [`SMALL_PAGE_BYTES`].
    pub small_pages: SharedPages,
}

impl SimulatedDevice {
    pub fn new(rules: DriverRules) -> Self {
        Self {
            driver: Driver::new(rules),
            pages: SharedPages::new(PAGE_BYTES),
            small_pages: SharedPages::new(SMALL_PAGE_BYTES),
        }
    }

    /// Bytes of physical pages, in use or pooled.
    pub fn page_bytes_held(&self) -> Bytes {
        self.pages.held() + self.small_pages.held()
    }
}

/// Memory of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Ids are reused.
    pub id: GrantId,
    pub at: Address,
    /// Bytes occupied, after rounding.
    pub bytes: Bytes,
    /// Whether it is a stitched block: scattered pages mapped into a separate range, listed by
    /// [`DynamicMemory::stitched_slots`].
    pub is_stitched: bool,
}

/// A live grant of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantId(pub u32);

/// Commands to pools, other than requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Create the pool, unless it exists.
    Create(PoolKey),
    /// Wait for its stream.
    Synchronize(PoolKey),
    /// Return idle memory.
    Recycle(PoolKey),
    /// The device pool returns idle memory.
    RecycleDevice,
    /// End the pool: its memory goes to the device pool.
    Destroy(PoolKey),
}

/// Counters of a pool, in bytes except the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    /// Bytes from the level below: device blocks (device pool), blocks of the device pool and pages (graph pools).
    pub occupied: u64,
    pub idle: u64,
    /// Live spans that are not stitched.
    pub live: u64,
    pub live_stitched: u64,
    pub idle_stitched: u64,
    /// Live bytes after rounding.
    pub theory: u64,
    pub theory_peak: u64,
    /// Live bytes as requested.
    pub requested: u64,
    pub requested_peak: u64,
    /// Virtual bytes reserved for stitched blocks so far.
    pub stitched_reserved: u64,
    pub recycles: u64,
    pub occupied_peak: u64,
    /// Requests for a block to the level below, met or not.
    pub blocks_requested: u64,
    /// Blocks returned to it.
    pub blocks_returned: u64,
    /// Spans given, as the engine counts: met requests, and in an expandable pool also spans that were tried, split or
    /// held back.
    pub requests_met: u64,
    /// Spans returned, counted alike.
    pub grants_freed: u64,
}

impl PoolFigures {
    /// The engine's reach rate in percent: peak of live requested bytes over occupied bytes; at most 100, and 0 where
    /// nothing is occupied.
    pub fn reach_rate(&self) -> f64 {
        if self.occupied == 0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate for display")]
        let rate = 100.0 * self.requested_peak as f64 / self.occupied as f64;
        rate.min(100.0)
    }
}

/// Memory of dynamic graphs: pools that serve spans op by op. An implementation writes every driver call and note to
/// the device's log; the simulation derives all events from it.
pub trait DynamicMemory: std::fmt::Debug {
    /// Memory of at least `bytes` from a pool, which is created on first use.
    ///
    /// # Errors
    /// [`Shortage`] after everything that the engine tries: out of memory.
    fn allocate(&mut self, pool: PoolKey, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Grant, Shortage>;

    fn free(&mut self, pool: PoolKey, grant: GrantId, device: &mut SimulatedDevice);

    /// Executes a command.
    fn manage(&mut self, order: Order, device: &mut SimulatedDevice);

    /// Counters of a pool, or of the device pool for `None`; `None` where that pool does not exist.
    fn figures(&self, pool: Option<PoolKey>) -> Option<PoolFigures>;

    /// The slots (of the pool's range) of a stitched grant's pages, in the order of the block.
    fn stitched_slots(&self, _pool: PoolKey, _grant: GrantId) -> Vec<u32> {
        Vec::new()
    }
}

/// A static graph; its user assigns the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StaticGraph(pub u32);

/// Adjacent segments of a static graph, joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedSegment {
    /// Logical offset.
    pub logical: u64,
    pub bytes: Bytes,
    /// `None` where it has no memory, because the load failed earlier or the caller supplies it.
    pub at: Option<Address>,
}

/// Placement of a static graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedSegments {
    /// Address of the first segment; `None` where no memory was needed.
    pub base: Option<Address>,
    /// Joined segments, where graphs share an arena.
    pub segments: Vec<JoinedSegment>,
    /// Parts of the arena's blocks that the graph uses: address and bytes.
    pub active: Vec<(Address, Bytes)>,
    /// Those of them that got their pages at the load, for the first run.
    pub held: Vec<(Address, Bytes)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// No pages.
    Shortage(Shortage),
    /// Its pages are mapped for another loaded graph that has not run yet.
    MemoryInUse,
}

/// A block of a shared arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaBlock {
    pub at: Address,
    pub total: Bytes,
    /// Bytes that the last loaded graph uses.
    pub used: Bytes,
    /// Whether that load allocated it.
    pub is_new: bool,
}

/// Counters of a shared arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenaFigures {
    /// By total size, descending.
    pub blocks: Vec<ArenaBlock>,
    /// The largest sum of used bytes.
    pub peak: Bytes,
    /// Loaded graphs.
    pub users: u64,
    /// Bytes of the virtual range that blocks were cut from.
    pub range_used: Bytes,
    /// Bytes of pages in its range.
    pub pages: Bytes,
}

/// Memory of static graphs: placed at load, used while they run.
pub trait StaticMemory: std::fmt::Debug {
    /// # Errors
    /// [`Shortage`]: the graph is not loaded.
    fn load(
        &mut self,
        graph: StaticGraph,
        segments: &[ArenaSegment],
        device: &mut SimulatedDevice,
    ) -> Result<LoadedSegments, Shortage>;

    /// Prepares a run.
    ///
    /// # Errors
    /// [`RunError`]: the graph does not run.
    fn begin(&mut self, _graph: StaticGraph, _device: &mut SimulatedDevice) -> Result<(), RunError> {
        Ok(())
    }

    fn finish(&mut self, _graph: StaticGraph, _device: &mut SimulatedDevice) {}

    /// Frees memory that only this graph holds; the last graph frees everything.
    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice);

    /// Segments that the last load placed before it failed.
    fn placed_before_failure(&self) -> LoadedSegments {
        LoadedSegments::default()
    }

    /// Whether a part of a virtual range has no page somewhere, so that nothing can lie there.
    fn lacks_pages(&self, _at: Address, _bytes: Bytes) -> bool {
        false
    }

    /// `None` where graphs do not share an arena.
    fn figures(&self) -> Option<ArenaFigures> {
        None
    }

    /// Change of the arena at the last load, where there is one documented arena.
    fn last_change(&self) -> Option<ArenaChange> {
        None
    }
}

/// The static memory of a policy; `behaviour` is that of policy 2.
pub fn static_memory(policy: StaticMemoryPolicy, behaviour: ArenaBehaviour) -> Box<dyn StaticMemory> {
    match (policy, behaviour) {
        (StaticMemoryPolicy::Dynamic | StaticMemoryPolicy::DynamicExtend, _) => Box::new(OwnBlocks::default()),
        (StaticMemoryPolicy::StaticExtend, ArenaBehaviour::Documented) => Box::new(DocumentedArena::default()),
        (StaticMemoryPolicy::StaticExtend, ArenaBehaviour::Engine) => Box::new(SegmentArena::on_device()),
        (StaticMemoryPolicy::FullExtend, _) => Box::new(SegmentArena::in_range()),
    }
}
