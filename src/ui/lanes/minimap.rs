//! The minimap: all steps, low, with a window on the view of the lanes.
//!
//! ```text
//! |  .::||:.   [ .:||||||:. ]   .:|:.  |     drag the window, its edges, or a new window
//! ```
//! The curve is the main lane's, with exact extremes; a double click shows everything.

use std::sync::Arc;

use eframe::egui::epaint::{Mesh, Shape};
use eframe::egui::{Color32, CursorIcon, Rangef, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, pos2};

use super::canvas::{Quads, beside};
use super::curve::{self, Scale};
use super::{LanesInput, LanesState, lane_capture};
use crate::numbers::{at_least_one, to_f64, to_points, to_whole};
use crate::widgets::Named as _;
use highwater_model::units::grouped;
use highwater_timeline::{Curve, View, Viewport};

/// With the gap.
pub(super) const HEIGHT: f32 = 28.0;
const GAP: f32 = 6.0;
/// Distance from an edge that grabs it.
const GRIP: f32 = 5.0;

/// The grabbed part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hold {
    /// The window; distance of its start before the pointer, in the unit of the axis.
    Window(f64),
    /// One edge; the other stays at this step.
    Edge(f64),
}

/// The curves, which change with the answer alone.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// Reserved and live, where the lane states them.
    curves: Vec<Option<Curve>>,
    /// Place, width in pixels, view, address of the axis.
    place: (Rect, u32, Viewport, usize),
    colors: [(Option<Color32>, Color32); 2],
    mesh: Arc<Mesh>,
}

