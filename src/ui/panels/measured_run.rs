//! Measured against simulated: the error of each simulated peak, the alignment of the run, and learned settings.

mod errors;
mod learned;

use std::collections::BTreeSet;

use eframe::egui::{self, RichText};

use crate::panels::PaneCx;
use crate::widgets::wrapped_ui;
use highwater_analysis::{LaneId, LaneKind};
use highwater_model::workload::Alignment;
use highwater_options::keys;
use highwater_session::Command;

#[derive(Debug, Default)]
pub struct MeasuredRunState {
    /// Unchecked settings: recording and option.
    without: BTreeSet<(String, &'static str)>,
}

pub fn measured_run_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut MeasuredRunState) {
    let Some((comparison, _)) = cx.session.answer() else {
        return;
    };
    if comparison.workload.recordings().is_empty() {
        let text = "Nothing that is open was measured. Add the recording of a real run beside the graph (Ctrl+Shift+O, or drop \
                    it onto the window): a memory snapshot of PyTorch, a table of a profiler, or TensorFlow's RunMetadata. \
                    Here it says by how much each simulated peak is off, and what can be learned of the run.";
        wrapped_ui(ui, RichText::new(text).weak());
        return;
    }
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if comparison.lane_kind() != LaneKind::Recordings {
            alignment_ui(ui, cx);
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

fn alignment_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let now = cx
        .session
        .document()
        .options
        .effective(keys::MEASURED_ALIGNMENT)
        .to_string();
    let now = Alignment::find(&now).unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        ui.label("Align the run by");
        for alignment in Alignment::ALL {
            let button = ui.selectable_label(alignment == now, alignment.name());
            let button = button.on_hover_text(hint(alignment));
            if button.clicked() && alignment != now {
                cx.commands.push(Command::SetOption {
                    key: keys::MEASURED_ALIGNMENT.to_owned(),
                    text: alignment.name().to_owned(),
                });
            }
        }
    });
}

const fn hint(alignment: Alignment) -> &'static str {
    match alignment {
        Alignment::Ops => "each measured op stands at the step of the graph's op of its name",
        Alignment::Phases => {
            "notes such as ProfilerStep#3, forward, backward stand where the graph's phases begin; without notes the \
             beginning, the peak and the end stand together"
        }
        Alignment::Time => "an event stands where the same share of the whole time has passed",
    }
}
