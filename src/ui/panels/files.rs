//! Files: what was read of each, what was left out and why, and the choice of the format.

use eframe::egui::{self, RichText};

use super::problems::icon;
use crate::combo::ShowChoices as _;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_import::IMPORTERS;
use highwater_model::diagnostics::Diagnostic;
use highwater_model::units::counted;
use highwater_options::DumpedSettings;
use highwater_session::{Command, SourceReport, SourceSpec};

/// The choice that leaves the format to detection.
pub(crate) const BY_CONTENT: &str = "by content";

pub fn files_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let Some(loaded) = cx.session.loaded() else {
        return unread_ui(ui, cx);
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (graph, settings) in &loaded.stamped {
            stamped_ui(ui, cx, graph, settings);
        }
        for (position, (source, report)) in loaded.sources.iter().zip(&loaded.reports).enumerate() {
            if position > 0 {
                ui.add_space(6.0);
                ui.separator();
            }
            source_ui(ui, cx, position, source, report);
        }
    });
}

/// Settings of a dump, with a button that applies them.
fn stamped_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, graph: &str, settings: &DumpedSettings) {
    let arguments = settings.arguments();
    let document = cx.session.document();
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
            "{graph} was compiled with {} that differ from the defaults:",
            counted(arguments.len() as u64, "setting")
        );
        ui.label(text);
        ui.monospace(arguments.join(" "));
        let button = ui.add_enabled(!is_used, egui::Button::new("Apply").small());
        let button = button.on_hover_text("Sets these options and variables and keeps the others (Ctrl+Z undoes it)");
        if button.on_disabled_hover_text("Already set").clicked() {
            cx.commands.push(Command::UseSettings(Box::new(settings.clone())));
        }
    });
    ui.add_space(4.0);
}

/// Where nothing could be read: the error, and the choice of the format.
fn unread_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let sources = &cx.session.document().sources;
    let Some(problem) = cx.session.problem().filter(|_| !sources.is_empty()) else {
        ui.weak(
            "This tab lists the contents of each file. Drop files or a folder onto the window, press Ctrl+O, or open \
             a sample.",
        );
        return;
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (position, source) in sources.iter().enumerate() {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(source.title()).strong())
                    .on_hover_text(source.label());
                ui.label(RichText::new("not read").color(cx.theme.bad));
                open_as_ui(ui, cx, position, source);
            });
        }
        wrapped_ui(ui, RichText::new(problem).color(cx.theme.bad));
    });
}

fn open_as_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, position: usize, source: &SourceSpec) {
    let mut format = source.chosen_format();
    if format_ui(ui, ("open as", position), &mut format) {
        cx.commands.push(Command::OpenAs { position, format });
    }
}

fn source_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, position: usize, source: &SourceSpec, report: &SourceReport) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(source.title()).strong())
            .on_hover_text(source.label());
        if report.format.is_empty() {
            ui.label(RichText::new("not read").color(cx.theme.bad));
        } else {
            ui.weak(format!("read as {}", report.format));
        }
        open_as_ui(ui, cx, position, source);
        let copy = ui
            .small_button("Copy")
            .named(egui::Role::Button, || format!("copy the report of {}", source.title()));
        if copy.on_hover_text("Copy this report as text").clicked() {
            ui.ctx().copy_text(report_text(source, report));
        }
    });
    for line in &report.contents {
        wrapped_ui(ui, line);
    }
    let entries = report.diagnostics.entries();
    if entries.is_empty() {
        ui.weak("Nothing was skipped.");
    }
    let mut sorted: Vec<&Diagnostic> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.severity);
    for entry in sorted {
        ui.horizontal_wrapped(|ui| {
            let color = cx.theme.severity(entry.severity);
            ui.label(RichText::new(icon(entry.severity)).color(color).strong());
            ui.label(entry_text(entry));
        });
    }
}

/// A choice of formats, `None` for detection; returns whether it changed.
pub(crate) fn format_ui(
    ui: &mut egui::Ui,
    salt: impl std::hash::Hash + std::fmt::Debug,
    chosen: &mut Option<&'static str>,
) -> bool {
    let before = *chosen;
    egui::ComboBox::from_id_salt(salt)
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
        })
        .named(egui::Role::ComboBox, || "open as")
        .on_hover_text("Open as: read the file in this format, whatever its content");
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
