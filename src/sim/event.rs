//! The event log: what the device and the pools did, step by step.
//!
//! Events are 32 bytes each and stand in the order in which they happened; an event at step `s` takes effect on
//! step `s` (allocations before the op of step `s` runs, frees before the op of step `s` that no longer needs
//! them). Region 0 (the variables, perhaps empty) and subject 0 (the session) always exist; events that concern
//! no region or nobody name them. Every figure is a fold over the log.

use highwater_model::graph::TensorId;
use highwater_model::typed_id;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;

use super::alloc::{Address, PoolFigures};
use super::policies::StaticMemoryPolicy;

typed_id!(
    /// A region of the simulation.
    RegionId
);
typed_id!(
    /// A subject of events: what the bytes are for.
    SubjectId
);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A tensor is given `bytes` at `offset` of `region`.
    Alloc,
    /// A tensor returns what it was given.
    Free,
    /// The driver gives `bytes` of device memory: the region is born.
    DeviceMalloc,
    /// The driver takes the region's device memory back.
    DeviceFree,
    /// The shared arena is about to be freed and allocated larger (policy 2, documented).
    Reallocate,
    /// The shared arena is large enough for a graph that is being loaded (policy 2).
    Reuse,
    /// A virtual range of `bytes` is reserved; it holds no memory yet.
    Reserve,
    /// A virtual range is given back.
    Release,
    /// Physical pages of `bytes` are taken from the driver for `region`.
    PageAlloc,
    /// Physical pages of `bytes` are given back to the driver.
    PageFree,
    /// A page of `bytes`, the subject, is mapped at `offset` of `region`.
    Map,
    /// The page of `bytes`, the subject, that is mapped at `offset` of `region` is unmapped.
    Unmap,
    /// Memory is set to zero.
    Memset,
    /// A pool waits for its stream.
    Sync,
    /// A pool, the subject, gives idle blocks back.
    Recycle,
    /// A pool, the subject, gets a block of the device's pool.
    Grant,
    /// A pool, the subject, gives a block back to the device's pool.
    Return,
    /// Scattered pages became one range: `region`, which is mapped already.
    Stitch,
    /// A static graph is loaded or begins to run: `bytes` of the arena that it shares are inputs and outputs; 0 where it ends and
    /// the arena's pages go to others.
    Run,
    /// A static graph cannot run: another that shares its pages was loaded and has not run.
    MemoryInUse,
    /// Memory that ops add to is cleared: one launch.
    Clear,
    /// A loaded graph is unloaded to make room; `region` is its arena.
    Unload,
    /// An unloaded graph is loaded again at its next run.
    Reload,
    /// A request failed; see [`OutOfMemory`].
    OutOfMemory,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on the common axis.
    pub step: Step,
    /// What.
    pub kind: EventKind,
    /// Where.
    pub region: RegionId,
    /// For whom.
    pub subject: SubjectId,
    /// Offset in the region.
    pub offset: u64,
    /// Bytes, after the rounding of whoever acts.
    pub bytes: Bytes,
}

/// What a region of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// Session variables.
    Variables,
    /// A graph's frozen weights.
    Weights,
    /// A graph's inputs and outputs.
    InputOutput,
    /// Feature memory of static graphs, one device block (or, under policy 4, one paged range).
    Arena,
    /// A device block of the dynamic pools.
    PoolBlock,
    /// The virtual range of an expandable pool, backed by pages.
    PagedRange,
    /// A range of its own that joins scattered pages of an expandable pool.
    Stitched,
    /// Feature memory of ops whose addresses must not change, one range for all static graphs.
    FixedFeatures,
    /// A segment of a recording.
    Segment,
    /// The range of an expandable segment of a recording.
    ExpandableSegment,
    /// Blocks of a recording whose addresses nobody knows, stacked to be drawn: no memory of its own.
    Unplaced,
}

impl RegionKind {
    /// Whether it serves feature memory.
    pub const fn is_feature(self) -> bool {
        match self {
            Self::Arena
            | Self::PoolBlock
            | Self::PagedRange
            | Self::Stitched
            | Self::FixedFeatures
            | Self::Segment
            | Self::ExpandableSegment
            | Self::Unplaced => true,
            Self::Variables | Self::Weights | Self::InputOutput => false,
        }
    }
}

