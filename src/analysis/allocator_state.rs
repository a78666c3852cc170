//! The state of a recorded caching allocator at one event: its segments, and the pieces of each in address order.
//!
//! ```text
//! segment 0x7f..00, 2 MiB, stream 0, small    |active 1 KiB|inactive 512 B|awaiting free 1 KiB|inactive ...|
//! segment 0x7f..80, 20 MiB, stream 0, large   |free 20 MiB                                                 |
//! ```
//!
//! In: a [`Recording`] and one of its events. Out: an [`AllocatorState`] after that event. Adjacent mapped ranges of an
//! expandable segment are one segment. A snapshot states the bytes that the allocator holds for a block only for blocks of its
//! last event; for others it states the requested bytes, so that active bytes are a lower bound, and gaps (which contain
//! the rounding of the block below) an upper bound: [`AllocatorSums::is_exact`] tells which. Invariant, where blocks do not overlap: active +
//! awaiting free + inactive + free segments = reserved.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{RecordedBlock, RecordedName, RecordedRegion, Recording};

/// What a piece of a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PieceKind {
    /// A block of the program.
    Active,
    /// A freed block that waits for a stream.
    AwaitingFree,
    /// A gap in a segment that also holds blocks.
    Inactive,
    /// A whole segment without blocks.
    Free,
}

impl PieceKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::AwaitingFree => "awaiting free",
            Self::Inactive => "inactive",
            Self::Free => "free",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub kind: PieceKind,
    pub address: u64,
    /// Bytes that the allocator holds for a block, as far as the file states them; else the bytes of the gap.
    pub bytes: Bytes,
    /// Requested bytes of a block; 0 of a gap.
    pub requested: Bytes,
    /// Position in [`Recording::blocks`]; `None` of a gap.
    pub block: Option<u32>,
    /// Whether the file states the bytes that the allocator holds; true of a gap.
    pub states_held: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentState {
    pub address: u64,
    pub bytes: Bytes,
    pub stream: u64,
    /// With its private pool, see [`Recording::segment_kind`].
    pub kind: RecordedName,
    /// By address.
    pub pieces: Vec<Piece>,
    pub sums: AllocatorSums,
}

/// Sums over segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocatorSums {
    pub segments: u64,
    /// Segments without blocks.
    pub free_segments: u64,
    pub active_blocks: u64,
    pub awaiting_blocks: u64,
    pub gaps: u64,
    /// Blocks of which the file states only the requested bytes.
    pub unstated_blocks: u64,
    pub reserved: Bytes,
    pub active: Bytes,
    pub awaiting_free: Bytes,
    /// Requested bytes of active blocks and of those awaiting free.
    pub requested: Bytes,
    /// Bytes of gaps in segments that also hold blocks.
    pub inactive_split: Bytes,
    /// Bytes of segments without blocks.
    pub free: Bytes,
    /// The largest gap or segment without blocks.
    pub largest_free: Bytes,
}

impl AllocatorSums {
    /// Whether the file states the held bytes of every block; else active bytes are a lower bound, inactive and largest
    /// free bytes an upper bound.
    pub const fn is_exact(&self) -> bool {
        self.unstated_blocks == 0
    }

    /// Held bytes beyond the requested ones, of the blocks that state both.
    pub fn rounding(&self) -> Bytes {
        (self.active + self.awaiting_free).saturating_sub(self.requested)
    }

    /// The sign in front of lower bounds; empty where figures are exact.
    pub const fn at_least(&self) -> &'static str {
        if self.is_exact() { "" } else { "\u{2265}\u{a0}" }
    }

    /// The sign in front of upper bounds; empty where figures are exact.
    pub const fn at_most(&self) -> &'static str {
        if self.is_exact() { "" } else { "\u{2264}\u{a0}" }
    }

    fn add_piece(&mut self, piece: &Piece) {
        match piece.kind {
            PieceKind::Active => {
                self.active_blocks += 1;
                self.active += piece.bytes;
            }
            PieceKind::AwaitingFree => {
                self.awaiting_blocks += 1;
                self.awaiting_free += piece.bytes;
            }
            PieceKind::Inactive => {
                self.gaps += 1;
                self.inactive_split += piece.bytes;
            }
            PieceKind::Free => {
                self.free_segments += 1;
                self.free += piece.bytes;
            }
        }
        if piece.block.is_none() {
            self.largest_free = self.largest_free.max(piece.bytes);
        }
        self.requested += piece.requested;
        self.unstated_blocks += u64::from(!piece.states_held);
    }

    fn add(&mut self, other: &Self) {
        self.segments += other.segments;
        self.free_segments += other.free_segments;
        self.active_blocks += other.active_blocks;
        self.awaiting_blocks += other.awaiting_blocks;
        self.gaps += other.gaps;
        self.unstated_blocks += other.unstated_blocks;
        self.reserved += other.reserved;
        self.active += other.active;
        self.awaiting_free += other.awaiting_free;
        self.requested += other.requested;
        self.inactive_split += other.inactive_split;
        self.free += other.free;
        self.largest_free = self.largest_free.max(other.largest_free);
    }
}

/// Segments of one stream, kind and private pool: a request is served from one of these alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolState {
    pub stream: u64,
    pub kind: RecordedName,
    pub sums: AllocatorSums,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatorState {
    /// The event after which this is the state.
    pub event: Step,
    /// By address.
    pub segments: Vec<SegmentState>,
    /// By stream, then by the text of the kind.
    pub pools: Vec<PoolState>,
    pub sums: AllocatorSums,
    /// Live blocks without an address within a listed segment: count and bytes. No other figure contains them.
    pub outside: (u64, Bytes),
    /// Blocks that overlap the one below or the end of their segment.
    pub overlapping: u64,
}

