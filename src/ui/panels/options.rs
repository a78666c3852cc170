//! The option panel: one widget a row by kind, default shown, changed ones marked, findings beside their fields.

use std::collections::BTreeMap;

use eframe::egui::{self, RichText};

use super::problems::icon;
use crate::options::{ENVIRONMENT, EnvironmentRow, Finding, OptionKind, OptionRow, TABLE, Value};
use crate::session::{Command, Session};
use crate::ui::theme::Theme;
use crate::units::Bytes;

/// What persists between frames.
#[derive(Debug, Default)]
pub struct OptionsState {
    search: String,
    texts: BTreeMap<&'static str, String>,
    /// Put the keyboard into the search field.
    pub wants_search: bool,
    /// Scroll to this option.
    pub jump: Option<String>,
}

/// What rows read.
#[derive(Clone, Copy)]
struct Look<'a> {
    session: &'a Session,
    theme: &'a Theme,
}

/// Draws the pane.
pub fn options_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut OptionsState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let look = Look { session, theme };
    search_ui(ui, session, state, commands);
    let needle = state.search.to_lowercase();
    let mut n_shown = 0;
    let mut section = "";
    for row in TABLE.iter().filter(|row| matches(row, &needle)) {
        if row.section.name() != section {
            section = row.section.name();
            ui.add_space(6.0);
            ui.label(RichText::new(capitalised(section)).strong());
        }
        n_shown += 1;
        option_ui(ui, row, look, (state, commands));
    }
    let environment: Vec<&EnvironmentRow> = ENVIRONMENT
        .iter()
        .filter(|row| needle.is_empty() || row.name.to_lowercase().contains(&needle))
        .collect();
    if !environment.is_empty() {
        ui.add_space(6.0);
        ui.label(RichText::new("Environment").strong());
    }
    for row in environment {
        n_shown += 1;
        environment_ui(ui, row, look, (state, commands));
    }
    if n_shown == 0 {
        ui.weak(format!("No option matches \"{}\".", state.search));
    }
}

/// A heading from a section's name.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn search_ui(ui: &mut egui::Ui, session: &Session, state: &mut OptionsState, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let label = ui.label("search");
        let field = egui::TextEdit::singleline(&mut state.search)
            .hint_text("option or text")
            .desired_width((ui.available_width() - 78.0).max(60.0));
        let response = ui.add(field).labelled_by(label.id);
        if std::mem::take(&mut state.wants_search) {
            response.request_focus();
        }
        let document = session.document();
        let is_changed = !document.options.is_empty() || !document.environment.is_empty();
        let reset = ui.add_enabled(is_changed, egui::Button::new("Reset all"));
        if reset
            .on_hover_text("give every option its default and empty the environment")
            .clicked()
        {
            commands.push(Command::ResetAll);
        }
    });
}

fn matches(row: &OptionRow, needle: &str) -> bool {
    needle.is_empty()
        || [row.key, row.summary, row.section.name()]
            .iter()
            .any(|text| text.to_lowercase().contains(needle))
}

/// Name, widget, reset, and what is wrong.
fn option_ui(ui: &mut egui::Ui, row: &'static OptionRow, look: Look<'_>, edit: Edit<'_>) {
    let (Look { session, theme }, (state, commands)) = (look, edit);
    let options = &session.document().options;
    let is_changed = options.is_set(row.key);
    let short = row.short_key();
    ui.add_space(3.0);
    let name = if is_changed {
        RichText::new(format!("{short} •")).strong().color(theme.accent())
    } else {
        RichText::new(short)
    };
    let label = ui.horizontal(|ui| {
        let label = ui.label(name).on_hover_ui(|ui| tooltip_ui(ui, row));
        if is_changed {
            let default = RichText::new(format!("default {}", row.default_value())).small().weak();
            ui.add(egui::Label::new(default).truncate());
        }
        label
    });
    let label = label.inner;
    if state.jump.as_deref() == Some(row.key) {
        label.scroll_to_me(Some(egui::Align::Center));
        state.jump = None;
    }
    ui.horizontal(|ui| {
        let value = options.effective(row.key);
        let space = if is_changed { 46.0 } else { 0.0 };
        let width = (ui.available_width() - space - 12.0).max(80.0);
        ui.scope(|ui| {
            ui.set_max_width(width);
            widget_ui(ui, row, &value, &label, (state, commands));
        });
        if is_changed {
            let reset = ui
                .small_button("reset")
                .on_hover_text(format!("back to the default, {}", row.default_value()));
            if reset.clicked() {
                commands.push(Command::ResetOption(row.key.to_owned()));
            }
        }
    });
    findings_ui(ui, row.key, session.findings(), theme);
}

type Edit<'a> = (&'a mut OptionsState, &'a mut Vec<Command>);

fn widget_ui(ui: &mut egui::Ui, row: &'static OptionRow, value: &Value, label: &egui::Response, edit: Edit<'_>) {
    match &row.kind {
        OptionKind::Bool => bool_ui(ui, row, value, label, edit.1),
        kind @ (OptionKind::IntChoice(_) | OptionKind::TextChoice(_)) => {
            let choices = kind
                .choices()
                .into_iter()
                .map(|(value, summary)| (value.to_string(), summary));
            let mut choices: Vec<(String, &str)> = choices.collect();
            if row.default_value() == Value::Unset {
                choices.insert(0, (Value::Unset.to_string(), "not set"));
            }
            if let Some(text) = choice_ui(ui, row.key, &value.to_string(), &choices, label) {
                push(edit.1, row.key, text);
            }
        }
        _ => text_ui(ui, row, value, label, edit),
    }
}

