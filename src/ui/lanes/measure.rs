//! Drags over a canvas: move the view, zoom to steps (Alt), measure time (R) or bytes (T).
//!
//! Measurements stay until Escape.

use eframe::egui::{Align2, Key, PointerButton, Pos2, Rangef, Rect, Response, Stroke, Ui, pos2};

use super::bands::took_words;
use super::canvas::{step_x, text_with_ground};
use super::difference::signed;
use super::lane_scale::LaneScale;
use super::range::{stated_curve, step_at_x};
use super::{LaneContent, LanesInput, LanesState};
use crate::numbers::{to_f64, to_points, to_step, to_whole};
use highwater_model::units::{Bytes, Nanos, Step, counted};
use highwater_timeline::{SignedCurve, StepRange, View, Viewport, step_facts};

/// The tool of a drag; fixed where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Move,
    Zoom,
    Time,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Drag {
    tool: Tool,
    /// Step and address at the start.
    step: Step,
    address: f64,
}

/// Bytes between two addresses of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Height {
    /// By position; the number of lanes for the difference.
    lane: usize,
    step: Step,
    low: f64,
    high: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measures {
    drag: Option<Drag>,
    /// The steps that the drag zooms to at its end.
    zoom: Option<StepRange>,
    /// Lane and steps.
    time: Option<(usize, StepRange)>,
    bytes: Option<Height>,
    /// Lane and step where a ruler by keyboard begins.
    from: Option<(usize, Step)>,
}

impl Measures {
    /// Begins a ruler of one step.
    pub(super) fn begin_time(&mut self, lane: usize, step: Step, n_steps: u32) {
        self.from = Some((lane, step));
        self.time = StepRange::between(step, step, n_steps).map(|range| (lane, range));
    }

    /// Ends it, before or after its start; returns whether there is one.
    pub(super) fn end_time(&mut self, step: Step, n_steps: u32) -> bool {
        let from = self.from.or(self.time.map(|(lane, range)| (lane, range.start)));
        let Some((lane, start)) = from else { return false };
        self.time = StepRange::between(start, step, n_steps).map(|range| (lane, range));
        true
    }

    /// A ruler over the addresses of a block, or extended over them.
    pub(super) fn measure_block(&mut self, block: (usize, Step, (u64, u64)), is_both: bool) {
        let (lane, step, (low, high)) = block;
        let (low, high) = (to_f64(low), to_f64(high));
        let known = self.bytes.filter(|known| is_both && known.lane == lane);
        self.bytes = Some(Height {
            lane,
            step,
            low: known.map_or(low, |known| known.low.min(low)),
            high: known.map_or(high, |known| known.high.max(high)),
        });
    }

    pub(super) fn steps(&self) -> Option<StepRange> {
        self.time.map(|(_, range)| range)
    }

    pub(super) const fn zoom(&self) -> Option<StepRange> {
        self.zoom
    }

    /// Removes all rulers; returns whether there was one.
    pub(super) fn clear(&mut self) -> bool {
        let had = self.time.is_some() || self.bytes.is_some() || self.zoom.is_some();
        *self = Self::default();
        had
    }
}

/// A canvas; heights in its part `map` are addresses.
#[derive(Clone, Copy)]
pub(super) struct Plot {
    /// By position; 0 where there are no lanes.
    pub(super) lane: usize,
    pub(super) body: Rect,
    pub(super) map: Rect,
    pub(super) scale: LaneScale,
    /// Values at the top and at the bottom of the map, where heights are bytes of a difference.
    pub(super) values: Option<(f64, f64)>,
}

impl Plot {
    fn address(&self, pos: Pos2, view: &Viewport) -> f64 {
        let y = f64::from(pos.y.max(self.map.top()).min(self.map.bottom()) - self.map.top());
        if let Some((top, bottom)) = self.values {
            return top + (bottom - top) * y / f64::from(self.map.height().max(1.0));
        }
        self.scale.address(view.address_from_y(y, f64::from(self.map.height())))
    }

    /// The height of an address, or of bytes of a difference; at most 10 points outside the map.
    fn y(&self, value: f64, view: &View<'_>) -> f32 {
        let height = f64::from(self.map.height());
        let y = match self.values {
            Some((top, bottom)) => (value - top) / (bottom - top) * height,
            None => self.scale.view(view).y_from_address(value, height),
        };
        self.map.top() + to_points(y.clamp(-10.0, height + 10.0))
    }
}

