//! The time axis: runs, phases, steps, and the tag of the cursor.

use eframe::egui::{Align2, Painter, Rangef, Rect, Stroke, Ui, pos2, vec2};

use super::canvas::{SMALL, cursor_x, text_in, text_with_ground};
use super::{LanesInput, LanesState};
use crate::timeline::{Timeline, Viewport, step_facts, step_ticks};
use crate::ui::theme::Theme;
use crate::units::Step;

const RUNS: f32 = 18.0;
const PHASES: f32 = 16.0;
const STEPS: f32 = 18.0;

/// Points that the ruler of a timeline takes.
pub(super) fn height(timeline: &Timeline) -> f32 {
    RUNS + STEPS + if timeline.bands.phases.is_empty() { 0.0 } else { PHASES }
}

/// The ruler above a column.
pub(super) fn ruler_ui(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let Some(viewport) = state.viewport else { return };
    let painter = ui.painter_at(rect.expand2(vec2(super::frame::GUTTER, 0.0)));
    let runs = Rect::from_min_size(rect.min, vec2(rect.width(), RUNS));
    paint_runs(&painter, runs, input, &viewport);
    let mut top = runs.bottom();
    if !input.timeline.bands.phases.is_empty() {
        paint_phases(
            &painter,
            Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), PHASES)),
            input,
            &viewport,
        );
        top += PHASES;
    }
    let steps = Rect::from_min_max(pos2(rect.left(), top), rect.max);
    paint_steps(&painter, steps, &viewport, input.theme);
    paint_tag(&painter, steps, input, state);
}

#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
fn span(rect: Rect, viewport: &Viewport, (start, end): (Step, Step)) -> Rect {
    let x = |step: Step| {
        let x = viewport.x_from_step(f64::from(step.0), f64::from(rect.width())) as f32;
        rect.left() + x.clamp(0.0, rect.width())
    };
    Rect::from_x_y_ranges(Rangef::new(x(start), x(end)), rect.y_range())
}

fn paint_runs(painter: &Painter, rect: Rect, input: &LanesInput<'_>, viewport: &Viewport) {
    let theme = input.theme;
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, "run", SMALL, theme.text_weak);
    for band in input.timeline.bands.runs_within(viewport.t0, viewport.t1) {
        let place = span(rect, viewport, (band.start, band.end)).shrink2(vec2(0.5, 1.0));
        if place.width() < 2.0 {
            painter.vline(place.center().x, place.y_range(), Stroke::new(1.0, theme.frame));
            continue;
        }
        painter.rect_filled(place, 2, theme.runs[band.graph.0 as usize % 2]);
        let words = if place.width() >= 150.0 {
            &band.label
        } else {
            &band.short
        };
        if place.width() >= 36.0 {
            text_in(painter, place.shrink2(vec2(5.0, 0.0)), words, (SMALL, theme.text));
        }
    }
}

fn paint_phases(painter: &Painter, rect: Rect, input: &LanesInput<'_>, viewport: &Viewport) {
    let theme = input.theme;
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, "phase", SMALL, theme.text_weak);
    let mut right = f32::NEG_INFINITY;
    for band in input.timeline.bands.phases_within(viewport.t0, viewport.t1) {
        let place = span(rect, viewport, (band.start, band.end)).shrink2(vec2(0.5, 1.0));
        if place.right() - right < 1.0 {
            continue;
        }
        right = place.right();
        painter.rect_filled(place, 2, theme.phase(band.phase));
        if place.width() >= 44.0 {
            text_in(
                painter,
                place.shrink2(vec2(5.0, 0.0)),
                band.phase.name(),
                (SMALL, theme.text),
            );
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "points on a screen fit both types"
)]
fn paint_steps(painter: &Painter, rect: Rect, viewport: &Viewport, theme: &Theme) {
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, "step", SMALL, theme.text_weak);
    let most = (rect.width() / 64.0).max(1.0) as u32;
    for tick in step_ticks(viewport.t0, viewport.t1, most) {
        let x = rect.left() + viewport.x_from_step(tick.value, f64::from(rect.width())) as f32;
        painter.vline(
            x,
            Rangef::new(rect.top() + 2.0, rect.bottom() - 2.0),
            Stroke::new(1.0, theme.frame),
        );
        if x + 44.0 <= rect.right() + 10.0 {
            painter.text(
                pos2(x + 4.0, rect.center().y),
                Align2::LEFT_CENTER,
                &tick.label,
                SMALL,
                theme.text_weak,
            );
        }
    }
}

/// The step under the pointer and its op, beside the cursor line.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cursor is within the steps"
)]
fn paint_tag(painter: &Painter, rect: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let (Some(x), Some(step)) = (cursor_x(rect, state), state.cursor) else {
        return;
    };
    let step = Step(step.max(0.0) as u32);
    let op = step_facts(input.comparison, step).map_or_else(String::new, |facts| facts.op_text().to_owned());
    let text = if op.is_empty() {
        format!("step {step}")
    } else {
        format!("step {step} · {op}")
    };
    let (ground, words) = input.theme.cursor_tag;
    let at = (pos2(x, rect.center().y), Align2::CENTER_CENTER);
    text_with_ground(painter, at, text, (words, ground), rect);
}
