//! Measured beside simulated: by how much each simulated peak is off, what the run is aligned by, and what it teaches.

mod errors;
mod learned;

use std::collections::BTreeSet;

use eframe::egui::{self, RichText};

use crate::theme::Theme;
use highwater_analysis::{LaneId, LaneKind};
use highwater_model::workload::Alignment;
use highwater_options::keys;
use highwater_session::{Command, Session};

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct MeasuredRunState {
    /// Learned settings that are not wanted: the recording and the option.
    without: BTreeSet<(String, &'static str)>,
    /// An option that is to be shown in the panel of options.
    pub jump: Option<String>,
}

/// Draws the pane.
pub fn measured_run_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut MeasuredRunState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some((comparison, _)) = session.answer() else {
        return;
    };
    if comparison.workload.recordings().is_empty() {
        ui.add(
            egui::Label::new(
                RichText::new(
                    "Nothing that is open was measured. Add the recording of a real run beside the graph (Ctrl+Shift+O, or drop \
                     it onto the window): a memory snapshot of PyTorch, a table of a profiler, or TensorFlow's RunMetadata. \
                     Here it says by how much each simulated peak is off, and what can be learned of the run.",
                )
                .weak(),
            )
            .wrap(),
        );
        return;
    }
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if comparison.lane_kind() != LaneKind::Recordings {
            alignment_ui(ui, session, commands);
            for lane in &comparison.lanes {
                if matches!(lane.id, LaneId::Measured(_)) {
                    ui.add_space(4.0);
                    errors::errors_ui(ui, comparison, lane, theme);
                }
            }
            ui.separator();
        }
        learned::learned_ui(ui, session, comparison, state, commands);
    });
}

/// What the run is aligned by.
fn alignment_ui(ui: &mut egui::Ui, session: &Session, commands: &mut Vec<Command>) {
    let now = session
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
                commands.push(Command::SetOption {
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
