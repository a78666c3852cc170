//! The lanes: one per policy, on one time axis with one cursor; or the lifetimes, a row per tensor.
//!
//! In: a [`Comparison`] with its [`Timeline`]. Out: commands. Everything is painted on own canvases from the
//! view-model, one mesh per area; nothing is kept per tensor, and nothing asks for another frame.
//!
//! ```text
//! toolbar   Memory map | Areas | Lifetimes   axis   Lanes   Marks   colour   Fit   Legend
//! ruler     runs, phases, steps
//! lane      header: name, badges, figures; the name alone, on the curve, where the table of lanes has the figures
//!           curve: reserved, live, capacity, peak
//!           events: what the device and the pools did
//!           under a budget: evictions and recomputations; the budget is a line in the curve that can be dragged
//!           map: address by time, owners, gaps, reuse edges
//! ```

mod accessibility_text;
mod areas;
mod arrange;
mod axis;
mod bands;
mod bookmarks;
mod budget;
mod canvas;
mod colors;
mod column_cache;
mod constant;
mod curve;
mod curves;
mod difference;
mod edge_counts;
mod event_row;
mod eviction_interval;
mod figures;
mod frame;
mod gestures;
mod goto;
mod header;
mod holdings;
mod keyboard_ranges;
mod lane_capture;
mod lane_scale;
mod legend;
mod map;
mod marks;
mod measure;
mod minimap;
mod pictures;
mod pinned_step;
mod placement;
mod popup_field;
mod range;
mod remat;
mod reveal;
mod row_paint;
mod rows;
mod ruler;
mod saved_lane_layout;
mod scopes;
mod searched;
mod shortage;
mod state;
mod ticks;
mod toolbar;
mod tooltip;
mod views;

use eframe::egui::{self, Rect, Ui};

pub use accessibility_text::words;
pub use arrange::{Arrangement, LaneEntry};
pub use bookmarks::lane_of as bookmark_lane;
pub use figures::whole_units;
pub use header::pinned_text;
pub use highwater_timeline::Selected;
pub use keyboard_ranges::Measuring;
pub use marks::{EdgeChoice, Marks};
pub use pictures::Drawn;
pub use pinned_step::{HoveredRegion, Move, PinnedStep};
pub use saved_lane_layout::SavedLaneLayout;
pub use shortage::sentences;
pub use state::{KeyboardFocus, LanesState, Wish};

use crate::commands::UiCommand;
use crate::theme::Theme;
use highwater_analysis::{Comparison, LaneKind};
use highwater_session::{Command, ContentOrder, Session};
use highwater_timeline::{Attribute, ColorBy, ColoringRequest, Matches, Timeline};

/// The input of the lanes.
#[derive(Clone, Copy, Debug)]
pub struct LanesInput<'a> {
    pub comparison: &'a Comparison,
    pub timeline: &'a Timeline,
    /// Selected anywhere in the window.
    pub selected: Option<Selected>,
    /// Matches of a search; other blocks are dimmed.
    pub matches: Option<&'a Matches>,
    /// Whether a newer answer is pending: the lanes are dimmed.
    pub is_stale: bool,
    /// The baseline of figures by position; `None` for the default.
    pub baseline: Option<usize>,
    pub theme: &'a Theme,
    /// Colours of blocks, and pictures of large lanes.
    pub drawn: Drawn<'a>,
}

impl<'a> LanesInput<'a> {
    /// For panes outside the lanes; `None` without an answer.
    pub fn of(session: &'a Session, theme: &'a Theme) -> Option<Self> {
        let (comparison, timeline) = session.answer()?;
        Some(Self {
            comparison,
            timeline,
            selected: session.selection(),
            matches: None,
            is_stale: session.is_stale(),
            baseline: Some(session.baseline(comparison)),
            theme,
            drawn: Drawn::default(),
        })
    }
}

