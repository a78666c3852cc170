//! Marks in the memory maps besides blocks: gaps and reuse edges.

mod menu;

use std::sync::Arc;

use eframe::egui::epaint::{Mesh, PathShape, Shape};
use eframe::egui::{self, Color32, Painter, Pos2, Rect, Stroke, TextureOptions, Vec2, pos2, vec2};
use serde::{Deserialize, Serialize};

pub(super) use menu::{EDGES, edges_beside, edges_ui, menu_ui};

use super::canvas::{canvas_of, on_canvas};
use super::{LanesInput, LanesState};
use crate::numbers::{at_least_one, to_f64, to_points};
use crate::theme::{HATCH_POINTS, Theme, hatch};
use highwater_timeline::{Arrows, AxisKind, LaneGaps, LaneView, ReuseArrow, ReuseSide, View, Viewport};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeChoice {
    Off,
    /// Edges of the selected tensor.
    #[default]
    Selection,
    /// Edges of the tensors that are live on each lane's peak step.
    Peak,
}

impl EdgeChoice {
    /// Every choice with its name and tooltip, in the order of the toolbar.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Off, "off", "Draw no reuse edges"),
        (
            Self::Selection,
            "selection",
            "Tensors whose bytes the selected tensor reuses, and tensors that reuse its bytes",
        ),
        (
            Self::Peak,
            "peak step",
            "The eight largest edges of the tensors that are live at the peak, lane by lane, and those of the tensor under the \
             pointer",
        ),
    ];

    pub const fn words(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()].0
    }
}

/// The window saves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    pub has_holes: bool,
    pub edges: EdgeChoice,
    /// Shows device events between curves and maps.
    pub has_events: bool,
    /// Shows constant regions at their addresses instead of in bands outside the scale.
    pub has_constant_to_scale: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            has_holes: true,
            edges: EdgeChoice::default(),
            has_events: true,
            has_constant_to_scale: false,
        }
    }
}

/// Least and greatest number of edges drawn in a lane.
const MOST_EDGES: (f32, f32) = (8.0, 60.0);
/// Edges drawn at the peak step of a lane, the largest by bytes: more would hide the map.
const MOST_AT_PEAK: usize = 8;
/// Height of a map per edge: lower maps draw fewer.
const EDGE_HEIGHT: f32 = 3.0;

/// The edges that a lane draws on a map of this height.
pub(super) fn arrows(
    lane: &LaneView,
    input: &LanesInput<'_>,
    state: &LanesState,
    view: &Viewport,
    height: f32,
) -> Arrows {
    let most = (height / EDGE_HEIGHT).clamp(MOST_EDGES.0, MOST_EDGES.1);
    // A zoomed view has room for more edges.
    let zoom = to_points(state.zoom().clamp(1.0, 8.0));
    let most = at_least_one(most * zoom) as usize;
    match (state.marks.edges, input.selected) {
        (EdgeChoice::Selection, Some(tensor)) => lane.within(&lane.arrows(tensor), view, most),
        (EdgeChoice::Peak, _) => lane.within(lane.arrows_at_peak(), view, MOST_AT_PEAK),
        _ => Arrows::default(),
    }
}

/// Of the tensor under the pointer, where the edges of the peak are shown: these are the largest alone.
pub(super) fn hovered_arrows(lane: &LaneView, state: &LanesState, view: &Viewport) -> Arrows {
    match (state.marks.edges, state.hovered) {
        (EdgeChoice::Peak, Some(tensor)) => lane.within(&lane.arrows(tensor), view, MOST_AT_PEAK),
        _ => Arrows::default(),
    }
}

/// The hatching of a lane's gaps; valid until the view changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HolePicture {
    holes: Arc<LaneGaps>,
    /// The part in view, its axis, its place on the screen.
    view: (Viewport, AxisKind, Rect),
    colors: (Color32, Color32),
    mesh: Arc<Mesh>,
    /// Shapes drawn and gaps within the view.
    counts: (usize, usize),
}

