//! Display addresses of regions.
//!
//! ```text
//! region   0 ....|#####|..........|###|..... 64 GiB     # touched at some time, . never
//! drawn                 |#####|###|                     untouched offsets take no room
//! ```
//!
//! In: an event log. Out: spans (a region while it holds memory), each with a display address. Only the offsets of a
//! region that are touched during the span are drawn, in order and adjacent, so that a huge range with few pages stays
//! small. In order of birth, each span takes the lowest gap between the spans held at that time. O(spans x spans held
//! at once). Constant spans lie below all others, so that a picture can leave them out of its scale.

use std::ops::RangeFrom;

use highwater_model::units::{Bytes, Step};
use highwater_sim::{Event, EventKind, MemoryChange, MemoryUnit, RegionKind, Simulation};

/// Touched offsets of a region, and where they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    /// Exclusive.
    pub(super) end: u64,
    /// Relative to the base of the span.
    pub(super) at: u64,
}

/// A region while it holds memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) region: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Ascending and disjoint.
    pub(super) pieces: Vec<Piece>,
    pub(super) bytes: u64,
    pub(super) base: u64,
    /// Whether nothing in it changes within the observed steps.
    pub(super) is_constant: bool,
}

impl Span {
    /// The display address of an offset; untouched offsets get that of the nearest touched one below. O(log pieces).
    pub(super) fn address(&self, offset: u64) -> u64 {
        let behind = self.pieces.partition_point(|piece| piece.start <= offset);
        let above = match behind.checked_sub(1).and_then(|idx| self.pieces.get(idx)) {
            Some(piece) => piece.at + (offset.min(piece.end) - piece.start),
            None => 0,
        };
        self.base.saturating_add(above)
    }

    /// Display addresses at which offsets skip untouched bytes.
    pub(super) fn breaks(&self) -> Vec<u64> {
        let behind_first = self.pieces.iter().skip(1);
        behind_first.map(|piece| self.base.saturating_add(piece.at)).collect()
    }

    /// O(pieces) where a piece is added, else O(log pieces).
    fn touch(&mut self, low: u64, high: u64) {
        if low >= high {
            return;
        }
        let from = self.pieces.partition_point(|piece| piece.end < low);
        let to = self.pieces.partition_point(|piece| piece.start <= high);
        let met = self.pieces.get(from..to).unwrap_or(&[]);
        let start = met.first().map_or(low, |piece| piece.start.min(low));
        let end = met.last().map_or(high, |piece| piece.end.max(high));
        if met.len() == 1 && (met[0].start, met[0].end) == (start, end) {
            return;
        }
        self.pieces.splice(from..to.max(from), [Piece { start, end, at: 0 }]);
    }

    fn settle(&mut self) {
        let mut at = 0_u64;
        for piece in &mut self.pieces {
            piece.at = at;
            at = at.saturating_add(piece.end - piece.start);
        }
        self.bytes = at;
    }
}

/// State of a region while the log is read.
#[derive(Clone, Copy, Default)]
struct Open {
    span: Option<usize>,
    mapped: u64,
    n_blocks: u32,
    is_malloced: bool,
}

/// In order of birth, each with its display address. Constant are the spans without an event within `observed`, unless
/// all are.
pub(super) fn spans(simulation: &Simulation, observed: &RangeFrom<u32>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open = vec![Open::default(); simulation.regions.len()];
    for event in &simulation.events {
        let region = event.region.0;
        let Some(state) = open.get_mut(region as usize) else {
            continue;
        };
        if let Some((low, high)) = touched(&event) {
            let n_spans = spans.len();
            let idx = *state.span.get_or_insert(n_spans);
            if idx == n_spans {
                spans.push(Span {
                    region,
                    start: event.step.0,
                    end: simulation.n_steps.max(event.step.0 + 1),
                    pieces: Vec::new(),
                    bytes: 0,
                    base: 0,
                    is_constant: true,
                });
            }
            spans[idx].touch(low, high);
        }
        let is_change = event.kind.memory_change().is_some() && observed.contains(&event.step.0);
        if let Some(span) = state.span.filter(|_| is_change) {
            spans[span].is_constant = false;
        }
        note(state, &event);
        let is_empty = state.mapped == 0 && state.n_blocks == 0 && !state.is_malloced;
        if is_empty
            && is_release(event.kind)
            && let Some(idx) = state.span.take()
        {
            spans[idx].end = event.step.0.max(spans[idx].start + 1);
        }
    }
    spans.iter_mut().for_each(Span::settle);
    spans.retain(|span| span.bytes > 0);
    spans.sort_by_key(|span| (span.start, kind_order(simulation, span.region), span.region));
    if spans.iter().all(|span| span.is_constant) {
        for span in &mut spans {
            span.is_constant = false;
        }
    }
    let floor = place_constant(&mut spans, simulation);
    place(&mut spans, floor);
    spans
}

/// The offsets of its region that an event touches.
fn touched(event: &Event) -> Option<(u64, u64)> {
    let (unit, change) = event.kind.memory_change()?;
    match unit {
        _ if change == MemoryChange::Release => None,
        MemoryUnit::Device => Some((0, event.bytes.get())),
        MemoryUnit::Block | MemoryUnit::Mapping => Some((event.offset, event.offset.saturating_add(event.bytes.get()))),
        MemoryUnit::Page | MemoryUnit::Grant => None,
    }
}

