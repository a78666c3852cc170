//! A lane for the views: its regions, its blocks sorted by start, its curves.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use highwater_analysis::{Lane, LanePeak};
use highwater_model::lists::Lists;
use highwater_model::progress::Progress;
use highwater_model::threads::both;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::Curves;
use highwater_sim::{DeviceSession, RegionId, RegionKind, Simulation, StaticMemoryPolicy, SubjectId};

mod constant;
mod placed;

pub use self::constant::ConstantRegions;

use self::placed::{PlacedBlocks, SubjectTensors, owners};
use super::amounts::Amounts;
use super::arena_stack::ArenaStack;
use super::curve::Curve;
use super::device_ticks::LaneTicks;
use super::gaps::LaneGaps;
use super::index::RectColumns;
use super::owned_ranges::OwnedRanges;
use super::owner::Owner;
use super::remat::LaneRemat;
use super::reuse::{LaneReuse, MOST_INDEXED};
use super::{Palette, Selected, TimelineParts};

/// A region while it holds memory, at its display address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSpan {
    pub region: RegionId,
    pub kind: RegionKind,
    /// The owner of what no pool or page owner holds.
    pub owner: Owner,
    /// Its memory is mapped page by page: only its owned ranges hold memory.
    pub is_paged: bool,
    pub start: Step,
    pub end: Step,
    pub base: u64,
    /// Of a paged range only what is touched at some time.
    pub bytes: Bytes,
    /// Display addresses at which offsets skip bytes that are never touched.
    pub breaks: Vec<u64>,
    /// All blocks start at multiples of this power of two, at most 512.
    pub alignment: u64,
    /// Such as `arena of train`.
    pub label: Arc<str>,
    /// Nothing in it changes while graphs run: it lies below [`LaneView::floor`].
    pub is_constant: bool,
}

/// Sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    rects: RectColumns,
    /// Offset in the region.
    pub offset: Amounts,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    /// Position in the simulation's subjects.
    pub subject: Vec<u32>,
    /// Below [`super::PALETTE_LEN`].
    pub color: Vec<u8>,
}

impl Blocks {
    /// The blocks of each of `n_regions` regions, in the order of blocks. What happens within regions can be found one
    /// region after the other, in a part of the memory that all of them would need. O(blocks + regions).
    pub(super) fn by_region(&self, n_regions: usize) -> Lists<u32> {
        Lists::of_pairs(n_regions, self.span.iter().map(|region| *region as usize).zip(0_u32..))
    }
}

#[cfg(test)]
impl Blocks {
    /// From start, end, display address, bytes and region, ascending.
    pub(super) fn of_rows(rows: &[(u32, u32, u64, u64, u32)]) -> Self {
        Self {
            rects: RectColumns::of(rows, |row| (row.0, row.1, row.2, row.3)),
            span: rows.iter().map(|row| row.4).collect(),
            ..Self::default()
        }
    }
}

impl Deref for Blocks {
    type Target = RectColumns;

    fn deref(&self) -> &RectColumns {
        &self.rects
    }
}

/// Contents of a lane at its peaks, largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldAtPeak {
    /// The blocks that are live on the step with the most live bytes; of graphs those of tensors alone, where there are any.
    pub blocks: Vec<u32>,
    /// The blocks by label: of a recording one row per call site, else one per block. The largest sum first.
    pub rows: Vec<HeldRow>,
    /// Positions of the regions that hold memory on the step with the most reserved bytes, without stacks, and the bytes of each: of a
    /// range of addresses those of its mapped pages.
    pub regions: Vec<(u32, Bytes)>,
}

