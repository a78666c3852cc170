//! The bar on top: menus, what is open, and what the worker is doing.

use eframe::egui::{self, RichText};

use super::commands::{COMMANDS, Menu, UiCommand};
use super::theme::Theme;
use crate::session::{Command, Notice, SAMPLES, Session, SourceSpec};

/// How a command that toggles something stands at present; `None` for one that toggles nothing.
pub type Now<'a> = &'a dyn Fn(UiCommand) -> Option<&'static str>;

/// Draws the bar.
pub fn top_bar_ui(
    ui: &mut egui::Ui,
    session: &Session,
    (theme, now): (&Theme, Now<'_>),
    asked: &mut Vec<UiCommand>,
    commands: &mut Vec<Command>,
) {
    egui::Panel::top("top bar").show(ui, |ui| {
        egui::MenuBar::new().ui(ui, |ui| {
            ui.menu_button("File", |ui| {
                menu_ui(ui, Menu::File, now, asked);
            });
            ui.menu_button("Edit", |ui| menu_ui(ui, Menu::Edit, now, asked));
            ui.menu_button("Samples", |ui| samples_ui(ui, commands));
            ui.menu_button("View", |ui| menu_ui(ui, Menu::View, now, asked));
            ui.menu_button("Help", |ui| menu_ui(ui, Menu::Help, now, asked));
            ui.separator();
            let title = session
                .document()
                .sources
                .iter()
                .map(SourceSpec::title)
                .collect::<Vec<_>>()
                .join(" + ");
            let title = match &session.document().part {
                Some(part) => format!("{title}: {part}"),
                None => title,
            };
            let space = (ui.available_width() - 300.0).clamp(80.0, 420.0);
            ui.scope(|ui| {
                ui.set_max_width(space);
                ui.add(egui::Label::new(RichText::new(title).strong()).truncate());
            });
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                status_ui(ui, session, theme, commands);
                notice_ui(ui, session, theme, commands);
            });
        });
    });
}

fn menu_ui(ui: &mut egui::Ui, menu: Menu, now: Now<'_>, asked: &mut Vec<UiCommand>) {
    for row in COMMANDS.iter().filter(|row| row.menu == menu) {
        let text = now(row.command).map_or_else(|| row.text.to_owned(), |now| format!("{} (now {now})", row.text));
        let mut button = egui::Button::new(text);
        if let Some(shortcut) = &row.shortcut {
            button = button.shortcut_text(ui.ctx().format_shortcut(shortcut));
        }
        if ui.add(button).on_hover_text(row.tooltip).clicked() {
            asked.push(row.command);
            ui.close();
        }
    }
}

fn samples_ui(ui: &mut egui::Ui, commands: &mut Vec<Command>) {
    for sample in SAMPLES {
        if ui.button(sample.title).clicked() {
            commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
            ui.close();
        }
    }
}

/// A progress bar with Cancel while the worker is busy, else how current the picture is.
fn status_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    if let Some(busy) = session.busy() {
        if ui.button("Cancel").clicked() {
            commands.push(Command::Cancel);
        }
        ui.add(
            egui::ProgressBar::new(busy.fraction)
                .desired_width(160.0)
                .text(format!("{}…", busy.stage)),
        );
        return;
    }
    if session.problem().is_some() {
        ui.label(RichText::new("no answer").color(theme.bad));
    } else if session.is_stale() {
        ui.label(RichText::new("cancelled; the picture is older than the settings").color(theme.bad));
    } else if let Some((comparison, _)) = session.answer() {
        let steps = crate::units::grouped(u64::from(comparison.axis.n_steps));
        let n_runs = comparison.axis.runs.len();
        let n_lanes = comparison.lanes.len();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        ui.weak(if comparison.is_measured() {
            format!("{n_lanes} recording{}, {steps} events", plural(n_lanes))
        } else {
            format!("{n_runs} run{}, {steps} steps", plural(n_runs))
        });
    }
}

/// A sentence about what was done or failed, with a button that takes it away. It stands in the bar, where it moves
/// nothing.
fn notice_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    let Some(notice) = session.notice() else {
        return;
    };
    let (text, color) = match notice {
        Notice::Done(text) => (text, theme.good),
        Notice::Failed(text) => (text, theme.bad),
    };
    ui.separator();
    if ui.small_button("×").on_hover_text("take this message away").clicked() {
        commands.push(Command::DismissNotice);
    }
    let label = egui::Label::new(RichText::new(text).color(color)).truncate();
    ui.add(label).on_hover_text(text);
}