fn bool_ui(ui: &mut egui::Ui, row: &OptionRow, value: &Value, label: &egui::Response, commands: &mut Vec<Command>) {
    let mut is_on = matches!(value, Value::Bool(true));
    let text = match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    };
    let response = ui.checkbox(&mut is_on, text).labelled_by(label.id);
    if response.changed() {
        push(commands, row.key, is_on.to_string());
    }
}

/// A list of values with their meanings; returns the one that was chosen.
fn choice_ui(
    ui: &mut egui::Ui,
    salt: &str,
    current: &str,
    choices: &[(String, &str)],
    label: &egui::Response,
) -> Option<String> {
    let meaning = choices
        .iter()
        .find(|(value, _)| value == current)
        .map_or("", |(_, meaning)| meaning);
    let shown = choice_text(current, meaning);
    let mut chosen = None;
    let combo = egui::ComboBox::from_id_salt(salt)
        .selected_text(shown)
        .width(ui.available_width())
        .truncate();
    let response = combo.show_ui(ui, |ui| {
        for (value, meaning) in choices {
            if ui
                .selectable_label(value == current, choice_text(value, meaning))
                .clicked()
            {
                chosen = Some(value.clone());
            }
        }
    });
    response.response.labelled_by(label.id);
    chosen
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

/// A field that takes any text: what is out of range or of another type is reported beside it, not refused.
fn text_ui(ui: &mut egui::Ui, row: &'static OptionRow, value: &Value, label: &egui::Response, edit: Edit<'_>) {
    let (state, commands) = edit;
    let current = if *value == Value::Unset {
        String::new()
    } else {
        value.to_string()
    };
    let text = state.texts.entry(row.key).or_insert_with(|| current.clone());
    let hint = match &row.kind {
        OptionKind::Bytes { .. } => match value {
            Value::Int(bytes) => u64::try_from(*bytes).map_or(String::new(), |bytes| Bytes(bytes).to_string()),
            _ => String::new(),
        },
        _ => row.unit.unwrap_or_default().to_owned(),
    };
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 80.0).max(60.0);
        let field = egui::TextEdit::singleline(text)
            .desired_width(width)
            .hint_text("not set");
        let response = ui.add(field).labelled_by(label.id);
        if response.changed() {
            push(commands, row.key, text.clone());
        } else if !response.has_focus() && *text != current {
            *text = current;
        }
        ui.weak(hint);
    });
}

fn push(commands: &mut Vec<Command>, key: &str, text: String) {
    commands.push(Command::SetOption {
        key: key.to_owned(),
        text,
    });
}

fn tooltip_ui(ui: &mut egui::Ui, row: &OptionRow) {
    ui.set_max_width(420.0);
    ui.strong(row.key);
    ui.label(row.summary);
    ui.separator();
    ui.label(row.details);
    ui.add_space(4.0);
    ui.label(format!("Memory in this simulation: {}", row.memory_effect));
    ui.weak(format!("default {}; source: {}", row.default_value(), row.source));
}

fn environment_ui(ui: &mut egui::Ui, row: &'static EnvironmentRow, look: Look<'_>, edit: Edit<'_>) {
    let (Look { session, theme }, (state, commands)) = (look, edit);
    let current = session.document().environment.get(row.name);
    ui.add_space(3.0);
    let name = match current {
        Some(_) => RichText::new(format!("{} •", row.name)).strong().color(theme.accent()),
        None => RichText::new(row.name),
    };
    let label = ui.add(egui::Label::new(name).truncate()).on_hover_ui(|ui| {
        ui.set_max_width(420.0);
        ui.strong(row.name);
        ui.label(row.summary);
        ui.separator();
        ui.label(row.details);
        ui.weak(row.precedence);
    });
    if state.jump.as_deref() == Some(row.name) {
        label.scroll_to_me(Some(egui::Align::Center));
        state.jump = None;
    }
    let mut choices: Vec<(String, &str)> = vec![(String::new(), "")];
    choices.extend(
        row.choices
            .iter()
            .map(|choice| (choice.value.to_owned(), choice.summary)),
    );
    ui.horizontal(|ui| {
        ui.scope(|ui| {
            ui.set_max_width((ui.available_width() - 12.0).max(80.0));
            if let Some(text) = choice_ui(ui, row.name, current.unwrap_or(""), &choices, &label) {
                commands.push(Command::SetEnvironment {
                    name: row.name.to_owned(),
                    value: (!text.is_empty()).then_some(text),
                });
            }
        });
    });
    findings_ui(ui, row.name, session.findings(), theme);
}

/// What the rules say about this field.
fn findings_ui(ui: &mut egui::Ui, key: &str, findings: &[Finding], theme: &Theme) {
    for finding in findings
        .iter()
        .filter(|finding| finding.options.iter().any(|option| option == key))
    {
        let text = format!("{} {}: {}", icon(finding.severity), finding.rule, finding.message);
        let label = egui::Label::new(RichText::new(text).small().color(theme.severity(finding.severity))).wrap();
        ui.add(label).on_hover_text(finding.source);
    }
}