/// Blocks with one label that are live at the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldRow {
    /// The largest of them, the first of equals.
    pub block: u32,
    pub count: u64,
    /// Of all of them.
    pub bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    pub policy: StaticMemoryPolicy,
    /// Whether several events may share a step: then reuse and gaps are unknown.
    pub shares_steps: bool,
    /// Sorted by start.
    pub regions: Vec<RegionSpan>,
    pub(super) region_rects: RectColumns,
    /// Whether a region only stacks blocks without addresses.
    has_stacks: bool,
    pub blocks: Blocks,
    /// The top of the highest region.
    pub height: Bytes,
    drawn_height: Bytes,
    /// Constant regions, which a map can leave out of its scale, upwards.
    pub constant: Vec<ConstantRegions>,
    /// Bytes taken from the device.
    pub reserved: Curve,
    /// The part of `reserved` that is feature memory.
    pub features: Curve,
    pub live: Curve,
    /// `live`, rounded by the allocators.
    pub rounded: Curve,
    /// Bytes of physical pages.
    pub physical: Curve,
    /// Address space reserved as ranges.
    pub virtual_space: Curve,
    pub owned_ranges: OwnedRanges,
    pub owners: Vec<Owner>,
    pub ticks: LaneTicks,
    pub gaps: Arc<LaneGaps>,
    pub reuse: LaneReuse,
    /// Where the lane runs under a budget.
    pub remat: Option<Arc<LaneRemat>>,
    pub at_peak: HeldAtPeak,
    /// Of the largest arena; lanes with the same plan share it.
    pub arena_stack: Option<Arc<ArenaStack>>,
    /// Blocks of tensors, by tensor.
    tensor_blocks: Vec<u32>,
    subjects: SubjectTensors,
}

/// Blocks below this share of a lane's height are drawn larger: the height ends above them.
const SMALL_PART: u64 = 4;

/// The height above `floor` that maps show. O(blocks).
fn drawn_height(blocks: &Blocks, floor: u64, height: Bytes) -> Bytes {
    let ends = blocks
        .base
        .iter()
        .zip(blocks.bytes.iter())
        .map(|(base, bytes)| base.saturating_add(bytes));
    let whole = height.get().saturating_sub(floor);
    match ends.max().unwrap_or(0).saturating_sub(floor) {
        0 => Bytes(whole),
        used if used < whole / SMALL_PART => Bytes(used + used / 4),
        _ => Bytes(whole),
    }
}

impl LaneView {
    pub(super) fn new(
        lane: &Lane,
        session: &DeviceSession,
        remat: Option<Arc<LaneRemat>>,
        palette: &Palette,
        parts: TimelineParts,
        progress: &Progress<'_>,
    ) -> Self {
        let (placed, curves) = if parts == TimelineParts::Rows {
            Default::default()
        } else {
            let placed = || PlacedBlocks::new(&lane.simulation, session, palette);
            both(progress, placed, || lane_curves(&lane.curves))
        };
        let (tensor_blocks, gaps, reuse) = if lane.shares_steps || parts != TimelineParts::All {
            (placed.tensor_blocks(), LaneGaps::default(), LaneReuse::default())
        } else {
            let blocks_and_gaps = || both(progress, || placed.tensor_blocks(), || placed.gaps());
            let ((blocks, gaps), reuse) = if placed.blocks.len() > MOST_INDEXED {
                // One after the other: each takes about as much memory as all blocks.
                let reuse = placed.reuse(lane);
                (blocks_and_gaps(), reuse)
            } else {
                both(progress, blocks_and_gaps, || placed.reuse(lane))
            };
            (blocks, gaps, reuse)
        };
        let [reserved, features, live, rounded, physical, virtual_space] = curves;
        let constant = constant::of(&placed.regions);
        let floor = constant.last().map_or(0, |last| last.end);
        Self {
            drawn_height: drawn_height(&placed.blocks, floor, placed.height),
            policy: lane.policy,
            shares_steps: lane.shares_steps,
            gaps: Arc::new(gaps),
            reuse,
            owners: owners(&placed.regions, &placed.owned_ranges),
            ticks: LaneTicks::new(&lane.simulation),
            remat,
            tensor_blocks,
            region_rects: RectColumns::of(&placed.regions, |region| {
                (region.start.0, region.end.0, region.base, region.bytes.get())
            }),
            at_peak: HeldAtPeak::default(),
            has_stacks: placed.regions.iter().any(|region| region.kind == RegionKind::Unplaced),
            arena_stack: None,
            constant,
            regions: placed.regions,
            height: placed.height,
            owned_ranges: placed.owned_ranges,
            blocks: placed.blocks,
            subjects: placed.subjects,
            reserved,
            features,
            live,
            rounded,
            physical,
            virtual_space,
        }
    }

