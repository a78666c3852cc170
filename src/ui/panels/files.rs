//! Files: what was read of each, what was left out and why, and the choice to read one as another format.

use eframe::egui::{self, RichText, WidgetInfo};

use super::problems::icon;
use crate::combo::ShowChoices as _;
use crate::theme::Theme;
use highwater_import::IMPORTERS;
use highwater_model::diagnostics::Diagnostic;
use highwater_model::units::counted;
use highwater_options::DumpedSettings;
use highwater_session::{Command, Session, SourceReport, SourceSpec};

/// What stands for the choice that the content makes.
pub(crate) const BY_CONTENT: &str = "by content";

/// Draws the pane.
pub fn files_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    let Some(loaded) = session.loaded() else {
        return unread_ui(ui, session, theme, commands);
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (graph, settings) in &loaded.stamped {
            stamped_ui(ui, graph, settings, session, commands);
        }
        for (position, (source, report)) in loaded.sources.iter().zip(&loaded.reports).enumerate() {
            if position > 0 {
                ui.add_space(6.0);
                ui.separator();
            }
            source_ui(ui, position, source, report, theme, commands);
        }
    });
}

/// The settings that a dump carries: how many, which, and a button that takes them over.
fn stamped_ui(
    ui: &mut egui::Ui,
    graph: &str,
    settings: &DumpedSettings,
    session: &Session,
    commands: &mut Vec<Command>,
) {
    let arguments = settings.arguments();
    let document = session.document();
    let is_used = settings
        .options
        .overrides()
        .all(|(key, value)| document.options.get(key) == Some(value))
        && settings
            .environment
            .iter()
            .all(|(name, text)| document.environment.get(name) == Some(text));
    ui.horizontal_wrapped(|ui| {
        let text = format!(
            "{graph} was compiled with {} other than the defaults:",
            counted(arguments.len() as u64, "setting")
        );
        ui.label(text);
        ui.monospace(arguments.join(" "));
        let button = ui.add_enabled(!is_used, egui::Button::new("Use them").small());
        let button = button.on_hover_text("sets these options and variables; others stay (Ctrl+Z takes it back)");
        if button.on_disabled_hover_text("they are set").clicked() {
            commands.push(Command::UseSettings(Box::new(settings.clone())));
        }
    });
    ui.add_space(4.0);
}

/// Where nothing could be read: what was tried, why that failed, and the choice of another format.
fn unread_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) {
    let sources = &session.document().sources;
    let Some(problem) = session.problem().filter(|_| !sources.is_empty()) else {
        ui.weak(
            "What was read of each file stands here. Drop files or a folder onto the window, open some with Ctrl+O, or \
             choose a sample under Samples.",
        );
        return;
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (position, source) in sources.iter().enumerate() {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(source.title()).strong())
                    .on_hover_text(source.label());
                ui.label(RichText::new("not read").color(theme.bad));
                let mut format = source.chosen_format();
                if format_ui(ui, ("open as", position), &mut format) {
                    commands.push(Command::OpenAs { position, format });
                }
            });
        }
        ui.add(egui::Label::new(RichText::new(problem).color(theme.bad)).wrap());
    });
}

fn source_ui(
    ui: &mut egui::Ui,
    position: usize,
    source: &SourceSpec,
    report: &SourceReport,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(source.title()).strong())
            .on_hover_text(source.label());
        if report.format.is_empty() {
            ui.label(RichText::new("not read").color(theme.bad));
        } else {
            ui.weak(format!("read as {}", report.format));
        }
        let mut format = source.chosen_format();
        if format_ui(ui, ("open as", position), &mut format) {
            commands.push(Command::OpenAs { position, format });
        }
        let copy = ui.small_button("Copy");
        copy.widget_info(|| {
            let name = format!("copy the report of {}", source.title());
            egui::WidgetInfo::labeled(egui::Role::Button, true, name)
        });
        if copy.on_hover_text("copy this report as text").clicked() {
            ui.ctx().copy_text(report_text(source, report));
        }
    });
    for line in &report.contents {
        ui.add(egui::Label::new(line).wrap());
    }
    let entries = report.diagnostics.entries();
    if entries.is_empty() {
        ui.weak("Nothing was left out.");
    }
    let mut sorted: Vec<&Diagnostic> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.severity);
    for entry in sorted {
        ui.horizontal_wrapped(|ui| {
            let color = theme.severity(entry.severity);
            ui.label(RichText::new(icon(entry.severity)).color(color).strong());
            ui.label(entry_text(entry));
        });
    }
}

/// A choice of formats, `None` being what the content says; tells whether it changed.
pub(crate) fn format_ui(
    ui: &mut egui::Ui,
    salt: impl std::hash::Hash + std::fmt::Debug,
    chosen: &mut Option<&'static str>,
) -> bool {
    let before = *chosen;
    let combo = egui::ComboBox::from_id_salt(salt)
        .selected_text(before.unwrap_or(BY_CONTENT))
        .height(480.0)
        .show_choices(ui, |ui| {
            if ui.selectable_label(before.is_none(), BY_CONTENT).clicked() {
                *chosen = None;
            }
            for row in IMPORTERS {
                let button = ui.selectable_label(before == Some(row.name), row.name);
                if button.on_hover_text(row.description).clicked() {
                    *chosen = Some(row.name);
                }
            }
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, "open as"));
    combo
        .response
        .on_hover_text("Open as: read the file as this format, whatever its content looks like");
    *chosen != before
}

/// `3 times: message (first: place)`.
fn entry_text(entry: &Diagnostic) -> String {
    let count = if entry.count > 1 {
        format!("{} times: ", entry.count)
    } else {
        String::new()
    };
    let place = if entry.place.is_empty() || entry.message.contains(&entry.place) {
        String::new()
    } else if entry.count > 1 {
        format!(" (first: {})", entry.place)
    } else {
        format!(" ({})", entry.place)
    };
    format!("{count}{}{place}", entry.message)
}

fn report_text(source: &SourceSpec, report: &SourceReport) -> String {
    let mut text = format!("{} read as {}\n", source.label(), report.format);
    for line in &report.contents {
        text.push_str(&format!("{line}\n"));
    }
    for entry in report.diagnostics.entries() {
        text.push_str(&format!("{}: {}\n", icon(entry.severity), entry_text(entry)));
    }
    text
}
