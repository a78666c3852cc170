//! The marker where a lane runs out of memory, with its report; of a recording, which goes on, one for each failed request.

use eframe::egui::{Align, Pos2, Rangef, Rect, Stroke, Ui, Vec2, pos2};

use super::canvas::{label_beside, step_x, text_with_ground, visible_x};
use super::frame::LaneFrame;
use super::{LanesInput, LanesState, header};
use highwater_analysis::{Lane, RecordedFailure};
use highwater_model::units::{Step, counted};
use highwater_sim::OutOfMemory;

/// Distance at which the pointer hits the line.
const REACH: f32 = 5.0;

/// A line through the lane at the failing step; nothing runs after it.
pub(super) fn paint(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let lane = &input.comparison.lanes[frame.lane];
    paint_requests(ui, frame, input, state);
    let (Some(x), Some(failed)) = (x_of(frame, lane, state), end_of(lane)) else {
        return;
    };
    let (body, theme) = (frame.body, input.theme);
    let painter = ui.painter_at(body);
    let behind = Rect::from_x_y_ranges(Rangef::new(x.max(body.left()), body.right()), body.y_range());
    if x <= body.right() {
        // Nothing ran there: what the last state of the memory would draw is covered, but not the name of the lane.
        let name = if frame.has_header {
            Rect::from_min_size(body.min, Vec2::ZERO)
        } else {
            header::label(ui, frame, input).place
        };
        let below = behind.with_min_y(name.bottom());
        let right = behind.with_max_y(name.bottom());
        let right = right.with_min_x(right.left().max(name.right()));
        for part in [below, right] {
            painter.rect_filled(part, 0, theme.canvas);
            painter.rect_filled(part, 0, theme.behind_the_end());
        }
    }
    if x < body.left() || x > body.right() {
        return;
    }
    let top = if frame.has_header {
        body.top()
    } else {
        header::label(ui, frame, input).place.bottom()
    };
    painter.vline(x, Rangef::new(top, body.bottom()), Stroke::new(2.0, theme.bad));
    let report = lane.out_of_memory_report.as_ref();
    let enough = report.and_then(|report| report.sufficient_device);
    let enough = enough.map_or_else(String::new, |enough| format!("; {enough} is enough"));
    let text = format!(
        "out of memory at step {}: {} more requested{enough}",
        failed.step, failed.requested
    );
    let place = label_beside(pos2(x, flag(frame).center()), 4.0, Align::Center, body);
    text_with_ground(&painter, place, text, (theme.bad, theme.halo()), body);
}

/// That a lane has ended before a step; `None` where it runs there.
pub(super) fn ended_text(lane: &Lane, step: Step) -> Option<String> {
    let failed = end_of(lane)?;
    (step > failed.step).then(|| format!("stopped at step {}, out of memory", failed.step))
}

/// The height of the label: on the map, because the curve has the label of the peak.
fn flag(frame: &LaneFrame) -> Rangef {
    Rangef::new(frame.map.top() + 1.0, frame.map.top() + 17.0)
}

fn x_of(frame: &LaneFrame, lane: &Lane, state: &LanesState) -> Option<f32> {
    let failed = end_of(lane)?;
    Some(step_x(frame.body, &state.view()?, f64::from(failed.step.0), 1e6))
}

/// The request that ends a simulated lane.
fn end_of(lane: &Lane) -> Option<&OutOfMemory> {
    lane.simulation.out_of_memory.as_ref().filter(|_| !lane.is_measured())
}

/// A line at each failed request of a recorded lane; the first in view has a label.
fn paint_requests(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let (body, theme) = (frame.body, input.theme);
    let painter = ui.painter_at(body);
    let top = if frame.has_header {
        body.top()
    } else {
        header::label(ui, frame, input).place.bottom()
    };
    for (position, (x, failure)) in requests_in_view(frame, input, state).enumerate() {
        painter.vline(x, Rangef::new(top, body.bottom()), Stroke::new(2.0, theme.bad));
        if position > 0 {
            continue;
        }
        let step = input.comparison.failure_step(frame.lane, failure);
        let text = failure.sentence(&input.comparison.step_text(frame.lane, step));
        let place = label_beside(pos2(x, flag(frame).center()), 4.0, Align::Center, body);
        text_with_ground(&painter, place, text, (theme.bad, theme.halo()), body);
    }
}

