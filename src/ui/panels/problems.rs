//! Problems: findings of the configuration and oddities of the files, most severe first.

use eframe::egui::{self, RichText};

use super::options::fixes_ui;
use crate::panels::PaneCx;
use highwater_model::diagnostics::Severity;
use highwater_session::{Command, Session};

/// Returns the height of the list; `None` without one.
pub fn problems_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) -> Option<f32> {
    let lines = cx.session.problem_lines();
    if lines.is_empty() && cx.session.busy().is_some_and(|busy| busy.is_loading) {
        ui.weak("Still reading…");
    } else if lines.is_empty() {
        ui.weak("No problems: the configuration breaks no rule, and all files were read completely.");
        return Some(ui.spacing().interact_size.y);
    }
    let shown = egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for line in &**lines {
            ui.horizontal_wrapped(|ui| {
                ui.label(
                    RichText::new(icon(line.severity))
                        .color(cx.theme.severity(line.severity))
                        .strong(),
                );
                ui.label(RichText::new(&line.source).strong());
                match &line.option {
                    Some(option) => {
                        let link = ui.link(&line.text).on_hover_text(format!("Show {option}"));
                        if link.gained_focus() {
                            link.scroll_to_me(None);
                        }
                        if link.clicked() {
                            cx.option = Some(option.clone());
                        }
                    }
                    None => {
                        ui.label(&line.text);
                    }
                }
                let finding = line.finding.and_then(|finding| cx.session.finding(finding));
                let changed = finding.and_then(|finding| fixes_ui(ui, finding, cx.commands));
                if let Some(changed) = changed {
                    cx.option = Some(changed.to_owned());
                }
            });
        }
        for (name, remarks) in cx.session.config_remarks() {
            let text = format!("remove the {} remarks about {name}", remarks.entries().len());
            if ui.small_button(text).clicked() {
                cx.commands.push(Command::ForgetRemarks(name.clone()));
            }
        }
    });
    Some(shown.content_size.y)
}

/// Numbers of errors and warnings.
pub fn counts(session: &Session) -> (usize, usize) {
    let lines = session.problem_lines();
    let count = |severity| lines.iter().filter(|line| line.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning))
}

/// The word of a severity; colour alone is not enough.
pub fn icon(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}
