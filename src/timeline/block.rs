//! A lane for the views: its regions, its blocks sorted by start, its curves.

use std::sync::Arc;

use highwater_analysis::Lane;
use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::Curves;
use highwater_sim::{DeviceSession, RegionId, RegionKind, StaticMemoryPolicy};

mod placed;

use self::placed::{PlacedBlocks, holders, tensor_span};
use super::curve::Curve;
use super::device_ticks::LaneTicks;
use super::holdings::LaneHoldings;
use super::holes::LaneHoles;
use super::index::{Columns, RectIndex};
use super::owner::Owner;
use super::remat::LaneRemat;
use super::reuse::LaneReuse;
use super::{Palette, Selected, joined};

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
}

/// Sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    pub start: Vec<u32>,
    /// Exclusive; above `start`.
    pub end: Vec<u32>,
    pub base: Vec<u64>,
    /// Bytes occupied.
    pub bytes: Vec<u64>,
    /// Offset in the region.
    pub offset: Vec<u64>,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    /// Position in the simulation's subjects.
    pub subject: Vec<u32>,
    /// Below [`super::PALETTE_LEN`].
    pub color: Vec<u8>,
    pub(super) index: RectIndex,
}

impl Blocks {
    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
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

#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    pub policy: StaticMemoryPolicy,
    /// Whether several events may share a step: then reuse and gaps are unknown.
    pub shares_steps: bool,
    /// Sorted by start.
    pub regions: Vec<RegionSpan>,
    pub blocks: Blocks,
    /// The top of the highest region.
    pub height: Bytes,
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
    pub holdings: LaneHoldings,
    /// All owners of memory, ascending.
    pub holders: Vec<Owner>,
    pub ticks: LaneTicks,
    pub holes: Arc<LaneHoles>,
    pub reuse: LaneReuse,
    /// What runs under a budget do, where there are any.
    pub remat: Option<Arc<LaneRemat>>,
    /// The lowest and highest display address of a block with a tensor.
    pub tensor_span: Option<(u64, u64)>,
    /// Tensors with their blocks, sorted.
    owners: Vec<(Selected, u32)>,
    /// By subject of the simulation.
    subjects: Vec<Option<Selected>>,
}

impl LaneView {
    pub(super) fn new(
        lane: &Lane,
        (session, remat): (&DeviceSession, Option<Arc<LaneRemat>>),
        palette: &Palette,
    ) -> Self {
        // Independent parts run concurrently.
        let (placed, curves) = std::thread::scope(|scope| {
            let curves = scope.spawn(|| LaneCurves::new(&lane.curves));
            let placed = PlacedBlocks::new(&lane.simulation, session, palette);
            (placed, joined(curves))
        });
        let (owners, holes, reuse) = std::thread::scope(|scope| {
            let holes = scope.spawn(|| placed.holes(lane));
            let reuse = scope.spawn(|| placed.reuse(lane));
            (placed.owners(), joined(holes), joined(reuse))
        });
        Self {
            policy: lane.policy,
            shares_steps: lane.shares_steps,
            holes: Arc::new(holes),
            reuse,
            holders: holders(&placed.regions, &placed.holdings),
            tensor_span: tensor_span(&placed.blocks, &owners),
            ticks: LaneTicks::new(&lane.simulation),
            remat,
            owners,
            regions: placed.regions,
            height: placed.height,
            holdings: placed.holdings,
            blocks: placed.blocks,
            subjects: placed.subjects,
            reserved: curves.reserved,
            features: curves.features,
            live: curves.live,
            rounded: curves.rounded,
            physical: curves.physical,
            virtual_space: curves.virtual_space,
        }
    }

    /// Why the previous bytes of a block and the gaps next to it are unknown, in a sentence.
    pub fn unknown_neighbours(&self, block: u32) -> Option<&'static str> {
        if self.shares_steps {
            return Some(
                "Several events share a step here, so who had whose bytes cannot be told: open the recording alone, or use the pinned configuration, to see it.",
            );
        }
        let span = *self.blocks.span.get(block as usize)?;
        let is_stacked = self.regions.get(span as usize)?.kind == RegionKind::Unplaced;
        is_stacked.then_some("The file names no segment in which this block stands: it is stacked only to be drawn, so whose bytes it has is not known.")
    }

    /// Whether gaps are known: no block is stacked without an address, and events do not share steps.
    pub fn knows_holes(&self) -> bool {
        !self.shares_steps && self.regions.iter().all(|region| region.kind != RegionKind::Unplaced)
    }

    /// `None` for blocks of a graph or the session.
    pub fn tensor(&self, block: u32) -> Option<Selected> {
        let subject = *self.blocks.subject.get(block as usize)?;
        *self.subjects.get(subject as usize)?
    }

    /// The blocks of a tensor, ascending: several where it has copies or several live ranges. O(log blocks).
    pub fn blocks_of(&self, tensor: Selected) -> impl ExactSizeIterator<Item = u32> + '_ {
        let low = self.owners.partition_point(|(owner, _)| *owner < tensor);
        let high = self.owners.partition_point(|(owner, _)| *owner <= tensor);
        self.owners[low..high].iter().map(|(_, block)| *block)
    }
}

struct LaneCurves {
    reserved: Curve,
    features: Curve,
    live: Curve,
    rounded: Curve,
    physical: Curve,
    virtual_space: Curve,
}

impl LaneCurves {
    fn new(curves: &Curves) -> Self {
        let (reserved, features) = Curve::pair(&curves.reserved, &curves.features);
        let (live, rounded) = Curve::pair(&curves.live, &curves.rounded);
        Self {
            reserved,
            features,
            live,
            rounded,
            physical: Curve::of(&curves.physical),
            virtual_space: Curve::of(&curves.virtual_space),
        }
    }
}

pub fn region_text(session: &DeviceSession, (kind, graph): (RegionKind, Option<GraphIdx>)) -> String {
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
    let name = graph.and_then(|graph| session.graphs.get(graph.idx()));
    name.map_or_else(|| alone.to_owned(), |graph| format!("{of} {}", graph.name))
}
