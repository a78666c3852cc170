//! A lane as the views see it: its regions, its blocks sorted by birth, its curves.
//!
//! Blocks are a struct of arrays, sorted by (start, address), with an index by time and size.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::Lane;
use crate::graph::{Id as _, TensorId};
use crate::sim::fold::{Curves, blocks};
use crate::sim::{DeviceSession, RegionId, RegionKind, Simulation, StaticMemoryPolicy, Subject};
use crate::units::{Bytes, Step};
use crate::workload::GraphIdx;

use super::curve::Curve;
use super::device_ticks::LaneTicks;
use super::holdings::LaneHoldings;
use super::holes::LaneHoles;
use super::index::{Columns, RectIndex};
use super::owner::Owner;
use super::remat::LaneRemat;
use super::reuse::LaneReuse;
use super::{Palette, Selected, TensorKey, layout};

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
                "Several events of the recording share a step here, so who had whose bytes cannot be told: open the recording alone to see it.",
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

/// The blocks of a lane where they are drawn.
struct PlacedBlocks {
    blocks: Blocks,
    regions: Vec<RegionSpan>,
    holdings: LaneHoldings,
    subjects: Vec<Option<Selected>>,
    height: Bytes,
}

impl PlacedBlocks {
    fn new(simulation: &Simulation, session: &DeviceSession, palette: &Palette) -> Self {
        let spans = layout::spans(simulation);
        let subjects = tensors_of(simulation, session);
        let of_regions = layout::SpansOfRegions::new(&spans, simulation.regions.len());
        let mut drafts: Vec<Draft> = blocks(simulation)
            .into_iter()
            .filter_map(|block| {
                let span = of_regions.at(block.region.0, block.start)?;
                Some(Draft {
                    start: block.start.0,
                    base: spans[span as usize].address(block.offset),
                    end: block.end.0.max(block.start.0 + 1),
                    bytes: block.bytes.get(),
                    offset: block.offset,
                    span,
                    subject: block.subject.0,
                })
            })
            .collect();
        drafts.sort_unstable_by_key(|draft| (draft.start, draft.base, draft.end, draft.subject));
        let blocks = columns_of(&drafts, &subjects, palette);
        drop(drafts);
        Self {
            holdings: LaneHoldings::new(simulation, &spans, &of_regions),
            regions: region_spans((simulation, session), &spans, &blocks),
            height: layout::height(&spans),
            blocks,
            subjects,
        }
    }

    /// Tensors with their blocks, sorted.
    fn owners(&self) -> Vec<(Selected, u32)> {
        let mut owners: Vec<(Selected, u32)> = (0_u32..)
            .zip(&self.blocks.subject)
            .filter_map(|(block, subject)| Some((self.subjects[*subject as usize]?, block)))
            .collect();
        owners.sort_unstable();
        owners
    }

    fn holes(&self, lane: &Lane) -> LaneHoles {
        if lane.shares_steps {
            return LaneHoles::default();
        }
        LaneHoles::new(&self.regions, &self.blocks)
    }

    fn reuse(&self, lane: &Lane) -> LaneReuse {
        if lane.shares_steps {
            return LaneReuse::default();
        }
        LaneReuse::new(&self.regions, &self.blocks, lane.summary.peak_live_step)
    }
}

/// What a thread made; a fault of it is a fault of the call.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|fault| std::panic::resume_unwind(fault))
}

/// Regions where they are drawn, as views read them.
fn region_spans(
    (simulation, session): (&Simulation, &DeviceSession),
    spans: &[layout::Span],
    blocks: &Blocks,
) -> Vec<RegionSpan> {
    let mut labels = Labels::new(session);
    let with_alignment = spans.iter().zip(alignments(blocks, spans.len()));
    let region_span = |(span, alignment): (&layout::Span, u64)| {
        let region = &simulation.regions[span.region as usize];
        RegionSpan {
            region: RegionId(span.region),
            kind: region.kind,
            owner: Owner::of(region),
            is_paged: region.at.is_virtual(),
            start: Step(span.start),
            end: Step(span.end),
            base: span.base,
            bytes: Bytes(span.bytes),
            breaks: span.breaks(),
            alignment,
            label: labels.of(region.kind, region.graph),
        }
    };
    with_alignment.map(region_span).collect()
}

