//! The explanation of an option or variable, as a tooltip or below its row.

use eframe::egui::{self, RichText};

use super::row::{default_text, framework_default};
use crate::theme::Theme;
use highwater_options::{EnvironmentRow, OptionRow, Options};

pub(super) fn option_tooltip(ui: &mut egui::Ui, row: &OptionRow, options: &Options) {
    ui.set_max_width(440.0);
    option_text(ui, row, options);
}

/// Everything that the table has about an option.
pub(super) fn option_text(ui: &mut egui::Ui, row: &OptionRow, options: &Options) {
    ui.strong(row.key);
    ui.label(row.summary);
    ui.separator();
    ui.label(row.details);
    ui.add_space(4.0);
    let estimate = if row.is_estimate { " (estimate)" } else { "" };
    ui.label(format!("Memory in this simulation{estimate}: {}", row.memory_effect));
    if let Some(parameter) = row.lowers_to {
        let (_, name) = parameter.split_once("::").unwrap_or(("", parameter));
        ui.weak(format!("engine parameter: {name}"));
    }
    ui.add_space(4.0);
    let mut facts = vec![format!(
        "type {}, default {}",
        row.kind.name(),
        default_text(row, options)
    )];
    if let Some([inference, training]) = row.by_run_mode {
        facts.push(format!(
            "{} in online inference, {} in training",
            inference.value(),
            training.value()
        ));
    }
    if let Some((min, max)) = row.kind.range() {
        let unit = row.unit.map_or_else(String::new, |unit| format!(" {unit}"));
        match (min, max) {
            (i64::MIN, _) => {}
            (_, i64::MAX) => facts.push(format!("{min}{unit} or more")),
            _ => facts.push(format!("{min} to {max}{unit}")),
        }
    }
    facts.extend(row.since.map(|since| format!("since {since}")));
    ui.weak(facts.join("; "));
    if let Some(deprecated) = row.deprecated {
        let instead = row
            .replaced_by
            .map_or_else(String::new, |other| format!("; use {other}"));
        ui.label(RichText::new(format!("deprecated: {deprecated}{instead}")).strong());
    }
    ui.weak(format!("source: {}", row.source));
    if let Some(default) = framework_default(row, options) {
        ui.weak(format!("source of the default: {}", default.source));
    }
}

pub(super) fn variable_tooltip(ui: &mut egui::Ui, row: &EnvironmentRow) {
    ui.set_max_width(440.0);
    variable_text(ui, row);
}

/// Everything that the table has about a variable.
pub(super) fn variable_text(ui: &mut egui::Ui, row: &EnvironmentRow) {
    ui.strong(row.name);
    ui.label(row.summary);
    ui.separator();
    ui.label(row.details);
    ui.add_space(4.0);
    ui.label(format!("Precedence: {}", row.precedence));
    ui.weak(format!("source: {}", row.source));
}

/// An explanation below its row, as wide as the panel; scrolled to in its first frame.
pub(super) fn explanation_ui(ui: &mut egui::Ui, theme: &Theme, is_new: bool, content: impl FnOnce(&mut egui::Ui)) {
    let frame = egui::Frame::new()
        .fill(theme.grid)
        .corner_radius(3)
        .inner_margin(egui::Margin::same(6));
    let width = (ui.available_width() - 20.0).max(120.0);
    let shown = frame.show(ui, |ui| {
        ui.set_max_width(width);
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Wrap);
        content(ui);
    });
    if is_new {
        shown.response.scroll_to_me(None);
    }
}
