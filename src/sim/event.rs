//! The event log: actions of the device and the pools, step by step.
//!
//! Events are in chronological order ([`EventLog`]); an event at step `s` takes effect on step `s` (allocations before
//! the op of step `s` runs, frees before the op of step `s` that no longer needs them). Region 0 (the variables,
//! perhaps empty) and subject 0 (the session) always exist; events without a region or a subject name them. Every
//! figure is a fold over the log.

use highwater_model::graph::{Id as _, TensorId};
use highwater_model::typed_id;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;

use super::alloc::{Address, PoolFigures};
use super::event_log::{EventLog, Subjects};
use super::policies::StaticMemoryPolicy;

typed_id!(
    /// A region of the simulation.
    RegionId
);
typed_id!(
    /// The purpose of an event's bytes.
    SubjectId
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A tensor gets `bytes` at `offset` of `region`.
    Alloc,
    /// A tensor frees its bytes.
    Free,
    /// The driver allocates `bytes` of device memory: a new region.
    DeviceMalloc,
    /// The driver frees the region's device memory.
    DeviceFree,
    /// The shared arena is about to be freed and allocated larger (policy 2, documented).
    Reallocate,
    /// The shared arena is large enough for a graph that is being loaded (policy 2).
    Reuse,
    /// A virtual range of `bytes` is reserved, without memory.
    Reserve,
    Release,
    /// Physical pages of `bytes` are taken from the driver for `region`.
    PageAlloc,
    /// Physical pages of `bytes` are returned to the driver.
    PageFree,
    /// A page of `bytes`, the subject, is mapped at `offset` of `region`.
    Map,
    /// The page of `bytes`, the subject, mapped at `offset` of `region` is unmapped.
    Unmap,
    /// Memory is set to zero.
    Memset,
    /// A pool waits for its stream.
    Sync,
    /// A pool, the subject, returns idle blocks.
    Recycle,
    /// A pool, the subject, gets a block of the device's pool.
    Grant,
    /// A pool, the subject, returns a block to the device's pool.
    Return,
    /// Scattered pages were joined into one range: `region`, which is already mapped.
    Stitch,
    /// A static graph is loaded or begins to run: `bytes` of the shared arena are inputs and outputs; 0 where it ends
    /// and the arena's pages serve others.
    Run,
    /// A static graph cannot run: another that shares its pages was loaded and has not run.
    MemoryInUse,
    /// Memory that ops accumulate into is cleared: one launch.
    Clear,
    /// A loaded graph is unloaded to make room; `region` is its arena.
    Unload,
    /// An unloaded graph is loaded again at its next run.
    Reload,
    /// A request failed; see [`OutOfMemory`].
    OutOfMemory,
}

/// The memory that an event takes or releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUnit {
    /// Memory of a region, from the driver.
    Device,
    Page,
    /// Of a page in a range.
    Mapping,
    /// A block that the device's pool lends a pool.
    Grant,
    /// The bytes of a tensor.
    Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    Take,
    Release,
}

impl EventKind {
    /// `None` for events that change no memory.
    pub const fn memory_change(self) -> Option<(MemoryUnit, MemoryChange)> {
        Some(match self {
            Self::DeviceMalloc => (MemoryUnit::Device, MemoryChange::Take),
            Self::DeviceFree => (MemoryUnit::Device, MemoryChange::Release),
            Self::PageAlloc => (MemoryUnit::Page, MemoryChange::Take),
            Self::PageFree => (MemoryUnit::Page, MemoryChange::Release),
            Self::Map => (MemoryUnit::Mapping, MemoryChange::Take),
            Self::Unmap => (MemoryUnit::Mapping, MemoryChange::Release),
            Self::Grant => (MemoryUnit::Grant, MemoryChange::Take),
            Self::Return => (MemoryUnit::Grant, MemoryChange::Release),
            Self::Alloc => (MemoryUnit::Block, MemoryChange::Take),
            Self::Free => (MemoryUnit::Block, MemoryChange::Release),
            Self::Reallocate
            | Self::Reuse
            | Self::Reserve
            | Self::Release
            | Self::Memset
            | Self::Sync
            | Self::Recycle
            | Self::Stitch
            | Self::Run
            | Self::MemoryInUse
            | Self::Clear
            | Self::Unload
            | Self::Reload
            | Self::OutOfMemory => return None,
        })
    }