impl AllocatorState {
    /// `None` where the file lists no segments, or has no such event. O(blocks + regions), and O(n log n) in what the
    /// event holds.
    pub fn new(recording: &Recording, event: Step) -> Option<Self> {
        if recording.regions.is_empty() || event.0 >= recording.n_steps {
            return None;
        }
        let mut state = Self {
            event,
            ..Self::default()
        };
        let mut blocks = state.live_blocks(recording).into_iter().peekable();
        for region in mapped(recording, event) {
            let end = region.address.saturating_add(region.bytes.get());
            while let Some((_, block)) = blocks.next_if(|(address, _)| *address < region.address) {
                state.leave_out(&recording.blocks[block as usize]);
            }
            let mut segment = OpenSegment::new(&region);
            while let Some((address, block)) = blocks.next_if(|(address, _)| *address < end) {
                segment.place(recording, event, address, block);
            }
            state.overlapping += segment.overlapping;
            state.segments.push(segment.close());
        }
        for (_, block) in blocks {
            state.leave_out(&recording.blocks[block as usize]);
        }
        state.add_up(recording);
        Some(state)
    }

    /// Live blocks with an address, by address; counts the others.
    fn live_blocks(&mut self, recording: &Recording) -> Vec<(u64, u32)> {
        let event = self.event;
        let begun = recording.blocks.partition_point(|block| block.birth <= event);
        let mut live = Vec::new();
        for (number, block) in (0_u32..).zip(&recording.blocks[..begun]) {
            match block.address {
                _ if block.end <= event => {}
                Some(address) => live.push((address.get(), number)),
                None => self.leave_out(block),
            }
        }
        live.sort_unstable();
        live
    }

    fn leave_out(&mut self, block: &RecordedBlock) {
        self.outside.0 += 1;
        self.outside.1 += block.held;
    }

    fn add_up(&mut self, recording: &Recording) {
        let mut pools: BTreeMap<(u64, &str), PoolState> = BTreeMap::new();
        for segment in &self.segments {
            self.sums.add(&segment.sums);
            let key = (segment.stream, recording.text(segment.kind));
            let pool = pools.entry(key).or_insert(PoolState {
                stream: segment.stream,
                kind: segment.kind,
                sums: AllocatorSums::default(),
            });
            pool.sums.add(&segment.sums);
        }
        self.pools = pools.into_values().collect();
    }
}

/// Regions that are held after an event, by address; adjacent ranges of an expandable segment are one.
fn mapped(recording: &Recording, event: Step) -> Vec<RecordedRegion> {
    let held = recording.regions.iter();
    let held = held.filter(|region| region.birth <= event && event < region.end);
    let mut held: Vec<RecordedRegion> = held.copied().collect();
    held.sort_unstable_by_key(|region| (region.address, region.bytes, region.birth));
    let mut mapped: Vec<RecordedRegion> = Vec::with_capacity(held.len());
    for region in held {
        match mapped.last_mut() {
            Some(last) if are_one(recording, last, &region) => last.bytes += region.bytes,
            _ => mapped.push(region),
        }
    }
    mapped
}

fn are_one(recording: &Recording, below: &RecordedRegion, above: &RecordedRegion) -> bool {
    let is_adjacent = below.address.checked_add(below.bytes.get()) == Some(above.address);
    let is_alike = below.kind == above.kind && below.stream == above.stream;
    is_adjacent && is_alike && recording.is_expandable(below)
}

/// A segment whose blocks come by ascending address.
struct OpenSegment {
    segment: SegmentState,
    /// The end of the pieces so far.
    at: u64,
    end: u64,
    overlapping: u64,
}

impl OpenSegment {
    fn new(region: &RecordedRegion) -> Self {
        Self {
            segment: SegmentState {
                address: region.address,
                bytes: region.bytes,
                stream: region.stream,
                kind: region.kind,
                pieces: Vec::new(),
                sums: AllocatorSums {
                    segments: 1,
                    reserved: region.bytes,
                    ..AllocatorSums::default()
                },
            },
            at: region.address,
            end: region.address.saturating_add(region.bytes.get()),
            overlapping: 0,
        }
    }

    fn place(&mut self, recording: &Recording, event: Step, address: u64, number: u32) {
        let block = &recording.blocks[number as usize];
        self.gap(address, PieceKind::Inactive);
        let block_end = address.saturating_add(block.held.get());
        self.overlapping += u64::from(address < self.at || block_end > self.end);
        self.at = self.at.max(block_end);
        self.push(Piece {
            kind: if block.freed_at <= event {
                PieceKind::AwaitingFree
            } else {
                PieceKind::Active
            },
            address,
            bytes: block.held,
            requested: block.bytes,
            block: Some(number),
            states_held: recording.states_held(block),
        });
    }

    /// The free bytes up to an address.
    fn gap(&mut self, to: u64, kind: PieceKind) {
        let bytes = Bytes(to.saturating_sub(self.at));
        if bytes > Bytes::ZERO {
            self.push(Piece {
                kind,
                address: self.at,
                bytes,
                requested: Bytes::ZERO,
                block: None,
                states_held: true,
            });
        }
    }

    fn push(&mut self, piece: Piece) {
        self.segment.sums.add_piece(&piece);
        self.segment.pieces.push(piece);
    }

    fn close(mut self) -> SegmentState {
        let is_free = self.segment.pieces.is_empty();
        self.gap(self.end, if is_free { PieceKind::Free } else { PieceKind::Inactive });
        self.segment
    }
}
