//! Areas instead of a memory map: the bytes that every group holds, stacked, and reserved bytes as a line.

use std::ops::Range;
use std::sync::Arc;

use eframe::egui::{Align2, Color32, Label, Painter, Rect, RichText, Stroke, StrokeKind, Ui, pos2};

use super::canvas::{Quads, SMALL, equal_runs, left_axis};
use super::column_cache::{ColumnCache, FrameCache};
use super::frame::LaneFrame;
use super::{LanesInput, LanesState, tooltip};
use crate::numbers::{at_least_one, count_f32, part_of, to_f64, to_points, to_whole};
use crate::panels::elided_middle;
use crate::theme::Theme;
use highwater_model::units::{Bytes, Step, percent_text};
use highwater_timeline::{AreaBand, AreaColumns, AreaSource, ColorBy, LaneAreas, View, byte_ticks};

/// Cuts longer names.
const MOST_NAME: f32 = 150.0;
/// Lower bands have no name.
const LEAST_NAMED: f32 = 13.0;

/// Versions of answer and colours, addresses of areas and axis, steps in view, width. Addresses may be reused, so the
/// versions are compared too.
pub(super) type AreaKey = ((u64, u64), [usize; 2], [u64; 2], u32);

pub(super) fn paint(
    ui: &Ui,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
    areas_known: &mut FrameCache<AreaKey, Arc<AreaColumns>>,
    known: &mut ColumnCache,
) {
    let (rect, theme) = (frame.map, input.theme);
    let Some(view) = frame.view(state).filter(|_| rect.height() >= 1.0) else {
        return;
    };
    let outer = ui.painter();
    outer.rect_filled(rect, 0, theme.canvas);
    let most = at_least_one((rect.height() / 22.0).min(8.0));
    let place = Place { rect, view };
    let y = |bytes: f64| place.y(bytes);
    left_axis(outer, rect, &byte_ticks(view.a0, view.a1, most), y, theme);
    let painter = ui.painter_at(rect);
    let width = pixels(ui, rect);
    match areas_of(input, frame.lane) {
        Some(areas) => {
            let key = key_of(areas, input.drawn.version, &view, width);
            let columns = areas_known.get(key, || Arc::new(areas.columns(view, width)));
            paint_bands(&painter, place, areas, &columns, theme);
            let (states_reserved, _) = input.comparison.states(frame.lane);
            if states_reserved {
                let reserved = &input.timeline.lanes[frame.lane].reserved;
                let columns = known.of(reserved, &view, state.warp.as_ref(), width);
                paint_reserved(&painter, place, &columns, theme);
            }
            paint_names(ui, place, areas, &columns, theme);
        }
        None => {
            painter.text(
                rect.center(),
                Align2::CENTER_CENTER,
                "summing groups …",
                SMALL,
                theme.text_weak,
            );
        }
    }
    outer.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
}

/// `None` until the worker has added them up.
fn areas_of<'a>(input: &LanesInput<'a>, lane: usize) -> Option<&'a LaneAreas> {
    let is_of_groups = input.drawn.look.is_some_and(|look| look.by != ColorBy::Tensor);
    let areas = input.drawn.areas.filter(|_| is_of_groups);
    areas.and_then(|areas| areas.lanes.get(lane)).map(|areas| &**areas)
}

fn pixels(ui: &Ui, rect: Rect) -> u32 {
    at_least_one((rect.width() * ui.pixels_per_point()).round())
}

/// Lanes that hold the same share their areas.
fn key_of(areas: &LaneAreas, version: (u64, u64), view: &View<'_>, width: u32) -> AreaKey {
    let steps = [view.t0.to_bits(), view.t1.to_bits()];
    let axis = view.axis().map_or(0, |axis| std::ptr::from_ref(axis).addr());
    (version, [std::ptr::from_ref(areas).addr(), axis], steps, width)
}

/// A canvas with bytes from the bottom up.
#[derive(Clone, Copy)]
struct Place<'a> {
    rect: Rect,
    view: View<'a>,
}

impl Place<'_> {
    fn y(&self, bytes: f64) -> f32 {
        let height = f64::from(self.rect.height());
        let y = self.view.y_from_address(bytes, height);
        self.rect.top() + to_points(y.clamp(-4.0, height + 4.0))
    }

    fn y_of(&self, bytes: u64) -> f32 {
        self.y(to_f64(bytes))
    }

    /// The left end of a column; the right end of the one before it.
    fn x(&self, column: usize, n_columns: usize) -> f32 {
        self.rect.left() + self.rect.width() * count_f32(column) / count_f32(n_columns.max(1))
    }
}

fn color_of(band: &AreaBand, theme: &Theme) -> Color32 {
    match band.of {
        AreaSource::Blocks(color) => theme.block(color),
        AreaSource::Regions(owner) => theme.owner(owner),
    }
}

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
    for Range { start, end } in equal_runs(n_columns, |one, other| columns.tops(one) == columns.tops(other)) {
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
    }
    quads.paint(painter);
}

/// Reserved bytes as a line with the exact extremes of every column.
fn paint_reserved(painter: &Painter, place: Place<'_>, columns: &[(u64, u64)], theme: &Theme) {
    let mut quads = Quads::default();
    for Range { start, end } in equal_runs(columns.len(), |one, other| columns[one] == columns[other]) {
        let (low, high) = columns[start];
        // Joins neighbours that do not meet.
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

/// The column at a place on the screen; the first left of the canvas.
fn column_at(x: f32, rect: Rect, n_columns: usize) -> usize {
    let column = (x - rect.left()) / rect.width() * count_f32(n_columns);
    usize::try_from(to_whole(f64::from(column))).unwrap_or(usize::MAX)
}

/// Writes the name of a band where the band is highest and the name fits.
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
        let column = |x: f32| column_at(x, place.rect, n_columns);
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

pub(super) fn tooltip_ui(
    ui: &mut Ui,
    pos: eframe::egui::Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let rect = frame.map;
    let place = frame.view(state).map(|view| Place { rect, view });
    let Some((place, areas)) = place.zip(areas_of(input, frame.lane)) else {
        return;
    };
    let key = key_of(areas, input.drawn.version, &place.view, pixels(ui, rect));
    let Some(columns) = state.caches.areas.known(&key) else {
        return;
    };
    let column = column_at(pos.x, rect, columns.steps.len());
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
    let mut rows = Vec::new();
    let title = match areas.band_at(step, bytes) {
        Some((band, own)) => {
            let share = percent_text(part_of(own.get(), total) * 100.0);
            rows.push(("occupies", format!("{own}, {share} of all groups")));
            band.text.as_str()
        }
        None => "no group",
    };
    ui.add(Label::new(RichText::new(title).strong()).truncate());
    let at = input.comparison.step_text(frame.lane, Step(step));
    let of_reserved = if states_reserved {
        format!(" of {} reserved", Bytes(reserved))
    } else {
        String::new()
    };
    rows.push(("all groups", format!("{}{of_reserved} at {at}", Bytes(total))));
    tooltip::rows_ui(ui, &rows);
}