/// Hatches the gaps of a lane; returns the numbers of shapes and of gaps.
pub(super) fn paint_holes(
    painter: &Painter,
    rect: Rect,
    lane: &LaneView,
    view: &View<'_>,
    axis: AxisKind,
    theme: &Theme,
    picture: &mut Option<HolePicture>,
) -> (usize, usize) {
    let place = (view.viewport(), axis, rect);
    let is_same = |known: &HolePicture| {
        Arc::ptr_eq(&known.holes, &lane.gaps) && known.view == place && known.colors == theme.hole
    };
    if !picture.as_ref().is_some_and(is_same) {
        *picture = Some(hole_picture(painter.ctx(), lane, view, place, theme));
    }
    let Some(known) = picture else { return (0, 0) };
    if !known.mesh.is_empty() {
        painter.add(Shape::Mesh(Arc::clone(&known.mesh)));
    }
    known.counts
}

fn hole_picture(
    ctx: &egui::Context,
    lane: &LaneView,
    view: &View<'_>,
    place: (Viewport, AxisKind, Rect),
    theme: &Theme,
) -> HolePicture {
    let rect = place.2;
    let items = lane.visible_gaps(view, canvas_of(rect));
    let mut hatched = Hatched::new(ctx, "hatch of gaps", theme.hole);
    hatched.0.reserve_vertices(items.n_drawn() * 4);
    hatched.0.reserve_triangles(items.n_drawn() * 2);
    for item in items.rects.iter().chain(items.marks.iter().map(|mark| &mark.rect)) {
        hatched.add(on_canvas(item, rect));
    }
    HolePicture {
        holes: Arc::clone(&lane.gaps),
        view: place,
        colors: theme.hole,
        mesh: Arc::new(hatched.0),
        counts: (items.n_drawn(), items.n_total),
    }
}

/// Rectangles with one hatching, which is fixed to the screen, so that it continues from one to the next.
pub(super) struct Hatched(Mesh);

impl Hatched {
    pub(super) fn new(ctx: &egui::Context, name: &str, colors: (Color32, Color32)) -> Self {
        Self(Mesh::with_texture(pattern(ctx, name, colors)))
    }

    pub(super) fn add(&mut self, place: Rect) {
        self.0.add_rect_with_uv(place, place / HATCH_POINTS, Color32::WHITE);
    }

    pub(super) fn paint(self, painter: &Painter) {
        if !self.0.is_empty() {
            painter.add(Shape::mesh(self.0));
        }
    }
}

/// A hatching in two colours, uploaded once.
fn pattern(ctx: &egui::Context, name: &str, colors: (Color32, Color32)) -> egui::TextureId {
    let id = egui::Id::unique((name, colors));
    if let Some(known) = ctx.data(|data| data.get_temp::<egui::TextureHandle>(id)) {
        return known.id();
    }
    let handle = ctx.load_texture(name, hatch(colors), TextureOptions::LINEAR_REPEAT);
    let texture = handle.id();
    ctx.data_mut(|data| data.insert_temp(id, handle));
    texture
}

/// Widths of a line: of an edge with at least half the bytes of the largest one, and of others.
const WIDTHS: (f32, f32) = (1.8, 1.0);

/// Draws edges in one colour, the largest on top.
pub(super) fn paint_edges(
    painter: &Painter,
    rect: Rect,
    lane: &LaneView,
    viewport: &View<'_>,
    arrows: &Arrows,
    theme: &Theme,
) {
    let largest = arrows.list.iter().map(|arrow| arrow.bytes).max().unwrap_or(0);
    for arrow in arrows.list.iter().rev() {
        let points = path(lane, arrow, viewport, rect);
        bracket(painter, rect, lane, viewport, arrow, theme);
        let is_large = arrow.bytes >= largest / 2;
        let width = if is_large { WIDTHS.0 } else { WIDTHS.1 };
        stroke(painter, &points, arrow.side, width, theme);
    }
}

