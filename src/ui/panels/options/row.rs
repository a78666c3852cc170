//! One option: name and marks, widget, acting value, problems.

use eframe::egui::{self, Response, RichText};

use super::choices::{bool_ui, choice_ui};
use super::names::names_ui;
use super::texts::text_ui;
use super::tooltip::{explanation_ui, option_text, option_tooltip};
use super::{Edit, RowInput};
use crate::panels::problems::icon;
use crate::theme::Theme;
use crate::widgets::{button_ui, small, wrapped_ui};
use highwater_options::{
    DefaultOrigin, Edit as FixEdit, Finding, OptionDefault, OptionKind, OptionRow, Options, Value, find, find_group,
    sets_a_figure,
};
use highwater_session::Command;

/// Frames in which the target of a jump is kept in the middle.
const FRAMES_TO_SETTLE: u8 = 4;

pub(super) fn option_ui(ui: &mut egui::Ui, row: &'static OptionRow, look: RowInput<'_>, edit: &mut Edit<'_>) {
    ui.add_space(3.0);
    let is_set = look.session.document().options.is_set(row.key);
    let options = &look.session.document().options;
    let label = name_ui(ui, row, options, look.theme);
    let value = look.session.document().options.written(row.key);
    let reset = is_set.then(|| Reset {
        text: "reset",
        hint: format!("{}: back to the default, {}", row.key, default_text(row, options)),
        command: Command::ResetOption(row.key.to_owned()),
    });
    let field = field_ui(ui, row.key, reset, edit, |ui, edit| {
        widget_ui(ui, row, &value, &label, edit)
    });
    let is_asked = follow(ui, row.key, &field, edit);
    acting_ui(ui, row, look);
    if edit.state.explained == Some(row.key) {
        explanation_ui(ui, look.theme, is_asked, |ui| option_text(ui, row, options));
    }
    findings_ui(ui, row.key, look, edit);
}

/// The button that resets a row.
pub(super) struct Reset {
    pub(super) text: &'static str,
    pub(super) hint: String,
    pub(super) command: Command,
}

/// The field of a row, with a button that resets it where it is set.
pub(super) fn field_ui(
    ui: &mut egui::Ui,
    name: &str,
    reset: Option<Reset>,
    edit: &mut Edit<'_>,
    widget: impl FnOnce(&mut egui::Ui, &mut Edit<'_>) -> Response,
) -> Response {
    ui.horizontal(|ui| {
        let space = if reset.is_some() { 46.0 } else { 0.0 };
        let width = (ui.available_width() - space - 12.0).max(80.0);
        let field = ui.scope(|ui| {
            ui.set_max_width(width);
            widget(ui, edit)
        });
        if let Some(reset) = reset
            && ui.small_button(reset.text).on_hover_text(reset.hint).clicked()
        {
            edit.commands.push(reset.command);
            // The button disappears; the keyboard goes to the field.
            edit.state.jump = Some(name.to_owned());
        }
        field.inner
    })
    .inner
}

/// The name: set options have a dot, colour and weight; deprecated ones are struck through.
fn name_ui(ui: &mut egui::Ui, row: &'static OptionRow, options: &Options, theme: &Theme) -> Response {
    let is_set = options.is_set(row.key);
    ui.horizontal(|ui| {
        let short = row.short_key();
        let mut name = RichText::new(short);
        if is_set {
            name = RichText::new(format!("{short} •")).strong().color(theme.accent());
        }
        if row.deprecated.is_some() {
            name = name.strikethrough();
        }
        let label = ui.add(egui::Label::new(name).truncate());
        let label = label.on_hover_ui(|ui| option_tooltip(ui, row, options));
        let mut marks = Vec::new();
        if row.affects_memory() && row.is_estimate {
            // A figure that the user sets is no estimate.
            let is_own = is_set && sets_a_figure(row.key);
            marks.push(if is_own { "set by you" } else { "estimate" }.to_owned());
        }
        if let Some(other) = row.replaced_by {
            marks.push(format!("use {other}"));
        }
        if is_set || framework_default(row, options).is_some() {
            marks.push(format!("default {}", default_text(row, options)));
        }
        if !marks.is_empty() {
            let text = RichText::new(marks.join("; ")).small().weak();
            ui.add(egui::Label::new(text).truncate())
                .on_hover_text(marks.join("; "));
        }
        label
    })
    .inner
}

/// The default that a framework has for an option.
pub(super) fn framework_default(row: &OptionRow, options: &Options) -> Option<OptionDefault> {
    let default = options.default_of(row.key)?;
    matches!(default.origin, DefaultOrigin::Framework(_)).then_some(default)
}

/// The default as users write it, with the meaning of an unset option, or with the framework that sets it.
pub(super) fn default_text(row: &OptionRow, options: &Options) -> String {
    if let Some(default) = framework_default(row, options) {
        return format!("{} of {}", default.value, default.origin);
    }
    match (row.default_value(), row.unset_means) {
        (Value::Unset, Some(meaning)) => format!("not set ({meaning})"),
        (Value::Unset, None) => "not set".to_owned(),
        (value, _) => value.to_string(),
    }
}

fn widget_ui(
    ui: &mut egui::Ui,
    row: &'static OptionRow,
    value: &Value,
    label: &Response,
    edit: &mut Edit<'_>,
) -> Response {
    let is_expression = matches!(value, Value::Python(_));
    match &row.kind {
        OptionKind::Object { .. } if *value == Value::Unset && find_group(row.key).is_some() => {
            ui.weak("Set through the fields below")
        }
        _ if is_expression => text_ui(ui, row, value, label, edit),
        OptionKind::Bool if row.default_value() != Value::Unset => bool_ui(ui, row, value, label, edit.commands),
        kind @ (OptionKind::Bool | OptionKind::IntChoice(_) | OptionKind::TextChoice(_)) => {
            let mut choices = choices_of(kind);
            if row.default_value() == Value::Unset {
                let meaning = row
                    .unset_means
                    .map_or_else(String::new, |meaning| format!(": {meaning}"));
                choices.insert(0, (Value::Unset.to_string(), format!("not set{meaning}")));
            }
            let (response, chosen) = choice_ui(ui, row.key, &value.to_string(), &choices, label);
            if let Some(text) = chosen {
                edit.commands.push(Command::set_option(row.key, text));
            }
            response
        }
        OptionKind::List | OptionKind::Names(_) => names_ui(ui, row, value, label, edit),
        _ => text_ui(ui, row, value, label, edit),
    }
}

/// Values and meanings of a list of choices.
fn choices_of(kind: &OptionKind) -> Vec<(String, String)> {
    if *kind == OptionKind::Bool {
        return vec![("True".to_owned(), String::new()), ("False".to_owned(), String::new())];
    }
    kind.choices()
        .into_iter()
        .map(|(value, summary)| (value.to_string(), summary.to_owned()))
        .collect()
}

/// Scrolls to a field that gets the keyboard or is the target of a jump, and explains it on F1. Returns whether the
/// explanation was requested in this frame.
pub(super) fn follow(ui: &egui::Ui, name: &'static str, field: &Response, edit: &mut Edit<'_>) -> bool {
    let state = &mut *edit.state;
    if state.jump.as_deref() == Some(name) {
        state.jump = None;
        state.held = Some(name);
        state.frames_to_settle = FRAMES_TO_SETTLE;
        field.request_focus();
    }
    if state.held == Some(name) && state.frames_to_settle > 0 {
        // Rows that become visible have other heights than expected and move this one.
        state.frames_to_settle -= 1;
        field.scroll_to_me(Some(egui::Align::Center));
        ui.ctx().request_repaint();
    } else if field.gained_focus() {
        field.scroll_to_me(None);
    }
    if field.has_focus() {
        state.held = Some(name);
    } else if state.held == Some(name) && field.lost_focus() {
        state.held = None;
    }
    let is_asked = field.has_focus() && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::F1));
    if is_asked {
        state.explained = if state.explained == Some(name) {
            None
        } else {
            Some(name)
        };
    }
    is_asked
}

