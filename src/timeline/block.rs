//! A lane as the views see it: its regions, its blocks sorted by birth, its curves.
//!
//! Blocks are a struct of arrays, sorted by (start, address), with an index by time and size.

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
    /// Which region of the simulation.
    pub region: RegionId,
    /// What it is.
    pub kind: RegionKind,
    /// Whose it is where nobody was granted a piece of it.
    pub owner: Owner,
    /// Whether its memory comes and goes page by page: then it holds memory where a holding says so, and nowhere else.
    pub is_paged: bool,
    /// First step.
    pub start: Step,
    /// Last step, exclusive.
    pub end: Step,
    /// Display address.
    pub base: u64,
    /// Bytes; of a range only what is touched at some time.
    pub bytes: Bytes,
    /// Display addresses at which offsets jump over what is never touched.
    pub breaks: Vec<u64>,
    /// Blocks begin at multiples of this: the power of two, at most 512, that divides all their offsets.
    pub alignment: u64,
    /// A few words, such as `arena of train`.
    pub label: Arc<str>,
}

/// The blocks of a lane, sorted by start and then display address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// First step.
    pub start: Vec<u32>,
    /// Last step, exclusive; above `start`.
    pub end: Vec<u32>,
    /// Display address.
    pub base: Vec<u64>,
    /// Bytes occupied.
    pub bytes: Vec<u64>,
    /// Offset in the region.
    pub offset: Vec<u64>,
    /// Position in [`LaneView::regions`].
    pub span: Vec<u32>,
    /// Position in the simulation's subjects.
    pub subject: Vec<u32>,
    /// Colour index, below [`super::PALETTE_LEN`].
    pub color: Vec<u8>,
    /// Finds them by time and size.
    pub(super) index: RectIndex,
}

impl Blocks {
    /// How many.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
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

/// One lane, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    /// The policy.
    pub policy: StaticMemoryPolicy,
    /// Whether several events may share a step: then nothing is said about reuse and holes.
    pub shares_steps: bool,
    /// Regions in order of birth.
    pub regions: Vec<RegionSpan>,
    /// Blocks.
    pub blocks: Blocks,
    /// The top of the highest region.
    pub height: Bytes,
    /// Device bytes in use.
    pub reserved: Curve,
    /// The share of `reserved` that serves feature memory.
    pub features: Curve,
    /// Exact bytes that graphs hold.
    pub live: Curve,
    /// The same, as allocators round them.
    pub rounded: Curve,
    /// Bytes of physical pages.
    pub physical: Curve,
    /// Address space that is reserved as ranges.
    pub virtual_space: Curve,
    /// Who holds what within regions.
    pub holdings: LaneHoldings,
    /// Everyone who holds something at some time, ascending.
    pub holders: Vec<Owner>,
    /// What the device and the pools did.
    pub ticks: LaneTicks,
    /// Free bytes between live blocks.
    pub holes: Arc<LaneHoles>,
    /// Who took whose bytes.
    pub reuse: LaneReuse,
    /// What runs under a budget do, where there are any.
    pub remat: Option<Arc<LaneRemat>>,
    /// The lowest and the highest display address that a block of a tensor has; `None` where there is none.
    pub tensor_span: Option<(u64, u64)>,
    /// Whose block: (subject's tensor or `None`, block), sorted.
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
        // What needs nothing of each other is made at once.
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

    /// Why nobody can say whose bytes a block has and which are free beside it; `None` where that is known.
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

    /// Whether what is free between blocks is known on a step: no stacked block among those drawn, no events that share steps.
    pub fn knows_holes(&self) -> bool {
        !self.shares_steps && self.regions.iter().all(|region| region.kind != RegionKind::Unplaced)
    }

    /// The tensor that a block belongs to; `None` for what belongs to a graph or the session.
    pub fn tensor(&self, block: u32) -> Option<Selected> {
        let subject = *self.blocks.subject.get(block as usize)?;
        *self.subjects.get(subject as usize)?
    }

    /// The blocks of a tensor, ascending: several where it is held in copies or at several times. O(log blocks).
    pub fn blocks_of(&self, tensor: Selected) -> impl ExactSizeIterator<Item = u32> + '_ {
        let low = self.owners.partition_point(|(owner, _)| *owner < tensor);
        let high = self.owners.partition_point(|(owner, _)| *owner <= tensor);
        self.owners[low..high].iter().map(|(_, block)| *block)
    }
}

/// The curves of a lane with their extremes.
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

/// What a region is and whose.
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