/// The input of the lanes, the view that they change, and their output.
pub struct LanesCx<'a> {
    pub input: &'a LanesInput<'a>,
    pub state: &'a mut LanesState,
    pub commands: &'a mut Vec<Command>,
    pub window_commands: &'a mut Vec<UiCommand>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneLayout {
    #[default]
    Stacked,
    SideBySide,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneContent {
    /// Curves and memory maps, a lane per policy.
    #[default]
    MemoryMap,
    /// Curves, and areas of groups.
    Areas,
    /// A row per tensor.
    Lifetimes,
    /// The curves of all lanes in one drawing.
    Curves,
}

impl LaneContent {
    /// In the order of the command that switches between them.
    pub const ALL: [Self; 4] = [Self::MemoryMap, Self::Areas, Self::Lifetimes, Self::Curves];

    #[must_use]
    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::MemoryMap => "Memory map",
            Self::Areas => "Areas",
            Self::Lifetimes => "Lifetimes",
            Self::Curves => "Curves",
        }
    }
}

/// The lanes of a comparison, or its lifetimes, in all available space.
pub fn lanes_ui(ui: &mut Ui, cx: &mut LanesCx<'_>) {
    let n_steps = cx.state.whole.map(|whole| whole.t1);
    cx.state.adopt(cx.input.timeline, cx.input.comparison);
    cx.state.cut_range(cx.input.timeline.n_steps);
    views::note(ui, cx.state, cx.state.whole.map(|whole| whole.t1) != n_steps);
    let right = ui.available_rect_before_wrap().right();
    gestures::follow_focus(ui, ui.available_rect_before_wrap(), cx.state);
    gestures::keys(ui, cx);
    toolbar::toolbar_ui(ui, cx);
    let content = cx.state.content_order(cx.input);
    if content != cx.input.drawn.content {
        cx.commands.push(Command::ShowContent(content));
    }
    if cx.state.content != LaneContent::Lifetimes {
        cx.state.forget_rows();
    }
    // Areas are of groups: single tensors would be too many.
    if content == ContentOrder::Areas
        && let Some(order) = cx.input.drawn.order.filter(|order| order.by == ColorBy::Tensor)
    {
        let lane = cx.input.comparison.main_lane().unwrap_or(0);
        let by = ColorBy::By(Attribute::usual(cx.input.comparison, lane));
        cx.state.look_beside_areas = Some((by, order.clone()));
        cx.commands
            .push(Command::SetLook(ColoringRequest { by, ..order.clone() }));
    } else if content != ContentOrder::Areas
        && let Some((by, before)) = cx.state.look_beside_areas.take()
        && cx
            .input
            .drawn
            .order
            .is_some_and(|order| order.by == by && order.hidden == before.hidden)
    {
        // No other mode was chosen meanwhile.
        cx.commands.push(Command::SetLook(before));
    }
    if cx.input.is_stale || !cx.input.comparison.assumed_dims.is_empty() {
        ui.multiply_opacity(crate::theme::STALE);
    }
    if cx.input.timeline.n_steps == 0 || cx.input.comparison.lanes.is_empty() {
        ui.centered_and_justified(|ui| ui.weak("The graph has no ops, so there is nothing to draw."));
        return;
    }
    let mut area = ui.available_rect_before_wrap();
    // The toolbar may be wider than the pane; the lanes are not.
    area.set_right(right);
    // A pane that is too small shows a part of the smallest layout, so that no part has a negative size.
    ui.set_clip_rect(ui.clip_rect().intersect(area));
    let area = frame::at_least_smallest(area);
    cx.state.cursor = None;
    match cx.state.content {
        LaneContent::MemoryMap | LaneContent::Areas => maps_ui(ui, cx, area),
        LaneContent::Lifetimes => rows::rows_ui(ui, cx, area),
        LaneContent::Curves => curves::curves_ui(ui, cx, area),
    }
    let plot = frame::Grid::new(
        area,
        &[frame::Wanted::PLAIN],
        LaneLayout::Stacked,
        ruler::height(cx.input.timeline),
        0.0,
    )
    .ruler(0);
    bookmarks::note_ui(ui, plot, cx.input, cx.state);
    goto::goto_ui(ui, plot, cx.input, cx.state);
}

