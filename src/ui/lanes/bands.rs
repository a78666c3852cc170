//! Bands of the ruler: iterations, runs, phases; names where they fit, everything on hover.

use std::borrow::Cow;

use eframe::egui::{Align2, Painter, Pos2, Rangef, Rect, Response, Stroke, pos2, vec2};

use super::canvas::{SMALL, step_x, text_in};
use super::{LanesInput, LanesState};
use highwater_model::units::{Nanos, Step};
use highwater_timeline::{BandRow, Bands, Shade, TimeAxis, View};

/// Bands narrower than the first have no name; bands narrower than the second have none that is cut.
const LEAST_NAME: f32 = 30.0;
const LEAST_CUT: f32 = 40.0;

/// In points.
const fn row_height(row: BandRow) -> f32 {
    match row {
        BandRow::Iterations | BandRow::Annotations(_) => 12.0,
        BandRow::Runs => 14.0,
        // A strip of colours: names are on hover.
        BandRow::Phases => 4.0,
    }
}

pub(super) fn height(bands: &Bands) -> f32 {
    bands.rows().map(row_height).sum()
}

/// The rows with their places.
fn rows(rect: Rect, bands: &Bands) -> impl Iterator<Item = (BandRow, Rect)> {
    let mut top = rect.top();
    bands.rows().map(move |row| {
        let place = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), row_height(row)));
        top = place.bottom();
        (row, place)
    })
}

pub(super) fn paint(painter: &Painter, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    for (row, place) in rows(rect, &input.timeline.bands) {
        paint_row(painter, row, place, input, view);
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
fn name_in(painter: &Painter, place: Rect, names: &[Cow<'_, str>], input: &LanesInput<'_>) {
    let room = place.shrink2(vec2(3.0, 0.0));
    let color = input.theme.text;
    let fits = |name: &&Cow<'_, str>| painter.layout_no_wrap(name.to_string(), SMALL, color).size().x <= room.width();
    let cut = names.last().filter(|_| place.width() >= LEAST_CUT);
    if let Some(name) = names.iter().find(fits).or(cut) {
        text_in(painter, room, name, (SMALL, color));
    }
}

/// Bands that end within a point of the one before are left out; very narrow ones are lines.
fn paint_row(painter: &Painter, row: BandRow, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    let (theme, bands) = (input.theme, &input.timeline.bands);
    if matches!(row, BandRow::Iterations | BandRow::Runs | BandRow::Annotations(0)) {
        row_name(painter, rect, row.label(), input);
    }
    let least = if row == BandRow::Iterations { 16.0 } else { LEAST_NAME };
    let mut right = f32::NEG_INFINITY;
    for band in bands.within(row, view.t0, view.t1) {
        let (start, end) = band.steps();
        let place = span(rect, view, start, end);
        if place.right() - right < 1.0 {
            continue;
        }
        right = place.right();
        match band.shade() {
            Shade::Phase(phase) => {
                painter.rect_filled(place, 1, theme.phase(phase));
            }
            Shade::Alternating(_) if place.width() < 2.0 => {
                painter.vline(place.center().x, place.y_range(), Stroke::new(1.0, theme.frame));
            }
            Shade::Alternating(shade) => {
                painter.rect_filled(place, 2, theme.runs[shade]);
                if place.width() >= least {
                    name_in(
                        painter,
                        place,
                        &band.names_within(f64::from(place.width()), bands),
                        input,
                    );
                }
            }
        }
    }
}

/// The band under the pointer, in full; `None` outside the bands.
pub(super) fn words_at(pos: Pos2, rect: Rect, input: &LanesInput<'_>, state: &LanesState) -> Option<String> {
    let bands = &input.timeline.bands;
    let (row, _) = rows(rect, bands).find(|(_, place)| place.contains(pos))?;
    let view = state.view()?;
    let step = view.step_from_x(f64::from(pos.x - rect.left()), f64::from(rect.width()));
    let band = *bands.within(row, step, step.next_up()).first()?;
    let (name, (start, end)) = (band.names().swap_remove(0), band.steps());
    let last = Step(end.0.saturating_sub(1));
    let steps = match row {
        BandRow::Annotations(_) => input.comparison.steps_text(bands.annotated_lane, start, end),
        _ => format!("{} {start} to {last}", input.comparison.axis_text()),
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
