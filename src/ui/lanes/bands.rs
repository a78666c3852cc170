//! Bands of the ruler: iterations, runs, phases; names where they fit, everything on hover.

use eframe::egui::{Align2, Painter, Pos2, Rangef, Rect, Response, Stroke, pos2, vec2};

use super::canvas::{SMALL, step_x, text_in};
use super::{LanesInput, LanesState};
use crate::numbers::count_f32;
use highwater_model::units::{Nanos, Step};
use highwater_timeline::{Bands, TimeAxis, View};

const ITERATIONS: f32 = 12.0;
const RUNS: f32 = 14.0;
/// A strip of colours: names are on hover.
const PHASES: f32 = 4.0;
const ANNOTATIONS: f32 = 12.0;
const ANNOTATION_ROWS: usize = 3;
/// Bands narrower than the first have no name; bands narrower than the second have none that is cut.
const LEAST_NAME: f32 = 30.0;
const LEAST_CUT: f32 = 40.0;
/// Narrower runs show only what differs from their neighbours.
const LEAST_LABEL: f32 = 150.0;

/// In points.
pub(super) fn height(bands: &Bands) -> f32 {
    let iterations = if bands.iterations.is_empty() { 0.0 } else { ITERATIONS };
    let phases = if bands.phases.is_empty() { 0.0 } else { PHASES };
    iterations + RUNS + phases + ANNOTATIONS * count_f32(n_annotations(bands))
}

/// Rows of annotations that are drawn: the outermost.
fn n_annotations(bands: &Bands) -> usize {
    bands.annotations.len().min(ANNOTATION_ROWS)
}

struct Rows {
    iterations: Rect,
    runs: Rect,
    phases: Rect,
    annotations: Vec<Rect>,
}

impl Rows {
    fn new(rect: Rect, bands: &Bands) -> Self {
        let mut top = rect.top();
        let mut row = |is_there: bool, height: f32| {
            let height = if is_there { height } else { 0.0 };
            let row = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), height));
            top += height;
            row
        };
        Self {
            iterations: row(!bands.iterations.is_empty(), ITERATIONS),
            runs: row(true, RUNS),
            phases: row(!bands.phases.is_empty(), PHASES),
            annotations: (0..n_annotations(bands)).map(|_| row(true, ANNOTATIONS)).collect(),
        }
    }
}

pub(super) fn paint(painter: &Painter, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    let bands = &input.timeline.bands;
    let rows = Rows::new(rect, bands);
    paint_iterations(painter, rows.iterations, input, view);
    paint_runs(painter, rows.runs, input, view);
    paint_phases(painter, rows.phases, input, view);
    for (row, rect) in rows.annotations.iter().enumerate() {
        paint_annotations(painter, row, *rect, input, view);
    }
}

fn span(rect: Rect, view: &View<'_>, start: Step, end: Step) -> Rect {
    let x = |step: Step| step_x(rect, view, f64::from(step.0), 0.0);
    let place = Rect::from_x_y_ranges(Rangef::new(x(start), x(end)), rect.y_range());
    place.shrink2(vec2(0.5, 1.0))
}

fn row_name(painter: &Painter, rect: Rect, name: &str, input: &LanesInput<'_>) {
    let place = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(place, Align2::RIGHT_CENTER, name, SMALL, input.theme.text_weak);
}

/// Writes the first name that fits; where none does, cuts the last.
fn name_in(painter: &Painter, place: Rect, names: &[&str], input: &LanesInput<'_>) {
    let room = place.shrink2(vec2(3.0, 0.0));
    let color = input.theme.text;
    let fits = |name: &&&str| painter.layout_no_wrap((**name).to_owned(), SMALL, color).size().x <= room.width();
    let cut = names.last().filter(|_| place.width() >= LEAST_CUT);
    if let Some(name) = names.iter().find(fits).or(cut) {
        text_in(painter, room, name, (SMALL, color));
    }
}

fn paint_iterations(painter: &Painter, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    if rect.height() <= 0.0 {
        return;
    }
    row_name(painter, rect, "iteration", input);
    let theme = input.theme;
    for band in input.timeline.bands.iterations_within(view.t0, view.t1) {
        let place = span(rect, view, band.start, band.end);
        if place.width() < 2.0 {
            painter.vline(place.center().x, place.y_range(), Stroke::new(1.0, theme.frame));
            continue;
        }
        painter.rect_filled(place, 2, theme.runs[band.iteration as usize % 2]);
        if place.width() >= 16.0 {
            let number = band.iteration.to_string();
            name_in(painter, place, &[&format!("iteration {number}"), &number], input);
        }
    }
}

