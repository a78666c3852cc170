//! Panes without content: what they will show, what to do, and a button that does it, or what went wrong.

use eframe::egui::{self, RichText};

use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::panels::PaneCx;
use crate::panes::PaneRow;
use crate::recent::recents_ui;
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_session::{Command, Recents, SAMPLES, Sample, Session, SourceSpec, sample};

/// A button with a unique name.
fn button_ui(ui: &mut egui::Ui, text: &str, name: &str) -> bool {
    let response = ui.button(text).named(egui::Role::Button, || &name);
    response.clicked()
}

/// A pane that needs an answer, without one.
pub fn no_answer_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, row: &PaneRow) {
    ui.strong(row.title);
    wrapped_ui(ui, format!("Here: {}.", row.what));
    ui.add_space(4.0);
    if cx.session.busy().is_some() {
        ui.weak("Reading files and simulating…");
        return;
    }
    match cx.session.problem() {
        Some(problem) => {
            wrapped_ui(ui, RichText::new(problem).color(cx.theme.bad));
        }
        None => {
            ui.weak("Nothing is open yet.");
        }
    }
    ui.horizontal_wrapped(|ui| {
        if button_ui(ui, "Open…", &format!("open files, from the pane {}", row.title)) {
            cx.window_commands.push(UiCommand::AskPath(Purpose::Open));
        }
        if button_ui(
            ui,
            "Open a sample",
            &format!("open a sample, from the pane {}", row.title),
        ) {
            cx.commands.push(Command::Open(vec![SourceSpec::Sample(&SAMPLES[0])]));
        }
    });
}

/// A line above an answer that is older than the settings.
pub fn problem_line_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme) {
    let Some(problem) = session.problem() else { return };
    let text = format!("These results are for earlier settings: {problem}");
    wrapped_ui(ui, RichText::new(text).color(theme.bad));
    ui.add_space(4.0);
}

/// Why a pane has nothing to show, and a sample for it.
pub fn other_ui(ui: &mut egui::Ui, why: &str, sample_name: &str, commands: &mut Vec<Command>) {
    wrapped_ui(ui, why);
    let Some(sample) = sample(sample_name) else { return };
    ui.horizontal_wrapped(|ui| {
        ui.weak("Or open a sample:");
        if ui.button(sample.title).clicked() {
            commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
        }
    });
}

/// The page in place of the lanes while nothing is open.
pub fn start_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, recents: &Recents) {
    if cx.session.busy().is_some() {
        ui.centered_and_justified(|ui| ui.weak("Reading files and simulating…"));
        return;
    }
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.set_max_width(620.0);
        ui.add_space(8.0);
        if cx.session.problem().is_none() {
            ui.heading("Nothing is open");
            ui.label("Drop a graph, a recording or a folder anywhere onto the window, or:");
        }
        ui.horizontal_wrapped(|ui| {
            for (command, text) in [
                (UiCommand::AskPath(Purpose::Open), "Open…"),
                (UiCommand::AskPath(Purpose::OpenFolder), "Open folder…"),
                (UiCommand::OpenPath, "Open path…"),
            ] {
                if button_ui(ui, text, &format!("{text} (start page)")) {
                    cx.window_commands.push(command);
                }
            }
        });
        if !recents.list.is_empty() {
            ui.add_space(10.0);
            ui.label(RichText::new("Recent files").color(cx.theme.text_weak));
            ui.with_layout(egui::Layout::top_down_justified(egui::Align::Min), |ui| {
                recents_ui(ui, recents, cx.session, ", from the start page", cx.commands);
            });
        }
        ui.add_space(10.0);
        ui.label(RichText::new("Or a sample").color(cx.theme.text_weak));
        for sample in SAMPLES {
            sample_ui(ui, sample, cx.commands);
        }
    });
}

fn sample_ui(ui: &mut egui::Ui, sample: &'static Sample, commands: &mut Vec<Command>) {
    if ui.button(sample.title).clicked() {
        commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
    }
}