    /// Lists the contents at the peaks; `has_graph_tensors` where blocks are of tensors of graphs. Blocks with the same
    /// label share a row; those without a label have their own.
    pub(super) fn list_peaks<'a>(
        &mut self,
        lane: &Lane,
        peak: LanePeak,
        has_graph_tensors: bool,
        label: impl Fn(Selected) -> Option<&'a str>,
    ) {
        let Some(step) = peak.step else { return };
        let mut blocks = self.live_at(lane.summary.peak_live_step.unwrap_or(step));
        blocks.sort_by_key(|block| (Reverse(self.blocks.bytes.at(*block as usize)), *block));
        if has_graph_tensors && blocks.iter().any(|block| self.tensor(*block).is_some()) {
            blocks.retain(|block| self.tensor(*block).is_some());
        }
        let held = self.regions_at(step).into_iter();
        let held = held.filter(|idx| self.regions[*idx].kind != RegionKind::Unplaced);
        let mapped = self.mapped_at(step);
        let held = held.filter_map(|idx| {
            let region = &self.regions[idx];
            let mapped = Bytes(mapped.get(&idx).copied().unwrap_or(0));
            let bytes = if region.is_paged { mapped } else { region.bytes };
            Some((u32::try_from(idx).ok()?, bytes)).filter(|_| bytes > Bytes::ZERO)
        });
        let mut regions: Vec<(u32, Bytes)> = held.collect();
        regions.sort_by_key(|(idx, bytes)| (Reverse(*bytes), self.regions[*idx as usize].base));
        let rows = self.held_rows(&lane.simulation, &blocks, label);
        self.at_peak = HeldAtPeak { blocks, rows, regions };
    }

    /// Bytes of mapped pages on a step, by position of their region.
    fn mapped_at(&self, step: Step) -> BTreeMap<usize, u64> {
        let mut mapped = BTreeMap::new();
        for range in self.owned_ranges.alive(f64::from(step.0)) {
            if self.owned_ranges.n_pages[range] == 0 {
                continue;
            }
            let sum: &mut u64 = mapped.entry(self.owned_ranges.span[range] as usize).or_default();
            *sum = sum.saturating_add(self.owned_ranges.bytes.at(range));
        }
        mapped
    }

    /// Requested bytes of a block, or occupied ones where those are unknown.
    pub(super) fn requested_or_held(&self, simulation: &Simulation, block: u32) -> Option<Bytes> {
        let subject = *self.blocks.subject.get(block as usize)?;
        let requested = simulation.subjects.get(SubjectId(subject))?.requested;
        let held = Bytes(self.blocks.bytes.get(block as usize)?);
        Some(if requested == Bytes::ZERO { held } else { requested })
    }

    /// Rows of blocks, the largest sum first.
    fn held_rows<'a>(
        &self,
        simulation: &Simulation,
        blocks: &[u32],
        label: impl Fn(Selected) -> Option<&'a str>,
    ) -> Vec<HeldRow> {
        let mut rows: Vec<HeldRow> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for block in blocks {
            let bytes = self.requested_or_held(simulation, *block).unwrap_or_default();
            let place = self
                .tensor(*block)
                .and_then(&label)
                .map(|label| known.entry(label).or_insert(rows.len()));
            match place.and_then(|place| rows.get_mut(*place)) {
                Some(row) => {
                    row.count += 1;
                    row.bytes += bytes;
                }
                None => rows.push(HeldRow {
                    block: *block,
                    count: 1,
                    bytes,
                }),
            }
        }
        rows.sort_by_key(|row| Reverse(row.bytes));
        rows
    }

    /// The display address below which nothing changes.
    pub fn floor(&self) -> Bytes {
        self.constant.last().map_or(Bytes(0), |last| Bytes(last.end))
    }

    /// The height above the floor.
    pub fn changing_height(&self) -> Bytes {
        Bytes(self.height.get().saturating_sub(self.floor().get()))
    }

    /// The part of [`Self::changing_height`] that maps show: all of it, unless blocks occupy a small part alone, as the
    /// tensors of a small graph do in the pages of a pool.
    pub const fn drawn_height(&self) -> Bytes {
        self.drawn_height
    }

    /// Positions of the regions that hold memory between two steps, ascending. O(classes log regions + results).
    pub fn regions_within(&self, t0: f64, t1: f64) -> Vec<usize> {
        self.region_rects.met_in_order((t0, t1))
    }

    /// Positions of the regions that hold memory on a step, ascending. O(classes log regions + results).
    pub fn regions_at(&self, step: Step) -> Vec<usize> {
        self.region_rects.alive(f64::from(step.0))
    }

    /// Why the previous bytes of a block and the gaps next to it are unknown, in a sentence.
    pub fn unknown_neighbours(&self, block: u32) -> Option<&'static str> {
        if self.shares_steps {
            return Some(
                "Several events share a step, so the reuse of bytes is not known: open the recording alone, or apply \
                 the pinned configuration.",
            );
        }
        let span = *self.blocks.span.get(block as usize)?;
        let is_stacked = self.regions.get(span as usize)?.kind == RegionKind::Unplaced;
        is_stacked.then_some(
            "The file states no segment for this block: it is stacked for drawing only, so the reuse of its bytes is \
             not known.",
        )
    }

    /// Whether gaps are known: no block is stacked without an address, and events do not share steps.
    pub fn knows_gaps(&self) -> bool {
        !self.shares_steps && !self.has_stacks
    }

    /// `None` for blocks of a graph or the session.
    pub fn tensor(&self, block: u32) -> Option<Selected> {
        let subject = *self.blocks.subject.get(block as usize)?;
        self.subjects.get(subject)
    }

    /// The blocks of a tensor, ascending: several where it has copies or several live ranges. O(log blocks).
    pub fn blocks_of(&self, tensor: Selected) -> impl ExactSizeIterator<Item = u32> + '_ {
        let low = self
            .tensor_blocks
            .partition_point(|block| self.tensor(*block) < Some(tensor));
        let high = self
            .tensor_blocks
            .partition_point(|block| self.tensor(*block) <= Some(tensor));
        self.tensor_blocks[low..high].iter().copied()
    }
}

