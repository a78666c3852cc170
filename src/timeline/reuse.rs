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
//! O((blocks + edges) log blocks); the arrows of a tensor cost O(its arrows). Lanes of very many blocks keep no index:
//! the arrows of a tensor are found among the blocks at its addresses, in O(blocks), and the last ones are remembered.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

use highwater_model::units::Step;
use highwater_plan::{Rectangle, ReuseEdge, ReuseIndex, each_reuse_edge};
use highwater_sim::RegionKind;

use super::Selected;
use super::block::{Blocks, LaneView, RegionSpan};
use super::viewport::Viewport;

/// Lanes with more blocks keep no index.
pub(super) const MOST_INDEXED: usize = 1 << 17;

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
    edges: Edges,
    n_edges: usize,
    /// By region: its first offset in the index, which stacks all regions.
    origins: Vec<u64>,
    /// The first step with the most live bytes.
    peak: Option<Step>,
    at_peak: Arrows,
    last: LastArrows,
}

/// Where the edges of a block come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Edges {
    Indexed(ReuseIndex),
    /// Of lanes of very many blocks.
    Searched,
}

/// No edges.
impl Default for Edges {
    fn default() -> Self {
        Self::Indexed(ReuseIndex::default())
    }
}

/// The arrows of the block that was asked for last.
#[derive(Debug, Default)]
struct LastArrows(Mutex<Option<(u32, Vec<ReuseArrow>)>>);

impl LastArrows {
    fn of(&self, block: u32, find: impl FnOnce() -> Vec<ReuseArrow>) -> Vec<ReuseArrow> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, arrows)) = &*last
            && *known == block
        {
            return arrows.clone();
        }
        let arrows = find();
        *last = Some((block, arrows.clone()));
        arrows
    }
}

impl Clone for LastArrows {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What was asked makes no difference.
impl PartialEq for LastArrows {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LastArrows {}

/// Regions and blocks of a lane.
#[derive(Clone, Copy)]
pub(super) struct Contents<'a> {
    pub(super) regions: &'a [RegionSpan],
    pub(super) blocks: &'a Blocks,
}

impl LaneReuse {
    pub(super) fn new(of: Contents<'_>, peak: Option<Step>) -> Self {
        let mut top = 0_u64;
        let origins = of.regions.iter().map(|region| {
            let origin = top;
            top = top.saturating_add(region.bytes.get());
            origin
        });
        let mut reuse = Self {
            origins: origins.collect(),
            peak,
            ..Self::default()
        };
        let live = peak.map_or_else(Vec::new, |step| live_at(of.blocks, step.0));
        let mut at_peak = Largest::new(MOST_AT_PEAK);
        if of.blocks.len() <= MOST_INDEXED {
            reuse.index(of, &live, &mut at_peak);
        } else {
            reuse.count(of, &live, &mut at_peak);
        }
        reuse.at_peak = at_peak.finish();
        reuse
    }

    /// Keeps the index of all blocks. Adds the arrows of some.
    fn index(&mut self, of: Contents<'_>, asked: &[u32], arrows: &mut Largest) {
        let rectangles: Vec<Rectangle> = (0..of.blocks.len()).map(|idx| self.rectangle(of, idx)).collect();
        let index = ReuseIndex::new(&rectangles);
        for block in asked {
            for arrow in self.arrows_in(of, &index, *block, |block| block) {
                arrows.add(arrow);
            }
        }
        self.n_edges = index.edges().len();
        self.edges = Edges::Indexed(index);
    }

