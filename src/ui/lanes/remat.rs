//! Evictions and recomputations: marks below the curve, tinted steps.
//!
//! An eviction is a triangle pointing down in the upper half of the row; a recomputation points up in the lower half. A
//! pixel column counts all that it merges.

use eframe::egui::{Align, Color32, Key, Painter, Pos2, Rangef, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2};

use super::LanesCx;
use super::canvas::{label_beside, reading_x, step_x, text_with_ground, visible_x};
use super::event_row::{EventRow, paint_frame};
use super::frame::LaneFrame;
use super::tooltip::{beside_pointer, rows_ui};
use super::{LanesInput, LanesState};
use crate::commands::UiCommand;
use crate::numbers::to_step;
use crate::panels::marker::{crossed, polygon};
use crate::theme::Theme;
use crate::widgets::{Named as _, keep_arrows};
use highwater_model::units::{Bytes, Step, grouped};
use highwater_session::Command;
use highwater_timeline::{LaneRemat, LaneView, RematColumn, RematMark, RematMarkKind, View};

/// Width of a column: a mark with its gap.
const COLUMN: f32 = 7.0;
const HALF: f32 = 3.0;

/// The marks of a lane; the arrow keys go from one to the next.
pub(super) fn marks_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let (rect, theme) = (frame.remat, cx.input.theme);
    let Some(remat) = cx.input.timeline.lanes[frame.lane].remat.as_deref() else {
        return;
    };
    if rect.height() < 1.0 {
        return;
    }
    paint_frame(ui.painter(), rect, "evict, recompute", theme);
    let id = ui.scope_id().with(("remat marks", frame.lane));
    let response = ui.interact(rect, id, Sense::click());
    let title = cx.input.comparison.title_of(frame.lane);
    let response = response.named(Role::Button, || {
        format!("evictions and recomputed ops of {title}: {}", counts_text(remat))
    });
    if response.has_focus() {
        keep_arrows(ui, id, true, false);
        let (left, right) = ui.input(|i| (i.key_pressed(Key::ArrowLeft), i.key_pressed(Key::ArrowRight)));
        if left || right {
            step_to(cx, right, frame.lane, remat);
        }
        let stroke = Stroke::new(1.0, theme.accent());
        ui.painter().rect_stroke(rect, 0, stroke, StrokeKind::Outside);
    }
    let pos = response.hover_pos();
    let row = EventRow::new(rect, COLUMN, remat, cx.state);
    let hovered = pos.and_then(|pos| row.at(pos));
    if let Some(column) = hovered.filter(|_| response.clicked()) {
        response.request_focus();
        cx.window_commands
            .push(UiCommand::ExplainLane(cx.input.comparison.lanes[frame.lane].id));
        go(cx, frame.lane, remat, column.steps.0);
    }
    let painter = ui.painter_at(rect.expand(1.0));
    paint_row(&painter, frame, remat, (&row, hovered), cx.input, cx.state);
    if let Some(column) = hovered {
        beside_pointer(&response, frame.body, |ui| tooltip_ui(ui, remat, &column, cx.input));
    }
}

/// Pins the step of a mark and selects its tensor.
fn go(cx: &mut LanesCx<'_>, lane: usize, remat: &LaneRemat, step: Step) {
    cx.state.pin(lane, step);
    let marks = remat.marks_within((step, step)).iter();
    let mut tensors = marks.filter_map(|mark| mark.tensor);
    cx.commands
        .extend(tensors.next().map(|tensor| Command::Select(Some(tensor))));
}

fn step_to(cx: &mut LanesCx<'_>, is_next: bool, lane: usize, remat: &LaneRemat) {
    let here = cx.state.pinned().filter(|spot| spot.lane == lane);
    let step = match here {
        Some(spot) => remat.neighbour(spot.step.0, is_next),
        None => remat.marks.first().map(|mark| mark.step.0),
    };
    if let Some(step) = step {
        go(cx, lane, remat, Step(step));
    }
}

fn paint_row(
    painter: &Painter,
    frame: &LaneFrame,
    remat: &LaneRemat,
    (row, hovered): (&EventRow<{ RematMarkKind::ALL.len() }>, Option<RematColumn>),
    input: &LanesInput<'_>,
    state: &LanesState,
) {
    let (rect, theme) = (frame.remat, input.theme);
    if let Some(viewport) = &state.view() {
        paint_recomputed(painter, rect, &input.timeline.lanes[frame.lane], viewport, theme);
    }
    for column in row.columns() {
        let x = row.x(column);
        if hovered == Some(*column) {
            row.paint_ground(painter, column, theme.frame);
        }
        for kind in RematMarkKind::ALL {
            if column.count(kind) > 0 {
                mark(painter, place(rect, x, kind), kind, theme);
            }
        }
    }
    paint_counter(painter, rect, remat, input, state);
}

