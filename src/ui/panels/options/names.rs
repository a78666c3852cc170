//! The editor of a list of names: a field that adds one, and a button per name that removes it.

use eframe::egui::{self, Key, Response};

use super::Edit;
use crate::combo::ShowChoices as _;
use crate::widgets::{button_ui, small};
use highwater_options::{OptionKind, OptionRow, Value};
use highwater_session::Command;

/// Names shown of a collapsed list.
const FEW: usize = 6;

/// The field has the option's name.
pub(super) fn names_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    value: &Value,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let names = names_of(value);
    ui.vertical(|ui| {
        let field = add_ui(ui, row, value, label, edit);
        let is_spread = names.len() <= FEW || edit.state.spread.contains(row.key);
        let n_shown = if is_spread { names.len() } else { FEW };
        let mut removed = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(3.0, 3.0);
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            for (position, name) in names[..n_shown].iter().enumerate() {
                let hint = format!("Remove {name} from {}", row.key);
                if button_ui(ui, small(&format!("{name} ×")), &hint) {
                    removed = Some(position);
                }
            }
            if names.len() > FEW {
                spread_ui(ui, row, names.len(), is_spread, edit);
            }
        });
        if let Some(position) = removed {
            let mut names = names.clone();
            names.remove(position);
            edit.commands.push(set(row, value, names));
            // The buttons move up; the next press must not remove another name.
            field.request_focus();
        }
        field
    })
    .inner
}

/// The button that expands or collapses the names.
fn spread_ui(ui: &mut egui::Ui, row: &'static OptionRow, n_names: usize, is_spread: bool, edit: &mut Edit<'_>) {
    let text = if is_spread {
        "show fewer".to_owned()
    } else {
        format!("show all {n_names}")
    };
    let button = ui.small_button(text).on_hover_text(format!("The names of {}", row.key));
    if button.clicked() && !edit.state.spread.remove(row.key) {
        edit.state.spread.insert(row.key);
    }
}

/// Enter adds the name, or several names with commas between them.
fn add_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    value: &Value,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let names = &names_of(value);
    let text = &mut edit.state.texts.entry(row.key).or_default().text;
    let choices = row.kind.choices();
    ui.horizontal(|ui| {
        let space = if choices.is_empty() { 64.0 } else { 164.0 };
        // The field's id must not depend on the number of names.
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
                .show_choices(ui, |ui| {
                    for (choice, summary) in &choices {
                        let entry = ui.selectable_label(names.contains(choice), choice.to_string());
                        if entry.on_hover_text(*summary).clicked() {
                            let name = choice.to_string();
                            edit.commands
                                .push(set(row, value, with(names, std::iter::once(name.as_str()))));
                        }
                    }
                })
                .on_hover_text(format!("Names that {} knows", row.key));
        }
        response
    })
    .inner
}

/// The names and further ones, each once.
fn with<'a>(names: &[Value], new: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let mut all = names.to_vec();
    for name in new.map(Value::from) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The items of a list, or the names in a text.
fn names_of(value: &Value) -> Vec<Value> {
    match value {
        Value::Text(text) => text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(Value::from)
            .collect(),
        other => other.items().unwrap_or(&[]).to_vec(),
    }
}

/// The edit: lists stay lists, sets sets, texts texts. No names reset an option without a default.
fn set(row: &OptionRow, before: &Value, names: Vec<Value>) -> Command {
    let value = match (&row.kind, names.is_empty()) {
        (_, true) if row.default_value() == Value::Unset => Value::Unset,
        (OptionKind::List, false) if matches!(before, Value::Set(_)) => Value::Set(names),
        (OptionKind::List, _) => Value::List(names),
        _ => {
            let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
            Value::Text(texts.join(","))
        }
    };
    Command::SetValue {
        key: row.key.to_owned(),
        value,
    }
}
