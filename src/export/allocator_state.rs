//! The state of a recorded allocator at a step: its sums, pools, and segments with their blocks and gaps.
//!
//! In: a comparison and a state of one of its lanes. Addresses are hexadecimal texts; bytes are integers.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::paragraph;
use super::events::event_record;
use super::json_parts::diagnostics_json;
use super::pinned::{pinned_blocks, pinned_record};
use super::record::{MORE_WITH_TOP, Record, Rows, Value::Bound, Value::Digits};
use highwater_analysis::{AllocatorState, AllocatorSums, Comparison, Piece, PieceKind, PinnedSegments, SegmentState};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_model::workload::{RecordedEvent, Recording, Segments};

/// A state of a lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorAnswer<'a> {
    pub comparison: &'a Comparison,
    /// By position.
    pub lane: usize,
    /// On the axis of the comparison.
    pub step: Step,
    pub state: &'a AllocatorState,
    pub recording: &'a Recording,
    /// What keeps partly free segments.
    pub pinned: &'a PinnedSegments,
    /// The number of listed segments.
    pub most: usize,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

/// Sums of segments: the same fields wherever they occur.
pub(super) fn sums_fields<'a>(record: Record<'a>, sums: &AllocatorSums) -> Record<'a> {
    let least = |held: Bytes| Bound(sums.at_least(), held);
    let most = |held: Bytes| Bound(sums.at_most(), held);
    record
        .key("exact", sums.is_exact())
        .key("segments", sums.segments)
        .key("free_segments", sums.free_segments)
        .field("reserved_bytes", ">reserved", sums.reserved)
        .shown("& in ", counted(sums.segments, "segment"))
        .field("active_bytes", ">active", least(sums.active))
        .key("active_blocks", sums.active_blocks)
        .shown("& in ", counted(sums.active_blocks, "block"))
        .field("awaiting_free_bytes", ">awaiting free", least(sums.awaiting_free))
        .key("awaiting_free_blocks", sums.awaiting_blocks)
        .shown("& in ", counted(sums.awaiting_blocks, "block"))
        .key("requested_bytes", sums.requested)
        .key("rounding_bytes", sums.rounding())
        .key("blocks_of_unstated_size", sums.unstated_blocks)
        .field("inactive_split_bytes", ">inactive", most(sums.inactive_split))
        .key("gaps", sums.gaps)
        .shown("& in ", counted(sums.gaps, "gap"))
        .field("free_segment_bytes", ">free", sums.free)
        .shown("& in ", counted(sums.free_segments, "segment"))
        .field("largest_free_bytes", ">largest free", most(sums.largest_free))
}