/// Reserved, features, live, rounded, physical and virtual bytes.
fn lane_curves(curves: &Curves) -> [Curve; 6] {
    let (reserved, features) = Curve::pair(&curves.reserved, &curves.features);
    let (live, rounded) = Curve::pair(&curves.live, &curves.rounded);
    let (physical, virtual_space) = (Curve::of(&curves.physical), Curve::of(&curves.virtual_space));
    [reserved, features, live, rounded, physical, virtual_space]
}

pub fn region_text(session: &DeviceSession, kind: RegionKind, graph: Option<GraphIdx>) -> String {
    let (alone, of) = match kind {
        RegionKind::Variables => ("variables", "variables of"),
        RegionKind::Weights => ("weights", "weights of"),
        RegionKind::InputOutput => ("inputs and outputs", "inputs and outputs of"),
        RegionKind::Arena => ("shared arena", "arena of"),
        RegionKind::PoolBlock => ("pool block", "pool block of"),
        RegionKind::PagedRange => ("paged range", "paged range of"),
        RegionKind::Stitched => ("stitched range", "stitched range of"),
        RegionKind::FixedFeatures => ("fixed feature memory", "fixed feature memory of"),
        RegionKind::Segment => ("segment", "segment of"),
        RegionKind::ExpandableSegment => ("expandable segment", "expandable segment of"),
        RegionKind::Unplaced => ("a stack without addresses", "stacked blocks of"),
    };
    let name = graph.and_then(|graph| session.graph_name(graph));
    name.map_or_else(|| alone.to_owned(), |name| format!("{of} {name}"))
}
