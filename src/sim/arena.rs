//! Memory of static graphs: one block per graph, one shared arena, or one range of pages.
//!
//! ```text
//! policy 0, 3   |A....|  |B.........|  |C.......|   a device block per graph, from load to unload
//! policy 2      |A....|->|B.........|->|C.......|.| one block, freed and allocated larger when it must grow
//! policy 4      |p|p|p|  |p|p|p|p|p|p|              pages held only while a graph runs, then shared by all
//! ```
//!
//! In: a graph and its plan's footprint, at load and around each run. Out: the regions that its tensors lie in,
//! one per concurrent copy. Invariants: under 2 the arena is the running maximum of the footprints (rounded up to
//! a device block where larger than one); under 4 bytes in use never fall. Documented behaviour only: the engine's
//! own policy 2 never reallocates but strands blocks, and places segments; that is not modelled here.

use super::device::{DeviceMemory, Shortage};
use super::event::{EventKind, RegionId, RegionKind};
use super::expandable_pool::VirtualRange;
use super::page_pool::Pools;
use super::params::{ArenaBehaviour, Params};
use super::policies::StaticMemoryPolicy;
use crate::units::Bytes;
use crate::workload::GraphIdx;

/// Who asks for an arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaRequest {
    /// The graph.
    pub(super) graph: GraphIdx,
    /// The footprint of its plan, for one copy.
    pub(super) footprint: Bytes,
}

/// The arenas of a session.
#[derive(Debug)]
pub(super) struct Arenas {
    copies: usize,
    block: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Regions by graph.
    Own(Vec<Vec<RegionId>>),
    /// One block per copy; all of the same size.
    Shared { regions: Vec<RegionId>, bytes: Bytes },
    /// One range per copy, and the largest footprint so far.
    Paged { ranges: Vec<VirtualRange>, peak: Bytes },
}

impl Arenas {
    /// No arena yet.
    pub(super) fn new(policy: StaticMemoryPolicy, params: &Params, n_graphs: usize) -> Self {
        let row = policy.row();
        let kind = match (row.shares_static_arena, row.expands_pools) {
            (false, _) => Kind::Own(vec![Vec::new(); n_graphs]),
            (true, false) => match params.arena_behaviour {
                ArenaBehaviour::Documented => Kind::Shared {
                    regions: Vec::new(),
                    bytes: Bytes::ZERO,
                },
            },
            (true, true) => Kind::Paged {
                ranges: Vec::new(),
                peak: Bytes::ZERO,
            },
        };
        Self {
            copies: params.feature_copies.clamp(1, u32::from(u16::MAX)) as usize,
            block: params.device_block.get(),
            kind,
        }
    }

    /// Bytes that loading would add, for the room check: the shared arena's peak serves again.
    pub(super) fn missing(&self, footprint: Bytes) -> Bytes {
        let there = match &self.kind {
            Kind::Own(_) => Bytes::ZERO,
            Kind::Shared { bytes, .. } => *bytes,
            Kind::Paged { peak, .. } => *peak,
        };
        Bytes((footprint - there).get().saturating_mul(self.copies as u64))
    }

    /// Gets the memory of a graph that is being loaded. A footprint of 0 needs none.
    pub(super) fn load(&mut self, request: ArenaRequest, memory: &mut DeviceMemory) -> Result<(), Shortage> {
        let ArenaRequest { graph, footprint } = request;
        if footprint == Bytes::ZERO {
            return Ok(());
        }
        match &mut self.kind {
            Kind::Own(by_graph) => {
                for _ in 0..self.copies {
                    let region = memory.malloc(RegionKind::Arena, Some(graph), footprint)?;
                    by_graph[graph.0 as usize].push(region);
                }
            }
            Kind::Shared { regions, bytes } if footprint <= *bytes => {
                for region in regions {
                    memory.record(EventKind::Reuse, *region, 0, footprint);
                }
            }
            Kind::Shared { regions, bytes } => {
                // The last block that is given back is the first thing that the larger one may use.
                for region in regions.drain(..) {
                    memory.record(EventKind::Reallocate, region, 0, footprint);
                    memory.free(region);
                }
                *bytes = rounded(footprint, self.block);
                for _ in 0..self.copies {
                    regions.push(memory.malloc(RegionKind::Arena, None, *bytes)?);
                }
            }
            Kind::Paged { .. } => {}
        }
        Ok(())
    }

    /// Prepares a run and returns the region of each copy. Under policy 4 the arena's pages are taken now; where
    /// the device is full the pools of dynamic graphs give up idle pages, in order of creation.
    pub(super) fn enter(
        &mut self,
        request: ArenaRequest,
        pools: &mut Pools,
        memory: &mut DeviceMemory,
    ) -> Result<Vec<RegionId>, Shortage> {
        let ArenaRequest { graph, footprint } = request;
        match &mut self.kind {
            Kind::Own(by_graph) => Ok(by_graph[graph.0 as usize].clone()),
            Kind::Shared { regions, .. } => Ok(regions.clone()),
            Kind::Paged { .. } if footprint == Bytes::ZERO => Ok(Vec::new()),
            Kind::Paged { ranges, peak } => {
                *peak = (*peak).max(footprint);
                while ranges.len() < self.copies {
                    let parts = (&*pools.store(), &mut *memory);
                    let capacity = parts.1.capacity();
                    ranges.push(VirtualRange::reserve(None, capacity, parts));
                }
                for range in &mut *ranges {
                    back(range, footprint, pools, memory)?;
                }
                Ok(ranges.iter().map(VirtualRange::region).collect())
            }
        }
    }

    /// Ends a run: under policy 4 the pages go back to the store.
    pub(super) fn leave(&mut self, footprint: Bytes, pools: &mut Pools) {
        if let Kind::Paged { ranges, .. } = &mut self.kind {
            for range in ranges {
                range.unback(0, footprint.get());
                range.recycle(0, footprint.get(), pools.store());
            }
        }
    }

    /// The region that stands for a graph's arena, where it has one.
    pub(super) fn region(&self, graph: GraphIdx) -> Option<RegionId> {
        match &self.kind {
            Kind::Own(by_graph) => by_graph[graph.0 as usize].first().copied(),
            Kind::Shared { regions, .. } => regions.first().copied(),
            Kind::Paged { ranges, .. } => ranges.first().map(VirtualRange::region),
        }
    }

    /// Frees what an unloaded graph holds alone.
    pub(super) fn unload(&mut self, graph: GraphIdx, memory: &mut DeviceMemory) {
        if let Kind::Own(by_graph) = &mut self.kind {
            for region in by_graph[graph.0 as usize].drain(..) {
                memory.free(region);
            }
        }
    }
}

fn back(
    range: &mut VirtualRange,
    footprint: Bytes,
    pools: &mut Pools,
    memory: &mut DeviceMemory,
) -> Result<(), Shortage> {
    if footprint.get() > range.bytes() {
        return Err(Shortage { requested: footprint });
    }
    let mut answer = range.back(0, footprint.get(), (pools.store(), memory));
    for pool in 0..pools.len() {
        if answer.is_ok() {
            break;
        }
        pools.recycle(pool, memory);
        answer = range.back(0, footprint.get(), (pools.store(), memory));
    }
    answer
}

/// Arenas larger than a device block are whole device blocks.
fn rounded(bytes: Bytes, block: u64) -> Bytes {
    if bytes.get() > block {
        bytes.align_up(block)
    } else {
        bytes
    }
}