    /// The change of a tensor's bytes; `None` for other events.
    pub const fn block_change(self) -> Option<MemoryChange> {
        match self.memory_change() {
            Some((MemoryUnit::Block, change)) => Some(change),
            Some((MemoryUnit::Device | MemoryUnit::Page | MemoryUnit::Mapping | MemoryUnit::Grant, _)) | None => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// On the common axis.
    pub step: Step,
    pub kind: EventKind,
    pub region: RegionId,
    pub subject: SubjectId,
    /// Offset in the region.
    pub offset: u64,
    /// After the allocator's rounding.
    pub bytes: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// Session variables.
    Variables,
    /// A graph's frozen weights.
    Weights,
    InputOutput,
    /// Feature memory of static graphs, one device block (or, under policy 4, one paged range).
    Arena,
    /// A device block of the dynamic pools.
    PoolBlock,
    /// The virtual range of an expandable pool, backed by pages.
    PagedRange,
    /// A separate range that joins scattered pages of an expandable pool.
    Stitched,
    /// Feature memory of ops whose addresses must not change, one range for all static graphs.
    FixedFeatures,
    /// A segment of a recording.
    Segment,
    /// The range of an expandable segment of a recording.
    ExpandableSegment,
    /// Blocks of a recording without addresses, stacked for drawing: no memory.
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
    pub kind: RegionKind,
    /// `None` where several graphs share it.
    pub graph: Option<GraphIdx>,
    /// Address space.
    pub bytes: Bytes,
    /// Of these, bytes of a static graph's inputs and outputs, behind its feature memory.
    pub io: Bytes,
    pub at: RegionAddress,
}

/// Start of a region: an offset in device memory or in the virtual space. All 64 bits count, because the addresses of
/// recordings come from drivers (an [`Address`] of the simulated device has 63).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionAddress {
    is_virtual: bool,
    offset: u64,
}

impl RegionAddress {
    pub const fn device(offset: u64) -> Self {
        Self {
            is_virtual: false,
            offset,
        }
    }

    pub const fn virtual_space(offset: u64) -> Self {
        Self {
            is_virtual: true,
            offset,
        }
    }

    pub const fn is_virtual(self) -> bool {
        self.is_virtual
    }

    /// Relative to its space.
    pub const fn offset(self) -> u64 {
        self.offset
    }
}

impl From<RegionAddress> for Address {
    /// For regions of the simulated device.
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

/// The purpose of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A tensor of a run; `copy` counts concurrent instances from 0.
    Tensor {
        /// Position among the session's runs.
        run: u32,
        /// The root tensor.
        tensor: TensorId,
        copy: u16,
    },
    /// A graph's whole arena or weights.
    Graph(GraphIdx),
    InputOutput(GraphIdx),
    /// A physical page, by its handle.
    Page(u32),
    /// A pool of dynamic memory, by position in [`Simulation::pools`].
    Pool(u32),
    Session,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectRow {
    pub subject: Subject,
    /// Exact bytes, before any rounding.
    pub requested: Bytes,
}

/// The request that ended a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    pub step: Step,
    /// Bytes requested from the driver.
    pub requested: Bytes,
    /// Device bytes in use at that moment.
    pub in_use: Bytes,
    pub subject: Subject,
}

/// A pool of dynamic memory at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRow {
    /// `None` for the device's pool, which serves all others.
    pub graph: Option<GraphIdx>,
    pub figures: PoolFigures,
}

/// Actions of allocators without an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Split spans.
    pub splits: u64,
    /// Merged idle neighbours.
    pub merges: u64,
}

/// The event log of one session under one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    pub policy: StaticMemoryPolicy,
    /// Steps of the common axis.
    pub n_steps: u32,
    pub device_bytes: Bytes,
    pub events: EventLog,
    /// By id.
    pub regions: Vec<Region>,
    pub subjects: Subjects,
    /// Pools of dynamic memory; where there is any, the first is the device's.
    pub pools: Vec<PoolRow>,
    pub spans: SpanCounts,
    /// Why the run stopped early; events end there.
    pub out_of_memory: Option<OutOfMemory>,
}

impl Simulation {
    /// An empty log with room for `n_blocks` blocks. Region 0 and subject 0 exist in every log.
    pub(crate) fn new(policy: StaticMemoryPolicy, n_steps: u32, device_bytes: Bytes, n_blocks: usize) -> Self {
        let mut log = Self {
            policy,
            n_steps,
            device_bytes,
            // A quarter more for everything else: memory that is never written costs nothing, growing copies all.
            events: EventLog::with_capacity(n_blocks * 2 + n_blocks / 4 + 64),
            regions: Vec::new(),
            subjects: Subjects::with_capacity(n_blocks + 64),
            pools: Vec::new(),
            spans: SpanCounts::default(),
            out_of_memory: None,
        };
        log.add_region(Region {
            kind: RegionKind::Variables,
            graph: None,
            bytes: Bytes::ZERO,
            io: Bytes::ZERO,
            at: RegionAddress::default(),
        });
        log.add_subject(Subject::Session, Bytes::ZERO);
        log
    }

    pub(crate) fn add_region(&mut self, region: Region) -> RegionId {
        self.regions.push(region);
        RegionId::from_idx(self.regions.len() - 1)
    }

    pub(crate) fn add_subject(&mut self, subject: Subject, requested: Bytes) -> SubjectId {
        self.subjects.push(SubjectRow { subject, requested });
        SubjectId::from_idx(self.subjects.len() - 1)
    }

    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.0 as usize]
    }

    /// The region that an event is in; `None` where it is in none, as events say by region 0, unless they change its memory.
    pub fn region_of(&self, event: &Event) -> Option<&Region> {
        let is_memory =
            event.kind.memory_change().is_some() || matches!(event.kind, EventKind::Memset | EventKind::Clear);
        (event.region.0 > 0 || is_memory).then(|| self.region(event.region))
    }

    pub fn subject(&self, id: SubjectId) -> SubjectRow {
        self.subjects.get(id).expect("an id of this log")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_stay_small() {
        assert!(size_of::<super::Event>() <= 32);
    }
}
