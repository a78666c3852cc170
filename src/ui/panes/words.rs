//! What panes are called, and what stands in the place of an answer that is not there.

use eframe::egui::{self, RichText};

use super::PanesInput;
use crate::session::{Command, SAMPLES, SourceSpec};
use crate::ui::panels::problems::counts;
use crate::ui::theme::Theme;

/// Lanes are policies, the strategies of a placement problem, or rewriting passes.
pub(super) fn lanes_title(input: &PanesInput<'_>) -> &'static str {
    match input.session.answer() {
        Some((comparison, _)) if comparison.is_problem() => "Strategies",
        Some((comparison, _)) if comparison.compares_passes() => "Passes",
        Some((comparison, _)) if comparison.is_measured() => "Recordings",
        _ => "Policies",
    }
}

pub(super) fn files_title(input: &PanesInput<'_>) -> String {
    match input.session.document().sources.len() {
        0 | 1 => "Import report".to_owned(),
        count => format!("Import report: {count} files"),
    }
}

pub(super) fn problems_title(input: &PanesInput<'_>) -> RichText {
    let (errors, warnings) = counts(input.session);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let text = format!(
        "Problems: {errors} error{}, {warnings} warning{}",
        plural(errors),
        plural(warnings)
    );
    let text = RichText::new(text);
    if errors > 0 {
        text.color(input.theme.bad).strong()
    } else {
        text
    }
}

/// What went wrong, where the answer would be.
pub(super) fn problem_ui(ui: &mut egui::Ui, problem: &str, theme: &Theme, commands: &mut Vec<Command>) {
    ui.add_space(6.0);
    ui.label(RichText::new("There is nothing to show").strong().color(theme.bad));
    ui.label(problem);
    ui.horizontal_wrapped(|ui| {
        ui.label("Open a sample instead:");
        for sample in SAMPLES {
            if ui.button(sample.title).clicked() {
                commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
            }
        }
    });
    ui.add_space(6.0);
}
