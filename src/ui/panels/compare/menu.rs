//! The menu of a pin in its row.

use eframe::egui::{self, Key, RichText};

use super::{CompareState, Shown};
use crate::widgets::Named as _;
use highwater_analysis::Pin;
use highwater_session::Command;

/// The name of a lane, or the field that renames its pin; returns whether it was clicked.
pub(super) fn name_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    lane: usize,
    is_chosen: bool,
    state: &mut CompareState,
    commands: &mut Vec<Command>,
) -> bool {
    let row = &shown.comparison.lanes[lane];
    let position = pin_of(shown, lane);
    if let Some(position) = position
        && let Some((renamed, name)) = &mut state.renamed
        && *renamed == position
    {
        if rename_ui(ui, shown, position, name, commands) {
            state.renamed = None;
        }
        return false;
    }
    let mark = shown.comparison.lane_mark(row.id);
    let title = shown.title(lane);
    let words = row.title.clone().unwrap_or_else(|| title.clone());
    if let Some(position) = position {
        menu_ui(ui, shown, position, state, commands);
    }
    ui.label(RichText::new(mark).strong());
    let text = RichText::new(words);
    let text = if lane == shown.baseline { text.strong() } else { text };
    let button = ui
        .add(egui::Button::selectable(is_chosen, text).truncate())
        .named_choice(egui::Role::RadioButton, is_chosen, || format!("lane {title}"));
    button.on_hover_text(tooltip(shown, lane)).clicked()
}

fn pin_of(shown: Shown<'_>, lane: usize) -> Option<usize> {
    let row = &shown.comparison.lanes[lane];
    row.pinned.as_ref()?;
    let pins = &shown.session.document().pins;
    pins.iter().position(|pin| row.title.as_deref() == Some(&pin.name))
}

/// The tooltip of a lane: for a pin its configuration.
pub(super) fn tooltip(shown: Shown<'_>, lane: usize) -> String {
    let title = shown.title(lane);
    match shown.comparison.pinned(lane) {
        Some(pinned) => crate::lanes::pinned_text(&title, pinned, &shown.session.document().configuration()),
        None if lane == shown.baseline => format!("{title}: baseline"),
        None => format!("{title}: click to list changes at its peak, press Enter to use it as the baseline"),
    }
}

fn rename_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    name: &mut String,
    commands: &mut Vec<Command>,
) -> bool {
    let pins = &shown.session.document().pins;
    let others = pins.iter().enumerate().filter(|(other, _)| *other != position);
    let field = ui
        .add(egui::TextEdit::singleline(name).desired_width(ui.available_width() - 4.0))
        .named(egui::Role::TextInput, || "new pin name");
    let problem = Pin::checked_name(name, others.map(|(_, pin)| pin.name.as_str())).err();
    if let Some(why) = &problem {
        field.show_tooltip_text(why);
    }
    let is_entered = ui.input(|input| input.key_pressed(Key::Enter));
    if !field.has_focus() && !field.lost_focus() {
        field.request_focus();
    }
    if !field.lost_focus() {
        return false;
    }
    if is_entered && problem.is_some() {
        field.request_focus();
        return false;
    }
    let is_left = ui.input(|input| input.key_pressed(Key::Escape));
    if problem.is_none() && !is_left {
        commands.push(Command::RenamePin {
            position,
            name: name.clone(),
        });
        commands.push(Command::EndTyping);
    }
    true
}

fn menu_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    state: &mut CompareState,
    commands: &mut Vec<Command>,
) {
    let pins = &shown.session.document().pins;
    let name = &pins[position].name;
    let menu = ui.menu_button("…", |ui| {
        let mut item = |text: &str, hint: &str, is_there: bool| {
            let button = ui.add_enabled(is_there, egui::Button::new(text));
            button.on_hover_text(hint).clicked()
        };
        if item(
            "Apply",
            "Apply its options, environment and schedule (Ctrl+Z undoes it)",
            true,
        ) {
            commands.push(Command::UsePin(position));
        }
        if item("Rename…", "Rename the pin", true) {
            state.renamed = Some((position, name.clone()));
        }
        if item("Duplicate", "Copy the pin under a numbered name", true) {
            commands.push(Command::DuplicatePin(position));
        }
        if item("Move up", "Move before the previous pin", position > 0) {
            commands.push(Command::MovePin {
                position,
                to: position.saturating_sub(1),
            });
        }
        if item("Move down", "Move after the next pin", position + 1 < pins.len()) {
            commands.push(Command::MovePin {
                position,
                to: position + 1,
            });
        }
        if item("Remove", "Remove the pin (Ctrl+Z undoes it)", true) {
            commands.push(Command::RemovePin(position));
        }
    });
    let label = format!("menu of pin {name}");
    menu.response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
    menu.response.on_hover_text(label);
}