    /// Counts edges region by region, without storing them. Adds the arrows of some blocks.
    fn count(&mut self, of: Contents<'_>, asked: &[u32], arrows: &mut Largest) {
        self.edges = Edges::Searched;
        let mut is_asked = vec![false; of.blocks.len()];
        for block in asked {
            is_asked[*block as usize] = true;
        }
        let blocks_of = of.blocks.by_region(of.regions.len());
        for span in 0..of.regions.len() {
            let blocks = blocks_of.of(span);
            let rectangles: Vec<Rectangle> = blocks.iter().map(|block| self.rectangle(of, *block as usize)).collect();
            each_reuse_edge(&rectangles, |edge| {
                self.n_edges += 1;
                let edge = ReuseEdge {
                    earlier: blocks[edge.earlier as usize],
                    later: blocks[edge.later as usize],
                    ..edge
                };
                if is_asked[edge.later as usize] {
                    arrows.add(self.arrow(of, ReuseSide::Earlier, &edge));
                }
                if is_asked[edge.earlier as usize] {
                    arrows.add(self.arrow(of, ReuseSide::Later, &edge));
                }
            });
        }
    }

    fn rectangle(&self, of: Contents<'_>, idx: usize) -> Rectangle {
        let span = of.blocks.span[idx] as usize;
        let region = &of.regions[span];
        Rectangle {
            start: of.blocks.start[idx],
            end: of.blocks.end[idx],
            offset: self.origins[span].saturating_add(of.blocks.base.at(idx).saturating_sub(region.base)),
            // A stacked block without a real address passes no bytes on: empty rectangles have no edges.
            bytes: if region.kind == RegionKind::Unplaced {
                0
            } else {
                of.blocks.bytes.at(idx)
            },
        }
    }

    fn arrows_of(&self, of: Contents<'_>, block: u32) -> Vec<ReuseArrow> {
        match &self.edges {
            Edges::Indexed(index) => self.arrows_in(of, index, block, |block| block),
            Edges::Searched => self.last.of(block, || self.found(of, block)),
        }
    }

    /// Without the index of all blocks: those that share bytes with this one decide. O(blocks).
    fn found(&self, of: Contents<'_>, block: u32) -> Vec<ReuseArrow> {
        let rectangle = |block: u32| self.rectangle(of, block as usize);
        let own = rectangle(block);
        let all = 0..u32::try_from(of.blocks.len()).unwrap_or(u32::MAX);
        let met = all.filter(|other| {
            let other = rectangle(*other);
            other.offset < own.top() && own.offset < other.top()
        });
        let met: Vec<u32> = met.collect();
        let rectangles: Vec<Rectangle> = met.iter().map(|block| rectangle(*block)).collect();
        let Ok(position) = met.binary_search(&block) else {
            return Vec::new();
        };
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        self.arrows_in(of, &ReuseIndex::new(&rectangles), position, |position| {
            met[position as usize]
        })
    }

    /// The arrows at a position of an index; `block` gives the block at a position.
    fn arrows_in(
        &self,
        of: Contents<'_>,
        index: &ReuseIndex,
        position: u32,
        block: impl Fn(u32) -> u32,
    ) -> Vec<ReuseArrow> {
        let arrow = |side: ReuseSide, edge: &ReuseEdge| {
            let of_blocks = ReuseEdge {
                earlier: block(edge.earlier),
                later: block(edge.later),
                ..*edge
            };
            self.arrow(of, side, &of_blocks)
        };
        let before = index.before(position).map(|edge| arrow(ReuseSide::Earlier, edge));
        let after = index.after(position).map(|edge| arrow(ReuseSide::Later, edge));
        before.chain(after).collect()
    }

    /// The arrow of an edge between blocks.
    fn arrow(&self, of: Contents<'_>, side: ReuseSide, edge: &ReuseEdge) -> ReuseArrow {
        let (earlier, later) = (edge.earlier as usize, edge.later as usize);
        let span = of.blocks.span[later] as usize;
        ReuseArrow {
            side,
            earlier: edge.earlier,
            later: edge.later,
            start: of.blocks.end[earlier],
            end: of.blocks.start[later],
            address: of.regions[span].base + (edge.offset - self.origins[span]),
            bytes: edge.bytes.get(),
        }
    }

    /// The step of [`LaneView::arrows_at_peak`]: the first with the most live bytes.
    pub fn peak(&self) -> Option<Step> {
        self.peak
    }

