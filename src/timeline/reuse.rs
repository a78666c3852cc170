//! Reuse edges of a lane: blocks that take over bytes of earlier blocks.
//!
//! ```text
//! address   +-earlier-+           +--block--+          +--later--+
//!           |         o===before==|>        |          |         |
//!           |         |           |         o - after - -|>      |
//!           +---------+           +---------+          +---------+
//! ```
//!
//! In: regions and blocks. Out: arrows in steps and addresses, largest first, limited to a view. Bytes are reused only
//! within one region while it holds memory, not across a free of the device. The index is built once per lane in
//! O((blocks + edges) log blocks); the arrows of a tensor cost O(its arrows).

use std::cmp::Reverse;

use highwater_model::units::Step;
use highwater_plan::{Rectangle, ReuseEdge, ReuseIndex};
use highwater_sim::RegionKind;

use super::Selected;
use super::block::{Blocks, LaneView, RegionSpan};
use super::viewport::Viewport;

/// Only the largest arrows of the peak step are kept.
const MOST_AT_PEAK: usize = 512;

/// The side of the other end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReuseSide {
    /// The other block had the bytes before.
    Earlier,
    /// The other block has them afterwards.
    Later,
}

/// Bytes of a block that a later one reuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReuseArrow {
    pub side: ReuseSide,
    pub earlier: u32,
    pub later: u32,
    pub start: u32,
    /// Start of the later block; at least `start`.
    pub end: u32,
    /// Display address of the first reused byte.
    pub address: u64,
    pub bytes: u64,
}

impl ReuseArrow {
    pub const fn other(&self) -> u32 {
        match self.side {
            ReuseSide::Earlier => self.earlier,
            ReuseSide::Later => self.later,
        }
    }

    /// Largest first, then by position.
    fn rank(&self) -> (Reverse<u64>, u32, u32, u64) {
        (Reverse(self.bytes), self.earlier, self.later, self.address)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrows {
    /// Largest first.
    pub list: Vec<ReuseArrow>,
    /// Including those left out of `list`.
    pub n_total: usize,
}

/// Bytes reused between a tensor and another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReusedBytes {
    pub block: u32,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneReuse {
    index: ReuseIndex,
    /// By region: its first offset in the index, which stacks all regions.
    origins: Vec<u64>,
    /// The first step with the most live bytes.
    peak: Option<Step>,
    at_peak: Arrows,
}

impl LaneReuse {
    pub(super) fn new(regions: &[RegionSpan], blocks: &Blocks, peak: Option<Step>) -> Self {
        let mut top = 0_u64;
        let origins: Vec<u64> = regions
            .iter()
            .map(|region| {
                let origin = top;
                top = top.saturating_add(region.bytes.get());
                origin
            })
            .collect();
        let rectangles: Vec<Rectangle> = (0..blocks.len())
            .map(|idx| {
                let span = blocks.span[idx] as usize;
                Rectangle {
                    start: blocks.start[idx],
                    end: blocks.end[idx],
                    offset: origins[span].saturating_add(blocks.base[idx].saturating_sub(regions[span].base)),
                    // A stacked block without a real address passes no bytes on: empty rectangles have no edges.
                    bytes: if regions[span].kind == RegionKind::Unplaced {
                        0
                    } else {
                        blocks.bytes[idx]
                    },
                }
            })
            .collect();
        let mut reuse = Self {
            index: ReuseIndex::new(&rectangles),
            origins,
            peak,
            at_peak: Arrows::default(),
        };
        let live = peak.map_or_else(Vec::new, |step| live_at(blocks, step.0));
        let mut all = Vec::new();
        for block in live {
            reuse.add_arrows(regions, blocks, block, &mut all);
        }
        reuse.at_peak = largest(all, MOST_AT_PEAK);
        reuse
    }

    fn add_arrows(&self, regions: &[RegionSpan], blocks: &Blocks, block: u32, arrows: &mut Vec<ReuseArrow>) {
        let arrow = |side: ReuseSide, edge: &ReuseEdge| {
            let span = blocks.span[edge.later as usize] as usize;
            ReuseArrow {
                side,
                earlier: edge.earlier,
                later: edge.later,
                start: blocks.end[edge.earlier as usize],
                end: blocks.start[edge.later as usize],
                address: regions[span].base + (edge.offset - self.origins[span]),
                bytes: edge.bytes.get(),
            }
        };
        arrows.extend(self.index.before(block).map(|edge| arrow(ReuseSide::Earlier, edge)));
        arrows.extend(self.index.after(block).map(|edge| arrow(ReuseSide::Later, edge)));
    }

    /// The step of [`LaneView::arrows_at_peak`]: the first with the most live bytes.
    pub fn peak(&self) -> Option<Step> {
        self.peak
    }

    pub fn n_edges(&self) -> usize {
        self.index.edges().len()
    }
}

impl LaneView {
    /// Blocks that contain a step, ascending. O(classes log blocks + results, sorted).
    pub fn live_at(&self, step: Step) -> Vec<u32> {
        live_at(&self.blocks, step.0)
    }

    /// Reuse by and of a tensor's blocks, largest first.
    pub fn arrows(&self, tensor: Selected) -> Arrows {
        let mut all = Vec::new();
        for block in self.blocks_of(tensor) {
            self.reuse.add_arrows(&self.regions, &self.blocks, block, &mut all);
        }
        largest(all, usize::MAX)
    }

    /// Of all blocks on the lane's peak step; the largest few hundred.
    pub fn arrows_at_peak(&self) -> &Arrows {
        &self.reuse.at_peak
    }

    /// The arrows that meet a viewport, at most `most`.
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    pub fn within(&self, arrows: &Arrows, viewport: &Viewport, most: usize) -> Arrows {
        let is_seen = |arrow: &&ReuseArrow| {
            let (low, high) = (arrow.address as f64, (arrow.address + arrow.bytes) as f64);
            let start = self.blocks.start[arrow.earlier as usize];
            let end = self.blocks.end[arrow.later as usize];
            f64::from(start) < viewport.t1 && f64::from(end) > viewport.t0 && low < viewport.a1 && high > viewport.a0
        };
        Arrows {
            list: arrows.list.iter().filter(is_seen).take(most).copied().collect(),
            n_total: arrows.n_total,
        }
    }

    /// Blocks on a side of a tensor with the bytes reused, most bytes first, then by birth.
    pub fn reused_bytes(&self, tensor: Selected, side: ReuseSide) -> Vec<ReusedBytes> {
        let arrows = self.arrows(tensor);
        let mut all: Vec<ReusedBytes> = arrows
            .list
            .iter()
            .filter(|arrow| arrow.side == side)
            .map(|arrow| ReusedBytes {
                block: arrow.other(),
                bytes: arrow.bytes,
            })
            .collect();
        all.sort_by_key(|reused| reused.block);
        all.dedup_by(|next, first| {
            let is_same = next.block == first.block;
            if is_same {
                first.bytes += next.bytes;
            }
            is_same
        });
        all.sort_by_key(|reused| (Reverse(reused.bytes), reused.block));
        all
    }
}

fn live_at(blocks: &Blocks, step: u32) -> Vec<u32> {
    let alive = blocks.alive(f64::from(step)).into_iter();
    alive.filter_map(|idx| u32::try_from(idx).ok()).collect()
}

fn largest(mut all: Vec<ReuseArrow>, most: usize) -> Arrows {
    let n_total = all.len();
    if most < all.len() {
        all.select_nth_unstable_by_key(most, ReuseArrow::rank);
        all.truncate(most);
    }
    all.sort_unstable_by_key(ReuseArrow::rank);
    Arrows { list: all, n_total }
}
