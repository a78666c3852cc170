//! Gaps of a lane: free bytes between live blocks of one region.
//!
//! In: regions and blocks. Out: columns sorted by start and address. In an arena all free bytes below the highest live
//! byte are gaps; a pool fills its blocks from the far end, so there only free bytes between live ones are. Free bytes
//! beyond are headroom; padding to the alignment belongs to its block. O(blocks log blocks); at most two gaps per birth
//! and death.

use std::ops::Deref;

use highwater_model::units::Bytes;
use highwater_plan::{ArenaGap, ArenaGapRule, Rectangle, arena_gaps};
use highwater_sim::RegionKind;

use super::block::{Blocks, LaneView, RegionSpan};
use super::index::RectColumns;
use super::viewport::{Canvas, View};
use super::visible::{Items, visible};

/// The gaps of a lane, sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneGaps(RectColumns);

/// Totals over the gaps of a step, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GapTotals {
    pub count: u32,
    pub total: u64,
    pub largest: u64,
}

impl LaneGaps {
    pub(super) fn new(regions: &[RegionSpan], blocks: &Blocks) -> Self {
        let mut list: Vec<ArenaGap> = Vec::new();
        let mut rectangles: Vec<Rectangle> = Vec::new();
        let blocks_of = blocks.by_region(regions.len());
        for (span, region) in regions.iter().enumerate() {
            // Stacked blocks have no real addresses.
            if region.kind == RegionKind::Unplaced {
                continue;
            }
            rectangles.clear();
            rectangles.extend(
                blocks_of
                    .of(span)
                    .iter()
                    .map(|block| rectangle(region, blocks, *block as usize)),
            );
            let place = |offset: u64| region.base.saturating_add(offset);
            let mut of_region = arena_gaps(&rectangles, rule_of(region.kind));
            for gap in &mut of_region {
                gap.offset = place(gap.offset);
            }
            // Most lanes have one region with nearly all gaps: they are not copied.
            if list.is_empty() {
                list = of_region;
            } else {
                list.append(&mut of_region);
            }
        }
        drop(rectangles);
        list.sort_unstable_by_key(|gap| (gap.start, gap.offset, gap.end, gap.bytes));
        Self(RectColumns::of(&list, |gap| {
            (gap.start, gap.end, gap.offset, gap.bytes)
        }))
    }

    /// O(classes log gaps + gaps on the step).
    pub fn at(&self, step: u32) -> GapTotals {
        let mut all = GapTotals::default();
        for idx in self.alive(f64::from(step)) {
            all.count += 1;
            all.total += self.bytes.at(idx);
            all.largest = all.largest.max(self.bytes.at(idx));
        }
        all
    }
}

fn rectangle(region: &RegionSpan, blocks: &Blocks, block: usize) -> Rectangle {
    Rectangle {
        start: blocks.start[block],
        end: blocks.end[block],
        offset: blocks.base.at(block).saturating_sub(region.base),
        // Padding up to the alignment is not usable by other blocks.
        bytes: Bytes(blocks.bytes.at(block)).align_up(region.alignment).get(),
    }
}

const fn rule_of(kind: RegionKind) -> ArenaGapRule {
    match kind {
        RegionKind::PoolBlock
        | RegionKind::PagedRange
        | RegionKind::Stitched
        | RegionKind::Segment
        | RegionKind::ExpandableSegment => ArenaGapRule::Between,
        _ => ArenaGapRule::BelowTop,
    }
}

impl Deref for LaneGaps {
    type Target = RectColumns;

    fn deref(&self) -> &RectColumns {
        &self.0
    }
}

impl LaneView {
    pub fn visible_gaps<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas) -> Items {
        visible(&self.gaps, |_| 0, view.into(), canvas)
    }

    /// The region of a gap, as a position in [`LaneView::regions`].
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub fn gap_region(&self, gap: usize) -> Option<usize> {
        let (start, base) = (*self.gaps.start.get(gap)?, self.gaps.base.get(gap)?);
        self.pick_region(f64::from(start), base as f64)
    }

    /// The gap at an address on a step. O(classes log gaps + gaps on the step).
    pub fn pick_gap(&self, step: f64, address: f64) -> Option<u32> {
        let found = self.gaps.hits(step, address).min();
        found.and_then(|idx| u32::try_from(idx).ok())
    }
}
