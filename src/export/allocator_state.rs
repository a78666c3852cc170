//! The state of a recorded allocator at a step: text, one JSON object, CSV rows of segments with their blocks and gaps.
//!
//! In: a comparison and a state of one of its lanes. Addresses are hexadecimal texts; bytes are integers.

use serde_json::{Value as Json, json};

use super::blocks::{Block, Table, paragraph, plain_text, text};
use super::json_parts::{diagnostics_json, list};
use super::pinned::{pinned_blocks, pinned_json};
use highwater_analysis::{AllocatorState, AllocatorSums, Comparison, Piece, PieceKind, PinnedSegments, SegmentState};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_model::workload::{RecordedName, Recording};

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
    /// What keeps almost empty segments; `None` where it is unknown.
    pub pinned: Option<&'a PinnedSegments>,
    /// The number of listed segments.
    pub most: usize,
}

/// Sums of segments: the same fields wherever they occur.
pub(super) fn allocator_sums_json(sums: &AllocatorSums) -> Json {
    json!({
        "exact": sums.is_exact(),
        "segments": sums.segments,
        "free_segments": sums.free_segments,
        "reserved_bytes": sums.reserved.get(),
        "active_bytes": sums.active.get(),
        "active_blocks": sums.active_blocks,
        "awaiting_free_bytes": sums.awaiting_free.get(),
        "awaiting_free_blocks": sums.awaiting_blocks,
        "requested_bytes": sums.requested.get(),
        "rounding_bytes": sums.rounding().get(),
        "blocks_of_unstated_size": sums.unstated_blocks,
        "inactive_split_bytes": sums.inactive_split.get(),
        "gaps": sums.gaps,
        "free_segment_bytes": sums.free.get(),
        "largest_free_bytes": sums.largest_free.get(),
    })
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

impl AllocatorAnswer<'_> {
    fn name(&self, piece: &Piece) -> &str {
        let block = piece.block.and_then(|block| self.recording.blocks.get(block as usize));
        block.map_or("", |block| self.recording.block_name(block))
    }

    fn segments(&self) -> &[SegmentState] {
        &self.state.segments[..self.state.segments.len().min(self.most)]
    }

    fn pieces<'s>(&self, segment: &'s SegmentState) -> &'s [Piece] {
        &segment.pieces[..segment.pieces.len().min(self.most)]
    }

    fn with_pool(&self, kind: RecordedName, sums: &AllocatorSums, head: Json) -> Json {
        let (kind, pool) = self.recording.segment_kind(kind);
        let mut object = head;
        if let (Json::Object(fields), Json::Object(sums)) = (&mut object, allocator_sums_json(sums)) {
            fields.insert("kind".to_owned(), kind.into());
            fields.insert("private_pool".to_owned(), pool.into());
            fields.extend(sums);
        }
        object
    }

    fn piece(&self, piece: &Piece) -> Json {
        let is_block = piece.block.is_some();
        json!({
            "address": hex(piece.address),
            "state": piece.kind.name(),
            "bytes": piece.bytes.get(),
            "requested_bytes": is_block.then_some(piece.requested.get()),
            "exact": piece.states_held,
            "block": piece.block,
            "name": is_block.then(|| self.name(piece)),
        })
    }
}

pub fn allocator_json(answer: &AllocatorAnswer<'_>, diagnostics: &Diagnostics) -> Json {
    let state = answer.state;
    let lane = answer.comparison.lanes.get(answer.lane).map(|lane| lane.id);
    let time = answer.recording.times.get(state.event.idx());
    json!({
        "lane": lane.map(|id| answer.comparison.lane_title(id)),
        "axis": answer.comparison.axis_word(),
        "step": answer.step.0,
        "event": state.event.0,
        "time_ns": time.map(|time| time.0),
        "allocator": allocator_sums_json(&state.sums),
        "pinned": answer.pinned.map(pinned_json),
        "outside_segments": {"blocks": state.outside.0, "bytes": state.outside.1.get()},
        "overlapping_blocks": state.overlapping,
        "pools": list(&state.pools, |pool| {
            answer.with_pool(pool.kind, &pool.sums, json!({"stream": pool.stream}))
        }),
        "segments": list(answer.segments(), |segment| {
            let head = json!({
                "address": hex(segment.address),
                "bytes": segment.bytes.get(),
                "stream": segment.stream,
                "pieces": list(answer.pieces(segment), |piece| answer.piece(piece)),
            });
            answer.with_pool(segment.kind, &segment.sums, head)
        }),
        "diagnostics": diagnostics_json(diagnostics),
    })
}

const COLUMNS: [&str; 12] = [
    "segment",
    "segment_bytes",
    "stream",
    "kind",
    "private_pool",
    "address",
    "state",
    "bytes",
    "requested_bytes",
    "exact",
    "block",
    "name",
];

