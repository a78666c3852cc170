//! The engine's allocators, call for call, over one simulated device.
//!
//! ```text
//! dynamic graphs   page pools | expandable pools | legacy bins          [`DynamicMemory`]
//! static graphs    own blocks | segment arena | documented arena        [`StaticMemory`]
//! beside them      fixed feature memory, weights, variables
//!                          |                |
//! device           driver mallocs       shared physical pages           [`SimulatedDevice`]
//! ```
//!
//! In: requests. Out: addresses, and the driver's call log. Each allocator is one file; what one knows of the others
//! is the device alone. Rules, constants and the order of every call are the engine's.

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

use highwater_model::units::Bytes;
use shared_pages::SharedPages;

/// Bytes of a page of expandable pools and of arenas in virtual memory.
pub const PAGE_BYTES: Bytes = Bytes::mib(8);

/// Bytes of a page of fixed feature memory where no pool expands.
pub const SMALL_PAGE_BYTES: Bytes = Bytes::mib(2);

/// What allocators stand on: the driver, and the physical pages that expandable pools and static arenas share.
#[derive(Debug)]
pub struct SimulatedDevice {
    /// The driver.
    pub driver: Driver,
    /// Pages of [`PAGE_BYTES`].
    pub pages: SharedPages,
    /// Pages of [`SMALL_PAGE_BYTES`].
    pub small_pages: SharedPages,
}

impl SimulatedDevice {
    /// A device of which nothing is in use.
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

/// What a request was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// For giving it back; ids are used again.
    pub id: GrantId,
    /// Where.
    pub at: Address,
    /// Bytes occupied, after rounding.
    pub bytes: Bytes,
    /// Whether it is a stitched block: scattered pages that are one range of their own. Then its pages are told by
    /// [`DynamicMemory::stitched_slots`].
    pub is_stitched: bool,
}

/// A live grant of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantId(pub u32);

/// What a user tells a pool beside requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Make the pool, unless it is there.
    Create(PoolKey),
    /// Wait for its stream.
    Synchronize(PoolKey),
    /// Give back what is idle.
    Recycle(PoolKey),
    /// The device's pool gives back what is idle.
    RecycleDevice,
    /// End the pool: all it holds goes to the device's pool.
    Destroy(PoolKey),
}

/// Counters of a pool. All but the counts are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    /// Bytes from below: device blocks (device pool), blocks of the device pool and pages (graph pools).
    pub occupied: u64,
    /// Bytes of idle spans.
    pub idle: u64,
    /// Bytes of live spans that are not stitched.
    pub live: u64,
    /// Bytes of live stitched blocks.
    pub live_stitched: u64,
    /// Bytes of idle stitched blocks.
    pub idle_stitched: u64,
    /// Rounded bytes live.
    pub theory: u64,
    /// Its peak.
    pub theory_peak: u64,
    /// Requested bytes live.
    pub requested: u64,
    /// Its peak.
    pub requested_peak: u64,
    /// Virtual bytes reserved for stitched blocks so far.
    pub stitched_reserved: u64,
    /// How often the pool was recycled.
    pub recycles: u64,
    /// The largest bytes that it ever occupied.
    pub occupied_peak: u64,
    /// Blocks that it got from below.
    pub blocks_taken: u64,
    /// Blocks that it gave back.
    pub blocks_returned: u64,
    /// Spans that were given, as the engine counts: requests that were met, and in an expandable pool also what was
    /// tried, cut or held back on the way.
    pub requests_met: u64,
    /// Spans that came back, counted alike.
    pub grants_freed: u64,
}