/// Rulers on top, lanes below, in as many columns as the layout has.
fn maps_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, area: Rect) {
    let shown = shown_lanes(cx.input, cx.state);
    // The difference lies above its lanes.
    let n_above = usize::from(cx.input.drawn.difference.is_some());
    let difference = cx
        .input
        .drawn
        .difference
        .map(|known| difference::wanted(known, cx.input));
    let difference = difference.into_iter();
    let has_areas = cx.state.content == LaneContent::Areas;
    let has_events = cx.state.marks.has_events;
    let of_entry = |entry: LaneEntry| {
        let wanted = frame::Wanted::of(entry, has_events);
        // A placement problem chooses its strategy in the header; the table has the figures of all other lanes.
        let has_table = cx.input.comparison.lane_kind() != LaneKind::Strategies;
        let wanted = if has_table && !cx.state.is_sitting(entry.id) {
            wanted.without_header()
        } else {
            wanted
        };
        if has_areas { wanted.beside_areas() } else { wanted }
    };
    let lanes = shown.iter().map(|(_, entry)| of_entry(*entry));
    let wanted: Vec<frame::Wanted> = difference.chain(lanes).collect();
    let (area, strip) = area.split_top_bottom_at_y(area.bottom() - minimap::HEIGHT);
    let room = if cx.input.timeline.has_remat() {
        frame::BUDGET_ROOM
    } else {
        0.0
    };
    let grid = frame::Grid::new(area, &wanted, cx.state.layout, ruler::height(cx.input.timeline), room);
    let body = Rect::from_min_max(egui::pos2(area.left(), area.top() + grid.ruler_height), area.max);
    for column in 0..grid.n_columns {
        cx.state.cursor = cx
            .state
            .cursor
            .or_else(|| gestures::cursor(ui, body, grid.plot_x(column), cx.state));
    }
    for column in 0..grid.n_columns {
        ruler::ruler_ui(ui, grid.ruler(column), cx.input, cx.state);
    }
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt("lanes"));
    egui::ScrollArea::vertical().auto_shrink(false).show(&mut child, |ui| {
        let (space, _) = ui.allocate_exact_size(grid.content_size(), egui::Sense::hover());
        if n_above > 0 {
            difference::difference_ui(ui, cx, grid.lane(0, space.min));
        }
        let frames: Vec<frame::LaneFrame> = shown
            .iter()
            .zip(&wanted[n_above..])
            .enumerate()
            .map(|(place, ((lane, _), wanted))| {
                let scale = cx.state.scale(cx.input.timeline, &cx.input.timeline.lanes[*lane]);
                frame::LaneFrame::new(
                    ui,
                    grid.lane(place + n_above, space.min),
                    cx.input,
                    *lane,
                    *wanted,
                    scale,
                )
            })
            .collect();
        lane_capture::prepare(ui, &frames, &grid, n_above, cx.input, cx.state);
        gestures::pointer(ui, cx, &frames);
        pictures::take(ui.ctx(), &cx.input.drawn, &mut cx.state.caches.textures);
        contents_ui(ui, cx, &frames);
        if cx.state.content == LaneContent::MemoryMap {
            cx.commands
                .extend(pictures::order(ui, &frames, cx.input, cx.state).map(Command::Paint));
        }
        above_ui(ui, &frames, grid.plain, cx.input, cx.state);
    });
    let strip = Rect::from_x_y_ranges(
        grid.plot_x(0).min..=grid.plot_x(grid.n_columns - 1).max,
        strip.y_range(),
    );
    minimap::strip_ui(ui, strip, cx.input, cx.state);
    if cx.state.has_untold_edges && cx.state.picture_legend.is_none() {
        let margin = Rect::from_x_y_ranges(area.left()..=strip.left() - 4.0, strip.y_range());
        marks::edges_beside(ui, margin, cx.input, cx.state);
    }
    ui.advance_cursor_after_rect(area);
}

