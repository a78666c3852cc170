//! The curves of a lane: reserved, live, capacity, and the mark at the peak.
//!
//! A pixel column spans the exact extremes of its steps. Where neighbours do not meet, the higher one reaches down to
//! the lower one, so that no maximum is drawn too high or too low.

use std::ops::Range;

use eframe::egui::epaint::{CircleShape, PathShape};
use eframe::egui::{Align, Align2, Color32, Painter, Pos2, Rect, Stroke, Ui, pos2, vec2};

use super::canvas::{
    Quads, SMALL, beside, equal_runs, label_beside, left_axis, reading_x, text_with_ground, visible_x,
};
use super::column_cache::ColumnCache;
use super::frame::LaneFrame;
use super::{LanesInput, LanesState, header, remat, shortage};
use crate::numbers::{at_least_one, count_f32, to_f64, to_points, to_step, to_whole};
use highwater_analysis::LanePeak;
use highwater_model::units::{Bytes, Step};
use highwater_timeline::{Curve, View, byte_ticks, op_text};

/// The y-axis of a lane, or of all lanes.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) rect: Rect,
    pub(super) top: f64,
}

impl Scale {
    pub(super) fn y(&self, bytes: u64) -> f32 {
        self.rect.bottom() - to_points(to_f64(bytes) / self.top * f64::from(self.rect.height()))
    }

    /// The bytes at a height on the screen, also above the upper edge; at least 1.
    pub(super) fn bytes_at(&self, y: f32) -> Bytes {
        let share = f64::from(self.rect.bottom() - y) / f64::from(self.rect.height()).max(1.0);
        Bytes(to_whole((share * self.top).round().max(1.0)))
    }
}

