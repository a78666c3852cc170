//! The allocator of a recorded lane at a step: sums, and its segments as a sorted table.

use eframe::egui::{self, Rect, RichText, Sense, StrokeKind, pos2, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::numbers::{part_of, to_points};
use crate::panels::sorted_table::{Head, SIZE, Sorting, sorted_table_ui};
use crate::panels::width_of;
use crate::theme::Theme;
use crate::widgets::wrapped_ui;
use highwater_analysis::{AllocatorState, AllocatorSums, PieceKind, PinnedSegments, SegmentState};
use highwater_model::units::{Bytes, counted, grouped};
use highwater_model::workload::{RecordedName, Recording};
use highwater_timeline::Sort;

/// The columns of the segments, in points.
#[derive(Clone, Copy)]
struct Columns {
    /// The least room for them.
    room: f32,
    address: f32,
    map: f32,
    figure: f32,
    /// Stream and pool; `None` where the tooltip of a row alone has them.
    pool: Option<f32>,
    /// Whether figures have the sign of a bound; else their tooltips have it.
    has_signs: bool,
    /// Whether texts are written out.
    is_wide: bool,
}

/// The widest that fit are shown.
const COLUMNS: [Columns; 3] = [
    Columns {
        room: 490.0,
        address: 100.0,
        map: 72.0,
        figure: 66.0,
        pool: Some(96.0),
        has_signs: true,
        is_wide: true,
    },
    Columns {
        room: 300.0,
        address: 78.0,
        map: 24.0,
        figure: 54.0,
        pool: Some(40.0),
        has_signs: true,
        is_wide: false,
    },
    Columns {
        room: 0.0,
        address: 72.0,
        map: 24.0,
        figure: 44.0,
        pool: None,
        has_signs: false,
        is_wide: false,
    },
];

impl Columns {
    fn of(room: f32) -> Self {
        let fitting = COLUMNS.into_iter().find(|columns| columns.room <= room);
        fitting.unwrap_or(COLUMNS[2])
    }

    fn heads(&self) -> Vec<Head<'static>> {
        let figure = Column::exact(self.figure).clip(true);
        let pool = self.pool.map(|least| Column::remainder().at_least(least).clip(true));
        let pool_title = if self.is_wide { "stream, pool" } else { "pool" };
        let address = Column::exact(self.address).clip(true);
        let heads = [
            ("segment", "address of segments", Some(address), false),
            ("map", "", Some(Column::exact(self.map)), false),
            ("size", "size of segments", Some(figure), true),
            ("active", "active bytes", Some(figure), true),
            ("inactive", "inactive or free bytes", Some(figure), true),
            (pool_title, "stream and pool", pool, false),
        ];
        let heads = heads.into_iter().filter_map(|(title, sorts_by, width, is_number)| {
            Some(Head {
                sorts_by,
                about: sorts_by.to_owned(),
                is_number,
                ..Head::new(title, width?)
            })
        });
        heads.collect()
    }
}

/// A figure: the sign of its bound, and its bytes.
type Figure = (&'static str, Bytes);

/// Active, and inactive or free.
fn figures(sums: &AllocatorSums) -> [Figure; 2] {
    [
        (sums.at_least(), sums.active + sums.awaiting_free),
        (sums.at_most(), sums.inactive_split + sums.free),
    ]
}

const ROW: f32 = 20.0;

/// By address.
pub(super) const USUAL: Sort = Sort {
    column: 0,
    is_descending: false,
};

/// Returns a segment that was clicked.
pub(super) fn allocator_ui<'a>(
    ui: &mut egui::Ui,
    recording: &Recording,
    (state, pinned): (&'a AllocatorState, Option<&PinnedSegments>),
    sorting: &mut Sorting,
    theme: &Theme,
) -> Option<&'a SegmentState> {
    sums_ui(ui, state);
    if !state.sums.is_exact() {
        let text = format!(
            "\u{2264} and \u{2265}: the file states only the requested bytes of {} of {}.",
            grouped(state.sums.unstated_blocks),
            counted(state.sums.active_blocks + state.sums.awaiting_blocks, "block")
        );
        wrapped_ui(ui, RichText::new(text).color(theme.text_weak));
    }
    ui.add_space(4.0);
    pools_ui(ui, recording, state);
    if let Some(pinned) = pinned {
        pinned_ui(ui, pinned);
    }
    segments_ui(ui, recording, state, sorting, theme)
}

