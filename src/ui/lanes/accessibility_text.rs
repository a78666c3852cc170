//! Texts of the canvases for assistive technology: peak, view, selection, step under the pointer, measurements.

use eframe::egui::{Id, Ui};

use super::{LanesInput, LanesState, measure, shortage};
use crate::numbers::{to_step, to_whole};
use highwater_model::units::{Bytes, Nanos, Step, grouped};
use highwater_timeline::{Selected, facts, op_text};

/// Sets the text of a canvas; free where no assistive technology runs.
pub(super) fn tell(ui: &Ui, id: Id, input: &LanesInput<'_>, lane: usize, state: &LanesState) {
    ui.ctx().accesskit_node_builder(id, |node| {
        node.set_value(words(input, lane, state));
    });
}

pub fn words(input: &LanesInput<'_>, lane: usize, state: &LanesState) -> String {
    let parts = [
        peak_words(input, lane),
        shortage::words(input, lane),
        view_words(input, state),
        input.selected.map(|tensor| tensor_words("selected", input, tensor)),
        state
            .hovered
            .map(|tensor| tensor_words("under the pointer", input, tensor)),
        cursor_words(input, lane, state),
        measure::words(input, lane, state, None),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

fn peak_words(input: &LanesInput<'_>, lane: usize) -> Option<String> {
    let row = input.comparison.lanes.get(lane)?;
    let summary = &row.summary;
    let shown = input.comparison.shown_peak(lane);
    let at = plain_text(&input.comparison.step_text(lane, shown.step?));
    if shown.is_live {
        return Some(format!("peak live {} at {at}", plain(summary.peak_live)));
    }
    let sign = input.comparison.bound_sign(lane);
    Some(format!(
        "peak {}{} reserved at {at}, peak live {}",
        plain_text(sign),
        plain(summary.peak_reserved),
        plain(summary.peak_live)
    ))
}

fn view_words(input: &LanesInput<'_>, state: &LanesState) -> Option<String> {
    let view = state.viewport?;
    let word = input.comparison.axis_word();
    let step = |value: f64| grouped(to_whole(value));
    Some(format!(
        "shows {word}s {} to {} of {} and {} {} to {}",
        step(view.t0.floor()),
        step((view.t1.ceil() - 1.0).max(0.0)),
        grouped(u64::from(input.timeline.n_steps)),
        if state.has_floor() {
            "bytes above constant regions"
        } else {
            "addresses"
        },
        plain(Bytes(to_whole(view.a0))),
        plain(Bytes(to_whole(view.a1))),
    ))
}

fn tensor_words(what: &str, input: &LanesInput<'_>, tensor: Selected) -> String {
    let facts = facts(input.comparison, tensor);
    let row = input.timeline.rows.find(tensor);
    let lane = input.comparison.lane_of_blocks(tensor.graph);
    let life = row.map_or_else(String::new, |row| {
        let life = input.comparison.steps_text(lane, row.start, row.end);
        format!(", {}, {}", plain(row.bytes), plain_text(&life))
    });
    format!("{what}: {}{life}", facts.name)
}

fn cursor_words(input: &LanesInput<'_>, lane: usize, state: &LanesState) -> Option<String> {
    let step = to_step(state.reading()?).0;
    let view = input.timeline.lanes.get(lane)?;
    let (states_reserved, states_live) = input.comparison.states(lane);
    let reserved = states_reserved.then(|| format!("{} reserved", plain(Bytes(view.reserved.at(step)))));
    let live = states_live.then(|| format!("{} live", plain(Bytes(view.live.at(step)))));
    let figures: Vec<String> = reserved.into_iter().chain(live).collect();
    let op = op_text(input.comparison, Step(step));
    let op = if op.is_empty() { op } else { format!(" ({op})") };
    let at = plain_text(&input.comparison.step_text(lane, Step(step)));
    let time = state.along(input.timeline).map_or_else(String::new, |axis| {
        let time = Nanos(axis.time_at(step)).to_string();
        format!(", {}{}", state.axis.prefix(), time.replace('\u{a0}', " "))
    });
    Some(format!("at {at}{op}{time}: {}", figures.join(", ")))
}

/// With plain spaces, so that it can be read aloud.
fn plain(bytes: Bytes) -> String {
    plain_text(&bytes.to_string())
}

fn plain_text(text: &str) -> String {
    text.replace('\u{a0}', " ")
}