fn note(state: &mut Open, event: &Event) {
    match event.kind.memory_change() {
        Some((MemoryUnit::Device, change)) => state.is_malloced = change == MemoryChange::Take,
        Some((MemoryUnit::Mapping, MemoryChange::Take)) => {
            state.mapped = state.mapped.saturating_add(event.bytes.get());
        }
        Some((MemoryUnit::Mapping, MemoryChange::Release)) => {
            state.mapped = state.mapped.saturating_sub(event.bytes.get());
        }
        Some((MemoryUnit::Block, MemoryChange::Take)) => state.n_blocks += 1,
        Some((MemoryUnit::Block, MemoryChange::Release)) => state.n_blocks = state.n_blocks.saturating_sub(1),
        Some((MemoryUnit::Page | MemoryUnit::Grant, _)) | None => {}
    }
}

const fn is_release(kind: EventKind) -> bool {
    matches!(
        kind.memory_change(),
        Some((
            MemoryUnit::Device | MemoryUnit::Mapping | MemoryUnit::Block,
            MemoryChange::Release
        ))
    )
}

/// Long-lived kinds go to the bottom where several are born on one step.
fn kind_order(simulation: &Simulation, region: u32) -> u8 {
    match simulation.regions.get(region as usize).map(|region| region.kind) {
        Some(RegionKind::Variables) => 0,
        Some(RegionKind::Weights) => 1,
        Some(RegionKind::InputOutput) => 2,
        Some(RegionKind::FixedFeatures) => 3,
        Some(RegionKind::Arena) => 4,
        Some(RegionKind::PoolBlock | RegionKind::Segment) => 5,
        Some(RegionKind::PagedRange | RegionKind::Stitched | RegionKind::ExpandableSegment) | None => 6,
        Some(RegionKind::Unplaced) => 7,
    }
}

/// Stacks the constant spans, kind by kind; returns the address above them.
fn place_constant(spans: &mut [Span], simulation: &Simulation) -> u64 {
    let mut constant: Vec<&mut Span> = spans.iter_mut().filter(|span| span.is_constant).collect();
    constant.sort_by_key(|span| (kind_order(simulation, span.region), span.start, span.region));
    let mut floor = 0_u64;
    for span in constant {
        span.base = floor;
        floor = floor.saturating_add(span.bytes);
    }
    floor
}

/// First fit of the other spans above `floor`, in order of birth. `held` is sorted by display address.
fn place(spans: &mut [Span], floor: u64) {
    let mut held: Vec<(u64, u64, u32)> = Vec::new();
    for span in spans.iter_mut().filter(|span| !span.is_constant) {
        held.retain(|(_, _, end)| *end > span.start);
        let mut base = floor;
        let mut position = held.len();
        for (idx, (low, high, _)) in held.iter().enumerate() {
            if base.saturating_add(span.bytes) <= *low {
                position = idx;
                break;
            }
            base = base.max(*high);
        }
        span.base = base;
        held.insert(position, (base, base.saturating_add(span.bytes), span.end));
    }
}

pub(super) fn height(spans: &[Span]) -> Bytes {
    spans
        .iter()
        .map(|span| Bytes(span.base) + Bytes(span.bytes))
        .max()
        .unwrap_or_default()
}

/// Spans by region, in order of birth.
pub(super) struct SpansOfRegions(Vec<Vec<(u32, u32)>>);

impl SpansOfRegions {
    pub(super) fn new(spans: &[Span], n_regions: usize) -> Self {
        let mut by_region: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n_regions];
        for (idx, span) in (0_u32..).zip(spans) {
            by_region[span.region as usize].push((span.start, idx));
        }
        Self(by_region)
    }

    /// The span of a region on a step: the last one born until then. O(log spans).
    pub(super) fn at(&self, region: u32, step: Step) -> Option<u32> {
        let spans = self.0.get(region as usize)?;
        let born = spans.partition_point(|(start, _)| *start <= step.0);
        spans.get(born.checked_sub(1)?).map(|(_, span)| *span)
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Span};

    fn touched(extents: &[(u64, u64)]) -> Span {
        let mut span = Span {
            region: 0,
            start: 0,
            end: 1,
            pieces: Vec::new(),
            bytes: 0,
            base: 1000,
            is_constant: false,
        };
        for (low, high) in extents {
            span.touch(*low, *high);
        }
        span.settle();
        span
    }

    #[test]
    fn untouched_offsets_take_no_room() {
        let huge = 64 << 30;
        let span = touched(&[
            (huge - 8, huge),
            (huge - 16, huge - 8),
            (0, 4),
            (2, 10),
            (40, 50),
            (50, 50),
        ]);
        let piece = |start, end, at| Piece { start, end, at };
        assert_eq!(
            span.pieces,
            [piece(0, 10, 0), piece(40, 50, 10), piece(huge - 16, huge, 20)]
        );
        assert_eq!(span.bytes, 36);
        assert_eq!((span.address(0), span.address(45)), (1000, 1015));
        assert_eq!((span.address(20), span.address(huge)), (1010, 1036));
        assert_eq!(span.breaks(), [1010, 1020]);
    }

    #[test]
    fn adjacent_pieces_are_merged() {
        let span = touched(&[(0, 4), (8, 12), (16, 20), (3, 17)]);
        assert_eq!(span.pieces.len(), 1);
        assert_eq!(span.bytes, 20);
    }
}