/// The sums of each pool of a stream, where there are several.
fn pools_ui(ui: &mut egui::Ui, recording: &Recording, state: &AllocatorState) {
    if state.pools.len() < 2 {
        return;
    }
    ui.strong(format!("Pools: {}", state.pools.len()));
    let grid = egui::Grid::new("allocator pools").num_columns(4).min_col_width(0.0);
    grid.spacing([8.0, 2.0]).striped(true).show(ui, |ui| {
        for title in ["stream, pool", "reserved", "active", "inactive, free"] {
            ui.label(RichText::new(title).size(SIZE).weak());
        }
        ui.end_row();
        for pool in &state.pools {
            let sums = &pool.sums;
            let name = format!("{}, {}", pool.stream, kind_text(recording, pool.kind));
            let hint = format!("{name}\n{}", hover_text(sums));
            ui.label(RichText::new(name).size(SIZE)).on_hover_text(hint);
            for figure in [("", sums.reserved)].into_iter().chain(figures(sums)) {
                figure_ui(ui, figure, &COLUMNS[1]);
            }
            ui.end_row();
        }
    });
    ui.add_space(4.0);
}

/// Call sites that are listed.
const MOST_SITES: usize = 5;

/// What keeps partly free segments, once it is opened: a sentence, and the call sites that pin most.
fn pinned_ui(ui: &mut egui::Ui, pinned: &PinnedSegments) {
    if pinned.sites.is_empty() {
        return;
    }
    let title = format!("Gaps beside live blocks: {}{}", pinned.at_most(), pinned.gaps());
    egui::CollapsingHeader::new(title)
        .id_salt("pinned segments")
        .show(ui, |ui| sites_ui(ui, pinned));
}

fn sites_ui(ui: &mut egui::Ui, pinned: &PinnedSegments) {
    wrapped_ui(ui, RichText::new(pinned.sentence()).weak());
    let grid = egui::Grid::new("pinned segments").num_columns(3).min_col_width(0.0);
    grid.spacing([8.0, 2.0]).striped(true).show(ui, |ui| {
        for title in ["pinned", "segments", "by"] {
            ui.label(RichText::new(title).size(SIZE).weak());
        }
        ui.end_row();
        for site in pinned.sites.iter().take(MOST_SITES) {
            let hint = format!(
                "{}\n{} in gaps of {} with {} of this call site ({}); {} in segments that hold nothing else",
                site.name,
                site.pinned.exact(),
                counted(site.segments, "segment"),
                counted(site.blocks, "block"),
                site.live,
                site.pinned_alone
            );
            ui.label(RichText::new(site.pinned.to_string()).size(SIZE));
            ui.label(RichText::new(grouped(site.segments)).size(SIZE));
            let name = egui::Label::new(RichText::new(&site.name).size(SIZE)).truncate();
            ui.add(name).on_hover_text(hint);
            ui.end_row();
        }
    });
    let left = pinned.sites.len().saturating_sub(MOST_SITES);
    if left > 0 {
        ui.label(
            RichText::new(format!("and {} more", counted(left as u64, "call site")))
                .size(SIZE)
                .weak(),
        );
    }
    ui.add_space(4.0);
}

fn sums_ui(ui: &mut egui::Ui, state: &AllocatorState) {
    let sums = &state.sums;
    let (least, most) = (sums.at_least(), sums.at_most());
    let grid = egui::Grid::new("allocator sums").num_columns(3).spacing([6.0, 3.0]);
    grid.show(ui, |ui| {
        let mut row = |what: &str, bound: &str, bytes: Bytes, note: String| {
            ui.weak(what);
            ui.label(format!("{bound}{bytes}")).on_hover_text(bytes.exact());
            ui.weak(note);
            ui.end_row();
        };
        row("active", least, sums.active, counted(sums.active_blocks, "block"));
        if sums.awaiting_blocks > 0 {
            let count = counted(sums.awaiting_blocks, "block");
            row("awaiting free", least, sums.awaiting_free, count);
        }
        row("inactive split", most, sums.inactive_split, counted(sums.gaps, "gap"));
        row("free segments", "", sums.free, counted(sums.free_segments, "segment"));
        row("largest free block", most, sums.largest_free, String::new());
        row("rounding", least, sums.rounding(), "in blocks".to_owned());
        if state.outside.0 > 0 {
            row(
                "outside segments",
                "",
                state.outside.1,
                counted(state.outside.0, "block"),
            );
        }
    });
}

fn pool_text(recording: &Recording, segment: &SegmentState) -> String {
    kind_text(recording, segment.kind)
}

fn kind_text(recording: &Recording, kind: RecordedName) -> String {
    match recording.segment_kind(kind) {
        (kind, Some(pool)) => format!("{kind}, private {pool}"),
        (kind, None) => kind.to_owned(),
    }
}