/// By subject: the tensor that it is, where it is one.
fn tensors_of(simulation: &Simulation, session: &DeviceSession) -> Vec<Option<Selected>> {
    let rows = simulation.subjects.iter();
    rows.map(|row| match row.who {
        Subject::Tensor { run, tensor, .. } => selected(session, run, tensor),
        Subject::Graph(_) | Subject::InputOutput(_) | Subject::Page(_) | Subject::Pool(_) | Subject::Session => None,
    })
    .collect()
}

/// Everyone who holds something. Of a range it is whoever holds its pages.
fn holders(regions: &[RegionSpan], holdings: &LaneHoldings) -> Vec<Owner> {
    let whole = regions
        .iter()
        .filter(|region| !region.is_paged)
        .map(|region| region.owner);
    let mut holders: Vec<Owner> = whole.chain(holdings.owner.iter().copied()).collect();
    holders.sort_unstable();
    holders.dedup();
    holders
}

/// By region: what divides the offsets of all its blocks. O(blocks).
fn alignments(blocks: &Blocks, n_spans: usize) -> Vec<u64> {
    const MOST: u64 = 512;
    let mut bits = vec![MOST; n_spans];
    for (span, offset) in blocks.span.iter().zip(&blocks.offset) {
        bits[*span as usize] |= offset;
    }
    bits.into_iter().map(|bits| 1 << bits.trailing_zeros()).collect()
}

/// A block before it is cut into columns.
struct Draft {
    start: u32,
    base: u64,
    end: u32,
    bytes: u64,
    offset: u64,
    span: u32,
    subject: u32,
}

/// The display addresses that blocks of tensors reach. Linear.
fn tensor_span(blocks: &Blocks, owners: &[(Selected, u32)]) -> Option<(u64, u64)> {
    let of_block = |(_, block): &(Selected, u32)| {
        let base = blocks.base[*block as usize];
        (base, base.saturating_add(blocks.bytes[*block as usize]))
    };
    let spans = owners.iter().map(of_block);
    spans.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

fn columns_of(drafts: &[Draft], subjects: &[Option<Selected>], palette: &Palette) -> Blocks {
    let color = |draft: &Draft| {
        let whole_graph = TensorKey {
            graph: GraphIdx(u32::MAX),
            tensor: TensorId(draft.subject),
        };
        palette.color(subjects[draft.subject as usize].map_or(whole_graph, Selected::key))
    };
    let start: Vec<u32> = drafts.iter().map(|draft| draft.start).collect();
    let end: Vec<u32> = drafts.iter().map(|draft| draft.end).collect();
    let bytes: Vec<u64> = drafts.iter().map(|draft| draft.bytes).collect();
    Blocks {
        base: drafts.iter().map(|draft| draft.base).collect(),
        offset: drafts.iter().map(|draft| draft.offset).collect(),
        span: drafts.iter().map(|draft| draft.span).collect(),
        subject: drafts.iter().map(|draft| draft.subject).collect(),
        color: drafts.iter().map(color).collect(),
        index: RectIndex::new(&start, &end, &bytes),
        start,
        end,
        bytes,
    }
}

fn selected(session: &DeviceSession, run: u32, tensor: TensorId) -> Option<Selected> {
    let graph = session.runs.get(run as usize)?.graph;
    Some(Selected { run, graph, tensor })
}

/// Region labels, each text made once.
struct Labels<'a> {
    session: &'a DeviceSession,
    made: BTreeMap<(RegionKind, Option<GraphIdx>), Arc<str>>,
}

impl<'a> Labels<'a> {
    fn new(session: &'a DeviceSession) -> Self {
        Self {
            session,
            made: BTreeMap::new(),
        }
    }

    fn of(&mut self, kind: RegionKind, graph: Option<GraphIdx>) -> Arc<str> {
        let make = || Arc::from(region_text(self.session, (kind, graph)));
        Arc::clone(self.made.entry((kind, graph)).or_insert_with(make))
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