impl Picture {
    fn is_like(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Option<Curve>, &Option<Curve>)| match (one, other) {
            (Some(one), Some(other)) => one.is_shared_with(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let mut curves = self.curves.iter().zip(&other.curves);
        curves.all(is_same) && (self.place, self.colors) == (other.place, other.colors)
    }

    fn drawn(self, whole: View<'_>) -> Self {
        let (rect, width, ..) = self.place;
        let peak = self.curves.iter().flatten().map(Curve::max).max();
        let scale = Scale {
            rect,
            top: to_f64(peak.unwrap_or(0).max(1)) * 1.08,
        };
        let mut quads = Quads::default();
        for (curve, (fill, line)) in self.curves.iter().zip(self.colors) {
            if let Some(curve) = curve {
                curve::add_curve(&mut quads, &curve.columns(whole, width), &scale, fill, line);
            }
        }
        Self {
            mesh: Arc::new(quads.into_mesh()),
            ..self
        }
    }
}

pub(super) fn strip_ui(ui: &Ui, area: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let rect = Rect::from_min_max(pos2(area.left(), area.top() + GAP), area.max);
    if lane_capture::legend_ui(ui, rect, input, &mut *state) {
        return;
    }
    let response = ui.interact(rect, ui.scope_id().with("overview"), Sense::click_and_drag());
    let (Some(view), Some(whole)) = (state.view_in(input.timeline), state.whole) else {
        return;
    };
    let whole = view.with(whole);
    let response = response.named(Role::Slider, || {
        let (from, to) = shown_steps(&view, &whole);
        let label = format!("overview, shows {} to {}", grouped(from), grouped(to));
        label
    });
    moves(&response, rect, view, whole, state);
    paint(ui, rect, input, state, whole);
    let hint = "All steps; the frame marks the visible range\nDrag the frame or its edges, or draw a new frame; \
                double click: everything";
    if !response.dragged() {
        response.on_hover_text(hint);
    }
}

/// First and last step in view.
fn shown_steps(view: &Viewport, whole: &Viewport) -> (u64, u64) {
    let last = (view.t1.min(whole.t1).ceil() - 1.0).max(0.0);
    (to_whole(view.t0), to_whole(last))
}

fn moves(response: &Response, rect: Rect, view: View<'_>, whole: View<'_>, state: &mut LanesState) {
    let width = f64::from(rect.width());
    let step_at = |x: f32| whole.step_from_x(f64::from(x - rect.left()), width);
    let edges = window(rect, &view, &whole);
    if response.double_clicked() {
        state.fit();
        return;
    }
    // egui reports a drag after some movement; it began at the press.
    let origin = response.ctx.input(|input| input.pointer.press_origin());
    if response.drag_started()
        && let Some(pos) = origin.or(response.interact_pointer_pos())
    {
        let is_at = |edge: f32| (pos.x - edge).abs() <= GRIP;
        let step = step_at(pos.x);
        state.strip = Some(match () {
            () if is_at(edges.min) => Hold::Edge(view.t1),
            () if is_at(edges.max) => Hold::Edge(view.t0),
            () if edges.contains(pos.x) => Hold::Window(view.length(view.t0, step)),
            () => Hold::Edge(step),
        });
    }
    if response.clicked()
        && let Some(pos) = response.interact_pointer_pos()
    {
        let middle = step_at(pos.x);
        state.change_view(|view| view.centred(middle));
    }
    match (state.strip, response.interact_pointer_pos()) {
        (Some(hold), Some(pos)) if response.dragged() => {
            let step = step_at(pos.x.clamp(rect.left(), rect.right().max(rect.left())));
            state.change_view(|view| match hold {
                Hold::Window(before) => view.starting_before(step, before),
                Hold::Edge(fixed) => view.between(fixed, step),
            });
        }
        _ => state.strip = None,
    }
    if let Some(pos) = response.hover_pos() {
        let is_edge = (pos.x - edges.min).abs() <= GRIP || (pos.x - edges.max).abs() <= GRIP;
        let icon = if is_edge {
            CursorIcon::ResizeHorizontal
        } else {
            CursorIcon::Grab
        };
        response.ctx.set_cursor_icon(icon);
    }
}

/// Left and right end of the window on the screen.
fn window(rect: Rect, view: &Viewport, whole: &View<'_>) -> Rangef {
    let x = |step: f64| rect.left() + to_points(whole.x_from_step(step, f64::from(rect.width())));
    let (left, right) = (x(view.t0), x(view.t1));
    // A thin window is drawn wide enough to grab.
    let middle = f32::midpoint(left, right);
    Rangef::new(left.min(middle - 2.0), right.max(middle + 2.0))
}

fn paint(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &mut LanesState, whole: View<'_>) {
    let theme = input.theme;
    let painter = ui.painter_at(rect.expand(1.0));
    painter.rect_filled(rect, 0, theme.canvas);
    let main = input.comparison.main_lane().unwrap_or(0);
    let Some(lane) = input.timeline.lanes.get(main) else {
        return;
    };
    let width = at_least_one((rect.width() * ui.pixels_per_point()).round());
    let (states_reserved, states_live) = input.comparison.states(main);
    let axis = whole.axis().map_or(0, |axis| std::ptr::from_ref(axis).addr());
    let wanted = Picture {
        curves: [states_reserved, states_live]
            .into_iter()
            .zip([&lane.reserved, &lane.live])
            .map(|(is_stated, curve)| is_stated.then(|| curve.clone()))
            .collect(),
        place: (rect, width, whole.viewport(), axis),
        colors: [
            (Some(theme.reserved_fill), theme.reserved),
            (Some(theme.live_fill), theme.live),
        ],
        mesh: Arc::default(),
    };
    if !state
        .caches
        .minimap
        .as_ref()
        .is_some_and(|known| known.is_like(&wanted))
    {
        state.caches.minimap = Some(wanted.drawn(whole));
    }
    if let Some(picture) = &state.caches.minimap {
        painter.add(Shape::Mesh(Arc::clone(&picture.mesh)));
    }
    let painter = ui.painter_at(beside(rect.expand(1.0)));
    if let Some(view) = state.viewport {
        let shown = window(rect, &view, &whole);
        for beside in [
            Rangef::new(rect.left(), shown.min),
            Rangef::new(shown.max, rect.right()),
        ] {
            if beside.span() > 0.0 {
                painter.rect_filled(Rect::from_x_y_ranges(beside, rect.y_range()), 0, theme.veil());
            }
        }
        let frame = Rect::from_x_y_ranges(shown, rect.y_range()).intersect(rect);
        painter.rect_stroke(frame, 0, Stroke::new(1.5, theme.accent()), StrokeKind::Inside);
    }
    painter.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
}
