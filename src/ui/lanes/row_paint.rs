//! Paints lifetimes: live ranges, gaps with marks, names, outlines; or a picture of many rows.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, ColorImage, Painter, Rect, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, pos2, vec2,
};

use super::canvas::{Quads, SMALL, on_canvas, text_in};
use super::rows::Shown;
use super::{LanesInput, eviction_interval, frame, map, remat, searched};
use crate::numbers::to_points;
use highwater_model::units::grouped;
use highwater_session::RowsPicture;
use highwater_timeline::{RematMarkKind, RowItems, Selected, tensor_name};

const MIN_LABEL_WIDTH: f32 = 60.0;
const MIN_LABEL_HEIGHT: f32 = 11.0;
const MOST_LABELS: usize = 200;

#[derive(Clone, Default)]
pub(super) struct RowTexture(Option<(Arc<RowsPicture>, TextureHandle)>);

impl std::fmt::Debug for RowTexture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "RowTexture"
        } else {
            "no RowTexture"
        })
    }
}

impl RowTexture {
    /// Uploads a picture once.
    fn take(&mut self, ui: &Ui, picture: &Arc<RowsPicture>) {
        let is_there = self.0.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, picture));
        if !is_there && picture.shown.layout.n_rows() > 0 {
            let frame = &picture.shown.raster.frame;
            let size = [frame.width as usize, frame.height as usize];
            let image = ColorImage::from_rgba_premultiplied(size, &picture.shown.raster.rgba);
            let handle = ui.ctx().load_texture("rows", image, TextureOptions::NEAREST);
            self.0 = Some((Arc::clone(picture), handle));
        }
    }

    /// The rows as a picture, stretched to the current view.
    fn paint(&self, painter: &Painter, body: Rect, shown: &Shown<'_>, tint: Color32) {
        let Some((picture, handle)) = self.0.as_ref().filter(|_| shown.layout.n_rows() > 0) else {
            return;
        };
        let width = f64::from(body.width());
        let x = |step: f64| body.left() + to_points(shown.view.x_from_step(step, width).clamp(-1e6, 1e6));
        let top = body.top() - to_points(shown.window.sight.0);
        let place = Rect::from_min_max(
            pos2(x(picture.of.view.t0), top),
            pos2(x(picture.of.view.t1), top + to_points(shown.layout.height)),
        );
        let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        painter.image(handle.id(), place, uv, tint);
    }
}

