//! Measured against simulated: the error of each simulated peak, the alignment of the run, and learned settings.

mod errors;
mod learned;

use std::collections::BTreeSet;

use eframe::egui;

use crate::panels::PaneCx;
use highwater_analysis::{LaneId, LaneKind};
use highwater_model::workload::Alignment;
use highwater_options::keys;
use highwater_session::Command;

#[derive(Debug, Default)]
pub struct MeasuredRunState {
    /// Settings whose tick is not the default one: recording and option.
    changed: BTreeSet<(String, &'static str)>,
}

pub fn measured_run_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut MeasuredRunState) {
    let Some((comparison, _)) = cx.session.answer() else {
        return;
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if comparison.lane_kind() == LaneKind::Recordings {
            if comparison.lanes.len() > 1 {
                alignment_ui(ui, cx, "Align the runs by", &Alignment::OF_RUNS, hint_of_runs);
            }
        } else {
            alignment_ui(ui, cx, "Align the run by", &Alignment::OF_GRAPH, hint);
            for lane in &comparison.lanes {
                if matches!(lane.id, LaneId::Measured(_)) {
                    ui.add_space(4.0);
                    errors::errors_ui(ui, comparison, lane, cx.theme);
                }
            }
            ui.separator();
        }
        learned::learned_ui(ui, cx, comparison, state);
    });
}

fn alignment_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    label: &str,
    choices: &[Alignment],
    hint: fn(Alignment) -> &'static str,
) {
    let now = cx
        .session
        .document()
        .options
        .written(keys::MEASURED_ALIGNMENT)
        .to_string();
    let now = Alignment::find(&now).unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        ui.label(label);
        for alignment in choices.iter().copied() {
            let button = ui.selectable_label(alignment == now, alignment.name());
            let button = button.on_hover_text(hint(alignment));
            if button.clicked() && alignment != now {
                cx.commands
                    .push(Command::set_option(keys::MEASURED_ALIGNMENT, alignment.name()));
            }
        }
    });
}

const fn hint(alignment: Alignment) -> &'static str {
    match alignment {
        Alignment::Ops | Alignment::CallSite => {
            "places each measured op at the step of the graph op with the same name"
        }
        Alignment::Phases | Alignment::Steps | Alignment::Annotation => {
            "aligns notes such as ProfilerStep#3, forward, backward with the starts of the graph's phases; without \
             notes aligns start, peak and end"
        }
        Alignment::Time => "places an event at the same share of the total time",
        Alignment::Events => "spreads the events evenly over the steps",
    }
}

const fn hint_of_runs(alignment: Alignment) -> &'static str {
    match alignment {
        Alignment::Ops | Alignment::Phases => "separate runs begin together, at their first step mark or allocation",
        Alignment::Time => "runs keep their clocks",
        Alignment::Events => "all begin at event 0",
        Alignment::Steps => "equal steps that annotations mark begin together",
        Alignment::Annotation => "equal annotations of simulation.measured_annotation begin together",
        Alignment::CallSite => "the first allocation at a call site that all have is at one step",
    }
}
