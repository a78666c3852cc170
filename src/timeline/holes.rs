//! Holes of a lane: free bytes between live blocks of one region, ready to be culled and pointed at.
//!
//! In: regions and blocks. Out: holes as columns, sorted by start and address. In an arena a
//! hole is what is free below the highest live byte; a pool fills its blocks from the far end, so that there only what
//! is free between live bytes counts. What is free beyond is headroom; padding to the alignment belongs to its block. O(blocks log blocks); at most two holes for each
//! birth and each death.

use highwater_model::units::Bytes;
use highwater_plan::{HoleRule, Rectangle, holes};
use highwater_sim::RegionKind;

use super::block::{Blocks, LaneView, RegionSpan};
use super::index::{Columns, RectIndex};
use super::viewport::{Canvas, View};
use super::visible::{Items, visible};

/// The holes of a lane, sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneHoles {
    /// First step.
    pub start: Vec<u32>,
    /// Last step, exclusive.
    pub end: Vec<u32>,
    /// Display address.
    pub base: Vec<u64>,
    /// Free bytes.
    pub bytes: Vec<u64>,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    index: RectIndex,
}

/// The holes of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolesAt {
    /// How many.
    pub count: u32,
    /// Their bytes.
    pub total: u64,
    /// Bytes of the largest.
    pub largest: u64,
}

impl LaneHoles {
    pub(super) fn new(regions: &[RegionSpan], blocks: &Blocks) -> Self {
        let mut of_spans: Vec<Vec<Rectangle>> = vec![Vec::new(); regions.len()];
        for idx in 0..blocks.len() {
            let span = blocks.span[idx] as usize;
            let region = &regions[span];
            // What is stacked only to be drawn leaves no hole in any memory.
            if region.kind == RegionKind::Unplaced {
                continue;
            }
            of_spans[span].push(Rectangle {
                start: blocks.start[idx],
                end: blocks.end[idx],
                offset: blocks.base[idx].saturating_sub(region.base),
                // Padding up to where the next one may begin is nobody's to use.
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
                | RegionKind::ExpandableSegment => HoleRule::Between,
                _ => HoleRule::BelowTop,
            };
            let place = |offset: u64| region.base.saturating_add(offset);
            let of_region = holes(&rectangles, rule).into_iter();
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

    /// How many.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// What the holes of a step come to. O(classes log holes + holes that are alive).
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
    /// The holes within a viewport, as [`Self::visible`] gives blocks.
    pub fn visible_holes<'v>(&self, view: impl Into<View<'v>>, canvas: Canvas) -> Items {
        visible(&self.holes.columns(), |_| 0, view.into(), canvas)
    }

    /// The hole that holds an address on a step. O(classes log holes + holes that are alive).
    pub fn pick_hole(&self, step: f64, address: f64) -> Option<u32> {
        let found = self.holes.columns().pick(step, address);
        found.and_then(|idx| u32::try_from(idx).ok())
    }
}