/// The thrash counter: evictions and recomputations up to the reading's step.
fn paint_counter(painter: &Painter, rect: Rect, remat: &LaneRemat, input: &LanesInput<'_>, state: &LanesState) {
    let (Some(x), Some(step)) = (reading_x(rect, state), state.reading()) else {
        return;
    };
    let counters = remat.counters(to_step(step));
    let limit = counters
        .limit
        .map_or(String::new(), |limit| format!(" (limit +{:.0} %)", limit * 100.0));
    let words = format!(
        "{} evicted, {} recomputed so far: +{:.1} % time{limit}",
        grouped(u64::from(counters.evictions)),
        grouped(u64::from(counters.recomputed)),
        counters.share * 100.0
    );
    let place = label_beside(pos2(x, rect.center().y), 8.0, Align::Center, rect);
    text_with_ground(painter, place, words, (input.theme.text, input.theme.halo()), rect);
}

/// A line with a label where a run is given up, and a tint after it.
pub(super) fn paint_ends(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let lane = &input.timeline.lanes[frame.lane];
    let (Some(remat), Some(viewport)) = (lane.remat.as_deref(), state.view()) else {
        return;
    };
    let (body, theme) = (frame.body, input.theme);
    let painter = ui.painter_at(body);
    let is_end = |mark: &&RematMark| mark.tensor.is_none();
    for mark in remat.marks.iter().filter(is_end) {
        let run = input.comparison.axis.runs.get(mark.run as usize);
        let end = run.map_or(mark.step, |run| Step(run.start.0 + run.n_steps));
        tint(&painter, body, &[(mark.step, end)], &viewport, theme.behind_the_end());
        let Some(x) = visible_x(body, &viewport, f64::from(mark.step.0)) else {
            continue;
        };
        painter.vline(x, body.y_range(), Stroke::new(2.0, theme.bad));
        let words = match mark.kind {
            RematMarkKind::Thrash => "stopped: thrashing".to_owned(),
            _ => format!("out of memory within the budget: {} short", mark.bytes),
        };
        let place = label_beside(pos2(x, frame.map.bottom() - 1.0), 4.0, Align::BOTTOM, body);
        text_with_ground(&painter, place, words, (theme.bad, theme.halo()), body);
    }
}

fn place(rect: Rect, x: f32, kind: RematMarkKind) -> Pos2 {
    let quarter = rect.height() / 4.0;
    match kind {
        RematMarkKind::Evict => pos2(x, rect.top() + quarter),
        RematMarkKind::Rematerialize | RematMarkKind::Sibling => pos2(x, rect.bottom() - quarter),
        RematMarkKind::OutOfMemory | RematMarkKind::Thrash => pos2(x, rect.center().y),
    }
}

/// Shape and colour of a kind.
pub(super) fn mark(painter: &Painter, at: Pos2, kind: RematMarkKind, theme: &Theme) {
    let color = theme.remat_mark(kind);
    let down = [(-1.1, -1.0), (1.1, -1.0), (0.0, 1.1)];
    let up = [(-1.1, 1.0), (0.0, -1.1), (1.1, 1.0)];
    let triangle = |corners: &[(f32, f32)], fill, width| {
        painter.add(polygon(at, HALF, corners, fill, Stroke::new(width, color)));
    };
    match kind {
        RematMarkKind::Evict => triangle(&down, color, 0.0),
        RematMarkKind::Rematerialize => triangle(&up, color, 0.0),
        RematMarkKind::Sibling => triangle(&up, Color32::TRANSPARENT, 1.0),
        RematMarkKind::OutOfMemory | RematMarkKind::Thrash => crossed(painter, at, HALF, Stroke::new(2.0, color)),
    }
}

fn counts_text(remat: &LaneRemat) -> String {
    words_of(&remat.totals()).join(", ")
}

fn words_of(counts: &[u32]) -> Vec<String> {
    let counted = RematMarkKind::ALL.iter().zip(counts);
    let words = counted.filter(|(kind, count)| {
        let is_main = matches!(kind, RematMarkKind::Evict | RematMarkKind::Rematerialize);
        is_main || **count > 0
    });
    words
        .map(|(kind, count)| format!("{} {}", grouped(u64::from(*count)), kind.words()))
        .collect()
}