/// From inside the earlier block to inside the later one. Long edges are curved, so that edges of one address can be
/// told apart.
fn path(lane: &LaneView, arrow: &ReuseArrow, viewport: &View<'_>, rect: Rect) -> Vec<Pos2> {
    const INSET: f64 = 12.0;
    const SHORTEST: f64 = 16.0;
    let canvas = canvas_of(rect);
    let [earlier_left, _, earlier_right, _] = lane.rect(arrow.earlier as usize, viewport, canvas);
    let [later_left, _, later_right, _] = lane.rect(arrow.later as usize, viewport, canvas);
    let mut from = earlier_right - ((earlier_right - earlier_left) / 2.0).min(INSET);
    let mut to = later_left + ((later_right - later_left) / 2.0).min(INSET);
    if to - from < SHORTEST {
        let middle = f64::midpoint(from, to);
        (from, to) = (middle - SHORTEST / 2.0, middle + SHORTEST / 2.0);
    }
    let low = (to_f64(arrow.address)).max(viewport.a0);
    let high = (to_f64(arrow.address + arrow.bytes)).min(viewport.a1);
    let y = rect.top() + to_points(viewport.y_from_address(f64::midpoint(low, high), canvas.height));
    let far = canvas.width * 4.0;
    let from = pos2(rect.left() + to_points(from.clamp(-far, far)), y);
    let to = pos2(rect.left() + to_points(to.clamp(-far, far)), y);
    let length = to.x - from.x;
    if length < 48.0 {
        return vec![from, to];
    }
    let bow = (length * 0.12).min(22.0).min((y - rect.top() - 3.0).max(0.0));
    let n_parts = 16_u8;
    (0..=n_parts)
        .map(|part| {
            let t = f32::from(part) / f32::from(n_parts);
            pos2(from.x + length * t, y - bow * 4.0 * t * (1.0 - t))
        })
        .collect()
}

/// The passed bytes as a bar at the later block's left edge.
fn bracket(painter: &Painter, rect: Rect, lane: &LaneView, viewport: &View<'_>, arrow: &ReuseArrow, theme: &Theme) {
    let canvas = canvas_of(rect);
    let [x, ..] = lane.rect(arrow.later as usize, viewport, canvas);
    if x < -4.0 || x > canvas.width {
        return;
    }
    let y = |address: u64| {
        let y = viewport.y_from_address(to_f64(address), canvas.height);
        rect.top() + to_points(y.clamp(-4.0, canvas.height + 4.0))
    };
    let (top, bottom) = (y(arrow.address + arrow.bytes), y(arrow.address));
    if bottom - top >= 4.0 {
        let bar = Rect::from_min_max(
            pos2(rect.left() + to_points(x) + 1.0, top + 1.0),
            pos2(rect.left() + to_points(x) + 3.5, bottom - 1.0),
        );
        painter.rect_filled(bar, 1, theme.edge);
    }
}

/// Bytes taken over: a solid line with a filled head. Bytes passed on: dashes with an open head.
fn stroke(painter: &Painter, points: &[Pos2], side: ReuseSide, width: f32, theme: &Theme) {
    let [.., before, end] = points else { return };
    let color = theme.edge;
    let halo = Stroke::new(width + 2.0, theme.halo());
    painter.add(Shape::line(points.to_vec(), halo));
    let line = Stroke::new(width, color);
    let along = (*end - *before).normalized();
    match side {
        ReuseSide::Earlier => {
            painter.add(Shape::line(points.to_vec(), line));
            painter.circle_filled(points[0], 2.2, color);
            let [left, right] = head(*end, along, 7.0);
            painter.add(PathShape::convex_polygon(
                vec![*end, left, right],
                color,
                Stroke::new(1.0, theme.halo()),
            ));
        }
        ReuseSide::Later => {
            painter.extend(Shape::dashed_line(points, line, 4.0, 3.0));
            painter.circle_stroke(points[0], 2.2, line);
            let [left, right] = head(*end, along, 7.0);
            painter.add(Shape::line(vec![left, *end, right], halo));
            painter.add(Shape::line(vec![left, *end, right], line));
        }
    }
}

/// The two rear corners of an arrow head.
fn head(tip: Pos2, along: Vec2, length: f32) -> [Pos2; 2] {
    let back = tip - along * length;
    let across = vec2(-along.y, along.x) * (length * 0.5);
    [back + across, back - across]
}

/// Blocks at the far ends of drawn edges, sorted.
pub(super) fn others(arrows: &Arrows) -> Vec<u32> {
    let mut others: Vec<u32> = arrows.list.iter().map(ReuseArrow::other).collect();
    others.sort_unstable();
    others
}

/// Dims a block that is unrelated to the selection.
pub(super) fn beside(theme: &Theme, color: Color32, is_related: bool) -> Color32 {
    if is_related { color } else { theme.dimmed(color) }
}
