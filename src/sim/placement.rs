//! Static graphs of a session: loads, runs, unloads, and the addresses of their tensors.
//!
//! ```text
//! plan       |seg 0.......|seg 1..|seg 2|io|        offsets of the compile-time plan
//! memory     seg 1 here      seg 0 there            one block (0, 3), or wherever the arena has room (2, 4)
//! ```
//!
//! In: a bound graph with its plan and segments. Out: for every tensor a region and an offset. Concurrent copies of a
//! graph have separate memory. Invariants: a segment is in one region; inputs and outputs are behind the plan, from
//! load to unload in the graph's own block, and only during runs where graphs share an arena.

use super::alloc::{
    Address, ArenaChange, ArenaSegment, LoadedSegments, RunError, Shortage, StaticGraph, StaticMemory, static_memory,
};
use super::device::DeviceMemory;
use super::event::{EventKind, RegionId, RegionKind, SubjectId};
use super::params::Params;
use super::policies::StaticMemoryPolicy;
use super::recorder::{NO_REGION, RegionPurpose};
use super::session::BoundGraph;
use highwater_model::graph::Id as _;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;

/// A static graph that is loaded or run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaRequest<'a> {
    pub(super) graph: GraphIdx,
    pub(super) bound: &'a BoundGraph,
    /// Bytes of its inputs and outputs; 0 where the caller supplies them.
    pub(super) io: Bytes,
    /// Log subject of its inputs and outputs.
    pub(super) io_subject: SubjectId,
}

impl ArenaRequest<'_> {
    /// Feature memory with inputs and outputs, for one copy.
    pub(super) fn bytes(&self) -> Bytes {
        let features: Bytes = self.bound.segments.iter().map(|segment| segment.bytes).sum();
        features + self.io
    }
}

/// A piece of a plan in memory.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Plan offsets.
    start: u64,
    end: u64,
    region: RegionId,
    /// Offset of the piece in the region.
    offset: u64,
}

/// One copy of a loaded graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    pieces: Vec<Piece>,
    io: Option<(RegionId, u64, Bytes)>,
}

impl Placed {
    /// Region and offset of a plan offset. O(log pieces).
    pub(super) fn locate(&self, offset: u64) -> (RegionId, u64) {
        let behind = self.pieces.partition_point(|piece| piece.start <= offset);
        let piece = behind.checked_sub(1).and_then(|idx| self.pieces.get(idx));
        match piece {
            Some(piece) if offset < piece.end || piece.start == piece.end => {
                (piece.region, piece.offset + (offset - piece.start))
            }
            _ => (NO_REGION, 0),
        }
    }

    /// Moves everything to another region, at the same offsets.
    fn move_to(&mut self, region: RegionId) {
        for piece in &mut self.pieces {
            piece.region = region;
        }
        if let Some((io_region, ..)) = &mut self.io {
            *io_region = region;
        }
    }

    /// Everything that it occupies: region, offset, bytes.
    fn extents(&self) -> impl Iterator<Item = (RegionId, u64, u64)> + '_ {
        let pieces = self.pieces.iter();
        let pieces = pieces.map(|piece| (piece.region, piece.offset, piece.end - piece.start));
        pieces.chain(self.io.map(|(region, offset, bytes)| (region, offset, bytes.get())))
    }

    fn first_region(&self) -> RegionId {
        let piece = self.pieces.first().map(|piece| piece.region);
        piece.or(self.io.map(|(region, ..)| region)).unwrap_or(NO_REGION)
    }
}

/// The memory of all static graphs.
#[derive(Debug)]
pub(super) struct StaticGraphs {
    /// One per concurrent copy.
    copies: Vec<Box<dyn StaticMemory>>,
    shares_arena: bool,
    /// Whether the arena's pages serve others while no static graph runs.
    shares_pages: bool,
    /// By graph, one per copy.
    placed: Vec<Vec<Placed>>,
}

impl StaticGraphs {
    pub(super) fn new(policy: StaticMemoryPolicy, params: &Params, n_graphs: usize) -> Self {
        let copies = params.feature_copies.clamp(1, u32::from(u16::MAX));
        Self {
            copies: (0..copies)
                .map(|_| static_memory(policy, params.arena_behaviour))
                .collect(),
            shares_arena: policy.row().shares_static_arena,
            shares_pages: policy.row().shares_static_arena && policy.row().expands_pools,
            placed: vec![Vec::new(); n_graphs],
        }
    }

