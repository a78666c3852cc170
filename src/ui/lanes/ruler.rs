//! The time axis: runs, phases, steps, and the label of the cursor.

use eframe::egui::{Align2, Painter, Rangef, Rect, Response, Role, Sense, Stroke, Ui, pos2, vec2};

use super::canvas::{SMALL, cursor_x, text_with_ground};
use super::tooltip::rows_ui;
use super::{LanesInput, LanesState, bands, bookmarks, gestures, range, remat};
use crate::numbers::{at_least_one, to_points, to_step};
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_model::units::Nanos;
use highwater_timeline::{AxisKind, Timeline, View, step_facts};

const STEPS: f32 = 14.0;
/// Least distance of two axis marks in points: steps, times with units.
const MARKS: (f32, f32) = (64.0, 84.0);

/// In points.
pub(super) fn height(timeline: &Timeline) -> f32 {
    bands::height(&timeline.bands) + STEPS
}

/// The ruler above a column: a drag selects steps.
pub(super) fn ruler_ui(ui: &Ui, rect: Rect, input: &LanesInput<'_>, state: &mut LanesState) {
    let id = ui.scope_id().with(("ruler", rect.left().to_bits()));
    let response = ui
        .interact(rect, id, Sense::click_and_drag())
        .named(Role::Canvas, || ruler_words(input, state));
    range::select(ui, &response, rect, input, state);
    if let Some(range) = state.range {
        ui.ctx().accesskit_node_builder(id, |node| {
            let words = range::words(range, input, state).swap_remove(0);
            node.set_value(words.replace('\u{a0}', " "));
        });
    }
    gestures::zoom(ui, &response, rect, Rect::NOTHING, state);
    let Some(view) = state.view_in(input.timeline) else {
        return;
    };
    let painter = ui.painter_at(rect.expand2(vec2(super::frame::GUTTER, 0.0)));
    bands::paint(&painter, rect, input, &view);
    let top = rect.top() + bands::height(&input.timeline.bands);
    let steps = Rect::from_min_max(pos2(rect.left(), top), rect.max);
    let recomputed = input.timeline.bands.recomputed_within(view.t0, view.t1);
    remat::tint(
        &painter.with_clip_rect(steps),
        steps,
        recomputed,
        &view,
        input.theme.recomputed(),
    );
    let word = match state.axis {
        _ if view.axis().is_none() && input.comparison.has_common_axis() => "all events",
        _ if view.axis().is_none() => input.comparison.axis_word(),
        AxisKind::Estimated => "est. time",
        AxisKind::Order | AxisKind::Wall => "time",
    };
    paint_marks(&painter, steps, &view, word, input.theme);
    range::paint_on_ruler(ui, rect, input, state);
    if let Some(response) = bands::hover_ui(response, rect, input, state) {
        recomputed_ui(response, steps, input, &view);
    }
    paint_tag(&painter, steps, input, state);
    bookmarks::flags_ui(ui, rect, input, state);
}

/// The ruler's name and the selected steps.
fn ruler_words(input: &LanesInput<'_>, state: &LanesState) -> String {
    let word = input.comparison.axis_text();
    let along = match state.shown_axis() {
        AxisKind::Order => String::new(),
        kind => format!(" along {}", input.timeline.axes.name(kind)),
    };
    let Some(range) = state.range else {
        return format!("ruler of {word}{along}, a drag selects a range");
    };
    format!("ruler of {word}{along}, {} to {} selected", range.start, range.last())
}

fn paint_marks(painter: &Painter, rect: Rect, view: &View<'_>, word: &str, theme: &Theme) {
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, word, SMALL, theme.text_weak);
    let most = |apart: f32| at_least_one(rect.width() / apart);
    for tick in view.ticks([most(MARKS.0), most(MARKS.1)]) {
        let x = rect.left() + to_points(view.x_from_step(tick.value, f64::from(rect.width())));
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

/// The op that each lane recomputes on the step under the pointer, with its cost.
fn recomputed_ui(response: Response, rect: Rect, input: &LanesInput<'_>, view: &View<'_>) {
    if input.timeline.bands.recomputed.is_empty() {
        return;
    }
    let Some(pos) = response.hover_pos().filter(|pos| rect.contains(*pos)) else {
        return;
    };
    let step = view.step_from_x(f64::from(pos.x - rect.left()), f64::from(rect.width()));
    let step = to_step(step);
    let is_recomputed = step_facts(input.comparison, step).is_some_and(|facts| facts.is_recomputed);
    if !is_recomputed {
        return;
    }
    response.on_hover_ui_at_pointer(|ui| {
        ui.strong(format!("step {step}: recomputed"));
        let lanes = input.comparison.lanes.iter().zip(&input.timeline.lanes);
        let mut rows: Vec<(String, String)> = Vec::new();
        for (lane, view) in lanes {
            let Some(remat) = view.remat.as_deref() else { continue };
            let text = remat::recomputed_text(remat, step).unwrap_or_else(|| "waits".to_owned());
            rows.push((input.comparison.lane_title(lane.id), text));
        }
        if rows.iter().all(|row| row.1 == rows[0].1) {
            // Policies share recomputations.
            rows.truncate(1);
            for row in &mut rows {
                "op".clone_into(&mut row.0);
            }
        }
        let rows: Vec<(&str, String)> = rows
            .iter()
            .take(2)
            .map(|(name, text)| (name.as_str(), text.clone()))
            .collect();
        rows_ui(ui, &rows);
    });
}

/// The step under the pointer and its op, next to the crosshair.
fn paint_tag(painter: &Painter, rect: Rect, input: &LanesInput<'_>, state: &LanesState) {
    let (Some(x), Some(step)) = (cursor_x(rect, state), state.cursor) else {
        return;
    };
    let step = to_step(step);
    let facts = step_facts(input.comparison, step).unwrap_or_default();
    let text = match (facts.op_text(), facts.is_recomputed) {
        ("", _) if input.comparison.has_common_axis() => format!("{step} of all events"),
        ("", _) => format!("{} {step}", input.comparison.axis_word()),
        (op, false) => format!("step {step} · {op}"),
        (op, true) if input.timeline.has_lane_rows() => {
            format!("step {step} · recomputation before {op}")
        }
        (op, true) => format!("step {step} · {op}, recomputed"),
    };
    let text = match state.along(input.timeline) {
        Some(axis) => format!("{text} · {}{}", state.axis.prefix(), Nanos(axis.time_at(step.0))),
        None => text,
    };
    let (ground, words) = input.theme.cursor_tag;
    let at = (pos2(x, rect.center().y), Align2::CENTER_CENTER);
    text_with_ground(painter, at, text, (words, ground), rect);
}
