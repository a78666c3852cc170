//! Shared by all canvases: a mesh of quads, texts that fit, axis marks, the crosshair.

use std::ops::Range;

use eframe::egui::epaint::{Mesh, Shape};
use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{Align, Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Ui, pos2, vec2};

use super::LanesState;
use crate::numbers::to_points;
use crate::theme::Theme;
use highwater_timeline::{Canvas, ItemRect, Tick, View};

/// Width of a narrow letter, in points.
const LETTER: f32 = 4.0;

/// Axis marks and labels of blocks.
pub(super) const SMALL: FontId = FontId::proportional(11.0);

pub(super) fn canvas_of(rect: Rect) -> Canvas {
    Canvas {
        width: f64::from(rect.width()),
        height: f64::from(rect.height()),
    }
}

pub(super) fn on_canvas(item: &ItemRect, canvas: Rect) -> Rect {
    Rect::from_min_max(
        pos2(canvas.left() + item.x0, canvas.top() + item.y0),
        pos2(canvas.left() + item.x1, canvas.top() + item.y1),
    )
}

/// Quads painted as one mesh.
#[derive(Default)]
pub(super) struct Quads {
    mesh: Mesh,
}

impl Quads {
    pub(super) fn with_capacity(n_quads: usize) -> Self {
        let mut mesh = Mesh::default();
        mesh.reserve_vertices(n_quads * 4);
        mesh.reserve_triangles(n_quads * 2);
        Self { mesh }
    }

    pub(super) fn reserve(&mut self, n_quads: usize) {
        self.mesh.reserve_vertices(n_quads * 4);
        self.mesh.reserve_triangles(n_quads * 2);
    }

    pub(super) fn add(&mut self, rect: Rect, color: Color32) {
        self.mesh.add_colored_rect(rect, color);
    }

    pub(super) fn into_mesh(self) -> Mesh {
        self.mesh
    }

    pub(super) fn paint(self, painter: &Painter) {
        if !self.mesh.is_empty() {
            painter.add(Shape::mesh(self.mesh));
        }
    }
}

/// A clip rectangle with the same pixels as another, but unequal to it: egui then does not copy the mesh below to
/// append the next shapes.
pub(super) fn beside(clip: Rect) -> Rect {
    clip.expand(1e-3)
}

/// Text in a rectangle, cut with an ellipsis where it is too long.
pub(super) fn text_in(painter: &Painter, rect: Rect, text: &str, style: (FontId, Color32)) {
    let whole = painter.layout_no_wrap(text.to_owned(), style.0.clone(), style.1);
    let galley = if whole.size().x <= rect.width() {
        whole
    } else {
        // Rounded to letters, so that small changes of the width keep the laid out text.
        let room = (rect.width() / LETTER).floor() * LETTER;
        let mut job = LayoutJob::simple_singleline(text.to_owned(), style.0, style.1);
        job.wrap = TextWrapping::truncate_at_width(room);
        painter.layout_job(job)
    };
    let y = rect.center().y - galley.size().y / 2.0;
    painter.galley(pos2(rect.left(), y), galley, style.1);
}

/// Text on a ground, moved inside a rectangle; returns its place. The colours are those of text and ground.
pub(super) fn text_with_ground(
    painter: &Painter,
    place: (Pos2, Align2),
    text: String,
    colors: (Color32, Color32),
    inside: Rect,
) -> Rect {
    let ((pos, anchor), (color, ground)) = (place, colors);
    let galley = painter.layout_no_wrap(text, SMALL, color);
    let mut rect = anchor.anchor_size(pos, galley.size()).expand2(vec2(4.0, 1.0));
    let right = (rect.right() - inside.right()).max(0.0);
    rect = rect.translate(vec2(-right, 0.0));
    let left = (inside.left() - rect.left()).max(0.0);
    let top = (inside.top() - rect.top()).max(0.0);
    rect = rect.translate(vec2(left, top));
    painter.rect_filled(rect, 3, ground);
    painter.galley(rect.min + vec2(4.0, 1.0), galley, color);
    rect
}

/// Ranges of equal neighbours.
pub(super) fn equal_runs(len: usize, is_equal: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end;
        end = (start + 1..len).find(|next| !is_equal(*next, start)).unwrap_or(len);
        (start < len).then_some(start..end)
    })
}

/// Axis marks left of a canvas, with grid lines. `y` maps a value to a height on the screen.
pub(super) fn left_axis(painter: &Painter, canvas: Rect, ticks: &[Tick], y: impl Fn(f64) -> f32, theme: &Theme) {
    let half = 6.0;
    let mut above = f32::NEG_INFINITY;
    // From the top: the reach of a scale says more than its origin.
    for tick in ticks.iter().rev() {
        let at = y(tick.value);
        painter.hline(canvas.x_range(), at, Stroke::new(1.0, theme.grid));
        // A canvas may be lower than a line of text.
        let text_y = at.min(canvas.bottom() - half).max(canvas.top() + half);
        if text_y - above < half * 2.0 - 1.0 {
            continue;
        }
        above = text_y;
        let pos = pos2(canvas.left() - 6.0, text_y);
        painter.text(pos, Align2::RIGHT_CENTER, &tick.label, SMALL, theme.text_weak);
    }
}

pub(super) fn cursor_line(ui: &Ui, rect: Rect, state: &LanesState, theme: &Theme) {
    if let Some(x) = cursor_x(rect, state) {
        ui.painter().vline(x, rect.y_range(), Stroke::new(1.0, theme.cursor));
    }
}

/// The left end of the cursor's step; `None` outside the canvas.
pub(super) fn cursor_x(rect: Rect, state: &LanesState) -> Option<f32> {
    visible_x(rect, &state.view()?, state.cursor?)
}

/// The left end of the step of [`LanesState::reading`]; `None` outside the canvas.
pub(super) fn reading_x(rect: Rect, state: &LanesState) -> Option<f32> {
    visible_x(rect, &state.view()?, state.reading()?)
}

/// The place of a step on a canvas, at most `margin` points beside it.
pub(super) fn step_x(rect: Rect, view: &View<'_>, step: f64, margin: f32) -> f32 {
    let x = to_points(view.x_from_step(step, f64::from(rect.width())).clamp(-1e6, 1e6));
    rect.left() + x.clamp(-margin, rect.width() + margin)
}

/// The place of a step; `None` outside the canvas.
pub(super) fn visible_x(rect: Rect, view: &View<'_>, step: f64) -> Option<f32> {
    let x = to_points(view.x_from_step(step, f64::from(rect.width())));
    (x >= 0.0 && x <= rect.width()).then_some(rect.left() + x)
}

/// The place of a label beside a vertical line, on the side with more room.
pub(super) fn label_beside(line: Pos2, distance: f32, align: Align, inside: Rect) -> (Pos2, Align2) {
    if line.x < inside.center().x {
        (line + vec2(distance, 0.0), Align2([Align::LEFT, align]))
    } else {
        (line - vec2(distance, 0.0), Align2([Align::RIGHT, align]))
    }
}