    /// Bytes that loading would add, for the room check: the peak of a shared arena is reused.
    pub(super) fn missing(&self, request: &ArenaRequest<'_>) -> Bytes {
        let there = |arena: &dyn StaticMemory| arena.figures().map_or(Bytes::ZERO, |figures| figures.peak);
        let bytes = request.bytes();
        self.copies
            .iter()
            .map(|arena| bytes.saturating_sub(there(arena.as_ref())))
            .sum()
    }

    pub(super) fn load(&mut self, request: &ArenaRequest<'_>, memory: &mut DeviceMemory) -> Result<(), Shortage> {
        let (segments, bases) = segments_of(request);
        let owner = (!self.shares_arena).then_some(request.graph);
        memory.log.set_purpose(RegionPurpose {
            io: if self.shares_arena { Bytes::ZERO } else { request.io },
            ..RegionPurpose::of(RegionKind::Arena, owner)
        });
        if self.shares_arena {
            // Inputs and outputs in the arena are this graph's from now on.
            memory.log.record(
                EventKind::Run,
                NO_REGION,
                0,
                self.copies.iter().map(|_| request.io).sum(),
            );
        }
        for (copy, arena) in self.copies.iter_mut().enumerate() {
            let loaded = arena.load(StaticGraph(request.graph.0), &segments, &mut memory.device);
            if let (Ok(_), Some(change)) = (&loaded, arena.last_change()) {
                record_change(change, request, memory);
            }
            memory.settle();
            let loaded = loaded?;
            let placed = placed(&loaded, &segments, &bases, memory)?;
            if arena.last_change() == Some(ArenaChange::Reallocated) {
                // The arena moved, and with it every loaded graph.
                let region = placed.first_region();
                let others = self.placed.iter_mut().filter_map(|copies| copies.get_mut(copy));
                others.for_each(|other| other.move_to(region));
            }
            self.placed[request.graph.idx()].push(placed);
        }
        if !self.shares_arena {
            self.hold_io(request, memory, EventKind::Alloc);
        }
        Ok(())
    }