/// Returns the numbers of shapes and of rows.
pub(super) fn paint(
    ui: &Ui,
    body: Rect,
    shown: &Shown<'_>,
    input: &LanesInput<'_>,
    marked: [Option<Selected>; 2],
    texture: &mut RowTexture,
) -> (usize, usize) {
    let theme = input.theme;
    let painter = ui.painter_at(body.expand2(vec2(frame::GUTTER, 1.0)));
    let inside = painter.with_clip_rect(body.intersect(painter.clip_rect()));
    let items = match shown.picture {
        Some(_) => RowItems::default(),
        None => shown.rows.items(&shown.layout, shown.view, &shown.window),
    };
    if let Some(picture) = input.drawn.rows_picture.filter(|_| shown.picture.is_some()) {
        texture.take(ui, picture);
        let tint = theme.picture_tint(input.selected.is_some());
        texture.paint(&inside, body, shown, tint);
    } else {
        *texture = RowTexture::default();
        paint_rows(&inside, body, shown, &items, input);
    }
    for (tensor, stroke) in marked
        .into_iter()
        .zip([Stroke::new(1.5, theme.hover), Stroke::new(2.5, theme.selection)])
    {
        outline(&painter, body, shown, input, tensor, stroke);
    }
    painter.rect_stroke(body, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
    let n_rows = shown.layout.n_alive;
    let words = if n_rows == 1 { "row" } else { "rows" };
    // Large numbers have a line of their width.
    let lines = [grouped(u64::try_from(n_rows).unwrap_or(u64::MAX)), words.to_owned()];
    for (text, y) in lines.into_iter().zip([7.0, 19.0]) {
        let pos = pos2(body.left() - 6.0, body.top() + y);
        painter.text(pos, Align2::RIGHT_CENTER, text, SMALL, theme.text_weak);
    }
    let drawn = if shown.picture.is_some() {
        n_rows
    } else {
        items.items.n_drawn()
    };
    (drawn, n_rows)
}

fn paint_rows(painter: &Painter, body: Rect, shown: &Shown<'_>, items: &RowItems, input: &LanesInput<'_>) {
    let mut quads = Quads::with_capacity(items.items.n_drawn());
    map::add_items(&mut quads, &items.items, body, |item| {
        color(shown, item.block as usize, item.color, input)
    });
    quads.paint(painter);
    searched::paint_rows(painter, body, shown, input);
    let gaps: Vec<Rect> = items.gaps.iter().map(|gap| on_canvas(gap, body)).collect();
    eviction_interval::hatched(painter, &gaps, input.theme);
    paint_labels(painter, body, shown, items, input);
    paint_gap_marks(painter, body, items, input, shown.rows.lane);
}

/// The colour of the row's block, dimmed beside a selection.
fn color(shown: &Shown<'_>, position: usize, own: u8, input: &LanesInput<'_>) -> Color32 {
    let number = shown.layout.number(shown.rows, position);
    let block = number.and_then(|number| shown.rows.block(number));
    let lane = input.timeline.lanes.get(shown.rows.lane);
    let known = lane
        .zip(block)
        .map(|(lane, block)| input.drawn.color(shown.rows.lane, lane, block));
    let color = input.theme.block(known.unwrap_or(own));
    searched::color(input, shown.tensor(position), color)
}

/// A message in place of rows.
pub(super) fn nothing_ui(ui: &Ui, body: Rect, input: &LanesInput<'_>, words: &str) {
    let color = input.theme.text_weak;
    ui.painter_at(body)
        .text(body.center(), Align2::CENTER_CENTER, words, SMALL, color);
}

/// An eviction at the start of each gap and a recomputation at its end, where both fit.
fn paint_gap_marks(painter: &Painter, body: Rect, rows: &RowItems, input: &LanesInput<'_>, lane: usize) {
    const LEAST: f32 = 8.0;
    if input.timeline.lanes.get(lane).is_none_or(|lane| lane.remat.is_none()) {
        return;
    }
    for gap in &rows.gaps {
        let place = on_canvas(gap, body);
        if place.height() < LEAST || place.width() < LEAST {
            continue;
        }
        let inset = vec2(4.0, 0.0);
        let ends = [
            (place.left_center() + inset, RematMarkKind::Evict),
            (place.right_center() - inset, RematMarkKind::Rematerialize),
        ];
        for (at, kind) in ends {
            if place.width() >= 2.0 * LEAST || kind == RematMarkKind::Evict {
                remat::mark(painter, at, kind, input.theme);
            }
        }
    }
}

/// Names on wide rows; after short ones where there is room.
fn paint_labels(painter: &Painter, body: Rect, shown: &Shown<'_>, items: &RowItems, input: &LanesInput<'_>) {
    if shown.layout.row_height < f64::from(MIN_LABEL_HEIGHT) {
        return;
    }
    let rects = &items.items.rects;
    let mut last = None;
    for (n, item) in rects.iter().enumerate().take(MOST_LABELS) {
        // A row with several pieces has one name where one is enough, never between pieces.
        let is_last = rects.get(n + 1).is_none_or(|next| next.block != item.block);
        if last.replace(item.block) == Some(item.block) && !is_last {
            continue;
        }
        let Some(tensor) = shown.tensor(item.block as usize) else {
            continue;
        };
        let name = tensor_name(input.comparison, tensor);
        let place = on_canvas(item, body).intersect(body);
        if place.width() >= MIN_LABEL_WIDTH {
            text_in(
                painter,
                place.shrink2(vec2(4.0, 0.0)),
                name,
                (SMALL, input.theme.on_tensor()),
            );
        } else if is_last && body.right() - place.right() >= MIN_LABEL_WIDTH {
            let beside = Rect::from_min_max(
                pos2(place.right() + 4.0, place.top()),
                pos2(body.right(), place.bottom()),
            );
            text_in(painter, beside, name, (SMALL, input.theme.text_weak));
        }
    }
}

/// The place of a row's live range, at least two points high and wide.
fn place_of(body: Rect, shown: &Shown<'_>, input: &LanesInput<'_>, tensor: Selected) -> Option<Rect> {
    let rows = input.timeline.rows_of(shown.rows.lane);
    let (number, row) = (rows.number(tensor)?, rows.find(tensor)?);
    let position = shown.layout.position(shown.rows, number)?;
    let width = f64::from(body.width());
    let x = |step: u32| to_points(shown.view.x_from_step(f64::from(step), width).clamp(-9.0, width + 9.0));
    let y = |y: f64| body.top() + to_points(y - shown.window.sight.0);
    let top = shown.layout.top(position);
    let min = pos2(body.left() + x(row.start.0), y(top));
    let max = pos2(body.left() + x(row.end.0), y(top + shown.layout.row_height));
    Some(Rect::from_min_max(
        min,
        pos2(max.x.max(min.x + 2.0), max.y.max(min.y + 2.0)),
    ))
}

fn outline(
    painter: &Painter,
    body: Rect,
    shown: &Shown<'_>,
    input: &LanesInput<'_>,
    tensor: Option<Selected>,
    stroke: Stroke,
) {
    let Some((tensor, place)) = tensor.and_then(|tensor| Some((tensor, place_of(body, shown, input, tensor)?))) else {
        return;
    };
    painter
        .with_clip_rect(body.intersect(painter.clip_rect()))
        .rect_stroke(place, 0, stroke, StrokeKind::Outside);
    if input.selected == Some(tensor) && body.y_range().contains(place.center().y) {
        let pos = pos2(body.left() - 6.0, place.center().y.max(body.top() + 32.0));
        painter.text(pos, Align2::RIGHT_CENTER, "selected", SMALL, input.theme.selection);
    }
}
