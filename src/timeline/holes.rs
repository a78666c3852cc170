//! Gaps of a lane: free bytes between live blocks of one region.
//!
//! In: regions and blocks. Out: columns sorted by start and address. In an arena all free bytes below the highest live
//! byte are gaps; a pool fills its blocks from the far end, so there only free bytes between live ones are. Free bytes
//! beyond are headroom; padding to the alignment belongs to its block. O(blocks log blocks); at most two gaps per birth
//! and death.

use highwater_model::units::Bytes;
use highwater_plan::{ArenaGapRule, Rectangle, arena_gaps};
use highwater_sim::RegionKind;

use super::block::{Blocks, LaneView, RegionSpan};
use super::index::{Columns, RectIndex};
use super::viewport::{Canvas, View};
use super::visible::{Items, visible};

/// The gaps of a lane, sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneHoles {
    pub start: Vec<u32>,
    pub end: Vec<u32>,
    pub base: Vec<u64>,
    pub bytes: Vec<u64>,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    index: RectIndex,
}

/// Totals over the gaps of a step, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolesAt {
    pub count: u32,
    pub total: u64,
    pub largest: u64,
}

impl LaneHoles {
    pub(super) fn new(regions: &[RegionSpan], blocks: &Blocks) -> Self {
        let mut of_spans: Vec<Vec<Rectangle>> = vec![Vec::new(); regions.len()];
        for idx in 0..blocks.len() {
            let span = blocks.span[idx] as usize;
            let region = &regions[span];
            // Stacked blocks have no real addresses.
            if region.kind == RegionKind::Unplaced {
                continue;
            }
            of_spans[span].push(Rectangle {
                start: blocks.start[idx],
                end: blocks.end[idx],
                offset: blocks.base[idx].saturating_sub(region.base),
                // Padding up to the alignment is not usable by other blocks.
                bytes: Bytes(blocks.bytes[idx]).align_up(region.alignment).get(),
            });
        }
        let mut list: Vec<(u32, u64, u32, u64, u32)> = Vec::new();
        for ((number, region), rectangles) in (0_u32..).zip(regions).zip(of_spans) {
            let rule = match region.kind {
                RegionKind::PoolBlock
                | RegionKind::PagedRange
                | RegionKind::Stitched
                | RegionKind::Segment
                | RegionKind::ExpandableSegment => ArenaGapRule::Between,
                _ => ArenaGapRule::BelowTop,
            };
            let place = |offset: u64| region.base.saturating_add(offset);
            let of_region = arena_gaps(&rectangles, rule).into_iter();
            list.extend(of_region.map(|hole| (hole.start, place(hole.offset), hole.end, hole.bytes, number)));
        }
        list.sort_unstable();
        let start: Vec<u32> = list.iter().map(|hole| hole.0).collect();
        let bytes: Vec<u64> = list.iter().map(|hole| hole.3).collect();
        let end: Vec<u32> = list.iter().map(|hole| hole.2).collect();
        Self {
            base: list.iter().map(|hole| hole.1).collect(),
            span: list.iter().map(|hole| hole.4).collect(),
            index: RectIndex::new(&start, &end, &bytes),
            start,
            end,
            bytes,
        }
    }

    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// O(classes log gaps + gaps on the step).
    pub fn at(&self, step: u32) -> HolesAt {
        let mut all = HolesAt::default();
        for idx in self.columns().alive(f64::from(step)) {
            all.count += 1;
            all.total += self.bytes[idx];
            all.largest = all.largest.max(self.bytes[idx]);
        }
        all
    }

    pub(super) fn columns(&self) -> Columns<'_> {
        Columns {
            start: &self.start,
            end: &self.end,
            base: &self.base,
            bytes: &self.bytes,
            index: &self.index,
        }
    }
}

impl LaneView {
    pub fn visible_holes<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas) -> Items {
        visible(&self.holes.columns(), |_| 0, view.into(), canvas)
    }

    /// The gap at an address on a step. O(classes log gaps + gaps on the step).
    pub fn pick_hole(&self, step: f64, address: f64) -> Option<u32> {
        let found = self.holes.columns().pick(step, address);
        found.and_then(|idx| u32::try_from(idx).ok())
    }
}