pub(super) fn allocator_sums_json(sums: &AllocatorSums) -> Json {
    json!(sums_fields(Record::new(), sums))
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

impl Answer for AllocatorAnswer<'_> {
    fn page(&self) -> Page {
        let (comparison, state) = (self.comparison, self.state);
        let title = format!(
            "{}, {}: the allocator after event {}",
            comparison.workload.name,
            comparison.title_of(self.lane),
            state.event
        );
        let mut blocks = vec![paragraph(title)];
        blocks.extend(self.last_event().map(|event| {
            let text = event.words(self.recording);
            paragraph(format!("Event {}: {text}", event.step))
        }));
        blocks.extend([self.sums().facts("allocator", "").into()]);
        blocks.extend(bounds_note(&state.sums).map(paragraph));
        blocks.extend(self.unused_sentence().map(paragraph));
        if state.pools.len() > 1 {
            blocks.extend(self.pools().blocks(usize::MAX));
        }
        let order = self.emptiest_first();
        let is_cut = order.is_some();
        blocks.extend(self.segments(order).blocks(self.most));
        let first = if is_cut {
            "; the segments with most bytes without a block are listed"
        } else {
            ""
        };
        blocks.push(paragraph(format!(
            "map: # active, ~ awaiting free, . inactive or free{first}"
        )));
        blocks.extend(pinned_blocks(self.pinned, self.most));
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let state = self.state;
        let (count, bytes) = state.outside;
        Record::new()
            .key("lane", self.comparison.title_of(self.lane))
            .key("axis", self.comparison.axis_word())
            .key("step", self.step)
            .key("event", state.event)
            .key("time_ns", self.recording.times.get(state.event.idx()))
            .key(
                "last_event",
                self.last_event()
                    .map(|event| event_record(self.recording, &Segments::new(self.recording), &event)),
            )
            .key("allocator", sums_fields(Record::new(), &state.sums))
            .key("pinned", pinned_record(self.pinned))
            .key("outside_segments", json!({"blocks": count, "bytes": bytes.get()}))
            .key("overlapping_blocks", state.overlapping)
            .key("pools", self.pools())
            .key("segments", self.segments(None).first(self.most))
            .key("diagnostics", diagnostics_json(self.import))
    }

    /// A row for each block, gap and free segment, by address.
    fn csv(&self) -> Option<String> {
        let answer = *self;
        let segments = self.state.segments.iter().take(self.most);
        let pieces = segments.flat_map(|segment| {
            segment
                .pieces
                .iter()
                .take(answer.most)
                .map(move |piece| (segment, piece))
        });
        let pieces: Vec<(&SegmentState, &Piece)> = pieces.collect();
        let rows = Rows::indexed(pieces.len(), move |position| {
            let (segment, piece) = pieces[position];
            let (kind, pool) = answer.recording.segment_kind(segment.kind);
            let head = Record::new()
                .key("segment", hex(segment.address))
                .key("segment_bytes", segment.bytes)
                .key("stream", segment.stream)
                .key("kind", kind)
                .key("private_pool", pool);
            answer.piece(head, piece)
        });
        let header =
            "segment,segment_bytes,stream,kind,private_pool,address,state,bytes,requested_bytes,exact,block,name";
        Some(rows.csv(header))
    }
}

impl<'a> AllocatorAnswer<'a> {
    /// The event after which this is the state; `None` where the recording does not state it.
    fn last_event(&self) -> Option<RecordedEvent> {
        let event = self.state.event.0;
        self.recording.events_in(event..event.saturating_add(1)).pop()
    }

    /// Why reserved bytes are not used; `None` where all are.
    fn unused_sentence(&self) -> Option<String> {
        let sums = &self.state.sums;
        let unused = sums.inactive_split + sums.free;
        let is_cached = |segment: &&SegmentState| {
            let (_, private) = self.recording.segment_kind(segment.kind);
            segment.sums.free > Bytes::ZERO && private.is_none()
        };
        let cached: Bytes = self
            .state
            .segments
            .iter()
            .filter(is_cached)
            .map(|one| one.sums.free)
            .sum();
        let most = sums.at_most();
        let given_back = match cached {
            Bytes::ZERO => String::new(),
            cached => format!(", of which empty_cache() gives {cached} back"),
        };
        let pieces = self.state.segments.iter().flat_map(|segment| &segment.pieces);
        let gaps = pieces.filter(|piece| piece.kind == PieceKind::Inactive);
        let largest_gap = gaps.map(|piece| piece.bytes).max().unwrap_or_default();
        (unused > Bytes::ZERO).then(|| {
            format!(
                "{most}{unused} of {} reserved hold no block: {} in {}{given_back}; {most}{} in gaps beside blocks, which serve \
                 requests up to {most}{}.",
                sums.reserved,
                sums.free,
                counted(sums.free_segments, "whole segment"),
                sums.inactive_split,
                largest_gap
            )
        })
    }