    pub fn n_edges(&self) -> usize {
        self.n_edges
    }
}

impl LaneView {
    /// Blocks that contain a step, ascending. O(classes log blocks + results, sorted).
    pub fn live_at(&self, step: Step) -> Vec<u32> {
        live_at(&self.blocks, step.0)
    }

    /// Reuse by and of a tensor's blocks, largest first.
    pub fn arrows(&self, tensor: Selected) -> Arrows {
        let of = Contents {
            regions: &self.regions,
            blocks: &self.blocks,
        };
        let all = self.blocks_of(tensor).flat_map(|block| self.reuse.arrows_of(of, block));
        sorted(all.collect())
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

/// The largest arrows of many.
struct Largest {
    most: usize,
    /// At most twice as many.
    list: Vec<ReuseArrow>,
    n_total: usize,
}

impl Largest {
    fn new(most: usize) -> Self {
        Self {
            most,
            list: Vec::new(),
            n_total: 0,
        }
    }

    fn add(&mut self, arrow: ReuseArrow) {
        self.n_total += 1;
        self.list.push(arrow);
        if self.list.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.most < self.list.len() {
            self.list.select_nth_unstable_by_key(self.most, ReuseArrow::rank);
            self.list.truncate(self.most);
        }
    }

    fn finish(mut self) -> Arrows {
        self.cut();
        self.list.sort_unstable_by_key(ReuseArrow::rank);
        Arrows {
            list: self.list,
            n_total: self.n_total,
        }
    }
}

fn sorted(mut list: Vec<ReuseArrow>) -> Arrows {
    list.sort_unstable_by_key(ReuseArrow::rank);
    Arrows {
        n_total: list.len(),
        list,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::owner::Owner;
    use highwater_model::units::Bytes;
    use highwater_sim::RegionId;

    fn region(base: u64) -> RegionSpan {
        RegionSpan {
            region: RegionId(0),
            kind: RegionKind::Segment,
            owner: Owner::DevicePool,
            is_paged: false,
            start: Step(0),
            end: Step(100),
            base,
            bytes: Bytes(60),
            breaks: Vec::new(),
            alignment: 1,
            label: "segment".into(),
            is_constant: false,
        }
    }

    proptest! {
        #[test]
        fn arrows_are_found_without_the_index(
            rects in prop::collection::vec((0_u32..2, 0_u32..30, 1_u32..9, 0_u64..50, 1_u64..10), 1..40),
        ) {
            let regions = [region(0), region(70)];
            let mut rows: Vec<(u32, u32, u64, u64, u32)> = rects
                .into_iter()
                .map(|(span, start, life, offset, bytes)| {
                    (start, start + life, regions[span as usize].base + offset, bytes, span)
                })
                .collect();
            rows.sort_unstable();
            let blocks = Blocks::of_rows(&rows);
            let of = Contents { regions: &regions, blocks: &blocks };
            let reuse = LaneReuse::new(of, None);
            for block in 0..u32::try_from(rows.len()).expect("few") {
                prop_assert_eq!(sorted(reuse.found(of, block)), sorted(reuse.arrows_of(of, block)));
            }
            let asked = live_at(of.blocks, 12);
            let (mut kept, mut counted) = (reuse.clone(), LaneReuse { n_edges: 0, ..reuse });
            for most in [1, 3, usize::MAX] {
                let (mut of_index, mut of_count) = (Largest::new(most), Largest::new(most));
                kept.index(of, &asked, &mut of_index);
                counted.n_edges = 0;
                counted.count(of, &asked, &mut of_count);
                let mut all = sorted(asked.iter().flat_map(|block| kept.arrows_of(of, *block)).collect());
                all.list.truncate(most);
                let of_index = of_index.finish();
                prop_assert_eq!(&of_index, &all);
                prop_assert_eq!(of_count.finish(), of_index);
                prop_assert_eq!(counted.n_edges, kept.n_edges);
            }
        }
    }
}