impl PoolFigures {
    /// The engine's reach rate, in percent: peak of live requested bytes over occupied bytes; at most 100, and 0
    /// where nothing is occupied.
    pub fn reach_rate(&self) -> f64 {
        if self.occupied == 0 {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate for display")]
        let rate = 100.0 * self.requested_peak as f64 / self.occupied as f64;
        rate.min(100.0)
    }
}

/// Memory of dynamic graphs: pools that give and take back spans, op by op.
pub trait DynamicMemory: std::fmt::Debug {
    /// Memory of at least `bytes` from a pool, which is made where it is new.
    ///
    /// # Errors
    /// [`Shortage`] after everything that the engine tries: out of memory.
    fn allocate(&mut self, pool: PoolKey, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Grant, Shortage>;

    /// Takes a grant back.
    fn free(&mut self, pool: PoolKey, grant: GrantId, device: &mut SimulatedDevice);

    /// Does what the user tells beside requests.
    fn manage(&mut self, order: Order, device: &mut SimulatedDevice);

    /// A pool's counters, or with `None` those of the device's pool; `None` where there is no such pool.
    fn figures(&self, pool: Option<PoolKey>) -> Option<PoolFigures>;

    /// The slots (of the pool's own range) whose pages a stitched grant joins, in its order.
    fn stitched_slots(&self, _pool: PoolKey, _grant: GrantId) -> Vec<u32> {
        Vec::new()
    }
}

/// A static graph, as its user numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StaticGraph(pub u32);

/// A piece of a static graph's feature memory, in logical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaSegment {
    /// Bytes; may be 0.
    pub bytes: Bytes,
    /// Whether the caller supplies the memory.
    pub by_caller: bool,
    /// Whether it is the zero-copy segment of inputs and outputs.
    pub is_zero_copy: bool,
    /// Whether logical addresses leave a gap of 2 MiB before it.
    pub has_gap: bool,
}

/// Segments of a static graph that stand one behind the other, as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedSegment {
    /// Logical offset.
    pub logical: u64,
    /// Bytes.
    pub bytes: Bytes,
    /// Where; `None` where it has no memory, because the load failed before or the caller brings it.
    pub at: Option<Address>,
}

/// Where a static graph was placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedSegments {
    /// The address of the first segment; `None` where nothing was needed.
    pub base: Option<Address>,
    /// Segments after joining, where graphs share an arena.
    pub segments: Vec<JoinedSegment>,
    /// The parts of the arena's blocks that the graph uses: address and bytes.
    pub active: Vec<(Address, Bytes)>,
    /// Those of them whose memory is there from the load to the end of the first run.
    pub held: Vec<(Address, Bytes)>,
}

/// Why a static graph could not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Its pages could not be had.
    Shortage(Shortage),
    /// Pages that it needs are still mapped for another graph that was loaded and has not run.
    MemoryInUse,
}

/// A block of a shared arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaBlock {
    /// Where.
    pub at: Address,
    /// Bytes.
    pub total: Bytes,
    /// Bytes that the graph loaded last uses.
    pub used: Bytes,
    /// Whether that load made it.
    pub is_new: bool,
}

/// Counters of a shared arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenaFigures {
    /// Blocks by total size, descending.
    pub blocks: Vec<ArenaBlock>,
    /// The largest sum of used bytes.
    pub peak: Bytes,
    /// Loaded graphs.
    pub users: u64,
    /// Bytes of the virtual range that blocks were cut from.
    pub range_used: Bytes,
    /// Bytes of pages that its range holds.
    pub pages: Bytes,
}

/// Memory of static graphs: placed at load, used while they run.
pub trait StaticMemory: std::fmt::Debug {
    /// Gets the memory of a graph.
    ///
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
    fn begin(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) -> Result<(), RunError>;

    /// Ends a run.
    fn finish(&mut self, graph: StaticGraph, device: &mut SimulatedDevice);

    /// Gives back what only this graph holds; the last one gives back all.
    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice);

    /// What the load before, which failed, had placed until then.
    fn placed_before_failure(&self) -> LoadedSegments {
        LoadedSegments::default()
    }

    /// Counters, where graphs share an arena.
    fn figures(&self) -> Option<ArenaFigures> {
        None
    }
}