    fn name(&self, piece: &Piece) -> Option<&'a str> {
        let block = self.recording.blocks.get(piece.block? as usize);
        Some(block.map_or("", |block| self.recording.block_name(block)))
    }

    /// The sums with what lies outside the segments.
    fn sums(&self) -> Record<'a> {
        let (count, bytes) = self.state.outside;
        let sums = &self.state.sums;
        sums_fields(Record::new(), sums)
            .shown("rounding inside blocks", Bound(sums.at_least(), sums.rounding()))
            .shown("outside the listed segments", (count > 0).then_some(bytes))
            .shown("& in ", (count > 0).then(|| counted(count, "block")))
            .shown(
                "overlapping blocks",
                Some(self.state.overlapping).filter(|count| *count > 0),
            )
    }

    fn pools(&self) -> Rows<'a> {
        let answer = *self;
        Rows::new(&self.state.pools, move |pool| {
            let (kind, private) = answer.recording.segment_kind(pool.kind);
            let head = Record::new()
                .field("stream", ">stream", Digits(pool.stream))
                .field("kind", "kind", kind)
                .field("private_pool", "private pool", private)
                .shown(">segments", pool.sums.segments);
            sums_fields(head, &pool.sums)
        })
    }

    /// By address; `listed` picks some, in their order.
    fn segments(&self, listed: Option<Vec<usize>>) -> Rows<'a> {
        let answer = *self;
        let segments = &self.state.segments;
        let listed = listed.unwrap_or_else(|| (0..segments.len()).collect());
        Rows::indexed(listed.len(), move |position| {
            let segment = &segments[listed[position]];
            let (kind, private) = answer.recording.segment_kind(segment.kind);
            let head = Record::new()
                .field("address", "segment", hex(segment.address))
                .key("bytes", segment.bytes)
                .field("stream", ">stream", Digits(segment.stream))
                .key("pieces", answer.pieces(segment))
                .field("kind", "kind", kind)
                .field("private_pool", "private pool", private)
                .shown(">blocks", segment.sums.active_blocks + segment.sums.awaiting_blocks);
            sums_fields(head, &segment.sums).shown("map", map(segment))
        })
        .more_with(MORE_WITH_TOP)
    }

    /// The order of segments of which some are left out; `None` where all are listed.
    fn emptiest_first(&self) -> Option<Vec<usize>> {
        let segments = &self.state.segments;
        let mut order: Vec<usize> = (0..segments.len()).collect();
        order.sort_by_key(|position| {
            let sums = &segments[*position].sums;
            std::cmp::Reverse(sums.inactive_split + sums.free)
        });
        (segments.len() > self.most).then_some(order)
    }

    fn pieces(&self, segment: &'a SegmentState) -> Rows<'a> {
        let answer = *self;
        Rows::new(&segment.pieces, move |piece| answer.piece(Record::new(), piece)).first(self.most)
    }

    /// The fields of a block, a gap or a free segment, behind those of a head.
    fn piece(&self, head: Record<'a>, piece: &Piece) -> Record<'a> {
        head.key("address", hex(piece.address))
            .key("state", piece.kind.name())
            .key("bytes", piece.bytes)
            .key("requested_bytes", piece.block.map(|_| piece.requested))
            .key("exact", piece.states_held)
            .key("block", piece.block)
            .key("name", self.name(piece))
    }
}

/// Which figures are bounds; `None` where all are exact.
pub(super) fn bounds_note(sums: &AllocatorSums) -> Option<String> {
    let n_blocks = sums.active_blocks + sums.awaiting_blocks;
    (!sums.is_exact()).then(|| {
        format!(
            "The file states only the requested bytes of {} of {}: active bytes are a lower bound, inactive bytes and \
             the largest free block an upper bound.",
            grouped(sums.unstated_blocks),
            counted(n_blocks, "block")
        )
    })
}

/// Characters of a segment's map.
const MAP: usize = 24;

/// The segment in equal parts, each drawn as what begins last in it: blocks win over gaps, so that none disappears.
fn map(segment: &SegmentState) -> String {
    let mut cells = ['.'; MAP];
    let part = |offset: u64| {
        let cell = u128::from(offset) * MAP as u128 / u128::from(segment.bytes.get().max(1));
        usize::try_from(cell).unwrap_or(usize::MAX).min(cells.len() - 1)
    };
    let blocks = segment.pieces.iter().filter_map(|piece| {
        let sign = match piece.kind {
            PieceKind::Active => '#',
            PieceKind::AwaitingFree => '~',
            PieceKind::Inactive | PieceKind::Free => return None,
        };
        let start = piece.address - segment.address;
        let end = start.saturating_add(piece.bytes.get().saturating_sub(1));
        Some((part(start), part(end), sign))
    });
    let blocks: Vec<(usize, usize, char)> = blocks.collect();
    for (first, last, sign) in blocks {
        cells[first..=last].fill(sign);
    }
    cells.iter().collect()
}
