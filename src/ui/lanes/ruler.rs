//! The time axis: runs, phases, steps, and the tag of the cursor.

use eframe::egui::{Align2, Painter, Rangef, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::canvas::{SMALL, cursor_x, text_in, text_with_ground};
use super::tooltip::rows_ui;
use super::{LanesInput, LanesState, flags, gestures, range, remat};
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

/// The ruler above a column: a drag selects steps.
pub(super) fn ruler_ui(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let id = ui.scope_id().with(("ruler", rect.left().to_bits()));
    let response = ui.interact(rect, id, Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, ruler_words(input, state)));
    range::select(ui, &response, rect, (input, state));
    gestures::zoom(ui, &response, (rect, Rect::NOTHING), state);
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
    let anew = input.timeline.bands.anew_within(viewport.t0, viewport.t1);
    remat::tint(
        &painter.with_clip_rect(steps),
        steps,
        (anew, &viewport),
        input.theme.anew(),
    );
    let word = input.comparison.axis_word();
    paint_steps(&painter, steps, &viewport, (word, input.theme));
    range::paint_on_ruler(ui, rect, input, state);
    anew_ui(response, steps, (input, &viewport));
    paint_tag(&painter, steps, input, state);
    flags::flags_ui(ui, rect, input, state);
}

/// What the ruler is, and the selected steps.
fn ruler_words(input: &LanesInput<'_>, state: &LanesState) -> String {
    let word = input.comparison.axis_word();
    let Some(range) = state.range else {
        return format!("ruler of {word}s, a drag selects a range");
    };
    format!("ruler of {word}s, {} to {} selected", range.start, range.last())
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
fn paint_steps(painter: &Painter, rect: Rect, viewport: &Viewport, (word, theme): (&str, &Theme)) {
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, word, SMALL, theme.text_weak);
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

/// What is computed anew on the step under the pointer, lane by lane, and what it costs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the steps there are"
)]
fn anew_ui(response: Response, rect: Rect, (input, viewport): (&LanesInput<'_>, &Viewport)) {
    if input.timeline.bands.anew.is_empty() {
        return;
    }
    let Some(pos) = response.hover_pos().filter(|pos| rect.contains(*pos)) else {
        return;
    };
    let step = viewport.step_from_x(f64::from(pos.x - rect.left()), f64::from(rect.width()));
    let step = Step(step.max(0.0) as u32);
    let is_anew = step_facts(input.comparison, step).is_some_and(|facts| facts.is_anew);
    if !is_anew {
        return;
    }
    response.on_hover_ui_at_pointer(|ui| {
        ui.strong(format!("step {step}: computed anew"));
        let lanes = input.comparison.lanes.iter().zip(&input.timeline.lanes);
        let mut rows: Vec<(String, String)> = Vec::new();
        for (lane, view) in lanes {
            let Some(remat) = view.remat.as_deref() else { continue };
            let text = remat::anew_text(remat, step).unwrap_or_else(|| "waits".to_owned());
            rows.push((input.comparison.lane_title(lane.id), text));
        }
        if rows.iter().all(|row| row.1 == rows[0].1) {
            // Policies share what is computed anew.
            rows.truncate(1);
            for row in &mut rows {
                "op".clone_into(&mut row.0);
            }
        }
        let rows: Vec<(&str, String)> = rows.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        rows_ui(ui, &rows);
    });
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
    let facts = step_facts(input.comparison, step).unwrap_or_default();
    let text = match (facts.op_text(), facts.is_anew) {
        ("", _) => format!("{} {step}", input.comparison.axis_word()),
        (op, false) => format!("step {step} · {op}"),
        (op, true) if input.timeline.has_lane_rows() => {
            format!("step {step} · before {op}, something is computed anew")
        }
        (op, true) => format!("step {step} · {op}, computed anew"),
    };
    let (ground, words) = input.theme.cursor_tag;
    let at = (pos2(x, rect.center().y), Align2::CENTER_CENTER);
    text_with_ground(painter, at, text, (words, ground), rect);
}
