//! The lanes: one per policy, on one time axis with one cursor; or the lifetimes, a row per tensor.
//!
//! In: a [`Comparison`] with its [`Timeline`]. Out: [`LaneAction`]s. Everything is painted on own canvases from the
//! view-model, one mesh per area; nothing is kept per tensor, and nothing asks for another frame.
//!
//! ```text
//! toolbar   Memory map | Areas | Lifetimes   axis   Lanes   Marks   colour   Fit
//!           legend: curves, whose memory the bands are, marks of events, groups
//! ruler     runs, phases, steps
//! lane      header: policy, badges, figures
//!           curve: reserved, live, capacity, peak
//!           events: what the device and the pools did
//!           under a budget: what is evicted and computed anew; the budget is a line in the curve that can be dragged
//!           map: address by time, whose memory, holes, reuse edges
//! ```

mod accessibility_text;
mod areas;
mod arrange;
mod axis;
mod badge;
mod bands;
mod bookmarks;
mod budget;
mod canvas;
mod colors;
mod column_cache;
mod curve;
mod difference;
mod edge_counts;
mod eviction_interval;
mod figures;
mod frame;
mod gestures;
mod goto;
mod header;
mod holdings;
mod keyboard_ranges;
mod lane_capture;
mod legend;
mod map;
mod marks;
mod measure;
mod minimap;
mod pictures;
mod pinned_step;
mod placement;
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
pub use arrange::{Arrangement, LaneStand};
pub use bookmarks::lane_of as bookmark_lane;
pub use header::pinned_text;
pub use highwater_timeline::Selected;
pub use keyboard_ranges::Measuring;
pub use marks::{EdgeChoice, Marks};
pub use pictures::Drawn;
pub use pinned_step::{HoveredRegion, Move, PinnedStep};
pub use saved_lane_layout::SavedLaneLayout;
pub use shortage::sentences;
pub use state::LanesState;

use crate::theme::Theme;
use highwater_analysis::{Comparison, LaneId, LaneKind};
use highwater_model::units::Bytes;
use highwater_session::{ContentOrder, Document, PictureOrder, Session};
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Attribute, ColorBy, ColoringRequest, Matches, Timeline};

/// What the lanes show.
#[derive(Clone, Copy, Debug)]
pub struct LanesInput<'a> {
    /// The answer.
    pub comparison: &'a Comparison,
    /// Its view-model.
    pub timeline: &'a Timeline,
    /// The tensor selected anywhere in the window.
    pub selected: Option<Selected>,
    /// What a search found: what does not match is dimmed.
    pub matches: Option<&'a Matches>,
    /// Whether a newer answer is being worked out: the picture is dimmed.
    pub is_stale: bool,
    /// What figures are compared with.
    pub compared: Compared<'a>,
    /// Colours.
    pub theme: &'a Theme,
    /// Colours of blocks, and pictures of lanes that hold many.
    pub drawn: Drawn<'a>,
}

/// What figures and configurations are compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared<'a> {
    /// The lane, by position; `None` for the usual one.
    pub baseline: Option<usize>,
    /// What is set: pins say how they differ from it.
    pub document: Option<&'a Document>,
}

impl<'a> Compared<'a> {
    /// As the user chose.
    pub fn of(session: &'a Session) -> Self {
        Self {
            baseline: session.answer().map(|(comparison, _)| session.baseline(comparison)),
            document: Some(session.document()),
        }
    }
}

impl<'a> LanesInput<'a> {
    /// What panes beside the lanes read of the answer on the screen; `None` without one.
    pub fn of(session: &'a Session, theme: &'a Theme) -> Option<Self> {
        let (comparison, timeline) = session.answer()?;
        Some(Self {
            comparison,
            timeline,
            selected: session.selection(),
            matches: None,
            is_stale: session.is_stale(),
            compared: Compared::of(session),
            theme,
            drawn: Drawn::default(),
        })
    }
}

/// What the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum LaneAction {
    /// Select a tensor everywhere, or nothing.
    Select(Option<Selected>),
    /// Explain a lane: it, or something in it, was clicked.
    Explain(LaneId),
    /// Put a policy in force.
    ConfigurePolicy(StaticMemoryPolicy),
    /// Show the device at the step that was pinned.
    ShowDevice,
    /// Place a lane's arenas by a strategy; `None` takes the choice back.
    SetStrategy(LaneId, Option<&'static str>),
    /// Give a lane another budget, while its line moves.
    SetBudget(LaneId, Bytes),
    /// The line of a budget was let go.
    EndBudget,
    /// Draw pictures of lanes.
    Paint(PictureOrder),
    /// Work out what lanes show instead of memory maps.
    ShowContent(ContentOrder),
    /// Choose what colours stand for, and which groups step back.
    SetLook(ColoringRequest),
    /// Show the difference of two lanes, the first less the second, or none.
    SetDifference(Option<(LaneId, LaneId)>),
    /// Write a picture of a lane.
    SavePicture(LaneId),
    /// Write a drawing of a lane.
    SaveDrawing(LaneId),
}