/// Follows a drag; returns whether it moves the view.
pub(super) fn drag(ui: &Ui, response: &Response, plot: Plot, state: &mut LanesState) -> bool {
    let buttons = [PointerButton::Primary, PointerButton::Middle, PointerButton::Secondary];
    let is_dragged = buttons.into_iter().any(|button| response.dragged_by(button));
    if response.drag_started() {
        state.measures.drag = begin(ui, response, plot, state);
    }
    if response.drag_stopped() {
        state.measures.drag = None;
        if let Some(range) = state.measures.zoom.take() {
            state.show_steps(range);
        }
        return false;
    }
    let (Some(drag), Some(view)) = (state.measures.drag.filter(|_| is_dragged), state.viewport) else {
        return is_dragged;
    };
    let pos = response.interact_pointer_pos();
    let Some((pos, step)) = pos.and_then(|pos| Some((pos, step_at_x(pos.x, plot.body, state)?))) else {
        return false;
    };
    let n_steps = state.whole.map_or(0, |whole| n_steps_of(&whole));
    let range = StepRange::between(drag.step, step, n_steps);
    match drag.tool {
        Tool::Move => return true,
        Tool::Zoom => state.measures.zoom = range,
        Tool::Time => {
            state.measures.from = None;
            state.measures.time = range.map(|range| (plot.lane, range));
        }
        Tool::Bytes => {
            let here = plot.address(pos, &view);
            state.measures.bytes = Some(Height {
                lane: plot.lane,
                step: drag.step,
                low: drag.address.min(here),
                high: drag.address.max(here),
            });
        }
    }
    false
}

fn n_steps_of(whole: &Viewport) -> u32 {
    to_step(whole.t1).0
}

fn begin(ui: &Ui, response: &Response, plot: Plot, state: &LanesState) -> Option<Drag> {
    let origin = ui
        .input(|i| i.pointer.press_origin())
        .or(response.interact_pointer_pos())?;
    let is_primary = response.drag_started_by(PointerButton::Primary);
    let (is_alt, is_time, is_bytes) = ui.input(|i| (i.modifiers.alt, i.key_down(Key::R), i.key_down(Key::T)));
    let is_scaled = plot.values.is_some() || state.content == LaneContent::MemoryMap;
    let has_addresses = plot.map.contains(origin) && is_scaled;
    let tool = if !is_primary || ui.text_edit_focused() {
        Tool::Move
    } else if is_alt {
        Tool::Zoom
    } else if is_time {
        Tool::Time
    } else if is_bytes && has_addresses {
        Tool::Bytes
    } else {
        Tool::Move
    };
    Some(Drag {
        tool,
        step: step_at_x(origin.x, plot.body, state)?,
        address: plot.address(origin, &state.viewport?),
    })
}

/// The rulers in a lane, or in the difference with its curve.
pub(super) fn paint(ui: &Ui, plot: Plot, input: &LanesInput<'_>, state: &LanesState, difference: Option<&SignedCurve>) {
    let Some(view) = state.view() else { return };
    if let Some((lane, range)) = state.measures.time {
        let has_figure = lane == plot.lane || state.content == LaneContent::Lifetimes;
        let figure = has_figure.then(|| range_text(input, lane, state, difference, range));
        paint_time(ui, plot, input, &view, range, figure);
    }
    let is_scaled = plot.values.is_some() || state.content == LaneContent::MemoryMap;
    let height = state
        .measures
        .bytes
        .filter(|height| height.lane == plot.lane && is_scaled);
    if let Some(height) = height {
        let x = step_x(plot.body, &view, f64::from(height.step.0), 10.0);
        let y = Rangef::new(plot.y(height.high, &view), plot.y(height.low, &view));
        paint_bytes(ui, plot, input, x, height, y);
    }
}

/// Measurements in a lane, or on the difference, for assistive technology.
pub(super) fn words(
    input: &LanesInput<'_>,
    lane: usize,
    state: &LanesState,
    difference: Option<&SignedCurve>,
) -> Option<String> {
    let time = state.measures.time.filter(|(known, _)| *known == lane);
    let time = time.map(|(_, range)| range_text(input, lane, state, difference, range));
    let height = state.measures.bytes.filter(|height| height.lane == lane);
    let parts: Vec<String> = time.into_iter().chain(height.map(height_text)).collect();
    (!parts.is_empty()).then(|| format!("measured {}", parts.join("; ").replace('\u{a0}', " ")))
}

