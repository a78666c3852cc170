//! The lifetimes: a row per tensor that is live within the view, on the same time axis; scopes that collapse.
//!
//! Few rows are drawn directly. Many are drawn by the painter thread; until a picture of the current view arrives, the
//! last one is stretched.

use std::sync::Arc;

use eframe::egui::{self, Rangef, Rect, Response, Role, Sense, Ui, pos2, vec2};

use super::LanesCx;
use super::canvas::{canvas_of, cursor_line};
use super::lane_scale::LaneScale;
use super::measure::Plot;
use super::{LaneLayout, LanesInput, LanesState, frame, gestures, measure, range, row_paint, ruler, scopes, tooltip};
use crate::numbers::to_points;
use crate::widgets::Named as _;
use highwater_session::{Command, ContentOrder, PictureOrder, RowsPicture};
use highwater_timeline::{LaneRows, RowLayout, RowPlace, RowWindow, RowsFrame, Selected, View};

/// The painter draws more rows than this.
const MOST_DIRECT: usize = 6_000;

/// The rows of a frame.
pub(super) struct Shown<'a> {
    pub(super) rows: &'a LaneRows,
    pub(super) layout: Arc<RowLayout>,
    /// Set where rows are drawn as a picture.
    pub(super) picture: Option<&'a RowsPicture>,
    pub(super) view: View<'a>,
    pub(super) window: RowWindow,
}

impl Shown<'_> {
    pub(super) fn tensor(&self, position: usize) -> Option<Selected> {
        let number = self.layout.number(self.rows, position)?;
        Some(self.rows.row(number)?.tensor)
    }
}

/// The last order for a picture.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    version: (u64, u64),
    rows: Arc<LaneRows>,
    order: PictureOrder,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version && Arc::ptr_eq(&self.rows, &other.rows) && self.order == other.order
    }
}

pub(super) fn rows_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, area: Rect) {
    let grid = frame::Grid::new(
        area,
        &[frame::Wanted::PLAIN],
        LaneLayout::Stacked,
        ruler::height(cx.input.timeline),
        0.0,
    );
    let top = area.top() + grid.ruler_height;
    let body = Rect::from_x_y_ranges(grid.plot_x(0), Rangef::new(top + 4.0, area.bottom() - 8.0));
    let Some(viewport) = cx.state.viewport else { return };
    let axis = cx.state.along(cx.input.timeline);
    let view = View::new(viewport, axis);
    ruler::ruler_ui(ui, grid.ruler(0), cx.input, cx.state);
    ui.painter().rect_filled(body, 0, cx.input.theme.canvas);
    cx.state.places.clear();
    let Some(rows) = cx
        .input
        .drawn
        .lifetimes
        .filter(|rows| is_wanted(rows, cx.input, cx.state))
    else {
        row_paint::nothing_ui(ui, body, cx.input, "sorting rows …");
        ui.advance_cursor_after_rect(area);
        return;
    };
    let (layout, picture) = layout_of(ui, cx, rows, view, body);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt("rows"));
    child.set_clip_rect(ui.clip_rect().intersect(body.expand2(vec2(frame::GUTTER, 1.0))));
    let mut scroll = egui::ScrollArea::vertical().auto_shrink(false).id_salt("scroll");
    if let Some(to) = cx.state.scroll_rows_to.take() {
        scroll = scroll.vertical_scroll_offset(to);
    }
    let output = scroll.show_viewport(&mut child, |ui, sight| {
        ui.set_width(body.width());
        ui.set_height((to_points(layout.height)).max(body.height()));
        let response = ui
            .interact(body, ui.scope_id().with("lifetimes"), Sense::click_and_drag())
            .named(Role::Canvas, || "lifetimes");
        let shown = Shown {
            rows,
            layout: Arc::clone(&layout),
            picture,
            view,
            window: RowWindow {
                canvas: canvas_of(body),
                sight: (f64::from(sight.top()), f64::from(sight.top() + body.height())),
            },
        };
        shown_ui(ui, cx, body, &response, &shown);
        response.id
    });
    let part = |y_range| Rect::from_x_y_ranges(area.x_range(), y_range);
    let parts = [Rect::NOTHING, part(grid.ruler(0).y_range()), part(body.y_range())];
    cx.state.places.push((cx.input.comparison.lanes[rows.lane].id, parts));
    super::accessibility_text::tell(ui, output.inner, cx.input, rows.lane, cx.state);
    ui.advance_cursor_after_rect(area);
}

/// Whether rows are of the chosen lane and order.
fn is_wanted(rows: &LaneRows, input: &LanesInput<'_>, state: &LanesState) -> bool {
    let wanted = state.content_order(input);
    wanted
        == ContentOrder::Lifetimes {
            lane: rows.lane,
            by: rows.by,
        }
}

