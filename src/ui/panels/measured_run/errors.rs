//! By how much simulated peaks are off from a measured run.

use eframe::egui::{self, RichText};

use super::simulated;
use crate::analysis::{Comparison, Lane};
use crate::ui::theme::Theme;
use crate::units::Bytes;

/// Off by so many percent or less is as good as the run's own spread from time to time.
const CLOSE: f64 = 2.0;

/// The table of one measured lane.
pub(super) fn errors_ui(ui: &mut egui::Ui, (comparison, lane): (&Comparison, &Lane), theme: &Theme) {
    let Some(recording) = comparison.recording(lane.id) else {
        return;
    };
    ui.label(RichText::new(comparison.lane_title(lane.id)).strong());
    let reserved = recording.states_reserved().then_some(lane.summary.peak_reserved);
    let live = recording.states_live().then_some(lane.summary.peak_live);
    egui::Grid::new(("errors of peaks", &recording.name))
        .num_columns(5)
        .striped(true)
        .spacing([14.0, 3.0])
        .show(ui, |ui| {
            for title in ["", "peak reserved", "off by", "peak live", "off by"] {
                ui.weak(title);
            }
            ui.end_row();
            ui.label("measured");
            for figure in [reserved, live] {
                figure_ui(ui, figure);
                ui.label("");
            }
            ui.end_row();
            for (title, simulated) in simulated(comparison) {
                ui.label(title);
                figure_ui(ui, Some(simulated.summary.peak_reserved));
                off_ui(ui, (simulated.summary.peak_reserved, reserved), theme);
                figure_ui(ui, Some(simulated.summary.peak_live));
                off_ui(ui, (simulated.summary.peak_live, live), theme);
                ui.end_row();
            }
        });
    for remark in lane.explanation.iter().skip(1) {
        ui.add(egui::Label::new(RichText::new(&remark.text).weak()).wrap());
    }
}

fn figure_ui(ui: &mut egui::Ui, figure: Option<Bytes>) {
    match figure {
        Some(bytes) => ui.monospace(bytes.to_string()).on_hover_text(bytes.exact()),
        None => ui
            .weak("not recorded")
            .on_hover_text("the file of the recording does not state it"),
    };
}

/// How much more or less than measured, in percent, with bytes on hover.
fn off_ui(ui: &mut egui::Ui, (simulated, measured): (Bytes, Option<Bytes>), theme: &Theme) {
    let Some(measured) = measured.filter(|bytes| *bytes > Bytes::ZERO) else {
        ui.label("");
        return;
    };
    let difference = Bytes(simulated.get().abs_diff(measured.get()));
    let (sign, word) = if simulated >= measured {
        ("+", "more")
    } else {
        ("\u{2212}", "less")
    };
    #[expect(clippy::cast_precision_loss, reason = "percents with one decimal")]
    let percent = difference.get() as f64 * 100.0 / measured.get() as f64;
    let text = RichText::new(format!("{sign}{percent:.1} %")).monospace();
    let text = if percent > CLOSE { text.color(theme.bad) } else { text };
    ui.label(text).on_hover_text(format!(
        "{} ({}) {word} than was measured",
        difference,
        difference.exact()
    ));
}
