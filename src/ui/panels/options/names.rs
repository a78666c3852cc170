//! The editor of lists of names: one button a name (a click takes it out), a field for another one.

use eframe::egui::{self, Key, Response};

use super::Edit;
use crate::options::{OptionKind, OptionRow, Value};
use crate::session::Command;

/// Draws the editor. The field for another name has the option's own name.
pub(super) fn names_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    value: &Value,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let names = names_of(value);
    ui.vertical(|ui| {
        let mut removed = None;
        if !names.is_empty() {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = egui::vec2(3.0, 3.0);
                for (position, name) in names.iter().enumerate() {
                    let button = ui
                        .small_button(format!("{name} ×"))
                        .on_hover_text(format!("take {name} out of {}", row.key));
                    if button.clicked() {
                        removed = Some(position);
                    }
                }
            });
        }
        if let Some(position) = removed {
            let mut names = names.clone();
            names.remove(position);
            edit.commands.push(set(row, value, names));
        }
        add_ui(ui, row, (value, &names), label, edit)
    })
    .inner
}

/// The field for another name; Enter adds it. Names with commas between them are added together.
fn add_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    (value, names): (&Value, &[String]),
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let text = edit.state.texts.entry(row.key).or_default().free();
    let choices = row.kind.choices();
    ui.horizontal(|ui| {
        let space = if choices.is_empty() { 44.0 } else { 130.0 };
        // The number of names above must not change who this field is.
        let field = egui::TextEdit::singleline(text)
            .id(egui::Id::unique(("another name", row.key)))
            .desired_width((ui.available_width() - space).max(60.0))
            .hint_text("add a name");
        let response = ui.add(field).labelled_by(label.id);
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let is_clicked = ui
            .add_enabled(!text.trim().is_empty(), egui::Button::new("add").small())
            .clicked();
        if (is_entered || is_clicked) && !text.trim().is_empty() {
            let added = std::mem::take(text);
            let new = added.split(',').map(str::trim).filter(|name| !name.is_empty());
            edit.commands.push(set(row, value, with(names, new)));
            response.request_focus();
        }
        if !choices.is_empty() {
            egui::ComboBox::from_id_salt((row.key, "known"))
                .selected_text("known")
                .width(70.0)
                .show_ui(ui, |ui| {
                    for (choice, summary) in &choices {
                        let name = choice.to_string();
                        let entry = ui.selectable_label(names.contains(&name), &name);
                        if entry.on_hover_text(*summary).clicked() {
                            edit.commands
                                .push(set(row, value, with(names, [name.as_str()].into_iter())));
                        }
                    }
                })
                .response
                .on_hover_text(format!("names that {} knows", row.key));
        }
        response
    })
    .inner
}

/// The names and some more, each once.
fn with<'a>(names: &[String], new: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all = names.to_vec();
    for name in new {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

fn names_of(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => text
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect(),
        other => other.items().unwrap_or(&[]).iter().map(ToString::to_string).collect(),
    }
}

/// The edit: a list stays a list, names in one text stay one text. No names reset an option without a default.
fn set(row: &OptionRow, _old: &Value, names: Vec<String>) -> Command {
    let value = match (&row.kind, names.is_empty()) {
        (_, true) if row.default_value() == Value::Unset => Value::Unset,
        (OptionKind::List, _) => Value::List(names.into_iter().map(Value::Text).collect()),
        _ => Value::Text(names.join(",")),
    };
    Command::SetValue {
        key: row.key.to_owned(),
        value,
    }
}
