//! The boxes of a flame graph: rows from the root downwards, tooltips, clicks.
//!
//! Boxes with a text are buttons for assistive technology; narrower ones are found by the place of the pointer.

use eframe::egui::{self, Align2, FontId, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, pos2, vec2};

use crate::numbers::to_points;
use crate::panels::elided;
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_model::units::percent_text;
use highwater_timeline::{FlameBox, FlameGraph};

/// In points.
const ROW: f32 = 18.0;
const SIZE: f32 = 12.0;
/// Boxes narrower than this are left out.
const LEAST: f32 = 1.0;
/// The least width of a box with a text.
const LEAST_TEXT: f32 = 28.0;

pub(super) struct Drawn<'a> {
    pub(super) graph: &'a FlameGraph,
    pub(super) zoomed: u32,
    pub(super) theme: &'a Theme,
    /// Frames that contain it are outlined, the others dimmed; empty for none.
    pub(super) found: &'a str,
}

pub(super) enum Click {
    Zoom(u32),
    /// A double click.
    Back,
}

pub(super) fn drawing_ui(ui: &mut egui::Ui, drawn: &Drawn<'_>) -> Option<Click> {
    let width = ui.available_width().max(1.0);
    let boxes = drawn.graph.boxes(drawn.zoomed, f64::from(LEAST / width));
    let n_rows = boxes.iter().map(|one| one.row + 1).max().unwrap_or(1);
    let height = f32::from(u16::try_from(n_rows).unwrap_or(u16::MAX)) * ROW;
    let (area, canvas) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    let canvas = canvas.named(Role::Canvas, || "flame graph");
    let pointer = canvas.hover_pos();
    let mut hovered = None;
    let mut click = click_of(&canvas, None);
    for one in &boxes {
        let place = place_of(area, one);
        if !ui.is_rect_visible(place) {
            continue;
        }
        let response = (place.width() >= LEAST_TEXT).then(|| button(ui, drawn, one, place));
        let is_under = pointer.is_some_and(|pointer| place.contains(pointer));
        if is_under
            || response
                .as_ref()
                .is_some_and(|response| response.hovered() || response.has_focus())
        {
            hovered = Some(*one);
        }
        if let Some(response) = &response {
            click = click.or(click_of(response, Some(one.node)));
        }
        paint(ui, drawn, one, place);
    }
    if let Some(one) = hovered {
        let stroke = Stroke::new(1.0, drawn.theme.hover);
        ui.painter()
            .rect_stroke(place_of(area, &one), 1, stroke, StrokeKind::Inside);
        if canvas.clicked() && !canvas.double_clicked() {
            click = Some(Click::Zoom(one.node));
        }
        if canvas.hovered() {
            canvas.on_hover_text_at_pointer(drawn.graph.hint(one.node));
        }
    }
    click
}

/// A click on a box; on the canvas between boxes only a double click acts.
fn click_of(response: &Response, node: Option<u32>) -> Option<Click> {
    if response.double_clicked() {
        return Some(Click::Back);
    }
    node.filter(|_| response.clicked()).map(Click::Zoom)
}

fn place_of(area: Rect, one: &FlameBox) -> Rect {
    let x = |end: f64| area.left() + to_points(end) * area.width();
    let row = f32::from(u16::try_from(one.row).unwrap_or(u16::MAX));
    let top = area.top() + row * ROW;
    let (left, right) = (x(one.ends.0), x(one.ends.1));
    let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
    Rect::from_min_max(pos2(left, top), pos2(right - gap, top + ROW - 1.0))
}

fn button(ui: &egui::Ui, drawn: &Drawn<'_>, one: &FlameBox, place: Rect) -> Response {
    let graph = drawn.graph;
    let response = ui.interact(place, ui.scope_id().with(("frame", one.node)), Sense::click());
    let response = response.named_choice(Role::Button, one.node == drawn.zoomed, || {
        let node = graph.node(one.node);
        let share = percent_text(graph.share(node.total));
        format!(
            "zoom to {}: {}, {share}",
            graph.frame(one.node).text,
            graph.exact(node.total)
        )
    });
    if response.hovered() {
        return response.on_hover_text_at_pointer(graph.hint(one.node));
    }
    response
}

fn paint(ui: &egui::Ui, drawn: &Drawn<'_>, one: &FlameBox, place: Rect) {
    let (graph, theme) = (drawn.graph, drawn.theme);
    let frame = graph.frame(one.node);
    let is_found = !drawn.found.is_empty() && contains(&frame.text, drawn.found);
    let full = match one.node {
        FlameGraph::ROOT => theme.runs[0],
        node => theme.tensor(graph.color(node)),
    };
    let is_dimmed = one.is_caller || !drawn.found.is_empty() && !is_found;
    let shade = if is_dimmed { theme.dimmed(full) } else { full };
    let painter = ui.painter();
    painter.rect_filled(place, 1, shade);
    if is_found {
        painter.rect_stroke(place, 1, Stroke::new(1.5, theme.found), StrokeKind::Inside);
    }
    if place.width() < LEAST_TEXT {
        return;
    }
    let color = match one.node {
        FlameGraph::ROOT => theme.text,
        _ if is_dimmed => theme.text,
        _ => theme.on_tensor(),
    };
    let room = place.width() - 8.0;
    let node = graph.node(one.node);
    let long = format!(
        "{}  {}, {}",
        frame.text,
        graph.bytes(node.total),
        percent_text(graph.share(node.total))
    );
    let words = match elided(ui, &long, SIZE, room) {
        words if words == long => words,
        _ => elided(ui, &frame.text, SIZE, room),
    };
    let at: Pos2 = pos2(place.left() + 4.0, place.center().y);
    painter.text(at, Align2::LEFT_CENTER, words, FontId::proportional(SIZE), color);
}

/// Regardless of ASCII case.
fn contains(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}