fn segments_ui<'a>(
    ui: &mut egui::Ui,
    recording: &Recording,
    state: &'a AllocatorState,
    sorting: &mut Sorting,
    theme: &Theme,
) -> Option<&'a SegmentState> {
    ui.strong(format!("Segments: {}", grouped(state.segments.len() as u64)));
    let mut rows: Vec<&'a SegmentState> = state.segments.iter().collect();
    let pool = |row: &SegmentState| (row.stream, pool_text(recording, row));
    let inactive = |row: &SegmentState| row.sums.inactive_split + row.sums.free;
    sorting.order(&mut rows, |column, one, other| match column {
        2 => one.bytes.cmp(&other.bytes),
        3 => one.sums.active.cmp(&other.sums.active),
        4 => inactive(one).cmp(&inactive(other)),
        5 => pool(one).cmp(&pool(other)),
        _ => one.address.cmp(&other.address),
    });
    let columns = Columns::of(ui.available_width());
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 2.0;
    let table = TableBuilder::new(ui)
        .id_salt("allocator segments")
        .striped(true)
        .sense(Sense::click())
        .auto_shrink([false, true]);
    let mut clicked = None;
    sorted_table_ui(table, &columns.heads(), sorting, (ROW, rows.len()), |line, _| {
        let Some(row) = rows.get(line.index()) else { return };
        segment_ui(line, recording, row, &columns, theme);
        if line.response().clicked() {
            clicked = Some(*row);
        }
    });
    clicked
}

fn segment_ui(
    line: &mut TableRow<'_, '_>,
    recording: &Recording,
    row: &SegmentState,
    columns: &Columns,
    theme: &Theme,
) {
    let address = format!("{:#x}", row.address);
    let pool = pool_text(recording, row);
    let hint = format!("{address}, stream {}, {pool}\nClick: find its blocks", row.stream);
    let text = |text: String| egui::Label::new(RichText::new(text).size(SIZE)).selectable(false);
    line.col(|ui| {
        let shown = if columns.is_wide {
            address.clone()
        } else {
            elided_start(ui, address.trim_start_matches("0x"), ui.available_width())
        };
        ui.add(text(shown)).on_hover_text(&hint);
    });
    line.col(|ui| map_ui(ui, row, theme));
    for figure in [("", row.bytes)].into_iter().chain(figures(&row.sums)) {
        line.col(|ui| figure_ui(ui, figure, columns));
    }
    if columns.pool.is_some() {
        line.col(|ui| {
            // The number tells private pools apart where there is no room for all.
            let shown = match recording.segment_kind(row.kind) {
                (_, Some(number)) if !columns.is_wide => format!("{} {number}", row.stream),
                _ => format!("{}, {pool}", row.stream),
            };
            ui.add(text(shown)).on_hover_text(&hint);
        });
    }
}

/// The end of an address: segments differ there.
fn elided_start(ui: &egui::Ui, digits: &str, room: f32) -> String {
    let ends = (0..digits.len()).map(|cut| match cut {
        0 => digits.to_owned(),
        cut => format!("…{}", digits.get(cut..).unwrap_or_default()),
    });
    let mut fitting = ends.filter(|text| width_of(ui, text, SIZE) <= room);
    fitting.next().unwrap_or_default()
}

fn figure_ui(ui: &mut egui::Ui, (sign, bytes): Figure, columns: &Columns) {
    let shown_sign = if columns.has_signs { sign } else { "" };
    let text = if columns.is_wide {
        format!("{shown_sign}{bytes}")
    } else {
        format!("{shown_sign}{}", bytes.short())
    };
    let label = egui::Label::new(RichText::new(text).size(SIZE)).selectable(false);
    ui.add(label).on_hover_text(format!("{sign}{}", bytes.exact()));
}

/// The pieces of a segment side by side; blocks smaller than a pixel stay visible.
fn map_ui(ui: &mut egui::Ui, segment: &SegmentState, theme: &Theme) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width() - 2.0, ROW - 8.0), Sense::hover());
    let painter = ui.painter();
    painter.rect_filled(rect, 0, theme.canvas);
    let x = |offset: u64| rect.left() + rect.width() * to_points(part_of(offset, segment.bytes.get().max(1)));
    for piece in &segment.pieces {
        let color = match piece.kind {
            PieceKind::Active => theme.live,
            PieceKind::AwaitingFree => theme.reserved,
            PieceKind::Inactive | PieceKind::Free => continue,
        };
        let start = piece.address - segment.address;
        let (left, right) = (x(start), x(start.saturating_add(piece.bytes.get())));
        let right = right.clamp(left + 0.5, rect.right().max(left + 0.5));
        painter.rect_filled(
            Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom())),
            0,
            color,
        );
    }
    let stroke = egui::Stroke::new(1.0, theme.frame);
    painter.rect_stroke(rect, 0, stroke, StrokeKind::Outside);
    response.on_hover_text(hover_text(&segment.sums));
}

fn hover_text(sums: &AllocatorSums) -> String {
    let (least, most) = (sums.at_least(), sums.at_most());
    format!(
        "{}: {least}{} active\n{least}{} awaiting free\n{most}{} inactive, largest free {most}{}",
        counted(sums.active_blocks + sums.awaiting_blocks, "block"),
        sums.active,
        sums.awaiting_free,
        sums.inactive_split + sums.free,
        sums.largest_free
    )
}
