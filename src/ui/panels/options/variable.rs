//! One environment variable: name, widget, problems.

use eframe::egui::{self, Response, RichText};

use super::choices::choice_ui;
use super::row::{Reset, field_ui, findings_ui, follow};
use super::tooltip::{explanation_ui, variable_text, variable_tooltip};
use super::{Edit, RowInput};
use highwater_options::EnvironmentRow;
use highwater_session::Command;

pub(super) fn variable_ui(ui: &mut egui::Ui, row: &'static EnvironmentRow, look: RowInput<'_>, edit: &mut Edit<'_>) {
    let current = look.session.document().environment.get(row.name);
    ui.add_space(3.0);
    let name = match current {
        Some(_) => RichText::new(format!("{} •", row.name))
            .strong()
            .color(look.theme.accent()),
        None => RichText::new(row.name),
    };
    let label = ui
        .add(egui::Label::new(name).truncate())
        .on_hover_ui(|ui| variable_tooltip(ui, row));
    let reset = current.map(|_| Reset {
        text: "unset",
        hint: format!("remove {}", row.name),
        command: Command::SetEnvironment {
            name: row.name.to_owned(),
            value: None,
        },
    });
    let field = field_ui(ui, row.name, reset, edit, |ui, edit| {
        widget_ui(ui, row, current.unwrap_or(""), &label, edit)
    });
    let is_asked = follow(ui, row.name, &field, edit);
    if edit.state.explained == Some(row.name) {
        explanation_ui(ui, look.theme, is_asked, |ui| variable_text(ui, row));
    }
    findings_ui(ui, row.name, look, edit);
}

fn widget_ui(
    ui: &mut egui::Ui,
    row: &'static EnvironmentRow,
    current: &str,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    if row.choices.is_empty() {
        let text = edit.state.texts.entry(row.name).or_default();
        text.sync(current);
        let field = egui::TextEdit::singleline(&mut text.text)
            .desired_width(ui.available_width() - 4.0)
            .hint_text("not set");
        let response = ui.add(field).labelled_by(label.id);
        if response.changed() {
            edit.commands.push(Command::TypeEnvironment {
                name: row.name.to_owned(),
                text: text.accept(),
            });
        }
        if response.lost_focus() {
            edit.commands.push(Command::EndTyping);
        }
        return response;
    }
    let mut choices: Vec<(String, String)> = vec![(String::new(), String::new())];
    let known = row.choices.iter();
    choices.extend(known.map(|(value, meaning)| ((*value).to_owned(), (*meaning).to_owned())));
    let (response, chosen) = choice_ui(ui, row.name, current, &choices, label);
    if let Some(text) = chosen {
        edit.commands.push(Command::SetEnvironment {
            name: row.name.to_owned(),
            value: (!text.is_empty()).then_some(text),
        });
    }
    response
}