fn paint_runs(painter: &Painter, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    row_name(painter, rect, "run", input);
    let theme = input.theme;
    for band in input.timeline.bands.runs_within(view.t0, view.t1) {
        let place = span(rect, view, band.start, band.end);
        if place.width() < 2.0 {
            painter.vline(place.center().x, place.y_range(), Stroke::new(1.0, theme.frame));
            continue;
        }
        painter.rect_filled(place, 2, theme.runs[band.graph.0 as usize % 2]);
        // The band of iterations says it already.
        if place.width() >= LEAST_LABEL && input.timeline.bands.iterations.is_empty() {
            name_in(painter, place, &[&band.label, &band.short], input);
        } else if place.width() >= LEAST_NAME {
            name_in(painter, place, &[&band.short], input);
        }
    }
}

fn paint_phases(painter: &Painter, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    if rect.height() <= 0.0 {
        return;
    }
    let mut right = f32::NEG_INFINITY;
    for band in input.timeline.bands.phases_within(view.t0, view.t1) {
        let place = span(rect, view, band.start, band.end);
        if place.right() - right < 1.0 {
            continue;
        }
        right = place.right();
        painter.rect_filled(place, 1, input.theme.phase(band.phase));
    }
}

fn paint_annotations(painter: &Painter, row: usize, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    if row == 0 {
        row_name(painter, rect, "annotation", input);
    }
    let theme = input.theme;
    let mut right = f32::NEG_INFINITY;
    for band in input.timeline.bands.annotations_within(row, view.t0, view.t1) {
        let place = span(rect, view, band.start, band.end);
        if place.right() - right < 1.0 {
            continue;
        }
        right = place.right();
        if place.width() < 2.0 {
            painter.vline(place.center().x, place.y_range(), Stroke::new(1.0, theme.frame));
            continue;
        }
        painter.rect_filled(place, 2, theme.runs[usize::from(band.shade)]);
        if place.width() >= LEAST_NAME {
            name_in(painter, place, &[&band.name], input);
        }
    }
}

/// The band under the pointer, in full; `None` outside the bands.
pub(super) fn words_at(pos: Pos2, rect: Rect, input: &LanesInput<'_>, state: &LanesState) -> Option<String> {
    let bands = &input.timeline.bands;
    let rows = Rows::new(rect, bands);
    let view = state.view()?;
    let step = view.step_from_x(f64::from(pos.x - rect.left()), f64::from(rect.width()));
    let mut lane = None;
    let (name, start, end) = if rows.iterations.contains(pos) {
        let band = bands.iterations_within(step, step.next_up()).first()?;
        (format!("iteration {}", band.iteration), band.start, band.end)
    } else if rows.runs.contains(pos) {
        let band = bands.runs_within(step, step.next_up()).first()?;
        (band.label.clone(), band.start, band.end)
    } else if rows.phases.contains(pos) {
        let band = bands.phases_within(step, step.next_up()).first()?;
        (band.phase.name().to_owned(), band.start, band.end)
    } else {
        let row = rows.annotations.iter().position(|rect| rect.contains(pos))?;
        let band = bands.annotations_within(row, step, step.next_up()).first()?;
        lane = Some(bands.annotated_lane);
        (band.name.to_string(), band.start, band.end)
    };
    let last = Step(end.0.saturating_sub(1));
    let steps = match lane {
        Some(lane) => input.comparison.steps_text(lane, start, end),
        None => format!("{} {start} to {last}", input.comparison.axis_text()),
    };
    let took = took_words(start, end, view.axis(), state.axis.prefix());
    let name = if name.is_empty() {
        String::new()
    } else {
        format!("{name}\n")
    };
    Some(format!("{name}{steps}{took}"))
}

/// The time of some steps on a time axis, as `, 1.25 ms`; empty on an axis of steps.
pub(super) fn took_words(start: Step, end: Step, axis: Option<&TimeAxis>, prefix: &str) -> String {
    axis.map_or_else(String::new, |axis| {
        let took = axis.time_at(end.0).saturating_sub(axis.time_at(start.0));
        format!(", {prefix}{}", Nanos(took))
    })
}

/// Shows the band under the pointer; returns the response where there is none.
pub(super) fn hover_ui(response: Response, rect: Rect, input: &LanesInput<'_>, state: &LanesState) -> Option<Response> {
    let words = response.hover_pos().and_then(|pos| words_at(pos, rect, input, state));
    match words {
        Some(words) if !response.dragged() => {
            response.on_hover_text_at_pointer(words);
            None
        }
        _ => Some(response),
    }
}
