//! Errors of simulated peaks against a measured run.

use eframe::egui::{self, RichText};

use crate::theme::Theme;
use crate::widgets::{bytes_ui, wrapped_ui};
use highwater_analysis::{Comparison, Figure, Lane};
use highwater_model::units::{Bytes, signed_percent_text};

/// Errors up to this percentage are within the spread of real runs.
const CLOSE: f64 = 2.0;

type PeakOf = fn(&Lane) -> Bytes;

/// The figures that a recording states, and the error of each simulated lane.
pub(super) fn errors_ui(ui: &mut egui::Ui, comparison: &Comparison, lane: &Lane, theme: &Theme) {
    let Some(recording) = comparison.recording(lane.id) else {
        return;
    };
    let title = RichText::new(comparison.lane_title(lane.id)).strong();
    wrapped_ui(ui, title);
    let figures: [(&str, PeakOf); 2] = [
        ("peak reserved", |lane| lane.summary.peak_reserved),
        ("peak live", |lane| lane.summary.peak_live),
    ];
    let are_stated = [recording.states_reserved(), recording.states_live()];
    for ((name, figure), is_stated) in figures.into_iter().zip(are_stated) {
        if is_stated {
            figure_ui(ui, comparison, lane, name, figure, theme);
        } else {
            ui.weak(format!("{name}: not recorded"))
                .on_hover_text("The recording does not state it");
        }
    }
    for remark in lane.explanation.iter().skip(1) {
        wrapped_ui(ui, RichText::new(&remark.text).weak());
    }
}

/// One figure of every lane, in three narrow columns.
fn figure_ui(ui: &mut egui::Ui, comparison: &Comparison, lane: &Lane, name: &str, figure: PeakOf, theme: &Theme) {
    let measured = figure(lane);
    egui::Grid::new((name, comparison.lane_title(lane.id)))
        .num_columns(3)
        .striped(true)
        .spacing([12.0, 3.0])
        .show(ui, |ui| {
            ui.weak("");
            ui.weak(name);
            ui.weak("off by");
            ui.end_row();
            ui.label("measured");
            bytes_ui(ui, measured);
            ui.end_row();
            for simulated in comparison.simulated_lanes() {
                ui.label(comparison.lane_title(simulated.id));
                bytes_ui(ui, figure(simulated));
                off_ui(ui, figure(simulated), measured, theme);
                ui.end_row();
            }
        });
}

/// The error in percent, with bytes on hover.
fn off_ui(ui: &mut egui::Ui, simulated: Bytes, measured: Bytes, theme: &Theme) {
    if measured == Bytes::ZERO {
        ui.label("");
        return;
    }
    let percent = simulated.percent_above(measured);
    let text = RichText::new(signed_percent_text(percent)).monospace();
    let text = if percent.abs() > CLOSE {
        text.color(theme.bad)
    } else {
        text
    };
    let difference = Figure::Bytes(simulated.get()).difference(Figure::Bytes(measured.get()));
    let hint = format!("{} ({}) from the measured one", difference.amount(), difference.exact());
    ui.label(text).on_hover_text(hint);
}
