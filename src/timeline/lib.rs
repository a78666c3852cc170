//! Comparison -> view-model of the lanes; independent of any GUI toolkit.
//!
//! In: a [`Comparison`]. Out: an immutable [`Timeline`], built once per answer on the worker and shared by all views.
//! Per frame: [`LaneView::visible`] (culled rectangles), [`Curve::columns`] (exact extremes per pixel column),
//! [`LaneView::pick`] (the block under the pointer), [`LaneView::ascii`] (the memory map as text), [`LaneView::arrows`]
//! (reuse of bytes), [`LaneView::visible_gaps`], [`LaneView::support`] (why a block has its offset),
//! [`LaneView::visible_owned_ranges`] (owners within regions), [`EventTally::columns`] (device events,
//! evictions and recomputations), [`LaneRows::layout`] (rows and scopes),
//! [`LaneAreas::columns`] (bytes per group).
//!
//! ```text
//! address
//!    |   +-pool-+         regions are stacked so that those held at once never overlap; the height of the
//!    |+--arena-----+      picture is therefore close to the peak of the reserved bytes
//!    |+--weights---------+
//!    +-------------------> step
//! ```
//!
//! A [`View`] draws a viewport along an axis: steps are equally wide, or as wide as their time ([`Axes`]).
//!
//! Invariants: the drawing of a block depends on the comparison and the view alone; rectangles smaller than a pixel are
//! merged into a mark, never dropped; the maximum drawn in a column is the true maximum of its steps. Not here: colours
//! (palette indices instead), text layout, gestures.

mod amounts;
mod areas;
mod arena_stack;
mod ascii;
mod axis;
mod bands;
mod block;
mod call_stack;
mod changes;
mod coloring;
mod curve;
mod device_ticks;
mod difference;
mod facts;
mod flame;
mod gaps;
mod grouping;
mod growth;
mod index;
mod lane_changes;
mod layout;
mod lifetimes;
mod neighbourhood;
mod op_occurrence;
mod owned_ranges;
mod owner;
mod peak;
mod peak_contributors;
mod pick;
mod ranks;
mod raster;
mod remat;
mod reserved_rest;
mod reuse;
mod rows;
mod search;
mod sharing;
mod site_changes;
mod support;
mod tables;
mod tally;
mod ticks;
mod viewport;
mod visible;