/// A row for each block, gap and free segment, by address.
pub fn allocator_csv(answer: &AllocatorAnswer<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    drop(writer.write_record(COLUMNS));
    for segment in answer.segments() {
        let (kind, pool) = answer.recording.segment_kind(segment.kind);
        for piece in answer.pieces(segment) {
            let requested = piece
                .block
                .map_or_else(String::new, |_| piece.requested.get().to_string());
            drop(writer.write_record([
                hex(segment.address).as_str(),
                &segment.bytes.get().to_string(),
                &segment.stream.to_string(),
                kind,
                pool.unwrap_or_default(),
                &hex(piece.address),
                piece.kind.name(),
                &piece.bytes.get().to_string(),
                &requested,
                &piece.states_held.to_string(),
                &piece.block.map_or_else(String::new, |block| block.to_string()),
                answer.name(piece),
            ]));
        }
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

pub fn allocator_text(answer: &AllocatorAnswer<'_>) -> String {
    let (comparison, state) = (answer.comparison, answer.state);
    let lane = comparison.lanes.get(answer.lane).map(|lane| lane.id);
    let lane = lane.map_or_else(String::new, |id| comparison.lane_title(id));
    let title = format!(
        "{}, {lane}: the allocator after event {}",
        comparison.workload.name, state.event
    );
    let mut blocks = vec![paragraph(title), sums(state).into()];
    if let Some(note) = bounds_note(&state.sums) {
        blocks.push(paragraph(note));
    }
    if state.pools.len() > 1 {
        blocks.push(pools(answer).into());
    }
    blocks.push(segments(answer).into());
    let left = state.segments.len() - answer.segments().len();
    if left > 0 {
        blocks.push(Block::Note(text(format!("and {} more", grouped(left as u64)))));
    }
    blocks.push(paragraph("map: # active, ~ awaiting free, . inactive or free"));
    if let Some(pinned) = answer.pinned {
        blocks.extend(pinned_blocks(pinned, answer.most));
    }
    plain_text(&blocks)
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

fn sums(state: &AllocatorState) -> Table {
    let sums = &state.sums;
    let mut table = Table::new(&["allocator", ">bytes", ">exact", ""]);
    let mut row = |what: &str, bound: &str, held: Bytes, note: String| {
        table.row(&[&what, &format!("{bound}{held}"), &held.exact(), &note]);
    };
    let (least, most) = (sums.at_least(), sums.at_most());
    row("reserved", "", sums.reserved, counted(sums.segments, "segment"));
    row("active", least, sums.active, counted(sums.active_blocks, "block"));
    let awaiting = counted(sums.awaiting_blocks, "block");
    row("awaiting free", least, sums.awaiting_free, awaiting);
    row("inactive split", most, sums.inactive_split, counted(sums.gaps, "gap"));
    row("free segments", "", sums.free, counted(sums.free_segments, "segment"));
    row("largest free block", most, sums.largest_free, String::new());
    row("rounding inside blocks", least, sums.rounding(), String::new());
    if state.outside.0 > 0 {
        let count = counted(state.outside.0, "block");
        row("outside the listed segments", "", state.outside.1, count);
    }
    if state.overlapping > 0 {
        let count = counted(state.overlapping, "block");
        table.row(&[&"overlapping", &"", &"", &count]);
    }
    table
}

const SUM_HEADINGS: [&str; 5] = [">active", ">awaiting free", ">inactive", ">free", ">largest free"];

fn sum_cells(sums: &AllocatorSums) -> [String; 5] {
    let (least, most) = (sums.at_least(), sums.at_most());
    [
        format!("{least}{}", sums.active),
        format!("{least}{}", sums.awaiting_free),
        format!("{most}{}", sums.inactive_split),
        sums.free.to_string(),
        format!("{most}{}", sums.largest_free),
    ]
}

fn pools(answer: &AllocatorAnswer<'_>) -> Table {
    let head = [">stream", "kind", "private pool", ">segments", ">reserved"];
    let headings: Vec<&str> = head.into_iter().chain(SUM_HEADINGS).collect();
    let mut table = Table::new(&headings);
    for pool in &answer.state.pools {
        let (kind, private) = answer.recording.segment_kind(pool.kind);
        let mut cells = vec![
            pool.stream.to_string(),
            kind.to_owned(),
            private.unwrap_or_default().to_owned(),
            grouped(pool.sums.segments),
            pool.sums.reserved.to_string(),
        ];
        cells.extend(sum_cells(&pool.sums));
        table.strings(cells);
    }
    table
}

fn segments(answer: &AllocatorAnswer<'_>) -> Table {
    let head = ["segment", ">bytes", ">stream", "kind", "private pool", ">blocks"];
    let headings: Vec<&str> = head.into_iter().chain(SUM_HEADINGS).chain(["map"]).collect();
    let mut table = Table::new(&headings);
    for segment in answer.segments() {
        let (kind, private) = answer.recording.segment_kind(segment.kind);
        let sums = &segment.sums;
        let mut cells = vec![
            hex(segment.address),
            segment.bytes.to_string(),
            segment.stream.to_string(),
            kind.to_owned(),
            private.unwrap_or_default().to_owned(),
            grouped(sums.active_blocks + sums.awaiting_blocks),
        ];
        cells.extend(sum_cells(sums));
        cells.push(map(segment));
        table.strings(cells);
    }
    table
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
