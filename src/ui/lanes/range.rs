//! The selected range of steps: dragged on the ruler, drawn as a band through all lanes.

use eframe::egui::{Align2, PointerButton, Rangef, Rect, Response, Stroke, Ui, pos2};

use super::bands::took_words;
use super::canvas::{SMALL, step_x, text_with_ground};
use super::{LanesInput, LanesState};
use crate::numbers::to_step;
use highwater_model::units::{Bytes, Step, counted};
use highwater_timeline::{Curve, StepRange, View};

/// The step at a place of a plot, within the existing steps.
pub(super) fn step_at_x(x: f32, plot: Rect, state: &LanesState) -> Option<Step> {
    let (viewport, whole) = (state.view()?, state.whole?);
    let step = viewport.step_from_x(f64::from(x - plot.left()), f64::from(plot.width()));
    Some(to_step(step.clamp(0.0, (whole.t1 - 1.0).max(0.0))))
}

/// The places of a range on a plot, cut to it; `None` outside.
fn x_of(range: StepRange, plot: Rect, viewport: &View<'_>) -> Option<Rangef> {
    let x = |step: Step| step_x(plot, viewport, f64::from(step.0), 4.0);
    let (left, right) = (x(range.start), x(range.end).max(x(range.start) + 1.0));
    (right > plot.left() && left < plot.right()).then(|| Rangef::new(left.max(plot.left()), right.min(plot.right())))
}

/// A drag on the ruler selects steps; a click clears the range.
pub(super) fn select(ui: &Ui, response: &Response, plot: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    if response.drag_started_by(PointerButton::Primary) {
        let origin = ui.input(|i| i.pointer.press_origin());
        state.range_from = origin.and_then(|origin| step_at_x(origin.x, plot, state));
    }
    let here = response
        .interact_pointer_pos()
        .and_then(|pos| step_at_x(pos.x, plot, state));
    if let (Some(from), Some(here), true) = (state.range_from, here, response.dragged()) {
        state.range = StepRange::between(from, here, input.timeline.n_steps);
    }
    if response.drag_stopped() {
        state.range_from = None;
    }
    if response.clicked() {
        state.range = None;
    }
}

impl LanesState {
    /// Shows the selected range, else the measured steps.
    pub(super) fn zoom_to_range(&mut self) {
        let Some(range) = self.range.or(self.measures.steps()) else {
            return;
        };
        self.show_steps(range);
    }

    /// Keeps the addresses.
    pub fn show_steps(&mut self, range: StepRange) {
        let (start, end) = (f64::from(range.start.0), f64::from(range.end.0));
        self.change_view(|view| view.over(start, end));
    }

    /// Cuts a range of an earlier answer.
    pub(super) fn cut_range(&mut self, n_steps: u32) {
        let range = self.range.filter(|range| range.start.0 < n_steps);
        self.range = range.and_then(|range| StepRange::between(range.start, range.last(), n_steps));
    }

    pub fn select_range(&mut self, range: Option<StepRange>) {
        self.range = range;
    }
}

/// The band of the range over a canvas, and of a zooming drag.
pub(super) fn paint(ui: &Ui, body: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let Some(viewport) = state.view() else { return };
    let painter = ui.painter_at(body);
    for (range, color) in [
        (state.range, input.theme.selection),
        (state.measures.zoom(), input.theme.hover),
    ] {
        let Some(x) = range.and_then(|range| x_of(range, body, &viewport)) else {
            continue;
        };
        painter.rect_filled(Rect::from_x_y_ranges(x, body.y_range()), 0, input.theme.band(color));
        for edge in [x.min, x.max] {
            painter.vline(edge, body.y_range(), Stroke::new(1.0, color));
        }
    }
}

/// The live curve of a lane, else the reserved one; `None` where it states neither.
pub(super) fn stated_curve<'a>(input: &LanesInput<'a>, lane: usize) -> Option<(&'a Curve, &'static str)> {
    let view = input.timeline.lanes.get(lane)?;
    match input.comparison.states(lane) {
        (_, true) => Some((&view.live, "live")),
        (true, false) => Some((&view.reserved, "reserved")),
        (false, false) => None,
    }
}

/// Descriptions of a range, longest first: length, and peak of the first shown lane. O(log steps).
pub(super) fn words(range: StepRange, input: &LanesInput<'_>, state: &LanesState) -> Vec<String> {
    let comparison = input.comparison;
    let word = comparison.axis_word();
    let steps = counted(u64::from(range.n_steps()), word);
    let took = state.view().map_or_else(String::new, |view| {
        took_words(range.start, range.end, view.axis(), state.axis.prefix())
    });
    let steps = format!("{steps}{took}");
    let shown = state.arrangement.shown(comparison);
    let first = shown.first().map(|(lane, _)| *lane);
    let peak = first.and_then(|lane| {
        let (curve, what) = stated_curve(input, lane)?;
        let (step, bytes) = curve.highest(range.start.0 as usize, range.end.0 as usize)?;
        let title = if shown.len() > 1 {
            format!("{}: ", comparison.title_of(lane))
        } else {
            String::new()
        };
        Some((
            title,
            format!("peak {} {what}", Bytes(bytes)),
            format!(" at {}", comparison.step_text(lane, Step(step))),
        ))
    });
    let Some((title, peak, at)) = peak else {
        return vec![steps];
    };
    vec![
        format!("{steps}, {title}{peak}{at}"),
        format!("{steps}, {peak}{at}"),
        format!("{steps}, {peak}"),
        steps,
    ]
}

/// The range on the ruler, with length and peak as far as they fit.
pub(super) fn paint_on_ruler(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let (Some(viewport), Some(range)) = (state.view(), state.range) else {
        return;
    };
    let Some(x) = x_of(range, rect, &viewport) else { return };
    let painter = ui.painter_at(rect);
    let theme = input.theme;
    painter.rect_filled(Rect::from_x_y_ranges(x, rect.y_range()), 0, theme.band(theme.selection));
    for edge in [x.min, x.max] {
        painter.vline(edge, rect.y_range(), Stroke::new(1.5, theme.selection));
    }
    let all = words(range, input, state);
    let fits = |words: &&String| {
        let galley = painter.layout_no_wrap((*words).clone(), SMALL, theme.text);
        galley.size().x + 10.0 <= rect.width()
    };
    let words = all.iter().find(fits).or(all.last()).cloned().unwrap_or_default();
    let place = (pos2(x.center(), rect.bottom() - 9.0), Align2::CENTER_CENTER);
    text_with_ground(&painter, place, words, (theme.text, theme.halo()), rect);
}