pub use amounts::Amounts;
pub use areas::{AreaBand, AreaColumns, AreaSource, Areas, LaneAreas};
pub use arena_stack::ArenaStack;
pub use axis::{Axes, AxisKind, TimeAxis, WallRun};
pub use bands::{AnnotationBand, Band, BandRow, Bands, IterationBand, PhaseBand, RunBand, Shade};
pub use block::{Blocks, ConstantRegions, HeldAtPeak, HeldRow, LaneView, RegionSpan, region_text};
pub use call_stack::{CallStack, FrameOrigin, StackFrame};
pub use changes::{Change, ChangeKind, ChangeLine, Changes, PeakKind};
pub use coloring::{
    CLASS_COLORS, ColorBy, Coloring, ColoringRequest, DIMMED, FIRST_CLASS, FIRST_GROUP, GROUP_COLORS, LegendRow,
    MatchTest, NO_TENSOR, OTHER_GROUPS,
};
pub use curve::Curve;
pub use device_ticks::{LaneTicks, TickClass, TickColumn, TickCounts, TickRow, event_labels, subject_text};
pub use difference::{Extremes, LaneDifference, SignedCurve};
pub use facts::{StepFacts, TensorFacts, facts, lane_facts, op_text, step_facts, tensor_name};
pub use flame::{
    FlameBox, FlameCut, FlameFrame, FlameGraph, FlameNode, FlamePaths, FlameRequest, FlameSpan, MOST_FLAME_FRAMES,
};
pub use gaps::{GapTotals, LaneGaps};
pub use grouping::{Attribute, Grouping, HeldTensor};
pub use growth::{Growth, GrowthRow, GrowthStep};
pub use index::RectColumns;
pub use lane_changes::LaneChanges;
pub use lifetimes::{
    FOLDED, HEADER, LaneRows, RowItems, RowLayout, RowOrder, RowPlace, RowWindow, RowsFrame, RowsRaster, Scope,
    ScopeBand, ScopeFolds,
};
pub use neighbourhood::{
    Destination, HiddenNodes, MOST_LISTED, NeighbourLimits, NeighbourNode, Neighbourhood, NodeKey, OpKey, Slot,
};
pub use op_occurrence::OpOccurrence;
pub use owned_ranges::OwnedRanges;
pub use owner::Owner;
pub use peak::{
    CurveStats, EqualMembers, GroupPart, IdleSteps, IdleTensor, LeftOut, LiveGroup, LiveMember, LiveSet, OpUse, PeakAt,
    PeakReport, PeakRequest, PeakWithout, RangeStats, ReservedRest, RetainingOp, StepRange, Tally, Uses, peak_step,
    tensor_label,
};
pub use peak_contributors::{ContributorName, PeakContributors, SiteName};
pub use pick::Reach;
pub use ranks::{GroupSpread, RankPeak, RankSpread, reading_order};
pub use raster::{BlockColors, Raster, RasterFrame, RasterScratch, RasterStyle, raster};
pub use remat::{
    Eviction, EvictionInterval, LaneRemat, RecomputationCost, Recomputed, RematColumn, RematCounters, RematFacts,
    RematMark, RematMarkCounts, RematMarkKind, RematOomReport, RematOutcome, RematSums,
};
pub use reuse::{Arrows, LaneReuse, ReuseArrow, ReuseSide, ReusedBytes};
pub use rows::{Row, Rows};
pub use search::{CONDITIONS, Condition, ConditionRow, FORMS, Match, Matches, Query, QueryError, shown_name};
use sharing::MOST_NAMED;
pub use sharing::SharedMemory;
pub use support::Support;
pub use tables::{
    Column, ProblemLine, Sort, TableError, TableKind, TableRows, TableSpec, TableSubject, Target, Value, natural_order,
};
pub use tally::{EventColumn, EventTally};
pub use ticks::{Tick, byte_ticks, step_ticks, time_ticks};
pub use viewport::{Canvas, View, Viewport};
pub use visible::{ItemMark, ItemRect, Items};

use std::sync::Arc;

use highwater_analysis::{Comparison, LaneRewrite, OpSource};
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::progress::{Cancel, Cancelled, Progress};
use highwater_model::threads::on_threads;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_sim::DeviceSession;

pub const PALETTE_LEN: u8 = 16;

/// A tensor of a graph, in any of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorKey {
    pub graph: GraphIdx,
    /// The tensor, or the root tensor of the storage.
    pub tensor: TensorId,
}

/// A tensor of one run: the unit of selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selected {
    /// Position of the run in the session.
    pub run: u32,
    pub graph: GraphIdx,
    /// The root tensor.
    pub tensor: TensorId,
}

impl Selected {
    /// `None` for an unknown run.
    pub(crate) fn in_session(session: &DeviceSession, run: u32, tensor: TensorId) -> Option<Self> {
        let graph = session.runs.get(run as usize)?.graph;
        Some(Self { run, graph, tensor })
    }

    pub const fn key(self) -> TensorKey {
        TensorKey {
            graph: self.graph,
            tensor: self.tensor,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Of the common axis.
    pub n_steps: u32,
    /// In the order of the comparison's lanes.
    pub lanes: Vec<LaneView>,
    pub axes: Axes,
    pub bands: Bands,
    /// Live ranges, one row per tensor of a run; those of the first lane where lanes differ.
    pub rows: Rows,
    /// By lane, where lanes differ.
    lane_rows: Vec<Option<Rows>>,
    links: Arc<neighbourhood::Links>,
    /// The highest display address of any lane.
    pub height: Bytes,
    /// The highest reserved or live bytes of any lane.
    pub peak: Bytes,
}

/// The parts of a [`Timeline`]: those that a file does not need cost time and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineParts {
    /// Axes, bands and rows; lanes have neither blocks nor curves.
    Rows,
    /// `Rows`, with blocks and curves of the lanes.
    Drawing,
    /// `Drawing`, with gaps, reuse of bytes and the stack of the arena.
    All,
}

impl Timeline {
    /// All parts. O(events log events + steps).
    pub fn new(comparison: &Comparison) -> Self {
        Self::with(comparison, TimelineParts::All)
    }

