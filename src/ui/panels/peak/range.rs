//! What happens in the selected range.

use eframe::egui::{self, RichText};

use super::Shown;
use crate::timeline::{CurveStats, RangeStats, Tally};
use crate::ui::lanes::LanesState;
use crate::units::{Bytes, Step, counted, grouped};

/// Figures of the range, and what to do with it.
pub(super) fn range_ui(ui: &mut egui::Ui, shown: Shown<'_>, stats: &RangeStats, lanes: &mut LanesState) {
    ui.separator();
    ui.horizontal_wrapped(|ui| {
        ui.strong("Within the range");
        if ui
            .small_button("Zoom to it")
            .on_hover_text("Show these steps in all lanes (Z)")
            .clicked()
        {
            lanes.show_steps(stats.range);
        }
        if ui
            .small_button("Clear")
            .on_hover_text("Let the range go (Esc)")
            .clicked()
        {
            lanes.select_range(None);
        }
    });
    egui::Grid::new("range figures")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            curve_rows(ui, shown, ("live", stats.live.as_ref()));
            curve_rows(ui, shown, ("reserved", stats.reserved.as_ref()));
            let tallies: [(&str, Tally, &str); 4] = [
                (
                    "alive before",
                    stats.before,
                    "Held on the step before the range, or at the very begin",
                ),
                ("allocated", stats.allocated, "Comes inside the range"),
                ("freed", stats.freed, "Goes inside the range"),
                (
                    "alive behind",
                    stats.after,
                    "Alive before, with what is allocated and less what is freed",
                ),
            ];
            for (name, tally, note) in tallies {
                tally_row(ui, (name, note), tally);
            }
            if let Some(older) = shown.report.alive_before {
                let note = "Live at the highest step of the range, and alive before the range";
                tally_row(ui, ("of the peak, older", note), older);
            }
        });
}

/// Small words behind a figure.
fn note_ui(ui: &mut egui::Ui, shown: &str) {
    ui.label(RichText::new(shown).small().weak());
}

fn tally_row(ui: &mut egui::Ui, (name, note): (&str, &str), tally: Tally) {
    ui.label(name).on_hover_text(note);
    let exact = format!("{} in {}", tally.bytes.exact(), counted(tally.count, "tensor"));
    ui.monospace(tally.bytes.to_string()).on_hover_text(exact);
    note_ui(ui, &format!("in {}", grouped(tally.count)));
    ui.end_row();
}

fn curve_rows(ui: &mut egui::Ui, shown: Shown<'_>, (name, curve): (&str, Option<&CurveStats>)) {
    let Some(curve) = curve else { return };
    let word = shown.comparison.axis_word();
    let at = |step: Step| (format!("at {step}"), format!("at {word} {step}"));
    let over = counted(u64::from(curve.n_steps), word);
    let mean = (String::new(), format!("{} byte-{word}s over {over}", curve.sum));
    let rows: [(&str, Bytes, (String, String)); 3] = [
        ("peak", curve.peak.0, at(curve.peak.1)),
        ("mean", curve.mean(), mean),
        ("least", curve.minimum.0, at(curve.minimum.1)),
    ];
    for (what, bytes, (short, note)) in rows {
        ui.label(format!("{name} {what}"));
        ui.monospace(bytes.to_string())
            .on_hover_text(format!("{}, {note}", bytes.exact()));
        note_ui(ui, &short);
        ui.end_row();
    }
}
