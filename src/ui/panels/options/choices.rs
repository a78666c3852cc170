//! Widgets of options with few values: a checkbox, a list.

use eframe::egui::{self, Key, Modifiers, Response};

use crate::combo::ShowChoices as _;
use crate::widgets::keep_arrows;
use highwater_options::{OptionRow, Value};
use highwater_session::Command;

/// A checkbox. A value of another type is shown next to it, until the box is checked.
pub(super) fn bool_ui(
    ui: &mut egui::Ui,
    row: &OptionRow,
    value: &Value,
    label: &Response,
    commands: &mut Vec<Command>,
) -> Response {
    let mut is_on = matches!(value, Value::Bool(true));
    let response = ui.checkbox(&mut is_on, value.to_string()).labelled_by(label.id);
    if response.changed() {
        commands.push(Command::set_option(row.key, is_on.to_string()));
    }
    response
}

/// A list of values with their meanings; returns the chosen one. Up and down choose in a closed list, too.
pub(super) fn choice_ui(
    ui: &mut egui::Ui,
    salt: &str,
    current: &str,
    choices: &[(String, String)],
    label: &Response,
) -> (Response, Option<String>) {
    let position = choices.iter().position(|(value, _)| value == current);
    let meaning = position.map_or("", |position| &choices[position].1);
    let mut chosen = None;
    let combo = egui::ComboBox::from_id_salt(salt)
        .selected_text(choice_text(current, meaning))
        .width(ui.available_width())
        .truncate();
    let response = combo
        .show_choices(ui, |ui| {
            for (value, meaning) in choices {
                let entry = ui.selectable_label(value == current, choice_text(value, meaning));
                if entry.clicked() {
                    chosen = Some(value.clone());
                }
            }
        })
        .labelled_by(label.id);
    if response.has_focus() {
        keep_arrows(ui, response.id, false, true);
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let step = i32::from(pressed(Key::ArrowDown)) - i32::from(pressed(Key::ArrowUp));
        if step != 0 {
            let next = position.map_or(Some(0), |position| position.checked_add_signed(step as isize));
            chosen = next.and_then(|next| choices.get(next)).map(|(value, _)| value.clone());
        }
    }
    (response, chosen)
}

fn choice_text(value: &str, meaning: &str) -> String {
    match (value.is_empty(), meaning.is_empty()) {
        (true, true) => "not set".to_owned(),
        (true, false) => meaning.to_owned(),
        (false, true) => value.to_owned(),
        (false, false) if value == Value::Unset.to_string() => meaning.to_owned(),
        (false, false) => format!("{value}: {meaning}"),
    }
}