    /// Some parts; the others are empty. O(events log events + steps).
    pub fn with(comparison: &Comparison, parts: TimelineParts) -> Self {
        let cancel = Cancel::new();
        let made = Self::checked(comparison, parts, &Progress::silent(&cancel));
        made.expect("the flag is not shared, so nothing is cancelled")
    }

    /// As [`Self::with`]; the flag is checked between the parts of lanes.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn checked(comparison: &Comparison, parts: TimelineParts, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        progress.set("drawing", 0, 1)?;
        let palette = Palette::new(comparison);
        progress.check()?;
        let lanes = lanes(comparison, &palette, parts, progress)?;
        progress.check()?;
        let n_steps = comparison.axis.n_steps.max(comparison.session.n_steps);
        let palette = Arc::new(palette);
        let of_lane = |lane: &highwater_analysis::Lane| {
            let session = lane.session.as_deref()?;
            Some(Rows::new(session, Arc::clone(&palette)))
        };
        let axes = Axes::new(comparison, &lanes);
        progress.check()?;
        let bands = Bands::new(comparison);
        progress.check()?;
        let rows = Rows::new(&comparison.session, Arc::clone(&palette));
        progress.check()?;
        let lane_rows = comparison.lanes.iter().map(of_lane).collect();
        progress.check()?;
        let links = Arc::new(neighbourhood::Links::new(comparison));
        progress.check()?;
        Ok(Self {
            n_steps,
            axes,
            bands,
            rows,
            lane_rows,
            links,
            height: lanes.iter().map(|lane| lane.height).max().unwrap_or_default(),
            peak: lanes
                .iter()
                .map(|lane| Bytes(lane.reserved.max().max(lane.live.max())))
                .max()
                .unwrap_or_default(),
            lanes,
        })
    }

    pub fn rows_of(&self, lane: usize) -> &Rows {
        let own = self.lane_rows.get(lane).and_then(Option::as_ref);
        own.unwrap_or(&self.rows)
    }

    /// Whether lanes hold different tensors, so that each has its rows.
    pub fn has_lane_rows(&self) -> bool {
        self.lane_rows.iter().any(Option::is_some)
    }

    pub fn has_remat(&self) -> bool {
        self.lanes.iter().any(|lane| lane.remat.is_some())
    }

    /// The viewport that shows everything, with a margin above the highest address.
    pub fn fit(&self) -> Viewport {
        self.up_to(self.height)
    }

    /// As [`Self::fit`], with addresses counted from the floor of each lane: without constant regions.
    pub fn fit_changing(&self) -> Viewport {
        self.up_to(self.drawn_height())
    }

    /// The largest height above its floor that a lane's map shows.
    pub fn drawn_height(&self) -> Bytes {
        let heights = self.lanes.iter().map(LaneView::drawn_height);
        heights.max().unwrap_or_default()
    }

