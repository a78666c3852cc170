//! Areas instead of a memory map: what every group holds, the groups standing on each other, the reserved bytes as a line above.

use std::sync::Arc;

use eframe::egui::{Align2, Color32, Painter, Rect, Stroke, StrokeKind, Ui, pos2};

use super::canvas::{Quads, SMALL, left_axis};
use super::column_cache::KnownColumns;
use super::frame::LaneFrame;
use super::{LanesInput, LanesState, tooltip};
use crate::panels::elided_middle;
use crate::theme::Theme;
use highwater_model::units::{Bytes, grouped, percent_text};
use highwater_timeline::{AreaBand, AreaColumns, AreaSource, ColorBy, LaneAreas, View, byte_ticks};

/// Longer names are cut.
const MOST_NAME: f32 = 150.0;
/// Lower bands have no name on them.
const LEAST_NAMED: f32 = 13.0;

/// What columns are made for: the numbers of answer and look, the addresses of areas and axis (which others may have later),
/// the steps in view, the width.
type AreaKey = ((u64, u64), [usize; 2], [u64; 2], u32);

/// The columns of a lane, and what they were made for.
#[derive(Clone, Debug)]
pub(super) struct AreaPicture {
    of: AreaKey,
    columns: Arc<AreaColumns>,
}

impl PartialEq for AreaPicture {
    /// Columns follow from what is shown.
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of
    }
}

/// Paints the areas of a lane.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "points on a screen fit both types"
)]
pub(super) fn paint(
    ui: &Ui,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
    pictures: &mut [Option<AreaPicture>],
    known: &mut KnownColumns,
) {
    let (rect, theme) = (frame.map, input.theme);
    let Some(view) = frame.view(state).filter(|_| rect.height() >= 1.0) else {
        return;
    };
    let outer = ui.painter();
    outer.rect_filled(rect, 0, theme.canvas);
    let most = (rect.height() / 22.0).clamp(1.0, 8.0) as u32;
    let place = Place { rect, view };
    let y = |bytes: f64| place.y(bytes);
    left_axis(outer, rect, &byte_ticks(view.a0, view.a1, most), y, theme);
    let painter = ui.painter_at(rect);
    let width = (rect.width() * ui.pixels_per_point()).round().max(1.0) as u32;
    match areas_of(input, frame.lane) {
        Some(areas) => {
            let columns = columns_of(areas, input.drawn.version, &view, width, pictures, frame.lane);
            paint_bands(&painter, place, areas, &columns, theme);
            let (states_reserved, _) = input.comparison.states(frame.lane);
            if states_reserved {
                let reserved = &input.timeline.lanes[frame.lane].reserved;
                let columns = known.of(reserved, (&view, state.warp.as_ref()), width);
                paint_reserved(&painter, place, &columns, theme);
            }
            paint_names(ui, place, areas, &columns, theme);
        }
        None => {
            painter.text(
                rect.center(),
                Align2::CENTER_CENTER,
                "adding up groups …",
                SMALL,
                theme.text_weak,
            );
        }
    }
    outer.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
}

/// The areas of a lane, where they are worked out.
fn areas_of<'a>(input: &LanesInput<'a>, lane: usize) -> Option<&'a LaneAreas> {
    let is_of_groups = input.drawn.look.is_some_and(|look| look.by != ColorBy::Tensor);
    let areas = input.drawn.areas.filter(|_| is_of_groups);
    areas.and_then(|areas| areas.lanes.get(lane)).map(|areas| &**areas)
}

fn columns_of(
    areas: &LaneAreas,
    version: (u64, u64),
    view: &View<'_>,
    width: u32,
    pictures: &mut [Option<AreaPicture>],
    lane: usize,
) -> Arc<AreaColumns> {
    let steps = [view.t0.to_bits(), view.t1.to_bits()];
    let axis = view.axis().map_or(0, |axis| std::ptr::from_ref(axis).addr());
    let of = (version, [std::ptr::from_ref(areas).addr(), axis], steps, width);
    // Lanes that hold the same share their areas.
    let known = pictures.iter().flatten().find(|known| known.of == of);
    let columns = known.map_or_else(
        || Arc::new(areas.columns(*view, width)),
        |known| Arc::clone(&known.columns),
    );
    pictures[lane] = Some(AreaPicture {
        of,
        columns: Arc::clone(&columns),
    });
    columns
}

