//! What all canvases share: a mesh of quads, texts that fit, axis marks, the cursor line.

use eframe::egui::epaint::{Mesh, Shape};
use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Ui, pos2};

use super::LanesState;
use crate::theme::Theme;
use highwater_timeline::{Canvas, ItemRect, Tick};

/// About what a narrow letter is wide, in points.
const LETTER: f32 = 4.0;

/// Axis marks, block labels.
pub(super) const SMALL: FontId = FontId::proportional(11.0);

/// The size of a canvas for the view-model.
pub(super) fn canvas_of(rect: Rect) -> Canvas {
    Canvas {
        width: f64::from(rect.width()),
        height: f64::from(rect.height()),
    }
}

/// The rectangle of an item on a canvas.
pub(super) fn on_canvas(item: &ItemRect, canvas: Rect) -> Rect {
    Rect::from_min_max(
        pos2(canvas.left() + item.x0, canvas.top() + item.y0),
        pos2(canvas.left() + item.x1, canvas.top() + item.y1),
    )
}

/// Quads of one area, painted at once.
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

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, n_quads: usize) {
        self.mesh.reserve_vertices(n_quads * 4);
        self.mesh.reserve_triangles(n_quads * 2);
    }

    pub(super) fn add(&mut self, rect: Rect, color: Color32) {
        self.mesh.add_colored_rect(rect, color);
    }

    /// The mesh, to be kept.
    pub(super) fn into_mesh(self) -> Mesh {
        self.mesh
    }

    pub(super) fn paint(self, painter: &Painter) {
        if !self.mesh.is_empty() {
            painter.add(Shape::mesh(self.mesh));
        }
    }
}

/// The clip of what stands on a mesh of many quads: the same pixels, told apart from the mesh's own, so that the mesh is not
/// copied once more to make room for what follows.
pub(super) fn beside(clip: Rect) -> Rect {
    clip.expand(1e-3)
}

/// Text in a rectangle, cut with an ellipsis where it is too long.
pub(super) fn text_in(painter: &Painter, rect: Rect, text: &str, style: (FontId, Color32)) {
    let whole = painter.layout_no_wrap(text.to_owned(), style.0.clone(), style.1);
    let galley = if whole.size().x <= rect.width() {
        whole
    } else {
        // A room that changes by less than a letter leaves the text as it was laid out.
        let room = (rect.width() / LETTER).floor() * LETTER;
        let mut job = LayoutJob::simple_singleline(text.to_owned(), style.0, style.1);
        job.wrap = TextWrapping::truncate_at_width(room);
        painter.layout_job(job)
    };
    let y = rect.center().y - galley.size().y / 2.0;
    painter.galley(pos2(rect.left(), y), galley, style.1);
}

/// Text at a place with a ground behind it, moved so that it stays inside; returns its rectangle.
pub(super) fn text_with_ground(
    painter: &Painter,
    (pos, anchor): (Pos2, Align2),
    text: String,
    (color, ground): (Color32, Color32),
    inside: Rect,
) -> Rect {
    let galley = painter.layout_no_wrap(text, SMALL, color);
    let mut rect = anchor
        .anchor_size(pos, galley.size())
        .expand2(eframe::egui::vec2(4.0, 1.0));
    let right = (rect.right() - inside.right()).max(0.0);
    rect = rect.translate(eframe::egui::vec2(-right, 0.0));
    let left = (inside.left() - rect.left()).max(0.0);
    let top = (inside.top() - rect.top()).max(0.0);
    rect = rect.translate(eframe::egui::vec2(left, top));
    painter.rect_filled(rect, 3, ground);
    painter.galley(rect.min + eframe::egui::vec2(4.0, 1.0), galley, color);
    rect
}

/// Axis marks left of a canvas, with thin lines across it. `y` maps a value to a height on the screen.
pub(super) fn left_axis(painter: &Painter, canvas: Rect, ticks: &[Tick], y: impl Fn(f64) -> f32, theme: &Theme) {
    let half = 6.0;
    let mut above = f32::NEG_INFINITY;
    // From the top: how far a scale reaches says more than where it begins.
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

/// The vertical line at the cursor.
pub(super) fn cursor_line(ui: &Ui, rect: Rect, state: &LanesState, theme: &Theme) {
    if let Some(x) = cursor_x(rect, state) {
        ui.painter().vline(x, rect.y_range(), Stroke::new(1.0, theme.cursor));
    }
}

/// Where the cursor's step begins on a canvas; `None` where it is not on it.
pub(super) fn cursor_x(rect: Rect, state: &LanesState) -> Option<f32> {
    place_of(rect, state, state.cursor?)
}

/// The same for the step that readings are of.
pub(super) fn reading_x(rect: Rect, state: &LanesState) -> Option<f32> {
    place_of(rect, state, state.reading()?)
}

#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
fn place_of(rect: Rect, state: &LanesState, step: f64) -> Option<f32> {
    let x = state.view()?.x_from_step(step, f64::from(rect.width())) as f32;
    (x >= 0.0 && x <= rect.width()).then_some(rect.left() + x)
}