/// The y-axis of a lane's curves; constant during the drag of a budget.
pub(super) fn scale(frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Scale {
    let own = state.arrangement.has_own_scales.then_some(frame.lane);
    let fresh = || top(input, own, f64::from(frame.curve.height()));
    Scale {
        rect: frame.curve,
        top: state
            .budget
            .and_then(|drag| drag.top_while_held())
            .unwrap_or_else(fresh),
    }
}

/// Room above the highest peak for its label.
const HEADROOM: f64 = 16.0;
/// A budget up to this factor above the highest peak extends the y-axis.
const BUDGET_NEAR: f64 = 1.6;

/// Bytes at the upper edge: above the highest peak of all lanes (or of one), and the capacity where it is near.
fn top(input: &LanesInput<'_>, own: Option<usize>, height: f64) -> f64 {
    let lanes = || {
        let lanes = input.timeline.lanes.iter().enumerate();
        lanes
            .filter(|(number, _)| own.is_none_or(|own| own == *number))
            .map(|(_, lane)| lane)
    };
    let peaks = lanes().map(|lane| lane.reserved.max().max(lane.live.max()));
    let mut peak = to_f64(peaks.max().unwrap_or(0).max(1));
    for remat in lanes().filter_map(|lane| lane.remat.as_ref()) {
        peak = peak.max(to_f64(remat.usage.max()));
        let budget = remat.budget.map_or(0.0, |budget| to_f64(budget.get()));
        // A budget far above everything is drawn at the upper edge.
        if budget <= peak * BUDGET_NEAR {
            peak = peak.max(budget);
        }
    }
    let highest = match own {
        Some(_) => peak,
        None => peak.max(to_f64(input.comparison.drawn_top(input.timeline.peak).get())),
    };
    highest * (height / (height - HEADROOM).max(1.0)).clamp(1.05, 2.0)
}

/// The capacity of a lane, where it is near enough to be a line.
fn near_capacity(input: &LanesInput<'_>, lane: usize) -> Option<Bytes> {
    input.comparison.drawn_capacity(lane, input.timeline.peak)
}

/// The capacities that are no lines: the lowest of them; `None` where none is known.
pub(super) fn capacity_above(input: &LanesInput<'_>) -> Option<Bytes> {
    let lanes = 0..input.comparison.lanes.len();
    let above = lanes.filter(|lane| near_capacity(input, *lane).is_none());
    above
        .filter_map(|lane| Some(input.comparison.capacity_of(lane)?.bytes))
        .min()
}

/// Whether some lane has a line at its capacity.
pub(super) fn has_capacity_line(input: &LanesInput<'_>) -> bool {
    (0..input.comparison.lanes.len()).any(|lane| near_capacity(input, lane).is_some())
}

pub(super) fn paint(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState, known: &mut ColumnCache) {
    let Some(viewport) = state.view() else { return };
    let theme = input.theme;
    let scale = scale(frame, input, state);
    let outer = ui.painter();
    outer.rect_filled(frame.curve, 0, theme.canvas);
    let most = at_least_one((frame.curve.height() / 20.0).min(6.0));
    let ticks = byte_ticks(0.0, scale.top, most);
    left_axis(outer, frame.curve, &ticks, |value| scale.y(to_whole(value)), theme);
    let painter = ui.painter_at(frame.curve);
    let lane = &input.timeline.lanes[frame.lane];
    remat::paint_recomputed(&painter, frame.curve, lane, &viewport, theme);
    let width = at_least_one((frame.curve.width() * ui.pixels_per_point()).round());
    let mut quads = Quads::default();
    let mut columns = |curve: &Curve| known.of(curve, &viewport, state.warp.as_ref(), width);
    let (states_reserved, states_live) = input.comparison.states(frame.lane);
    if states_reserved {
        let fill = Some(theme.reserved_fill);
        add_curve(&mut quads, &columns(&lane.reserved), &scale, fill, theme.reserved);
    }
    if states_live {
        let fill = Some(theme.live_fill);
        add_curve(&mut quads, &columns(&lane.live), &scale, fill, theme.live);
    }
    if lane.physical.max() > 0 {
        add_curve(&mut quads, &columns(&lane.physical), &scale, None, theme.physical);
    }
    if let Some(remat) = &lane.remat {
        add_curve(&mut quads, &columns(&remat.usage), &scale, None, theme.usage);
    }
    quads.paint(&painter);
    let painter = ui.painter_at(beside(frame.curve));
    if let Some(capacity) = near_capacity(input, frame.lane) {
        let y = scale.y(capacity.get());
        painter.hline(frame.curve.x_range(), y, Stroke::new(1.5, theme.capacity));
    }
    let name = (!frame.has_header).then(|| header::label(ui, frame, input).place);
    let peak = paint_peak(&painter, &scale, frame, name, input, &viewport);
    paint_capacity(&painter, &scale, frame, input, peak);
    paint_reading(&painter, &scale, frame, input, state, peak);
}

/// Fills below a curve's minimum and draws its extremes on top; equal columns become one quad.
pub(super) fn add_curve(
    quads: &mut Quads,
    columns: &[(u64, u64)],
    scale: &Scale,
    fill: Option<Color32>,
    line: Color32,
) {
    let width = scale.rect.width() / count_f32(columns.len().max(1));
    let n_changes = columns.windows(2).filter(|pair| pair[0] != pair[1]).count();
    quads.reserve((n_changes + 1) * 2);
    for Range { start, end } in equal_runs(columns.len(), |one, other| columns[one] == columns[other]) {
        let (low, high) = columns[start];
        let high_of = |idx: Option<usize>| idx.and_then(|idx| columns.get(idx)).map_or(low, |column| column.1);
        let reach = low.min(high_of(start.checked_sub(1))).min(high_of(Some(end)));
        let (x0, x1) = (
            count_f32(start) * width + scale.rect.left(),
            count_f32(end) * width + scale.rect.left(),
        );
        let (y_high, y_low) = (scale.y(high), scale.y(low));
        let rect = |y0: f32, y1: f32, x0: f32, x1: f32| Rect::from_min_max(pos2(x0, y0), pos2(x1, y1));
        if let Some(fill) = fill {
            quads.add(rect(y_high, scale.rect.bottom(), x0, x1), fill);
        }
        // A column as narrow as its edges is one with them.
        let is_edge = ((x1 - x0) - 1.0).abs() < 1e-3;
        let y_line = if is_edge { scale.y(reach) } else { y_low };
        quads.add(rect(y_high, y_line.max(y_high + 1.5), x0, x1), line);
        if reach < low && !is_edge {
            let edge =
                |neighbour: u64, x0: f32| (neighbour < low).then(|| rect(y_high, scale.y(neighbour), x0, x0 + 1.0));
            let left = edge(high_of(start.checked_sub(1)), x0);
            let right = edge(high_of(Some(end)), x1 - 1.0);
            left.into_iter().chain(right).for_each(|rect| quads.add(rect, line));
        }
    }
}

/// Half the height of a label.
const HALF_LABEL: f32 = 8.0;

/// Draws mark and label; returns the place of the label where the peak is in view.
fn paint_peak(
    painter: &Painter,
    scale: &Scale,
    frame: &LaneFrame,
    name: Option<Rect>,
    input: &LanesInput<'_>,
    viewport: &View<'_>,
) -> Option<Rect> {
    let shown = input.comparison.shown_peak(frame.lane);
    let step = shown.step?;
    let rect = scale.rect;
    let at = visible_x(rect, viewport, f64::from(step.0) + 0.5)?;
    // The mark stays whole at the edges.
    let x = at.clamp(rect.left() + 5.0, (rect.right() - 5.0).max(rect.left() + 5.0));
    let y = scale.y(shown.bytes.get());
    let theme = input.theme;
    let points = vec![pos2(x, y), pos2(x - 4.5, y - 8.0), pos2(x + 4.5, y - 8.0)];
    painter.add(PathShape::convex_polygon(points, theme.peak, Stroke::NONE));
    // A label above the peak would cover the capacity where the line is near.
    let line = near_capacity(input, frame.lane).map(|capacity| scale.y(capacity.get()));
    let is_near = line.is_some_and(|line| (y - 17.0..=y + 1.0).contains(&line));
    // Below the line where there is room, else above it.
    let below = y + 9.0 + HALF_LABEL <= rect.bottom();
    let above = line.map_or(y, |line| line - 9.0);
    let label = match (is_near, below) {
        (false, _) => y - 8.0,
        (true, true) => y + 9.0,
        (true, false) => above.max(rect.top() + HALF_LABEL),
    };
    // The label begins after the name of the lane.
    let lines = label - HALF_LABEL..=label + HALF_LABEL;
    let name = name.filter(|name| name.top() <= *lines.end() && name.bottom() >= *lines.start());
    let inside = name.map_or(rect, |name| rect.with_min_x(name.right()));
    let mark = pos2(x.max(inside.left() - 3.0), label);
    let texts = peak_texts(frame.lane, shown, step, input);
    let (place, text) = peak_words(painter, mark, inside, texts);
    Some(text_with_ground(painter, place, text, (theme.text, theme.halo()), rect))
}

/// Labels of the peak, longest first.
fn peak_texts(position: usize, shown: LanePeak, step: Step, input: &LanesInput<'_>) -> Vec<String> {
    let lane = &input.comparison.lanes[position];
    // A reservation that stays at its peak continues from here.
    let next = lane.curves.reserved.get(step.idx() + 1);
    let word = if next == Some(&shown.bytes) && !shown.is_live {
        "from"
    } else {
        "at"
    };
    let figure = format!("peak {}", shown.bytes);
    // Live bytes have another peak, mostly on another step.
    let what = if shown.is_live { "live" } else { "reserved" };
    let at = format!("{what} {figure} {word} {}", input.comparison.step_text(position, step));
    // A recorded run may have another op on this step.
    let op = op_text(input.comparison, step);
    let full = (!op.is_empty() && !lane.is_measured()).then(|| format!("{at} ({op})"));
    full.into_iter().chain([at, figure]).collect()
}

/// The longest text that fits right or left of the mark.
fn peak_words(painter: &Painter, mark: Pos2, inside: Rect, texts: Vec<String>) -> ((Pos2, Align2), String) {
    let right = (mark + vec2(9.0, 0.0), Align2::LEFT_CENTER);
    let left = (mark - vec2(9.0, 0.0), Align2::RIGHT_CENTER);
    let mut last = String::new();
    for text in texts {
        let width = painter
            .layout_no_wrap(text.clone(), SMALL, Color32::PLACEHOLDER)
            .size()
            .x
            + 14.0;
        if mark.x + width <= inside.right() {
            return (right, text);
        } else if mark.x - width >= inside.left() {
            return (left, text);
        }
        last = text;
    }
    (right, last)
}

/// Lower curves have no room for a label of the capacity: it would cover them.
const LOW_CURVE: f32 = 56.0;

/// The label of the capacity, where it is near.
fn paint_capacity(painter: &Painter, scale: &Scale, frame: &LaneFrame, input: &LanesInput<'_>, peak: Option<Rect>) {
    let near = near_capacity(input, frame.lane).filter(|_| scale.rect.height() >= LOW_CURVE);
    let Some(capacity) = near else { return };
    let theme = input.theme;
    let (y, rect) = (scale.y(capacity.get()), scale.rect);
    let place = (pos2(rect.right() - 4.0, y - 1.0), Align2::RIGHT_BOTTOM);
    let expected = place.1.anchor_size(place.0, vec2(130.0, 15.0));
    if peak.is_none_or(|peak| !peak.intersects(expected)) {
        let words = format!("capacity {capacity}");
        text_with_ground(painter, place, words, (theme.capacity, theme.halo()), rect);
    }
}

/// Reserved and live bytes at the cursor.
fn paint_reading(
    painter: &Painter,
    scale: &Scale,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
    peak: Option<Rect>,
) {
    let (Some(x), Some(step)) = (reading_x(scale.rect, state), state.reading()) else {
        return;
    };
    let theme = input.theme;
    let lane = &input.timeline.lanes[frame.lane];
    let step = to_step(step);
    let (reserved, live) = (lane.reserved.at(step.0), lane.live.at(step.0));
    let has_run = shortage::ended_text(&input.comparison.lanes[frame.lane], step).is_none();
    let physical = (has_run && lane.physical.max() > 0).then(|| lane.physical.at(step.0));
    let in_pages = physical.map(|bytes| (bytes, theme.physical));
    let in_use = lane.remat.as_ref().map(|remat| remat.usage.at(step.0));
    let counted = in_use.map(|bytes| (bytes, theme.usage));
    let (states_reserved, states_live) = input.comparison.states(frame.lane);
    let ended = shortage::ended_text(&input.comparison.lanes[frame.lane], step);
    // Behind the end nothing is live, and what was reserved is no figure of the step.
    let (states_reserved, states_live) = (states_reserved && ended.is_none(), states_live && ended.is_none());
    let of_reserved = states_reserved.then_some((reserved, theme.reserved));
    let of_live = states_live.then_some((live, theme.live));
    for (bytes, color) in of_reserved.into_iter().chain(of_live).chain(in_pages).chain(counted) {
        painter.add(CircleShape::filled(pos2(x, scale.y(bytes)), 3.0, color));
    }
    let pages = physical.map_or_else(String::new, |bytes| format!("{} in pages, ", Bytes(bytes)));
    let planner = in_use.map_or_else(String::new, |bytes| format!(", {} planned", Bytes(bytes)));
    let taken = format!("{} reserved, ", Bytes(reserved));
    let words = match (states_reserved, states_live) {
        (true, true) => format!("{taken}{pages}{} live{planner}", Bytes(live)),
        (true, false) => format!("{taken}live is not recorded"),
        (false, _) => ended.unwrap_or_else(|| format!("{} live, reserved is not recorded", Bytes(live))),
    };
    let (place, anchor) = label_beside(pos2(x, scale.rect.bottom() - 2.0), 8.0, Align::BOTTOM, scale.rect);
    let galley = painter.layout_no_wrap(words.clone(), SMALL, theme.text);
    let expected = anchor.anchor_size(place, galley.size() + vec2(8.0, 2.0));
    if peak.is_none_or(|peak| !peak.intersects(expected)) {
        text_with_ground(painter, (place, anchor), words, (theme.text, theme.halo()), scale.rect);
    }
}