/// The lanes from top to bottom: of a difference its two lanes alone, so that all of them fit.
fn shown_lanes(input: &LanesInput<'_>, state: &LanesState) -> Vec<(usize, LaneEntry)> {
    let mut shown = state.arrangement.shown(input.comparison);
    let Some(difference) = input.drawn.difference.filter(|_| state.pictured.is_none()) else {
        return shown;
    };
    let is_compared = |entry: &LaneEntry| [difference.lanes.0, difference.lanes.1].contains(&entry.id);
    if shown.iter().filter(|(_, entry)| is_compared(entry)).count() == 2 {
        shown.retain(|(_, entry)| is_compared(entry));
    }
    shown
}

/// Headers, curves, events and maps.
fn contents_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frames: &[frame::LaneFrame]) {
    let mut counts = [(0, 0); 4];
    cx.state
        .caches
        .hole_pictures
        .resize(cx.input.comparison.lanes.len(), None);
    let mut pictures = std::mem::take(&mut cx.state.caches.hole_pictures);
    let mut areas = std::mem::take(&mut cx.state.caches.areas);
    let mut columns = std::mem::take(&mut cx.state.caches.columns);
    columns.turn();
    areas.turn();
    for frame in frames {
        let picture = &mut pictures[frame.lane];
        if cx.state.is_sitting(cx.input.comparison.lanes[frame.lane].id) {
            lane_capture::title_ui(ui, frame, cx.input);
        } else if frame.has_header {
            header::header_ui(ui, cx, frame);
        }
        curve::paint(ui, frame, cx.input, cx.state, &mut columns);
        budget::budget_ui(ui, cx, frame);
        ticks::paint(ui, frame, cx.input, cx.state);
        remat::marks_ui(ui, cx, frame);
        if !frame.has_header {
            header::label_ui(ui, cx, frame);
        }
        if cx.state.content == LaneContent::Areas {
            areas::paint(ui, frame, cx.input, cx.state, &mut areas, &mut columns);
            continue;
        }
        for (sum, (drawn, total)) in counts
            .iter_mut()
            .zip(map::paint(ui, frame, cx.input, cx.state, picture))
        {
            *sum = (sum.0 + drawn, sum.1 + total);
        }
    }
    let [drawn, holes, edges, hovered] = counts;
    if (cx.state.drawn, cx.state.holes_drawn, cx.state.edges_drawn) != (drawn, holes, edges) {
        // The toolbar above shows these counts.
        ui.ctx().request_repaint();
    }
    (cx.state.drawn, cx.state.holes_drawn, cx.state.edges_drawn) = (drawn, holes, edges);
    cx.state.hovered_edges_drawn = hovered;
    cx.state.caches.hole_pictures = pictures;
    cx.state.caches.areas = areas;
    cx.state.caches.columns = columns;
}

/// Drawn over the lanes: marks of time, the crosshair, tooltips, edges that change heights.
fn above_ui(ui: &Ui, frames: &[frame::LaneFrame], plain: f32, input: &LanesInput<'_>, state: &mut LanesState) {
    let reading = frames.iter().find_map(|frame| tooltip::reading(frame, input, state));
    if reading != state.reading_text {
        // The status bar was drawn before the lanes.
        ui.ctx().request_repaint();
        state.reading_text = reading;
    }
    for frame in frames {
        accessibility_text::tell(ui, frame.response.id, input, frame.lane, state);
        shortage::paint(ui, frame, input, state);
        remat::paint_ends(ui, frame, input, state);
        range::paint(ui, frame.body, input, state);
        measure::paint(ui, gestures::plot_of(frame), input, state, None);
        pinned_step::paint(ui, frame.lane, frame.body, input, state);
        canvas::cursor_line(ui, frame.body, state, input.theme);
        let is_covered = state.is_noting() || ui.memory(|memory| memory.top_modal_layer().is_some());
        if state.pictured.is_none() && !is_covered {
            tooltip::lane_tooltip(frame, input, state);
        }
        arrange::edge_ui(ui, frame, plain, input, state);
    }
}