    /// Prepares a run.
    pub(super) fn begin(&mut self, request: &ArenaRequest<'_>, memory: &mut DeviceMemory) -> Result<(), RunError> {
        memory.log.set_purpose(RegionPurpose::of(RegionKind::Arena, None));
        for copy in &mut self.copies {
            let ready = copy.begin(StaticGraph(request.graph.0), &mut memory.device);
            memory.settle();
            ready?;
        }
        // The engine continues where a block got no pages, or where those of its last use serve another by now; the graph
        // cannot run.
        let placed = self.placed[request.graph.idx()].iter().zip(&self.copies);
        let mut extents = placed.flat_map(|(placed, copy)| placed.extents().map(move |extent| (extent, copy)));
        if extents.any(|((region, offset, bytes), copy)| {
            let at = memory.log.virtual_address(region, offset);
            let is_lost = at.is_some_and(|at| copy.lacks_pages(at, Bytes(bytes)));
            is_lost || !memory.log.is_backed(region, offset, bytes)
        }) {
            return Err(RunError::Shortage(Shortage {
                requested: request.bytes(),
            }));
        }
        if self.shares_arena {
            let region = self.placed(request.graph, 0).map_or(NO_REGION, Placed::first_region);
            memory
                .log
                .record(EventKind::Run, region, 0, self.copies.iter().map(|_| request.io).sum());
            self.hold_io(request, memory, EventKind::Alloc);
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, request: &ArenaRequest<'_>, memory: &mut DeviceMemory) {
        if self.shares_arena {
            self.hold_io(request, memory, EventKind::Free);
        }
        if self.shares_pages {
            memory.log.record(EventKind::Run, NO_REGION, 0, Bytes::ZERO);
        }
        for copy in &mut self.copies {
            copy.finish(StaticGraph(request.graph.0), &mut memory.device);
            memory.settle();
        }
    }

    /// Frees memory that only this graph holds.
    pub(super) fn unload(&mut self, request: &ArenaRequest<'_>, memory: &mut DeviceMemory) {
        if self.shares_arena {
            memory.log.record(EventKind::Run, NO_REGION, 0, Bytes::ZERO);
        } else {
            self.hold_io(request, memory, EventKind::Free);
        }
        for copy in &mut self.copies {
            copy.unload(StaticGraph(request.graph.0), &mut memory.device);
            memory.settle();
        }
        self.placed[request.graph.idx()].clear();
    }

    pub(super) const fn shares_arena(&self) -> bool {
        self.shares_arena
    }

    /// Placement of one copy of a loaded graph.
    pub(super) fn placed(&self, graph: GraphIdx, copy: usize) -> Option<&Placed> {
        self.placed.get(graph.idx())?.get(copy)
    }

    /// The first region of a graph's memory, if any.
    pub(super) fn region(&self, graph: GraphIdx) -> Option<RegionId> {
        self.placed(graph, 0).map(Placed::first_region)
    }

    /// Records inputs and outputs as allocated or freed.
    fn hold_io(&self, request: &ArenaRequest<'_>, memory: &mut DeviceMemory, kind: EventKind) {
        // Later driver calls are not for them.
        let subject = memory.log.subject();
        for placed in &self.placed[request.graph.idx()] {
            if let Some((region, offset, bytes)) = placed.io {
                memory.log.set_subject(request.io_subject);
                memory.log.record(kind, region, offset, bytes);
            }
        }
        memory.log.set_subject(subject);
    }
}

/// Records the change of the documented arena before its calls.
fn record_change(change: ArenaChange, request: &ArenaRequest<'_>, memory: &mut DeviceMemory) {
    match change {
        ArenaChange::Reallocated => memory.log.record(EventKind::Reallocate, NO_REGION, 0, request.bytes()),
        ArenaChange::Reused => memory.log.record(EventKind::Reuse, NO_REGION, 0, request.bytes()),
        ArenaChange::Made => {}
    }
}

/// The segments as the engine loads them, inputs and outputs last, and the plan offset of each.
fn segments_of(request: &ArenaRequest<'_>) -> (Vec<ArenaSegment>, Vec<u64>) {
    let segment = |bytes: Bytes, is_zero_copy: bool| ArenaSegment {
        bytes,
        by_caller: false,
        is_zero_copy,
        has_gap: false,
    };
    let planned = request.bound.segments.iter();
    let mut segments: Vec<ArenaSegment> = planned.clone().map(|planned| segment(planned.bytes, false)).collect();
    let mut bases: Vec<u64> = planned.map(|planned| planned.base).collect();
    bases.push(segments.iter().map(|segment| segment.bytes.get()).sum());
    // The engine asks the driver even for a segment of 0 bytes, and its refusal would end the load.
    if request.io > Bytes::ZERO {
        segments.push(segment(request.io, true));
    }
    (segments, bases)
}

/// Finds each segment in the loaded ones: joined segments are identified by logical offset. The engine counts a graph
/// as loaded if its arena was ever large enough, even where a block was refused now; the graph cannot run.
fn placed(
    loaded: &LoadedSegments,
    segments: &[ArenaSegment],
    bases: &[u64],
    memory: &DeviceMemory,
) -> Result<Placed, Shortage> {
    let mut placed = Placed::default();
    let mut logical = 0;
    for (segment, base) in segments.iter().zip(bases) {
        let bytes = segment.bytes.get();
        if bytes > 0 {
            let at = address_of(loaded, logical).ok_or(Shortage {
                requested: segment.bytes,
            })?;
            let (region, offset) = memory.log.locate(at);
            if segment.is_zero_copy {
                placed.io = Some((region, offset, segment.bytes));
            } else {
                placed.pieces.push(Piece {
                    start: *base,
                    end: base + bytes,
                    region,
                    offset,
                });
            }
        }
        logical += bytes;
    }
    Ok(placed)
}

fn address_of(loaded: &LoadedSegments, logical: u64) -> Option<Address> {
    if loaded.segments.is_empty() {
        return loaded.base.map(|base| base.plus(logical));
    }
    let behind = loaded.segments.partition_point(|segment| segment.logical <= logical);
    let segment = loaded.segments.get(behind.checked_sub(1)?)?;
    Some(segment.at?.plus(logical - segment.logical))
}
