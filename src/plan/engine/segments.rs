//! Segments: the parts of an arena that are placed on the device separately.
//!
//! The engine cuts its plans between top-level blocks once a segment has reached a limit. Other plans are cut by the
//! same rule between their top-level parts: at addresses that no buffer crosses. Separate buffers are a segment of
//! their own, and so are graph inputs and outputs, as the last, even without bytes.

use crate::problem::{PlacementProblem, Plan};
use highwater_model::units::Bytes;

/// The limit for a static graph: a segment per top-level part.
pub const SEGMENT_LIMIT: Bytes = Bytes(512);

/// The limit for static parts of a dynamic graph.
pub const SEGMENT_LIMIT_OF_PARTS: Bytes = Bytes(200 << 20);

/// A top-level part of an arena: no buffer crosses its borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The end of the previous part.
    pub base: u64,
    pub size: u64,
    /// Whether it shares no segment with others.
    pub is_separate: bool,
}

/// Bytes that are placed as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the plan.
    pub base: u64,
    pub size: u64,
}

/// How an arena is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRule {
    /// A segment of at least this size is not continued.
    pub limit: Bytes,
    /// Bytes of graph inputs and outputs behind the arena.
    pub io: Bytes,
}

/// The segments of a plan; the last one holds graph inputs and outputs. `regions` are its top-level parts where its
/// strategy knows them ([`Planned::regions`](crate::Planned::regions)); otherwise they are computed. O(n log n).
pub fn segments(problem: &PlacementProblem, plan: &Plan, regions: &[Region], rule: SegmentRule) -> Vec<Segment> {
    if regions.is_empty() {
        return of_regions(&parts(problem, plan), plan.footprint.get(), rule);
    }
    of_regions(regions, plan.footprint.get(), rule)
}

/// Cuts between top-level parts.
pub(super) fn of_regions(regions: &[Region], arena: u64, rule: SegmentRule) -> Vec<Segment> {
    let (limit, io) = (rule.limit.get(), rule.io.get());
    let mut cuts: Vec<u64> = vec![0];
    if arena.saturating_add(io) > limit {
        let mut is_alone = false;
        for region in regions {
            let start = cuts.last().copied().unwrap_or(0);
            let is_full = region.base - start >= limit || region.is_separate || is_alone;
            if region.base > start && is_full {
                cuts.push(region.base);
            }
            is_alone = region.is_separate;
        }
    }
    cuts.push(arena);
    cuts.push(arena.saturating_add(io));
    let segments = cuts.windows(2).map(|pair| Segment {
        base: pair[0],
        size: pair[1] - pair[0],
    });
    segments.collect()
}

/// The parts of a plan that no buffer connects; a gap belongs to the previous part.
fn parts(problem: &PlacementProblem, plan: &Plan) -> Vec<Region> {
    let placed = problem.buffers.iter().zip(&plan.offsets);
    let mut held: Vec<(u64, u64)> = placed
        .map(|(buffer, offset)| (*offset, offset.saturating_add(buffer.size.get())))
        .filter(|(start, end)| start < end)
        .collect();
    held.sort_unstable();
    let mut parts: Vec<Region> = Vec::new();
    let (mut base, mut top) = (0, 0);
    let mut close = |base: u64, end: u64| {
        parts.push(Region {
            base,
            size: end - base,
            is_separate: false,
        });
    };
    for (start, end) in held {
        if start >= top && start > base {
            close(base, start);
            base = start;
        }
        top = top.max(end);
    }
    if top > base {
        close(base, top);
    }
    parts
}
