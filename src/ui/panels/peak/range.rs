//! Figures of the selected range.

use eframe::egui::{self, RichText};

use super::Shown;
use super::bars::{Line, line_ui};
use crate::lanes::LanesState;
use crate::numbers::{part_of, to_points};
use crate::widgets::{button_ui, small};
use highwater_model::units::{Bytes, Step, counted, grouped, percent_text};
use highwater_session::Command;
use highwater_timeline::{CurveStats, LiveGroup, RangeStats, Tally, tensor_label};

/// Figures of the range, and its actions.
pub(super) fn range_ui(ui: &mut egui::Ui, shown: Shown<'_>, stats: &RangeStats, lanes: &mut LanesState) {
    ui.separator();
    ui.horizontal_wrapped(|ui| {
        ui.strong("Within the range");
        if button_ui(ui, small("Zoom to range"), "Show these steps in all lanes (Z)") {
            lanes.show_steps(stats.range);
        }
        if button_ui(ui, small("Clear"), "Clear the range (Esc)") {
            lanes.select_range(None);
        }
    });
    egui::Grid::new("range figures")
        .num_columns(3)
        .min_col_width(0.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            curve_rows(ui, shown, "live", stats.live.as_ref());
            curve_rows(ui, shown, "reserved", stats.reserved.as_ref());
            let tallies: [(&str, Tally, &str); 4] = [
                ("live before", stats.before, "Live on the step before the range"),
                ("allocated", stats.allocated, "Allocated within the range"),
                ("freed", stats.freed, "Freed within the range"),
                ("live after", stats.after, "Live before, plus allocated, minus freed"),
            ];
            for (name, tally, note) in tallies {
                tally_row(ui, shown, name, note, tally);
            }
            if let Some(older) = shown.report.alive_before {
                let note = "Live at the peak of the range and before the range";
                tally_row(ui, shown, "at the peak, older", note, older);
            }
        });
}

/// Groups listed at first.
const FIRST: usize = 8;

/// Bytes held at some time within the range, by group; a click selects the largest tensor of a group.
pub(super) fn groups_ui(ui: &mut egui::Ui, shown: Shown<'_>, stats: &RangeStats, commands: &mut Vec<Command>) {
    if stats.groups.is_empty() {
        return;
    }
    let total: Bytes = stats.groups.iter().map(|group| group.bytes).sum();
    let by = shown.report.ask.by.words();
    ui.add_space(4.0);
    ui.strong(format!("Live within the range, by {by}"))
        .on_hover_text("Live on a step of the range; what is allocated twice counts twice");
    let mut list = |ui: &mut egui::Ui, groups: &[LiveGroup]| {
        for group in groups {
            group_ui(ui, shown, group, total, commands);
        }
    };
    let (first, rest) = stats.groups.split_at(FIRST.min(stats.groups.len()));
    list(ui, first);
    if !rest.is_empty() {
        let title = format!("{} within the range", counted(rest.len() as u64, "smaller group"));
        egui::CollapsingHeader::new(title)
            .id_salt("further groups of the range")
            .show(ui, |ui| list(ui, rest));
    }
}

fn group_ui(ui: &mut egui::Ui, shown: Shown<'_>, group: &LiveGroup, total: Bytes, commands: &mut Vec<Command>) {
    let part = part_of(group.bytes.get(), total.get());
    let share = percent_text(part * 100.0);
    let (largest, bytes) = group.largest;
    let words = format!(
        "{} within the range: {} in {}, {share} of the total\nselect the largest: {}, {bytes}",
        group.text,
        group.bytes.exact(),
        counted(group.count, shown.noun()),
        tensor_label(shown.comparison, largest),
    );
    let figures = format!("{}  {share}", group.bytes);
    let line = Line {
        name: &group.text,
        figures: &figures,
        part: to_points(part),
        is_selected: shown.selected == Some(largest),
        indent: 0.0,
    };
    if line_ui(ui, shown, line, &words).clicked() {
        commands.push(Command::Select(Some(largest)));
    }
}

fn note_ui(ui: &mut egui::Ui, shown: &str) {
    ui.label(RichText::new(shown).small().weak());
}

fn tally_row(ui: &mut egui::Ui, shown: Shown<'_>, name: &str, note: &str, tally: Tally) {
    ui.label(name).on_hover_text(note);
    let exact = format!("{} in {}", tally.bytes.exact(), counted(tally.count, shown.noun()));
    ui.monospace(tally.bytes.to_string()).on_hover_text(exact);
    note_ui(ui, &format!("in {}", grouped(tally.count)));
    ui.end_row();
}

fn curve_rows(ui: &mut egui::Ui, shown: Shown<'_>, name: &str, curve: Option<&CurveStats>) {
    let Some(curve) = curve else { return };
    let word = shown.comparison.axis_word();
    let lane = shown.report.ask.lane;
    let at = |step: Step| {
        let long = shown.comparison.step_text(lane, step);
        (
            format!("at {}", shown.comparison.shown_step(lane, step)),
            format!("at {long}"),
        )
    };
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
