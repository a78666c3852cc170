//! A lane as the views see it: its regions, its blocks sorted by birth, its curves.
//!
//! Blocks are a struct of arrays, sorted by (start, address); every chunk of them knows its latest end, so that
//! a search skips chunks that are dead before it begins.

use std::sync::Arc;

use crate::analysis::Lane;
use crate::graph::{Id as _, TensorId};
use crate::sim::fold::blocks;
use crate::sim::{DeviceSession, RegionKind, StaticMemoryPolicy, Subject};
use crate::units::{Bytes, Step};
use crate::workload::GraphIdx;

use super::curve::Curve;
use super::holes::LaneHoles;
use super::reuse::LaneReuse;
use super::{Palette, Selected, TensorKey, layout};

/// Blocks per chunk.
pub(super) const CHUNK: usize = 256;

/// A region while it holds memory, at its display address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSpan {
    /// What it is.
    pub kind: RegionKind,
    /// First step.
    pub start: Step,
    /// Last step, exclusive.
    pub end: Step,
    /// Display address.
    pub base: u64,
    /// Bytes: of a paged range, up to the highest page that is touched.
    pub bytes: Bytes,
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
    /// The latest end of each chunk.
    pub(super) chunk_ends: Vec<u32>,
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
}

/// One lane, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    /// The policy.
    pub policy: StaticMemoryPolicy,
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
    /// Free bytes between live blocks.
    pub holes: Arc<LaneHoles>,
    /// Who took whose bytes.
    pub reuse: LaneReuse,
    /// Whose block: (subject's tensor or `None`, block), sorted.
    owners: Vec<(Selected, u32)>,
    /// By subject of the simulation.
    subjects: Vec<Option<Selected>>,
}

/// Where an offset of a span's region is drawn.
fn display_address(span: &layout::Span, offset: u64) -> u64 {
    span.base.saturating_add(offset.saturating_sub(span.low))
}

impl LaneView {
    pub(super) fn new(lane: &Lane, session: &DeviceSession, palette: &Palette) -> Self {
        let simulation = &lane.simulation;
        let spans = layout::spans(simulation);
        let subjects: Vec<Option<Selected>> = simulation
            .subjects
            .iter()
            .map(|row| match row.who {
                Subject::Tensor { run, tensor, .. } => selected(session, run, tensor),
                Subject::Graph(_) | Subject::Session => None,
            })
            .collect();
        let labels = Labels::new(session);
        let mut by_region: Vec<Vec<(u32, u32)>> = vec![Vec::new(); simulation.regions.len()];
        for (idx, span) in (0_u32..).zip(&spans) {
            by_region[span.region as usize].push((span.start, idx));
        }
        let mut drafts: Vec<Draft> = blocks(simulation)
            .into_iter()
            .filter_map(|block| {
                let span = layout::span_at(&by_region[block.region.idx()], block.start)?;
                Some(Draft {
                    start: block.start.0,
                    base: display_address(&spans[span as usize], block.offset),
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
        let mut owners: Vec<(Selected, u32)> = (0_u32..)
            .zip(&blocks.subject)
            .filter_map(|(block, subject)| Some((subjects[*subject as usize]?, block)))
            .collect();
        owners.sort_unstable();
        let alignments = alignments(&blocks, spans.len());
        let regions: Vec<RegionSpan> = spans
            .iter()
            .zip(alignments)
            .map(|(span, alignment)| {
                let region = &simulation.regions[span.region as usize];
                RegionSpan {
                    kind: region.kind,
                    start: Step(span.start),
                    end: Step(span.end),
                    base: span.base,
                    bytes: Bytes(span.bytes),
                    alignment,
                    label: labels.of(region.kind, region.graph),
                }
            })
            .collect();
        Self {
            policy: lane.policy,
            holes: Arc::new(LaneHoles::new(&regions, &blocks)),
            reuse: LaneReuse::new(&regions, &blocks, lane.summary.peak_live_step),
            regions,
            height: layout::height(&spans),
            blocks,
            reserved: Curve::new(&lane.curves.reserved),
            features: Curve::new(&lane.curves.features),
            live: Curve::new(&lane.curves.live),
            owners,
            subjects,
        }
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

fn columns_of(drafts: &[Draft], subjects: &[Option<Selected>], palette: &Palette) -> Blocks {
    let color = |draft: &Draft| {
        let whole_graph = TensorKey {
            graph: GraphIdx(u32::MAX),
            tensor: TensorId(draft.subject),
        };
        palette.color(subjects[draft.subject as usize].map_or(whole_graph, Selected::key))
    };
    let end: Vec<u32> = drafts.iter().map(|draft| draft.end).collect();
    Blocks {
        start: drafts.iter().map(|draft| draft.start).collect(),
        base: drafts.iter().map(|draft| draft.base).collect(),
        bytes: drafts.iter().map(|draft| draft.bytes).collect(),
        offset: drafts.iter().map(|draft| draft.offset).collect(),
        span: drafts.iter().map(|draft| draft.span).collect(),
        subject: drafts.iter().map(|draft| draft.subject).collect(),
        color: drafts.iter().map(color).collect(),
        chunk_ends: end
            .chunks(CHUNK)
            .map(|chunk| chunk.iter().copied().max().unwrap_or(0))
            .collect(),
        end,
    }
}

fn selected(session: &DeviceSession, run: u32, tensor: TensorId) -> Option<Selected> {
    let graph = session.runs.get(run as usize)?.graph;
    Some(Selected { run, graph, tensor })
}

/// Region labels, each text made once.
struct Labels {
    graphs: Vec<Arc<str>>,
}

impl Labels {
    fn new(session: &DeviceSession) -> Self {
        Self {
            graphs: session
                .graphs
                .iter()
                .map(|graph| Arc::from(graph.name.as_str()))
                .collect(),
        }
    }

    fn of(&self, kind: RegionKind, graph: Option<GraphIdx>) -> Arc<str> {
        let name = graph.and_then(|graph| self.graphs.get(graph.idx()));
        let (alone, of) = match kind {
            RegionKind::Variables => ("variables", "variables of"),
            RegionKind::Weights => ("weights", "weights of"),
            RegionKind::InputOutput => ("inputs and outputs", "inputs and outputs of"),
            RegionKind::Arena => ("shared arena", "arena of"),
            RegionKind::PoolBlock => ("pool block", "pool block of"),
            RegionKind::PagedRange => ("paged range", "paged range of"),
        };
        name.map_or_else(|| Arc::from(alone), |name| Arc::from(format!("{of} {name}")))
    }
}
