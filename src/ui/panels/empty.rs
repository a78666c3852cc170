//! Panes without content: what they will show, what to do, and a button that does it. What went wrong stands where the
//! result would be.

use eframe::egui::{self, RichText};

use crate::commands::UiCommand;
use crate::panes::PaneRow;
use crate::recent::recents_ui;
use crate::theme::Theme;
use highwater_session::{Command, Recents, SAMPLES, Sample, Session, SourceSpec, sample};

/// A button whose name tells it from those of other panes.
fn button_ui(ui: &mut egui::Ui, text: &str, name: &str) -> bool {
    let response = ui.button(text);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    response.clicked()
}

/// A pane of an answer that is not there.
pub fn no_answer_ui(
    ui: &mut egui::Ui,
    session: &Session,
    row: &PaneRow,
    theme: &Theme,
    asked: &mut Vec<UiCommand>,
    commands: &mut Vec<Command>,
) {
    ui.strong(row.title);
    ui.add(egui::Label::new(format!("Here: {}.", row.what)).wrap());
    ui.add_space(4.0);
    if session.busy().is_some() {
        ui.weak("Reading and working out the answer…");
        return;
    }
    match session.problem() {
        Some(problem) => {
            ui.add(egui::Label::new(RichText::new(problem).color(theme.bad)).wrap());
        }
        None => {
            ui.weak("Nothing is open yet.");
        }
    }
    ui.horizontal_wrapped(|ui| {
        if button_ui(ui, "Open…", &format!("open files, from the pane {}", row.title)) {
            asked.push(UiCommand::Open);
        }
        if button_ui(
            ui,
            "Open a sample",
            &format!("open a sample, from the pane {}", row.title),
        ) {
            commands.push(Command::Open(vec![SourceSpec::Sample(&SAMPLES[0])]));
        }
    });
}

/// A line above an older answer, where the settings as they are now have none.
pub fn problem_line_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme) {
    let Some(problem) = session.problem() else { return };
    let text = format!("What stands here is older than the settings: {problem}");
    ui.add(egui::Label::new(RichText::new(text).color(theme.bad)).wrap());
    ui.add_space(4.0);
}

/// Why a pane has nothing to show of what is open, and a sample of which it has.
pub fn other_ui(ui: &mut egui::Ui, why: &str, sample_name: &str, commands: &mut Vec<Command>) {
    ui.add(egui::Label::new(why).wrap());
    let Some(sample) = sample(sample_name) else { return };
    ui.horizontal_wrapped(|ui| {
        ui.weak("There is something to see in a sample:");
        if ui.button(sample.title).clicked() {
            commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
        }
    });
}

/// The page in place of the lanes while nothing is open.
pub fn start_ui(
    ui: &mut egui::Ui,
    session: &Session,
    recents: &Recents,
    theme: &Theme,
    asked: &mut Vec<UiCommand>,
    commands: &mut Vec<Command>,
) {
    if session.busy().is_some() {
        ui.centered_and_justified(|ui| ui.weak("Reading and working out the answer…"));
        return;
    }
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.set_max_width(620.0);
        ui.add_space(8.0);
        if session.problem().is_none() {
            ui.heading("Nothing is open");
            ui.label("Drop a graph, a recording or a folder anywhere onto the window, or:");
        }
        ui.horizontal_wrapped(|ui| {
            for (command, text) in [
                (UiCommand::Open, "Open…"),
                (UiCommand::OpenFolder, "Open folder…"),
                (UiCommand::OpenPath, "Open path…"),
            ] {
                if button_ui(ui, text, &format!("{text} (start page)")) {
                    asked.push(command);
                }
            }
        });
        if !recents.list.is_empty() {
            ui.add_space(10.0);
            ui.label(RichText::new("Opened before").color(theme.text_weak));
            ui.with_layout(egui::Layout::top_down_justified(egui::Align::Min), |ui| {
                recents_ui(ui, recents, session, ", from the start page", commands);
            });
        }
        ui.add_space(10.0);
        ui.label(RichText::new("Or a sample").color(theme.text_weak));
        for sample in SAMPLES {
            sample_ui(ui, sample, commands);
        }
    });
}

fn sample_ui(ui: &mut egui::Ui, sample: &'static Sample, commands: &mut Vec<Command>) {
    if ui.button(sample.title).clicked() {
        commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
    }
}