/// How lanes are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneLayout {
    /// One below the other.
    #[default]
    Stacked,
    /// Two in a row.
    SideBySide,
}

/// What is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneContent {
    /// Curves and memory maps, a lane per policy.
    #[default]
    MemoryMap,
    /// Curves, and what every group holds as areas.
    Areas,
    /// A row per tensor.
    Lifetimes,
}

impl LaneContent {
    /// Every content, in the order in which the command goes through them.
    pub const ALL: [Self; 3] = [Self::MemoryMap, Self::Areas, Self::Lifetimes];

    /// The one behind it; the first behind the last.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::MemoryMap => Self::Areas,
            Self::Areas => Self::Lifetimes,
            Self::Lifetimes => Self::MemoryMap,
        }
    }

    /// Its name as users see it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::MemoryMap => "Memory map",
            Self::Areas => "Areas",
            Self::Lifetimes => "Lifetimes",
        }
    }
}

/// The lanes of a comparison, or its lifetimes, in all the space that is left.
pub fn lanes_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState, actions: &mut Vec<LaneAction>) {
    let n_steps = state.whole.map(|whole| whole.t1);
    state.adopt(input.timeline, input.comparison);
    state.cut_range(input.timeline.n_steps);
    views::note(ui, state, state.whole.map(|whole| whole.t1) != n_steps);
    let right = ui.available_rect_before_wrap().right();
    gestures::keys(ui, input, state, actions);
    toolbar::toolbar_ui(ui, input, state, actions);
    let content = state.content_order(input);
    if content != input.drawn.content {
        actions.push(LaneAction::ShowContent(content));
    }
    if state.content != LaneContent::Lifetimes {
        state.forget_rows();
    }
    // Areas are of groups: single tensors would be too many. Of recordings they are of who asked: op types are not stated.
    if content == ContentOrder::Areas
        && let Some(order) = input.drawn.order.filter(|order| order.by == ColorBy::Tensor)
    {
        let by = ColorBy::By(if input.comparison.lane_kind() == LaneKind::Recordings {
            Attribute::Scope
        } else {
            Attribute::OpType
        });
        state.look_beside_areas = Some((by, order.clone()));
        actions.push(LaneAction::SetLook(ColoringRequest { by, ..order.clone() }));
    } else if content != ContentOrder::Areas
        && let Some((by, before)) = state.look_beside_areas.take()
        && input
            .drawn
            .order
            .is_some_and(|order| order.by == by && order.hidden == before.hidden)
    {
        // Nobody chose another one meanwhile.
        actions.push(LaneAction::SetLook(before));
    }
    if input.is_stale {
        ui.multiply_opacity(0.55);
    }
    if input.timeline.n_steps == 0 || input.comparison.lanes.is_empty() {
        ui.centered_and_justified(|ui| ui.weak("The graph has no ops, so there is nothing to draw."));
        return;
    }
    let mut area = ui.available_rect_before_wrap();
    // What stands above may be wider than the pane; the lanes are not.
    area.set_right(right);
    // A pane that is too small shows a part of the smallest layout, so that no part of it has a negative size.
    ui.set_clip_rect(ui.clip_rect().intersect(area));
    let area = frame::at_least_smallest(area);
    state.cursor = None;
    match state.content {
        LaneContent::MemoryMap | LaneContent::Areas => maps_ui(ui, area, input, state, actions),
        LaneContent::Lifetimes => rows::rows_ui(ui, area, input, state, actions),
    }
    let plot = frame::Grid::new(
        area,
        &[frame::Wanted::PLAIN],
        LaneLayout::Stacked,
        ruler::height(input.timeline),
        0.0,
    )
    .ruler(0);
    bookmarks::note_ui(ui, plot, input, state);
    goto::goto_ui(ui, plot, input, state);
}