/// The acting value, where it differs from the field.
fn acting_ui(ui: &mut egui::Ui, row: &OptionRow, look: RowInput<'_>) {
    if let Some(acting) = look.session.acts_as(row.key) {
        let unit = row.unit.map_or_else(String::new, |unit| format!(" {unit}"));
        let text = format!("acts as {acting}{unit}");
        ui.label(RichText::new(text).small().color(look.theme.accent()))
            .on_hover_text("Effective value after rules and environment; F1 explains the option");
    }
}

/// Findings about this field, with a button per fix.
pub(super) fn findings_ui(ui: &mut egui::Ui, name: &str, look: RowInput<'_>, edit: &mut Edit<'_>) {
    let is_about = |finding: &&Finding| finding.options.iter().any(|option| option == name);
    for finding in look.session.findings().iter().filter(is_about) {
        if let Some(place) = finding.options.first().filter(|first| *first != name) {
            reference_ui(ui, finding, place, look, edit);
            continue;
        }
        let text = format!("{} {}: {}", icon(finding.severity), finding.rule, finding.message);
        let text = RichText::new(text).small().color(look.theme.severity(finding.severity));
        wrapped_ui(ui, text).on_hover_text(finding.source);
        if let Some(changed) = fixes_ui(ui, finding, edit.commands) {
            // The button disappears; the keyboard goes to the field.
            edit.state.jump = Some(changed.to_owned());
        }
    }
}

/// A link to the row with a finding that is about several: each is told once.
fn reference_ui(ui: &mut egui::Ui, finding: &Finding, place: &str, look: RowInput<'_>, edit: &mut Edit<'_>) {
    let short = find(place).map_or(place, |row| row.short_key());
    let text = format!("{} {}, see {short}", icon(finding.severity), finding.rule);
    let text = RichText::new(text).small().color(look.theme.severity(finding.severity));
    let link = ui.add(egui::Link::new(text)).on_hover_text(&finding.message);
    if link.clicked() {
        edit.state.jump = Some(place.to_owned());
    }
}

/// One button per fix; returns the option or variable that a click changes.
pub fn fixes_ui(ui: &mut egui::Ui, finding: &Finding, commands: &mut Vec<Command>) -> Option<&'static str> {
    let mut changed = None;
    for fix in &finding.fixes {
        let hint = format!("Fixes {} (Ctrl+Z undoes it)", finding.rule);
        if button_ui(ui, small(&format!("Fix: {}", fix.text)), &hint) {
            commands.push(Command::ApplyFix(fix.clone()));
            changed = fix.edits.first().map(FixEdit::name);
        }
    }
    changed
}
