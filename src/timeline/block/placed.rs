//! The blocks of a lane at their display addresses, as sorted columns, with the tensors they belong to.

use std::collections::BTreeMap;
use std::ops::RangeFrom;
use std::sync::Arc;

use super::{Blocks, RegionSpan, region_text};
use crate::amounts::Amounts;
use crate::gaps::LaneGaps;
use crate::index::RectColumns;
use crate::owned_ranges::OwnedRanges;
use crate::owner::Owner;
use crate::reuse::{Contents, LaneReuse};
use crate::{Palette, Selected, TensorKey, layout};
use highwater_analysis::Lane;
use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::{Block, blocks};
use highwater_sim::{DeviceSession, RegionId, RegionKind, Simulation, Subject, SubjectRow};

#[derive(Default)]
pub(super) struct PlacedBlocks {
    pub(super) blocks: Blocks,
    pub(super) regions: Vec<RegionSpan>,
    pub(super) owned_ranges: OwnedRanges,
    pub(super) subjects: SubjectTensors,
    pub(super) height: Bytes,
}

impl PlacedBlocks {
    pub(super) fn new(simulation: &Simulation, session: &DeviceSession, palette: &Palette) -> Self {
        let spans = layout::spans(simulation, &observed(session));
        let subjects = SubjectTensors::new(simulation, session);
        let of_regions = layout::SpansOfRegions::new(&spans, simulation.regions.len());
        let on_spans = OnSpans {
            spans: &spans,
            of_regions: &of_regions,
        };
        let blocks = columns_of(&on_spans.in_order(blocks(simulation)), on_spans, &subjects, palette);
        Self {
            owned_ranges: OwnedRanges::new(simulation, &spans, &of_regions),
            regions: region_spans(simulation, session, &spans, &blocks),
            height: layout::height(&spans),
            blocks,
            subjects,
        }
    }

    /// Blocks of tensors, by tensor and then by number.
    pub(super) fn tensor_blocks(&self) -> Vec<u32> {
        let owner = |block: u32| self.subjects.get(self.blocks.subject[block as usize]);
        let all = 0..u32::try_from(self.blocks.subject.len()).unwrap_or(u32::MAX);
        let mut blocks: Vec<u32> = all.filter(|block| owner(*block).is_some()).collect();
        blocks.sort_unstable_by_key(|block| (owner(*block), *block));
        blocks.shrink_to_fit();
        blocks
    }

    pub(super) fn gaps(&self) -> LaneGaps {
        LaneGaps::new(&self.regions, &self.blocks)
    }

    pub(super) fn reuse(&self, lane: &Lane) -> LaneReuse {
        let of = Contents {
            regions: &self.regions,
            blocks: &self.blocks,
        };
        LaneReuse::new(of, lane.summary.peak_live_step)
    }
}

/// Behind the first step of the runs, or of the recording: on it memory is taken for good.
fn observed(session: &DeviceSession) -> RangeFrom<u32> {
    let start = session.runs.iter().map(|run| run.start.0).min().unwrap_or(0);
    start.saturating_add(1)..
}

fn region_spans(
    simulation: &Simulation,
    session: &DeviceSession,
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
            is_constant: span.is_constant,
        }
    };
    with_alignment.map(region_span).collect()
}

/// The tensors of a simulation's subjects, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SubjectTensors {
    listed: Vec<Option<Selected>>,
    /// Of the first block of a recording, whose blocks come behind those listed.
    first_block: Option<Selected>,
}

impl SubjectTensors {
    fn new(simulation: &Simulation, session: &DeviceSession) -> Self {
        let tensor = |row: &SubjectRow| match row.subject {
            Subject::Tensor { run, tensor, .. } => Selected::in_session(session, run, tensor),
            Subject::Graph(_) | Subject::InputOutput(_) | Subject::Page(_) | Subject::Pool(_) | Subject::Session => {
                None
            }
        };
        let (listed, first_block) = (simulation.subjects.listed(), simulation.subjects.first_block());
        Self {
            listed: listed.iter().map(tensor).collect(),
            first_block: first_block.and_then(|row| tensor(&row)),
        }
    }

    /// `None` for what is no tensor.
    pub(super) fn get(&self, subject: u32) -> Option<Selected> {
        if let Some(known) = self.listed.get(subject as usize) {
            return *known;
        }
        let number = subject as usize - self.listed.len();
        Some(Selected {
            tensor: TensorId(u32::try_from(number).ok()?),
            ..self.first_block?
        })
    }
}

/// All owners; a paged range counts by the owners of its pages.
pub(super) fn owners(regions: &[RegionSpan], owned_ranges: &OwnedRanges) -> Vec<Owner> {
    let whole = regions
        .iter()
        .filter(|region| !region.is_paged)
        .map(|region| region.owner);
    let mut owners: Vec<Owner> = whole.chain(owned_ranges.owner.iter().copied()).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// By region: the power of two that divides the offsets of all its blocks. O(blocks).
fn alignments(blocks: &Blocks, n_spans: usize) -> Vec<u64> {
    const MOST: u64 = 512;
    let mut bits = vec![MOST; n_spans];
    for (span, offset) in blocks.span.iter().zip(blocks.offset.iter()) {
        bits[*span as usize] |= offset;
    }
    bits.into_iter().map(|bits| 1 << bits.trailing_zeros()).collect()
}

/// Where blocks are on the display.
#[derive(Clone, Copy)]
struct OnSpans<'a> {
    spans: &'a [layout::Span],
    of_regions: &'a layout::SpansOfRegions,
}

impl OnSpans<'_> {
    fn span(self, block: &Block) -> Option<u32> {
        self.of_regions.at(block.region.0, block.start)
    }

    fn base(self, block: &Block) -> u64 {
        let span = self.span(block).and_then(|span| self.spans.get(span as usize));
        span.map_or(0, |span| span.address(block.offset))
    }

    /// Blocks of known regions, by start and display address; the log has them by start.
    fn in_order(self, mut blocks: Vec<Block>) -> Vec<Block> {
        blocks.retain(|block| self.span(block).is_some());
        for together in blocks.chunk_by_mut(|one, next| one.start == next.start) {
            together.sort_unstable_by_key(|block| (self.base(block), end(block), block.subject.0));
        }
        blocks
    }
}

/// A block is drawn on one step at least.
fn end(block: &Block) -> u32 {
    block.end.0.max(block.start.0 + 1)
}

fn columns_of(rows: &[Block], on_spans: OnSpans<'_>, subjects: &SubjectTensors, palette: &Palette) -> Blocks {
    let color = |block: &Block| {
        let whole_graph = TensorKey {
            graph: GraphIdx(u32::MAX),
            tensor: TensorId(block.subject.0),
        };
        palette.color(subjects.get(block.subject.0).map_or(whole_graph, Selected::key))
    };
    let rect = |block: &Block| (block.start.0, end(block), on_spans.base(block), block.bytes.get());
    Blocks {
        rects: RectColumns::of(rows, rect),
        offset: Amounts::of(rows.iter().map(|block| block.offset)),
        span: rows.iter().filter_map(|block| on_spans.span(block)).collect(),
        subject: rows.iter().map(|block| block.subject.0).collect(),
        color: rows.iter().map(color).collect(),
    }
}

/// Labels of regions, each text built once.
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
        let make = || Arc::from(region_text(self.session, kind, graph));
        Arc::clone(self.made.entry((kind, graph)).or_insert_with(make))
    }
}