/// A canvas with bytes from the ground up.
#[derive(Clone, Copy)]
struct Place<'a> {
    rect: Rect,
    view: View<'a>,
}

impl Place<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
    fn y(&self, bytes: f64) -> f32 {
        let height = f64::from(self.rect.height());
        let y = self.view.y_from_address(bytes, height);
        self.rect.top() + y.clamp(-4.0, height + 4.0) as f32
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
    fn y_of(&self, bytes: u64) -> f32 {
        self.y(bytes as f64)
    }

    /// Left and right end of a column.
    #[expect(clippy::cast_precision_loss, reason = "columns of a screen")]
    fn x(&self, column: usize, n_columns: usize) -> f32 {
        self.rect.left() + self.rect.width() * column as f32 / n_columns.max(1) as f32
    }
}

fn color_of(band: &AreaBand, theme: &Theme) -> Color32 {
    match band.of {
        AreaSource::Blocks(color) => theme.block(color),
        AreaSource::Regions(owner) => theme.owner(owner),
    }
}

/// Words on a band.
fn words_color(band: &AreaBand, theme: &Theme) -> Color32 {
    match band.of {
        AreaSource::Blocks(_) => theme.on_tensor(),
        AreaSource::Regions(_) => theme.text,
    }
}

/// Equal neighbours become one quad.
fn paint_bands(painter: &Painter, place: Place<'_>, areas: &LaneAreas, columns: &AreaColumns, theme: &Theme) {
    let n_columns = columns.steps.len();
    let mut quads = Quads::default();
    let mut start = 0;
    for end in 1..=n_columns {
        if end < n_columns && columns.tops(end) == columns.tops(start) {
            continue;
        }
        let (left, right) = (place.x(start, n_columns), place.x(end, n_columns));
        let mut below = 0;
        for (band, top) in areas.bands.iter().zip(columns.tops(start)) {
            if *top > below {
                let rect = Rect::from_min_max(pos2(left, place.y_of(*top)), pos2(right, place.y_of(below)));
                quads.add(rect, color_of(band, theme));
            }
            below = *top;
        }
        if below > 0 {
            let y = place.y_of(below);
            quads.add(Rect::from_min_max(pos2(left, y), pos2(right, y + 1.0)), theme.live);
        }
        start = end;
    }
    quads.paint(painter);
}

/// The reserved bytes as a line: the exact extremes of every column.
fn paint_reserved(painter: &Painter, place: Place<'_>, columns: &[(u64, u64)], theme: &Theme) {
    let mut quads = Quads::default();
    let mut start = 0;
    for end in 1..=columns.len() {
        if columns.get(end) == Some(&columns[start]) {
            continue;
        }
        let (low, high) = columns[start];
        // Neighbours that do not meet are joined.
        let beside = columns.get(end).copied().unwrap_or((low, high));
        let (low, high) = (low.min(beside.1), high.max(beside.0));
        let (left, right) = (place.x(start, columns.len()), place.x(end, columns.len()));
        let level = place.y_of(columns[start].1);
        quads.add(
            Rect::from_min_max(pos2(left, level), pos2(right, level + 1.5)),
            theme.reserved,
        );
        let joint = Rect::from_min_max(
            pos2(right - 1.0, place.y_of(high)),
            pos2(right, place.y_of(low).max(place.y_of(high) + 1.5)),
        );
        quads.add(joint, theme.reserved);
        start = end;
    }
    quads.paint(painter);
}

/// The middle of the longest stretch of columns that are about as high as the highest.
fn widest(n_columns: usize, height: impl Fn(usize) -> u64) -> Option<usize> {
    let most = (0..n_columns).map(&height).max()?;
    let (mut best, mut first) = (0..0, 0);
    for column in 0..=n_columns {
        if column == n_columns || height(column) < most - most / 8 {
            if column - first > best.len() {
                best = first..column;
            }
            first = column + 1;
        }
    }
    (!best.is_empty()).then(|| usize::midpoint(best.start, best.end))
}

