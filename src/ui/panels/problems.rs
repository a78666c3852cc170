//! Problems: findings of the configuration and oddities of the files, most severe first.

use eframe::egui::{self, RichText};

use super::options::fixes_ui;
use crate::diagnostics::Severity;
use crate::options::Finding;
use crate::session::{Command, Session};
use crate::ui::theme::Theme;

/// One line of the pane.
struct Line<'a> {
    severity: Severity,
    source: &'a str,
    text: String,
    /// The option that a click leads to.
    option: Option<&'a str>,
    /// The finding, where it is one.
    finding: Option<&'a Finding>,
}

/// Draws the pane; returns the option that the user wants to see.
pub fn problems_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme, commands: &mut Vec<Command>) -> Option<String> {
    let lines = lines(session);
    if lines.is_empty() {
        ui.weak("No problems: the configuration breaks no rule and the files were read completely.");
        return None;
    }
    let mut jump = None;
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for line in &lines {
            ui.horizontal_wrapped(|ui| {
                ui.label(
                    RichText::new(icon(line.severity))
                        .color(theme.severity(line.severity))
                        .strong(),
                );
                ui.label(RichText::new(line.source).strong());
                match line.option {
                    Some(option) => {
                        let link = ui.link(&line.text).on_hover_text(format!("show {option}"));
                        if link.gained_focus() {
                            link.scroll_to_me(None);
                        }
                        if link.clicked() {
                            jump = Some(option.to_owned());
                        }
                    }
                    None => {
                        ui.label(&line.text);
                    }
                }
                if let Some(finding) = line.finding
                    && fixes_ui(ui, finding, commands)
                {
                    jump = line.option.map(str::to_owned);
                }
            });
        }
        for (name, remarks) in session.config_remarks() {
            let text = format!("forget the {} remarks about {name}", remarks.entries().len());
            if ui.small_button(text).clicked() {
                commands.push(Command::ForgetRemarks(name.clone()));
            }
        }
    });
    jump
}

/// How many errors and warnings there are.
pub fn counts(session: &Session) -> (usize, usize) {
    let lines = lines(session);
    let count = |severity| lines.iter().filter(|line| line.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning))
}

/// The word before a line; never colour alone.
pub fn icon(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn lines(session: &Session) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = session
        .findings()
        .iter()
        .map(|finding| Line {
            severity: finding.severity,
            source: finding.rule,
            text: finding.message.clone(),
            option: finding.options.first().map(String::as_str),
            finding: Some(finding),
        })
        .collect();
    lines.extend(session.problem().map(|problem| Line {
        severity: Severity::Error,
        source: "file",
        text: problem.to_owned(),
        option: None,
        finding: None,
    }));
    let out_of_memory = session.answer().and_then(|(comparison, _)| {
        let lane = comparison.lane(comparison.configured)?;
        lane.out_of_memory_text()
    });
    lines.extend(out_of_memory.map(|text| Line {
        severity: Severity::Error,
        source: "device",
        text,
        option: None,
        finding: None,
    }));
    lines.extend(session.assumed_dims().iter().map(|symbol| Line {
        severity: Severity::Warning,
        source: "schedule",
        text: format!("dimension \"{symbol}\" has no value, 1 is assumed; type yours under Session"),
        option: None,
        finding: None,
    }));
    for (name, remarks) in session.config_remarks() {
        let short = name.rsplit(['/', '\\']).next().unwrap_or(name);
        lines.extend(remarks.entries().iter().map(|entry| Line {
            severity: entry.severity,
            source: short,
            text: entry.message.clone(),
            option: None,
            finding: None,
        }));
    }
    add_oddities(session, &mut lines);
    lines.sort_by_key(|line| line.severity);
    lines
}

/// What was odd in the graphs and in their comparison, each once.
fn add_oddities(session: &Session, lines: &mut Vec<Line<'_>>) {
    let import = session.loaded().map(|loaded| &loaded.diagnostics);
    let run = session.answer().map(|(comparison, _)| &comparison.diagnostics);
    for diagnostics in import.into_iter().chain(run) {
        for entry in diagnostics.entries() {
            let count = if entry.count > 1 {
                format!("{} times: ", entry.count)
            } else {
                String::new()
            };
            let place = if entry.place.is_empty() {
                String::new()
            } else {
                format!(" ({})", entry.place)
            };
            let text = format!("{count}{}{place}", entry.message);
            if !lines.iter().any(|line| line.text == text) {
                lines.push(Line {
                    severity: entry.severity,
                    source: "file",
                    text,
                    option: None,
                    finding: None,
                });
            }
        }
    }
}
