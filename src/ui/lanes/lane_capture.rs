//! A lane as a picture shows it: a title instead of the header with its buttons, the ruler, the canvases, and what the
//! colours mean where they stand for groups.
//!
//! The window draws it so for the few frames in which the picture is taken; what is cut from the window stands one below the
//! other in the picture.

use std::sync::Arc;

use eframe::egui::style::ScrollAnimation;
use eframe::egui::{Align, Galley, Layout, Pos2, Rect, RichText, Ui, UiBuilder, pos2, vec2};

use super::canvas::SMALL;
use super::figures::{self, SPACING};
use super::frame::{Grid, LaneFrame};
use super::{LanesInput, LanesState};
use crate::panels::elided_middle;
use highwater_analysis::LaneId;
use highwater_timeline::DIMMED;

const TITLE: f32 = 15.0;
/// Left of the title.
const INDENT: f32 = 4.0;
/// A swatch with the gap behind it, a gap between two groups, the widest name, room for how many more there are.
const SWATCH: f32 = 14.0;
const BETWEEN: f32 = 14.0;
const MOST_NAME: f32 = 170.0;
const MORE: f32 = 60.0;
/// The least that a title gets beside figures.
const LEAST_TITLE: f32 = 240.0;

/// Where the parts of a lane's picture are on the screen, from its top to its bottom, as far as they can be seen: its title,
/// the ruler of its column, its canvases. All are equally wide.
fn parts(frame: &LaneFrame, ruler: Rect, seen: Rect) -> [Rect; 3] {
    let outer = frame.outer;
    let body = Rect::from_min_max(pos2(outer.left(), frame.header.bottom()), outer.max);
    [
        Rect::from_x_y_ranges(outer.x_range(), frame.header.y_range()).intersect(seen),
        Rect::from_x_y_ranges(outer.x_range(), ruler.y_range()),
        body.intersect(seen),
    ]
}

impl LanesState {
    /// Where the parts of a lane's picture are on the screen, in points; empty where it is not shown.
    pub fn parts_of(&self, lane: LaneId) -> Vec<Rect> {
        let known = self.places.iter().find(|(known, _)| *known == lane);
        let parts = known.map_or(&[][..], |(_, parts)| parts);
        let legend = self.picture_legend.filter(|_| self.is_sitting(lane));
        parts.iter().copied().chain(legend).filter(Rect::is_positive).collect()
    }

    /// From now on a lane looks as its picture is to; `None` when that is taken.
    pub fn begin(&mut self, lane: Option<LaneId>) {
        self.pictured = lane;
    }

    /// Whether this lane's picture is being taken.
    pub(super) fn is_sitting(&self, lane: LaneId) -> bool {
        self.pictured == Some(lane)
    }
}

/// Notes where the parts of pictures are, and brings the lane that is pictured into view. Above the lanes there are `n_above`
/// others.
pub(super) fn prepare(
    ui: &Ui,
    frames: &[LaneFrame],
    grid: &Grid,
    n_above: usize,
    input: &LanesInput<'_>,
    state: &mut LanesState,
) {
    let id = |frame: &LaneFrame| input.comparison.lanes[frame.lane].id;
    let places = frames.iter().enumerate().map(|(place, frame)| {
        let ruler = grid.ruler((place + n_above) % grid.n_columns);
        (id(frame), parts(frame, ruler, ui.clip_rect()))
    });
    state.places = places.collect();
    if let Some(frame) = frames.iter().find(|frame| state.is_sitting(id(frame))) {
        ui.scroll_to_rect_animation(frame.outer, None, ScrollAnimation::none());
    }
}