    /// The highest display address of any lane above its floor.
    pub fn changing_height(&self) -> Bytes {
        let heights = self.lanes.iter().map(LaneView::changing_height);
        heights.max().unwrap_or_default()
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    fn up_to(&self, height: Bytes) -> Viewport {
        Viewport {
            t0: 0.0,
            t1: f64::from(self.n_steps.max(1)),
            a0: 0.0,
            a1: height.get().max(1) as f64 * 1.04,
        }
    }
}

/// Lanes are independent, so threads share them out.
fn lanes(
    comparison: &Comparison,
    palette: &Palette,
    parts: TimelineParts,
    progress: &Progress<'_>,
) -> Result<Vec<LaneView>, Cancelled> {
    let cancel = progress.cancel_flag();
    let jobs: Vec<_> = comparison.lanes.iter().zip(remats(comparison)).enumerate().collect();
    let lanes = on_threads(jobs, progress, |(position, (lane, remat))| {
        let progress = Progress::silent(cancel);
        progress.check()?;
        let session = comparison.session_of(position);
        let has_graph_tensors = comparison.study_of_lane(position).words().tensor == "tensor";
        let mut view = LaneView::new(lane, session, remat, palette, parts, &progress);
        progress.check()?;
        let is_measured = comparison.is_measured_lane(position);
        let label = |one: Selected| is_measured.then(|| comparison.tensor_name(one.graph, one.tensor));
        let peak = comparison.shown_peak(position);
        view.list_peaks(lane, peak, has_graph_tensors, label);
        progress.check()?;
        if parts == TimelineParts::All && arena_stack::first_alike(comparison, position) == position {
            view.arena_stack = ArenaStack::new(comparison, position).map(Arc::new);
        }
        Ok(view)
    });
    let mut lanes = lanes.into_iter().collect::<Result<Vec<LaneView>, Cancelled>>()?;
    for position in 0..lanes.len() {
        let first = arena_stack::first_alike(comparison, position);
        let stack = lanes[first].arena_stack.clone();
        lanes[position].arena_stack = stack;
    }
    share_curves(&mut lanes);
    Ok(lanes)
}

/// Makes equal curves share memory, so that their columns are computed once. O(lanes^2 steps).
fn share_curves(lanes: &mut [LaneView]) {
    let mut known: Vec<Curve> = Vec::new();
    for lane in lanes {
        for curve in [&mut lane.reserved, &mut lane.live, &mut lane.physical] {
            match known.iter().find(|known| *known == curve) {
                Some(known) => *curve = known.clone(),
                None => known.push(curve.clone()),
            }
        }
    }
}

/// By lane; lanes that share a rewrite share the result.
fn remats(comparison: &Comparison) -> Vec<Option<Arc<LaneRemat>>> {
    let mut made: Vec<(*const LaneRewrite, Arc<LaneRemat>)> = Vec::new();
    let of_lane = |lane: &highwater_analysis::Lane| {
        let rewrite = lane.rewrite.as_ref()?;
        if rewrite.remat.iter().all(Option::is_none) {
            return None;
        }
        let known = made.iter().find(|(of, _)| *of == Arc::as_ptr(rewrite));
        if let Some((_, remat)) = known {
            return Some(Arc::clone(remat));
        }
        let remat = Arc::new(LaneRemat::new(rewrite, &comparison.axis));
        made.push((Arc::as_ptr(rewrite), Arc::clone(&remat)));
        Some(remat)
    };
    comparison.lanes.iter().map(of_lane).collect()
}

/// The colour index of every tensor of every graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Palette {
    graphs: Vec<Vec<u8>>,
}

impl Palette {
    fn new(comparison: &Comparison) -> Self {
        let color = |entry: &highwater_model::workload::GraphEntry| {
            let graph = &entry.graph;
            let root = |tensor: &highwater_model::graph::Tensor| graph.storages()[tensor.storage].root;
            let roots = graph.tensors().iter().map(root);
            roots.map(|root| color_of_name(graph.tensor_name(root), root)).collect()
        };
        let of_tape = |tape: &Arc<highwater_model::workload::Tape>| {
            let tensors = tape.tensors.iter().enumerate();
            tensors
                .map(|(number, tensor)| color_of_name(&tensor.name, TensorId::from_idx(number)))
                .collect()
        };
        Self {
            graphs: match comparison.ops() {
                OpSource::Graphs(entries) => entries.iter().map(color).collect(),
                OpSource::Tape(tape) => vec![of_tape(tape)],
                OpSource::Program(_) | OpSource::None => Vec::new(),
            },
        }
    }

    /// Below [`PALETTE_LEN`].
    pub(crate) fn color(&self, key: TensorKey) -> u8 {
        let known = self.graphs.get(key.graph.idx());
        known
            .and_then(|tensors| tensors.get(key.tensor.idx()).copied())
            .unwrap_or_else(|| color_of_name("", key.tensor))
    }
}

/// The colour depends on the name alone, so that it is equal in all lanes, runs and graphs.
fn color_of_name(name: &str, tensor: TensorId) -> u8 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let number = tensor.0.to_le_bytes();
    let bytes = if name.is_empty() { &number[..] } else { name.as_bytes() };
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u8::try_from((hash >> 40) % u64::from(PALETTE_LEN)).unwrap_or(0)
}
