//! Failed requests of a recorded lane: the one on the pinned step in full, else a list from which one is chosen.

use eframe::egui::{self, RichText, Role};

use super::InspectorState;
use super::stack::stack_ui;
use crate::lanes::LanesState;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, right_bytes_ui, wrapped_ui};
use highwater_analysis::{Comparison, RecordedFailure};
use highwater_timeline::CallStack;

/// Failed requests in the list.
const MOST_LISTED: usize = 16;

/// Part of the width that labels have.
const LABELS: f32 = 0.38;

/// Returns whether one is shown in full, so that nothing else is.
pub(super) fn failures_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    lane: usize,
    (state, lanes): (&mut InspectorState, &mut LanesState),
) -> bool {
    let failures = comparison.failures(lane);
    if failures.is_empty() {
        return false;
    }
    let pinned = lanes.pinned().filter(|spot| spot.lane == lane);
    let is_pinned = |one: &&RecordedFailure| pinned.is_some_and(|spot| comparison.failure_step(lane, one) == spot.step);
    if let Some(failure) = failures.iter().find(is_pinned) {
        failure_ui(ui, cx, comparison, (lane, failure), state);
        ui.add_space(6.0);
        if ui.button("Show the peak").clicked() {
            lanes.unpin();
        }
        return true;
    }
    ui.strong("Failed requests");
    for failure in failures.iter().take(MOST_LISTED) {
        let step = comparison.failure_step(lane, failure);
        let at = comparison.step_text(lane, step);
        let size = failure
            .requested
            .map_or_else(|| "size unknown".to_owned(), |bytes| bytes.to_string());
        let text = format!("{at}: {size} {}", failure.site);
        let button = ui.add(egui::Button::new(text.trim_end()).truncate());
        let button = button.named(Role::Button, || format!("failed request at {at}"));
        if button.on_hover_text("Pin the event and show why").clicked() {
            lanes.pin(lane, step);
        }
    }
    let left = failures.len().saturating_sub(MOST_LISTED) + comparison.n_more_failures(lane);
    if left > 0 {
        ui.weak(format!("and {left} more"));
    }
    ui.add_space(6.0);
    false
}

/// All that is known of a failed request.
fn failure_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    (lane, failure): (usize, &RecordedFailure),
    state: &mut InspectorState,
) {
    let at = comparison.step_text(lane, comparison.failure_step(lane, failure));
    wrapped_ui(
        ui,
        RichText::new(format!("Failed request at {at}"))
            .color(cx.theme.bad)
            .strong(),
    );
    for fact in failure.facts(comparison.device_total(lane)) {
        ui.horizontal_top(|ui| {
            let width = ui.available_width() * LABELS;
            let size = egui::vec2(width, 0.0);
            ui.allocate_ui_with_layout(size, egui::Layout::top_down(egui::Align::Min), |ui| {
                ui.set_width(width);
                wrapped_ui(ui, RichText::new(fact.label).color(cx.theme.text_weak));
            });
            let value = wrapped_ui(ui, &fact.value);
            if !fact.exact.is_empty() {
                value.on_hover_text(&fact.exact);
            }
        });
    }
    ui.add_space(4.0);
    for sentence in failure.answers() {
        wrapped_ui(ui, sentence);
        ui.add_space(3.0);
    }
    pools_ui(ui, failure);
    sites_ui(ui, failure);
    let recording = comparison.lanes.get(lane).and_then(|row| comparison.recording(row.id));
    let stack = recording.and_then(|recording| CallStack::of(recording, failure.stack?));
    if let Some(stack) = stack {
        stack_ui(ui, cx, ("Call stack (failed request)", &stack), &mut state.editor);
    }
}

fn pools_ui(ui: &mut egui::Ui, failure: &RecordedFailure) {
    if failure.pools.is_empty() {
        return;
    }
    ui.strong("Pools then");
    for pool in &failure.pools {
        let sums = &pool.sums;
        let live = sums.active + sums.awaiting_free;
        wrapped_ui(
            ui,
            format!(
                "{}, {}: {} reserved, {}{live} live; largest free block {}{}",
                pool.name,
                pool.kind,
                sums.reserved,
                sums.at_least(),
                sums.at_most(),
                sums.largest_free
            ),
        );
    }
    ui.add_space(4.0);
}

fn sites_ui(ui: &mut egui::Ui, failure: &RecordedFailure) {
    if failure.sites.is_empty() {
        return;
    }
    ui.strong("Live then by call site");
    egui::Grid::new("call sites at the failed request")
        .num_columns(2)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            for site in &failure.sites {
                right_bytes_ui(ui, site.bytes);
                ui.add(egui::Label::new(&site.name).truncate())
                    .on_hover_text(&site.name);
                ui.end_row();
            }
        });
    if failure.n_more_sites > 0 {
        ui.weak(format!("and {} more", failure.n_more_sites));
    }
    ui.add_space(4.0);
}