/// A mark with its op, or the numbers of several.
fn tooltip_ui(ui: &mut Ui, remat: &LaneRemat, column: &RematColumn, input: &LanesInput<'_>) {
    let (from, to) = column.steps;
    let marks = remat.marks_within(column.steps);
    match marks {
        [] => {}
        [mark] => mark_ui(ui, remat, mark, input),
        [first, others @ ..] => {
            let place = if from == to {
                format!("step {from}")
            } else {
                format!("steps {from} to {to}")
            };
            ui.strong(format!("{place}: {}", words_of(&column.counts).join(", ")));
            ui.colored_label(input.theme.remat_mark(first.kind), mark_text(remat, first));
            ui.weak(format!("and {} more; click: pin the first", others.len()));
        }
    }
}

fn mark_text(remat: &LaneRemat, mark: &RematMark) -> String {
    let (words, step) = (mark.kind.words(), mark.step);
    match (mark.kind, remat.facts(mark).tensor.as_str()) {
        (_, "") => format!("{words} at step {step}"),
        (RematMarkKind::Evict, tensor) => format!("{tensor} {words} at step {step}"),
        (_, tensor) => format!("{tensor} {words}, step {step}"),
    }
}

/// The mark, the op that needs it, and its first figure.
fn mark_ui(ui: &mut Ui, remat: &LaneRemat, mark: &RematMark, input: &LanesInput<'_>) {
    let facts = remat.facts(mark);
    ui.colored_label(input.theme.remat_mark(mark.kind), mark_text(remat, mark));
    let reason = if mark.kind == RematMarkKind::Evict {
        "to make room for"
    } else {
        "needed by"
    };
    let rows = std::iter::once((reason, facts.for_op)).chain(facts.rows);
    let rows: Vec<(&str, String)> = rows.filter(|(_, text)| !text.is_empty()).take(2).collect();
    rows_ui(ui, &rows);
}

/// Tints the steps that recompute ops.
pub(super) fn paint_recomputed(painter: &Painter, rect: Rect, lane: &LaneView, viewport: &View<'_>, theme: &Theme) {
    if let Some(remat) = &lane.remat {
        tint(
            painter,
            rect,
            remat.bands_within(viewport.t0, viewport.t1),
            viewport,
            theme.recomputed(),
        );
    }
}

/// Tints steps; neighbours on one pixel become one.
pub(super) fn tint(painter: &Painter, rect: Rect, bands: &[(Step, Step)], viewport: &View<'_>, color: Color32) {
    let x = |step: Step| step_x(rect, viewport, f64::from(step.0), 0.0);
    let mut open: Option<(f32, f32)> = None;
    let paint = |(from, to): (f32, f32)| {
        painter.rect_filled(Rect::from_x_y_ranges(Rangef::new(from, to), rect.y_range()), 0, color);
    };
    for (start, end) in bands {
        let (from, to) = (x(*start), x(*end));
        let to = to.max(from + 1.0);
        open = match open {
            Some((begun, until)) if from <= until + 0.5 => Some((begun, until.max(to))),
            Some(done) => {
                paint(done);
                Some((from, to))
            }
            None => Some((from, to)),
        };
    }
    open.into_iter().for_each(paint);
}

/// The op that a lane recomputes on a step, with its cost.
pub(super) fn recomputed_text(remat: &LaneRemat, step: Step) -> Option<String> {
    let recomputed = remat.recomputed_at(step)?;
    Some(format!("{}, est. {}", remat.op_name(recomputed), recomputed.time))
}

/// Figures of a run under a budget on a step, for the tooltip of the curves.
pub(super) fn reading_rows(
    remat: &LaneRemat,
    step: Step,
    exact: impl Fn(Bytes) -> String,
) -> Vec<(&'static str, String)> {
    let counters = remat.counters(step);
    let mut rows = Vec::new();
    if let Some(text) = recomputed_text(remat, step) {
        rows.push(("recomputed", text));
    } else if remat.waits_at(step) {
        rows.push(("waits", "another lane recomputes here".to_owned()));
    }
    rows.push(("live, planned", exact(Bytes(remat.usage.at(step.0)))));
    rows.push(("budget", remat.budget.map_or_else(|| "none".to_owned(), exact)));
    rows.push(("evicted so far", grouped(u64::from(counters.evictions))));
    let limit = counters
        .limit
        .map_or(String::new(), |limit| format!(" of {:.0} %", limit * 100.0));
    let recomputed = format!(
        "{} ops, est. {}: {:.1} %{limit}",
        grouped(u64::from(counters.recomputed)),
        counters.time,
        counters.share * 100.0
    );
    rows.push(("recomputed so far", recomputed));
    rows
}