/// The name of a band where it is highest, if it has room for it there.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "columns of a screen"
)]
fn paint_names(ui: &Ui, place: Place<'_>, areas: &LaneAreas, columns: &AreaColumns, theme: &Theme) {
    let painter = ui.painter_at(place.rect);
    let n_columns = columns.steps.len();
    for (number, band) in areas.bands.iter().enumerate() {
        let edges = |column: usize| {
            let tops = columns.tops(column);
            let below = number.checked_sub(1).map_or(0, |below| tops[below]);
            (below, tops[number])
        };
        let height = |column: usize| {
            let (below, top) = edges(column);
            top - below
        };
        let Some(highest) = widest(n_columns, height) else {
            continue;
        };
        let (below, top) = edges(highest);
        if place.y_of(below) - place.y_of(top) < LEAST_NAMED {
            continue;
        }
        let galley = painter.layout_no_wrap(
            elided_middle(ui, &band.text, SMALL.size, MOST_NAME),
            SMALL,
            words_color(band, theme),
        );
        let half = galley.size().x / 2.0 + 3.0;
        let middle = place.x(highest, n_columns).clamp(
            place.rect.left() + half,
            (place.rect.right() - half).max(place.rect.left() + half),
        );
        let column = |x: f32| ((x - place.rect.left()) / place.rect.width() * n_columns as f32) as usize;
        let under = column(middle - half)..=column(middle + half).min(n_columns - 1);
        let free = under.map(edges).fold((0_u64, u64::MAX), |free, (below, top)| {
            (free.0.max(below), free.1.min(top))
        });
        let (low, high) = (place.y_of(free.0), place.y_of(free.1));
        if free.0 < free.1 && low - high >= LEAST_NAMED {
            let at = pos2(middle, f32::midpoint(low, high)) - galley.size() / 2.0;
            painter.galley(at, galley, words_color(band, theme));
        }
    }
}

/// What a tooltip says of the place under the pointer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "columns of a screen"
)]
pub(super) fn tooltip_ui(
    ui: &mut Ui,
    pos: eframe::egui::Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let rect = frame.map;
    let place = frame.view(state).map(|view| Place { rect, view });
    let picture = state.area_pictures.get(frame.lane).and_then(Option::as_ref);
    let Some(((place, areas), picture)) = place.zip(areas_of(input, frame.lane)).zip(picture) else {
        return;
    };
    let columns = &picture.columns;
    let column = ((pos.x - rect.left()) / rect.width() * columns.steps.len() as f32) as usize;
    let Some(step) = columns.steps.get(column).copied().flatten() else {
        return;
    };
    let bytes = place
        .view
        .address_from_y(f64::from(pos.y - rect.top()), f64::from(rect.height()));
    let total = areas.total.at(step);
    let lane = &input.timeline.lanes[frame.lane];
    let (states_reserved, _) = input.comparison.states(frame.lane);
    let reserved = lane.reserved.at(step);
    let mut rows = vec![(
        "at",
        format!("{} {}", input.comparison.axis_word(), grouped(u64::from(step))),
    )];
    match areas.band_at(step, bytes) {
        Some((band, own)) => {
            ui.strong(&band.text);
            rows.push(("occupies", tooltip::exact(own)));
            #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
            let share = own.get() as f64 / total.max(1) as f64;
            rows.push(("share", percent_text(share * 100.0)));
        }
        None => {
            ui.strong("no group");
        }
    }
    rows.push(("all groups", tooltip::exact(Bytes(total))));
    if states_reserved {
        rows.push(("reserved", tooltip::exact(Bytes(reserved))));
        let idle = reserved.saturating_sub(total);
        rows.push(("in no group", tooltip::exact(Bytes(idle))));
    }
    tooltip::rows_ui(ui, &rows);
}
