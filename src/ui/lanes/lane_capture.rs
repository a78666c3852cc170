//! A lane laid out for a picture: a title instead of the header, the ruler, the canvases, and a legend of groups.
//!
//! The window draws it so for the frames of the capture; its parts are cut out and stacked.

use std::sync::Arc;

use eframe::egui::style::ScrollAnimation;
use eframe::egui::{Galley, Pos2, Rect, RichText, Ui, pos2, vec2};

use super::canvas::SMALL;
use super::figures::{self, SPACING};
use super::frame::{Grid, LaneFrame};
use super::header::{figures_ui, line_ui};
use super::{LanesInput, LanesState};
use crate::panels::elided_middle;
use highwater_analysis::LaneId;
use highwater_timeline::DIMMED;

const TITLE: f32 = 15.0;
const INDENT: f32 = 4.0;
/// Widths in points: a swatch, gaps, the widest name, the count of further groups.
const SWATCH: f32 = 14.0;
const BETWEEN: f32 = 14.0;
const MOST_NAME: f32 = 170.0;
const MORE: f32 = 60.0;
/// Least width of a title with figures.
const LEAST_TITLE: f32 = 240.0;

/// The visible parts of a lane's picture from top to bottom, equally wide: title, ruler, canvases.
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
    /// In points; empty where the lane is not shown.
    pub fn parts_of(&self, lane: LaneId) -> Vec<Rect> {
        let known = self.places.iter().find(|(known, _)| *known == lane);
        let parts = known.map_or(&[][..], |(_, parts)| parts);
        let legend = self.picture_legend.filter(|_| self.is_sitting(lane));
        parts.iter().copied().chain(legend).filter(Rect::is_positive).collect()
    }

    /// Lays out a lane for its picture; `None` ends that.
    pub fn begin(&mut self, lane: Option<LaneId>) {
        self.pictured = lane;
    }

    /// Whether this lane's picture is being taken.
    pub(super) fn is_sitting(&self, lane: LaneId) -> bool {
        self.pictured == Some(lane)
    }
}

/// Notes the parts of all lanes, and brings the captured one into view. `n_above` lanes lie above the others.
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

/// Draws the legend below the captured lane, in place of the minimap; returns whether it did.
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
    let title = line(format!("Color: {}", look.by.words()), theme.text_weak);
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

/// Names of the source and the lane.
pub(super) fn title(input: &LanesInput<'_>, lane: usize) -> String {
    let row = &input.comparison.lanes[lane];
    format!(
        "{}: {}",
        input.comparison.workload.name,
        input.comparison.lane_title(row.id)
    )
}

/// The title and figures, in place of the header.
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
    line_ui(ui, below, ("figures", frame.lane), |ui| figures_ui(ui, figures));
}