/// A piece of address space with its own offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What it is.
    pub kind: RegionKind,
    /// The graph it belongs to; `None` where several share it.
    pub graph: Option<GraphIdx>,
    /// Bytes of address space.
    pub bytes: Bytes,
    /// Of these, bytes of a static graph's inputs and outputs, behind its feature memory.
    pub io: Bytes,
    /// Where it begins.
    pub at: RegionAddress,
}

/// Where a region begins: an offset in device memory or in the virtual space. All 64 bits count, because the addresses of
/// recordings are numbers of drivers (an [`Address`] of the simulated device has 63).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionAddress {
    is_virtual: bool,
    offset: u64,
}

impl RegionAddress {
    /// An offset in device memory.
    pub const fn device(offset: u64) -> Self {
        Self {
            is_virtual: false,
            offset,
        }
    }

    /// An offset in the virtual space.
    pub const fn virtual_space(offset: u64) -> Self {
        Self {
            is_virtual: true,
            offset,
        }
    }

    /// Whether it lies in the virtual space.
    pub const fn is_virtual(self) -> bool {
        self.is_virtual
    }

    /// The offset in its space.
    pub const fn offset(self) -> u64 {
        self.offset
    }
}

impl From<RegionAddress> for Address {
    /// Of a region of the simulated device.
    fn from(at: RegionAddress) -> Self {
        if at.is_virtual {
            Self::virtual_space(at.offset)
        } else {
            Self::device(at.offset)
        }
    }
}

impl From<Address> for RegionAddress {
    fn from(at: Address) -> Self {
        Self {
            is_virtual: at.is_virtual(),
            offset: at.offset(),
        }
    }
}

/// What bytes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A tensor of a run (by position in the session's runs); `copy` counts concurrent instances from 0.
    Tensor {
        /// Position of the run.
        run: u32,
        /// The root tensor.
        tensor: TensorId,
        /// Which of the concurrent copies.
        copy: u16,
    },
    /// A graph's whole arena or weights.
    Graph(GraphIdx),
    /// A graph's inputs and outputs.
    InputOutput(GraphIdx),
    /// A physical page, by its handle.
    Page(u32),
    /// A pool of dynamic memory, by position in [`Simulation::pools`].
    Pool(u32),
    /// The session.
    Session,
}

/// A subject and what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectRow {
    /// Who.
    pub who: Subject,
    /// Exact bytes asked for, before any rounding.
    pub requested: Bytes,
}

/// The request that ended a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// When.
    pub step: Step,
    /// Bytes that were asked of the driver.
    pub requested: Bytes,
    /// Device bytes in use at that moment.
    pub in_use: Bytes,
    /// For whom.
    pub subject: Subject,
}

/// A pool of dynamic memory, as it stood at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRow {
    /// The graph that it serves; `None` for the device's pool, which all others stand on.
    pub graph: Option<GraphIdx>,
    /// Its counters.
    pub figures: PoolFigures,
}

/// How often allocators did what the log holds no event for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Spans that were cut.
    pub splits: u64,
    /// Idle neighbours that were joined.
    pub merges: u64,
}

/// The event log of one session under one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The policy.
    pub policy: StaticMemoryPolicy,
    /// Steps of the common axis.
    pub n_steps: u32,
    /// Device memory.
    pub device_bytes: Bytes,
    /// Events in order.
    pub events: Vec<Event>,
    /// Regions by id.
    pub regions: Vec<Region>,
    /// Subjects by id.
    pub subjects: Vec<SubjectRow>,
    /// Pools of dynamic memory; where there is any, the first is the device's.
    pub pools: Vec<PoolRow>,
    /// Cuts and joins.
    pub spans: SpanCounts,
    /// Why the run stopped early, if it did; events end there.
    pub out_of_memory: Option<OutOfMemory>,
}

impl Simulation {
    /// The region of an event.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.0 as usize]
    }

    /// The subject of an event.
    pub fn subject(&self, id: SubjectId) -> SubjectRow {
        self.subjects[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_stay_small() {
        assert!(size_of::<super::Event>() <= 32);
    }
}