/// The layout of rows, and the picture of many.
fn layout_of<'a>(
    ui: &Ui,
    cx: &mut LanesCx<'a>,
    rows: &'a Arc<LaneRows>,
    view: View<'_>,
    body: Rect,
) -> (Arc<RowLayout>, Option<&'a RowsPicture>) {
    let canvas = canvas_of(body);
    if rows.n_alive(&view) <= MOST_DIRECT {
        return (Arc::new(rows.layout(view, &cx.state.folds, canvas)), None);
    }
    let frame = RowsFrame {
        view: view.viewport(),
        axis: cx.state.shown_axis(),
        folds: cx.state.folds.clone(),
        canvas,
        scale: f64::from(ui.pixels_per_point()),
    };
    let picture = cx
        .input
        .drawn
        .rows_picture
        .filter(|picture| Arc::ptr_eq(&picture.lifetimes, rows));
    let style = Arc::new(cx.input.theme.raster_style(false));
    let is_drawn = picture.is_some_and(|picture| {
        picture.of == frame && picture.version == cx.input.drawn.version && picture.style == style
    });
    if !is_drawn {
        let asked = Asked {
            version: cx.input.drawn.version,
            rows: Arc::clone(rows),
            order: PictureOrder {
                rows: Some(frame),
                frames: Vec::new(),
                style,
            },
        };
        if cx.state.caches.rows_asked.as_ref() != Some(&asked) {
            cx.commands.push(Command::Paint(asked.order.clone()));
            cx.state.caches.rows_asked = Some(asked);
        }
    }
    let layout = picture.map(|picture| Arc::clone(&picture.shown.layout));
    (layout.unwrap_or_default(), picture.map(|picture| &**picture))
}

/// Draws the visible rows and handles input.
fn shown_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, body: Rect, response: &Response, shown: &Shown<'_>) {
    let plot = Plot {
        lane: 0,
        body,
        map: body,
        scale: LaneScale::COMMON,
        values: None,
    };
    // Where rows scroll, the wheel alone scrolls.
    let has_plain_wheel = cx.state.has_plain_wheel;
    cx.state.has_plain_wheel &= shown.layout.height <= f64::from(body.height());
    gestures::navigate(ui, response, plot, cx.state);
    cx.state.has_plain_wheel = has_plain_wheel;
    cx.state.cursor = gestures::cursor(ui, body, body.x_range(), cx.state);
    let pos = response.hover_pos().or_else(|| response.interact_pointer_pos());
    let y = |y: f32| f64::from(y - body.top()) + shown.window.sight.0;
    let place = pos.and_then(|pos| shown.layout.at(y(pos.y)));
    let tensor = match place {
        Some(RowPlace::Row(position)) => shown.tensor(position),
        _ => None,
    };
    cx.state.hovered = tensor;
    if response.double_clicked() {
        cx.state.fit();
    } else if response.clicked() {
        response.request_focus();
        cx.commands.push(Command::Select(tensor));
    }
    follow_selection(shown, body, cx.input, cx.state);
    cx.state.drawn = row_paint::paint(
        ui,
        body,
        shown,
        cx.input,
        [cx.state.hovered, cx.input.selected],
        &mut cx.state.caches.row_texture,
    );
    if let Some(spot) = cx.state.pinned() {
        super::pinned_step::paint(ui, spot.lane, body, cx.input, cx.state);
    }
    if shown.layout.is_empty() {
        let words = empty_words(cx.input, shown.rows.lane);
        row_paint::nothing_ui(ui, body, cx.input, words);
    }
    scopes::scopes_ui(ui, body, shown, cx.input, cx.state);
    range::paint(ui, body, cx.input, cx.state);
    measure::paint(ui, plot, cx.input, cx.state, None);
    cursor_line(ui, body, cx.state, cx.input.theme);
    if let Some(tensor) = tensor.filter(|_| !response.dragged()) {
        let lane = shown.rows.lane;
        tooltip::beside_pointer(response, body, |ui| {
            tooltip::tensor_ui(ui, tensor, lane, None, cx.input);
        });
    }
}

/// Scrolls to a tensor that was selected elsewhere.
fn follow_selection(shown: &Shown<'_>, body: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    if state.followed == input.selected {
        return;
    }
    state.followed = input.selected;
    let rows = input.timeline.rows_of(shown.rows.lane);
    let number = input.selected.and_then(|tensor| rows.number(tensor));
    let Some(position) = number.and_then(|number| shown.layout.position(shown.rows, number)) else {
        return;
    };
    let (top, sight) = (shown.layout.top(position), shown.window.sight);
    if top < sight.0 || top + shown.layout.row_height > sight.1 {
        let to = top - f64::from(body.height()) / 2.0;
        state.scroll_rows_to = Some(to_points(to.max(0.0)));
    }
}

/// Why there is no row.
fn empty_words(input: &LanesInput<'_>, lane: usize) -> &'static str {
    let has_blocks = input
        .timeline
        .lanes
        .get(lane)
        .is_some_and(|view| !view.blocks.is_empty());
    match (has_blocks, input.comparison.is_measured_lane(lane)) {
        (false, true) => "The file lists no blocks.",
        (_, true) => "No block is live within these events.",
        _ => "No tensor is live within these steps.",
    }
}

/// A range of heights as a rectangle of the body's width.
pub(super) fn line_of(body: Rect, top: f32, height: f32) -> Rect {
    Rect::from_min_max(pos2(body.left(), top), pos2(body.right(), top + height))
}