fn range_text(
    input: &LanesInput<'_>,
    lane: usize,
    state: &LanesState,
    difference: Option<&SignedCurve>,
    range: StepRange,
) -> String {
    let axis = state.view().and_then(|view| view.axis());
    let took = took_words(range.start, range.end, axis, state.axis.prefix());
    match difference {
        Some(curve) => difference_text(input, curve, range, &took),
        None => time_text(input, lane, range, took),
    }
}

/// Number of steps, time, and the difference at both ends.
fn difference_text(input: &LanesInput<'_>, curve: &SignedCurve, range: StepRange, took: &str) -> String {
    let last = range.last();
    let ends = [range.start, last].map(|step| signed(curve.at(step.0)));
    let change = if ends[0] == ends[1] {
        format!("{} at both ends", ends[0])
    } else {
        format!("{} to {}", ends[0], ends[1])
    };
    let steps = counted(u64::from(range.n_steps()), input.comparison.axis_word());
    format!("{steps}{took}, {change}: {} to {last}", range.start)
}

/// Lines through all lanes; the ruler and its figure in the measured lane.
fn paint_time(ui: &Ui, plot: Plot, input: &LanesInput<'_>, view: &View<'_>, range: StepRange, figure: Option<String>) {
    let (body, theme) = (plot.body, input.theme);
    let painter = ui.painter_at(body);
    let x = |step: Step| step_x(body, view, f64::from(step.0), 10.0);
    let x = Rangef::new(x(range.start), x(range.end));
    if x.max < body.left() || x.min > body.right() {
        return;
    }
    let stroke = Stroke::new(1.5, theme.text);
    for edge in [x.min, x.max] {
        painter.vline(edge, body.y_range(), Stroke::new(1.0, theme.text_weak));
    }
    let Some(figure) = figure else { return };
    let y = body.center().y;
    painter.hline(x, y, stroke);
    for edge in [x.min, x.max] {
        painter.vline(edge, Rangef::new(y - 5.0, y + 5.0), stroke);
    }
    let seen = Rangef::new(x.min.max(body.left()), x.max.min(body.right()));
    let place = (pos2(seen.center(), y + 6.0), Align2::CENTER_TOP);
    text_with_ground(&painter, place, figure, (theme.text, theme.halo()), body);
}

fn height_text(height: Height) -> String {
    Bytes(to_whole((height.high - height.low).round())).to_string()
}

/// Number of steps, time where it is known, and the change of held bytes.
fn time_text(input: &LanesInput<'_>, lane: usize, range: StepRange, along: String) -> String {
    let word = input.comparison.axis_word();
    let steps = counted(u64::from(range.n_steps()), word);
    let at = |step: Step| step_facts(input.comparison, step).and_then(|facts| facts.time);
    let took = at(range.start).zip(at(range.end).or_else(|| at(range.last())));
    let stated = took.map_or_else(String::new, |(start, end)| {
        format!(", {}", Nanos(end.0.saturating_sub(start.0)))
    });
    let took = if along.is_empty() { stated } else { along };
    let change = change_text(input, lane, range).unwrap_or_default();
    let [start, last] = [range.start, range.last()].map(|step| input.comparison.shown_step(lane, step));
    format!("{steps}{took}{change}: {start} to {last}")
}

/// The change of held bytes from the first step to the last; `None` where the lane does not state them.
fn change_text(input: &LanesInput<'_>, lane: usize, range: StepRange) -> Option<String> {
    let (curve, word) = stated_curve(input, lane)?;
    let at = |step: Step| i64::try_from(curve.at(step.0)).ok();
    Some(match at(range.last())?.saturating_sub(at(range.start)?) {
        0 => format!(", {word} unchanged"),
        change => format!(", {word} {}", signed(change)),
    })
}

fn paint_bytes(ui: &Ui, plot: Plot, input: &LanesInput<'_>, x: f32, height: Height, y: Rangef) {
    let (map, theme) = (plot.map, input.theme);
    let painter = &ui.painter_at(map);
    let stroke = Stroke::new(1.5, theme.text);
    painter.vline(x, y, stroke);
    for edge in [y.min, y.max] {
        painter.hline(map.x_range(), edge, Stroke::new(1.0, theme.text_weak));
        painter.hline(Rangef::new(x - 5.0, x + 5.0), edge, stroke);
    }
    let seen = Rangef::new(y.min.max(map.top()), y.max.min(map.bottom()));
    let place = (pos2(x + 8.0, seen.center()), Align2::LEFT_CENTER);
    text_with_ground(painter, place, height_text(height), (theme.text, theme.halo()), map);
}