/// Rulers on top, lanes below them, in as many columns as the layout says.
fn maps_ui(ui: &mut Ui, area: Rect, input: &LanesInput<'_>, state: &mut LanesState, actions: &mut Vec<LaneAction>) {
    let shown = state.arrangement.shown(input.comparison);
    // The difference stands above all lanes, where it is seen.
    let n_above = usize::from(input.drawn.difference.is_some());
    let difference = input.drawn.difference.map(|_| frame::Wanted::LOW).into_iter();
    let has_areas = state.content == LaneContent::Areas;
    let has_events = state.marks.has_events;
    let of_stand = |stand: LaneStand| {
        let wanted = frame::Wanted::of(stand, has_events);
        if has_areas { wanted.beside_areas() } else { wanted }
    };
    let lanes = shown.iter().map(|(_, stand)| of_stand(*stand));
    let wanted: Vec<frame::Wanted> = difference.chain(lanes).collect();
    let (area, strip) = area.split_top_bottom_at_y(area.bottom() - minimap::HEIGHT);
    let room = if input.timeline.has_remat() {
        frame::BUDGET_ROOM
    } else {
        0.0
    };
    let grid = frame::Grid::new(area, &wanted, state.layout, ruler::height(input.timeline), room);
    let body = Rect::from_min_max(egui::pos2(area.left(), area.top() + grid.ruler_height), area.max);
    for column in 0..grid.n_columns {
        state.cursor = state
            .cursor
            .or_else(|| gestures::cursor(ui, body, grid.plot_x(column), state));
    }
    for column in 0..grid.n_columns {
        ruler::ruler_ui(ui, grid.ruler(column), input, state);
    }
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt("lanes"));
    egui::ScrollArea::vertical().auto_shrink(false).show(&mut child, |ui| {
        let (space, _) = ui.allocate_exact_size(grid.content_size(), egui::Sense::hover());
        if n_above > 0 {
            difference::difference_ui(ui, grid.lane(0, space.min), input, state, actions);
        }
        let frames: Vec<frame::LaneFrame> = shown
            .iter()
            .zip(&wanted[n_above..])
            .enumerate()
            .map(|(place, ((lane, _), wanted))| {
                let reach = state.arrangement.reach(input.timeline, &input.timeline.lanes[*lane]);
                frame::LaneFrame::new(ui, grid.lane(place + n_above, space.min), input, *lane, *wanted, reach)
            })
            .collect();
        lane_capture::prepare(ui, &frames, &grid, n_above, input, state);
        gestures::pointer(ui, &frames, input, state, actions);
        pictures::take(ui.ctx(), &input.drawn, &mut state.textures);
        contents_ui(ui, &frames, input, &mut *state, &mut *actions);
        if state.content == LaneContent::MemoryMap {
            actions.extend(pictures::order(ui, &frames, input, state).map(LaneAction::Paint));
        }
        above_ui(ui, &frames, grid.plain, input, state);
    });
    let strip = Rect::from_x_y_ranges(
        grid.plot_x(0).min..=grid.plot_x(grid.n_columns - 1).max,
        strip.y_range(),
    );
    minimap::strip_ui(ui, strip, input, state);
    if state.has_untold_edges && state.picture_legend.is_none() {
        let margin = Rect::from_x_y_ranges(area.left()..=strip.left() - 4.0, strip.y_range());
        marks::edges_beside(ui, margin, input, state);
    }
    ui.advance_cursor_after_rect(area);
}

/// Headers, curves, events and maps.
fn contents_ui(
    ui: &mut Ui,
    frames: &[frame::LaneFrame],
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) {
    let mut counts = [(0, 0); 3];
    state.hole_pictures.resize(input.comparison.lanes.len(), None);
    state.area_pictures.resize(input.comparison.lanes.len(), None);
    let mut pictures = std::mem::take(&mut state.hole_pictures);
    let mut areas = std::mem::take(&mut state.area_pictures);
    let mut columns = std::mem::take(&mut state.known_columns);
    columns.turn();
    for frame in frames {
        let picture = &mut pictures[frame.lane];
        if state.is_sitting(input.comparison.lanes[frame.lane].id) {
            lane_capture::title_ui(ui, frame, input);
        } else {
            header::header_ui(ui, frame, input, state, actions);
        }
        curve::paint(ui, frame, input, state, &mut columns);
        budget::budget_ui(ui, frame, input, state, actions);
        ticks::paint(ui, frame, input, state);
        remat::marks_ui(ui, frame, input, state, actions);
        if state.content == LaneContent::Areas {
            areas::paint(ui, frame, input, state, &mut areas, &mut columns);
            continue;
        }
        for (sum, (drawn, total)) in counts.iter_mut().zip(map::paint(ui, frame, input, state, picture)) {
            *sum = (sum.0 + drawn, sum.1 + total);
        }
    }
    if [state.drawn, state.holes_drawn, state.edges_drawn] != counts {
        // The toolbar stands above the lanes and tells what they drew.
        ui.ctx().request_repaint();
    }
    [state.drawn, state.holes_drawn, state.edges_drawn] = counts;
    state.hole_pictures = pictures;
    state.area_pictures = areas;
    state.known_columns = columns;
}

/// What stands above the lanes: marks of time, the cursor, tooltips, the edges that change heights.
fn above_ui(ui: &Ui, frames: &[frame::LaneFrame], plain: f32, input: &LanesInput<'_>, state: &mut LanesState) {
    for frame in frames {
        accessibility_text::tell(ui, frame.response.id, input, frame.lane, state);
        shortage::paint(ui, frame, input, state);
        remat::paint_ends(ui, frame, input, state);
        range::paint(ui, frame.body, input, state);
        measure::paint(ui, gestures::plot_of(frame), input, state);
        pinned_step::paint(ui, frame.lane, frame.body, input, state);
        canvas::cursor_line(ui, frame.body, state, input.theme);
        let is_covered = state.is_noting() || ui.memory(|memory| memory.top_modal_layer().is_some());
        if state.pictured.is_none() && !is_covered {
            tooltip::lane_tooltip(frame, input, state);
        }
        arrange::edge_ui(ui, frame, plain, input, state);
    }
}