/// What the colours mean, below the lane that is pictured, in the place of the overview. Says whether it is there.
pub(super) fn legend_ui(ui: &Ui, strip: Rect, input: &LanesInput<'_>, state: &mut LanesState) -> bool {
    state.picture_legend = None;
    let top = state.pictured.and_then(|lane| state.parts_of(lane).first().copied());
    let look = input.drawn.look.filter(|look| !look.legend.is_empty());
    let Some((top, look)) = top.zip(look) else {
        return false;
    };
    let rect = Rect::from_x_y_ranges(top.x_range(), strip.y_range());
    state.picture_legend = Some(rect);
    let (painter, theme) = (ui.painter_at(rect), input.theme);
    let line = |text: String, color| painter.layout_no_wrap(text, SMALL, color);
    let put = |at: Pos2, galley: Arc<Galley>, color| {
        let corner = at - vec2(0.0, galley.size().y / 2.0);
        painter.galley(corner, galley, color);
    };
    let title = line(format!("colour: {}", look.by.words()), theme.text_weak);
    let mut at = pos2(rect.left() + INDENT, rect.top() + rect.height() * 0.26);
    let last_row = rect.top() + rect.height() * 0.74;
    let first_group = at + vec2(title.size().x + BETWEEN, 0.0);
    put(at, title, theme.text_weak);
    at = first_group;
    for (position, group) in look.legend.iter().enumerate() {
        let (color, step_back) = if group.is_hidden {
            (theme.text_weak, DIMMED)
        } else {
            (theme.text, 0)
        };
        let name = line(elided_middle(ui, &group.text, SMALL.size, MOST_NAME), color);
        let room = SWATCH + name.size().x + BETWEEN;
        let is_last = at.y >= last_row;
        if at.x + room > rect.right() - if is_last { MORE } else { 0.0 } {
            if is_last {
                let others = format!("+{} more", look.legend.len() - position);
                put(at, line(others, theme.text_weak), theme.text_weak);
                break;
            }
            at = pos2(rect.left() + INDENT, last_row);
        }
        let swatch = Rect::from_center_size(at + vec2(5.0, 0.0), vec2(10.0, 10.0));
        painter.rect_filled(swatch, 2, theme.block(group.color | step_back));
        put(at + vec2(SWATCH, 0.0), name, color);
        at.x += room;
    }
    true
}

/// What a picture is called: what is open, and the lane.
pub(super) fn title(input: &LanesInput<'_>, lane: usize) -> String {
    let row = &input.comparison.lanes[lane];
    format!(
        "{}: {}",
        input.comparison.workload.name,
        input.comparison.lane_title(row.id)
    )
}

/// The title with the lane's figures, in the place of the header.
pub(super) fn title_ui(ui: &mut Ui, frame: &LaneFrame, input: &LanesInput<'_>) {
    let lane = &input.comparison.lanes[frame.lane];
    let remat = input.timeline.lanes[frame.lane].remat.as_deref();
    let mut figures = figures::figures(ui, lane, remat, input);
    let header = frame.header;
    let room = header.width() - INDENT - SPACING;
    let beside = if frame.is_wide { LEAST_TITLE } else { 0.0 };
    while figures::width(&figures) + beside > room && figures::drop_one(&mut figures) {}
    let (top, below) = if frame.is_wide {
        (header, header)
    } else {
        header.split_top_bottom_at_fraction(0.5)
    };
    let taken = if frame.is_wide { figures::width(&figures) } else { 0.0 };
    let text = elided_middle(ui, &title(input, frame.lane), TITLE, room - taken);
    line_ui(ui, top, ("title", frame.lane), |ui| {
        ui.add_space(INDENT);
        ui.label(RichText::new(text).size(TITLE).strong());
    });
    line_ui(ui, below, ("figures", frame.lane), |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for figure in figures.into_iter().rev() {
                figure.ui(ui);
            }
        });
    });
}

fn line_ui(ui: &mut Ui, rect: Rect, salt: (&'static str, usize), add: impl FnOnce(&mut Ui)) {
    let layout = Layout::left_to_right(Align::Center);
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout).id_salt(salt));
    child.shrink_clip_rect(rect);
    child.spacing_mut().item_spacing = vec2(SPACING, 0.0);
    add(&mut child);
}
