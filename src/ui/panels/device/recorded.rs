//! A recorded lane at a step: the figures that the file states, the events around it, pools over time, and its segments.

use eframe::egui::{self, RichText};

use super::{DeviceState, allocator, events, pool_history};
use crate::lanes::PinnedStep;
use crate::panels::PaneCx;
use crate::panels::inspector::EditorState;
use crate::theme::STALE;
use crate::widgets::{bytes_ui, wrapped_ui};
use highwater_analysis::{Comparison, Lane};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Recording;
use highwater_session::Command;
use highwater_timeline::LaneView;

/// Figures that a recording states at a step.
pub(super) fn measured_ui(ui: &mut egui::Ui, comparison: &Comparison, lane: usize, view: &LaneView, step: Step) {
    let (states_reserved, states_live) = comparison.states(lane);
    let row_ui = |ui: &mut egui::Ui, what: &str, is_stated: bool, bytes: u64| {
        ui.weak(what);
        if is_stated {
            bytes_ui(ui, Bytes(bytes));
        } else {
            ui.label("not recorded");
        }
        ui.end_row();
    };
    egui::Grid::new("measured device")
        .num_columns(2)
        .spacing([8.0, 3.0])
        .show(ui, |ui| {
            row_ui(ui, "reserved", states_reserved, view.reserved.at(step.0));
            row_ui(ui, "live", states_live, view.live.at(step.0));
        });
    ui.add_space(4.0);
    wrapped_ui(
        ui,
        RichText::new("Measured, not simulated: the file states reserved bytes, not available bytes.").weak(),
    );
}

/// The recorded allocator at the step, once the worker has it.
///
/// Returns an event that was clicked.
pub(super) fn recorded_allocator_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    spot: PinnedStep,
    (state, editor): (&mut DeviceState, &mut EditorState),
) -> Option<Step> {
    let (comparison, _) = cx.session.answer()?;
    let id = comparison.lanes[spot.lane].id;
    let lists = |one: &&Recording| !one.regions.is_empty() || !one.blocks.is_empty();
    let recording = comparison.recording(id).filter(lists)?;
    let (requested, key) = (cx.session.device_picture(), (id, spot.step));
    if !requested.wants(&key) {
        cx.commands.push(Command::PictureDevice(id, spot.step));
    }
    let known = requested.last().filter(|known| known.lane == id);
    let recorded = known.and_then(|known| known.recorded.as_ref())?;
    ui.add_space(4.0);
    let mut chosen = None;
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if !requested.has(&key) {
            ui.multiply_opacity(STALE);
        }
        chosen = events::events_ui(ui, cx, (recording, recorded), editor);
        let steps = (recording.n_steps, recorded.event);
        chosen = pool_history::pool_history_ui(ui, &recorded.pools, steps, cx.theme).or(chosen);
        let Some(allocator) = &recorded.allocator else { return };
        let shown = (allocator, recorded.pinned.as_ref());
        let clicked = allocator::allocator_ui(ui, recording, shown, &mut state.segments, cx.theme);
        if let Some(segment) = clicked {
            let last = segment.address.saturating_add(segment.bytes.get().saturating_sub(1));
            let event = comparison.shown_step(spot.lane, spot.step);
            // Other recordings may use the same addresses.
            let lane = match comparison.lanes.len() {
                1 => String::new(),
                _ => format!("lane:{} ", spot.lane + 1),
            };
            cx.commands.push(Command::Search {
                text: format!("{lane}address:{:#x}..{last:#x} live:{event}", segment.address),
                lane: spot.lane,
            });
        }
    });
    chosen
}

/// The step of the lanes on which an event of a recorded lane is.
pub(super) fn step_of(lane: &Lane, event: Step) -> Step {
    let recorded = lane.recorded.as_ref();
    recorded.map_or(event, |recorded| {
        recorded.steps_of(event, Step(event.0.saturating_add(1))).0
    })
}