/// Places of the failed requests of a recorded lane that are in view.
fn requests_in_view<'a>(
    frame: &LaneFrame,
    input: &LanesInput<'a>,
    state: &LanesState,
) -> impl Iterator<Item = (f32, &'a RecordedFailure)> {
    let (lane, body, view) = (frame.lane, frame.body, state.view());
    let comparison = input.comparison;
    let failures = comparison.failures(lane).iter();
    failures.filter_map(move |failure| {
        let step = comparison.failure_step(lane, failure);
        let x = visible_x(body, view.as_ref()?, f64::from(step.0))?;
        Some((x, failure))
    })
}

/// The step of the failed request under the pointer: on a line, or on the label of the first in view.
pub(super) fn request_at(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Option<Step> {
    if !frame.body.contains(pos) {
        return None;
    }
    let near = requests_in_view(frame, input, state).find(|(x, _)| (pos.x - x).abs() <= REACH);
    let labelled = || {
        let mut all = requests_in_view(frame, input, state);
        all.next().filter(|(x, _)| is_on_label(pos, *x, frame))
    };
    let (_, failure) = near.or_else(labelled)?;
    Some(input.comparison.failure_step(frame.lane, failure))
}

/// The failed requests of a recorded lane, for assistive technology.
pub(super) fn words(input: &LanesInput<'_>, lane: usize) -> Option<String> {
    let comparison = input.comparison;
    let first = comparison.failures(lane).first()?;
    let count = comparison.failures(lane).len() + comparison.n_more_failures(lane);
    let at = comparison.step_text(lane, comparison.failure_step(lane, first));
    let text = format!("{}, the first at {at}", counted(count as u64, "failed request"));
    Some(text.replace('\u{a0}', " "))
}

fn is_on_label(pos: Pos2, x: f32, frame: &LaneFrame) -> bool {
    let words = if x > frame.body.center().x { -250.0 } else { 250.0 };
    flag(frame).contains(pos.y) && (x.min(x + words)..=x.max(x + words)).contains(&pos.x)
}

/// Whether the pointer is on the line or the label.
pub(super) fn is_at(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> bool {
    let lane = &input.comparison.lanes[frame.lane];
    let Some(x) = x_of(frame, lane, state) else {
        return false;
    };
    frame.body.contains(pos) && ((pos.x - x).abs() <= REACH || is_on_label(pos, x, frame))
}

/// What a click on a failed request of a recording does.
pub(super) fn request_tooltip_ui(ui: &mut Ui, frame: &LaneFrame, step: Step, input: &LanesInput<'_>) {
    let comparison = input.comparison;
    let failures = comparison.failures(frame.lane).iter();
    let mut here = failures.filter(|one| comparison.failure_step(frame.lane, one) == step);
    if let Some(failure) = here.next() {
        let at = comparison.step_text(frame.lane, step);
        ui.colored_label(input.theme.bad, failure.sentence(&at));
        if !failure.site.is_empty() {
            ui.label(&failure.site);
        }
    }
    ui.weak("Click: show why in the Inspector");
}

pub(super) fn tooltip_ui(ui: &mut Ui, lane: &Lane, input: &LanesInput<'_>) {
    let title = input.comparison.lane_title(lane.id);
    ui.colored_label(input.theme.bad, format!("{title} runs out of memory"));
    if let Some(failed) = &lane.simulation.out_of_memory {
        ui.label(format!("{} requested, {} reserved", failed.requested, failed.in_use));
    }
    ui.weak("Click: pin the step and show why");
}

/// Why a lane ends early; empty where it does not.
pub fn sentences(lane: &Lane) -> Vec<String> {
    match &lane.out_of_memory_report {
        Some(story) => story.sentences(),
        None => lane.out_of_memory_text().into_iter().collect(),
    }
}
