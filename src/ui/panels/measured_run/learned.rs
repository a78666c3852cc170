//! Settings learned from runs: current and learned values, applied in one step.

use eframe::egui::{self, RichText};

use super::MeasuredRunState;
use crate::panels::PaneCx;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::{Calibration, Comparison, LearnedSetting};
use highwater_model::units::{counted, grouped};
use highwater_options::find;
use highwater_session::{Command, Session};

pub(super) fn learned_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    state: &mut MeasuredRunState,
) {
    ui.label(RichText::new("Learn costs and workspaces").strong());
    for calibration in &comparison.calibrations {
        ui.add_space(2.0);
        let of = match &calibration.graph {
            Some(graph) => format!("{}, ops of {graph}", calibration.recording),
            None => calibration.recording.clone(),
        };
        wrapped_ui(ui, of);
        if !calibration.settings.is_empty() {
            settings_ui(ui, cx, calibration, state);
            apply_ui(ui, cx, calibration, state);
        }
        for note in &calibration.notes {
            wrapped_ui(ui, RichText::new(note).weak());
        }
    }
    if comparison.calibrations.is_empty() {
        ui.weak("The recordings contain neither blocks nor measured ops, so no costs can be derived.");
    }
}

/// Settings in one column, for the pane is narrow.
fn settings_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, calibration: &Calibration, state: &mut MeasuredRunState) {
    for setting in &calibration.settings {
        let key = (calibration.recording.clone(), setting.key);
        let mut is_wanted = is_ticked(state, calibration, setting);
        let name = find(setting.key).map_or(setting.key, |row| row.short_key());
        ui.horizontal(|ui| {
            let tick = ui
                .checkbox(&mut is_wanted, "")
                .on_hover_text("Include it with the button below")
                .named_choice(egui::Role::CheckBox, is_wanted, || format!("include {name}"));
            if tick.changed() && is_wanted == setting.poor_fit.is_none() {
                state.changed.remove(&key);
            } else if tick.changed() {
                state.changed.insert(key);
            }
            if ui
                .link(name)
                .on_hover_text(format!("{}: show the option", setting.key))
                .clicked()
            {
                cx.option = Some(setting.key.to_owned());
            }
            if is_set(cx.session, setting) {
                ui.weak("is set");
            }
        });
        value_ui(ui, "now", setting.key, &setting.now);
        value_ui(ui, "learned", setting.key, &setting.learned);
        wrapped_ui(ui, RichText::new(&setting.from).weak());
        if let Some(why) = &setting.poor_fit {
            wrapped_ui(ui, RichText::new(why).color(cx.theme.bad));
        }
        ui.add_space(3.0);
    }
}

/// Poor fits are left out until they are ticked.
fn is_ticked(state: &MeasuredRunState, calibration: &Calibration, setting: &LearnedSetting) -> bool {
    let is_changed = state
        .changed
        .iter()
        .any(|(recording, key)| *recording == calibration.recording && *key == setting.key);
    is_changed != setting.poor_fit.is_none()
}

/// The button that applies the checked settings.
fn apply_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, calibration: &Calibration, state: &MeasuredRunState) {
    let is_wanted = |setting: &LearnedSetting| is_ticked(state, calibration, setting) && !is_set(cx.session, setting);
    let n_wanted = calibration.settings.iter().filter(|one| is_wanted(one)).count();
    let text = format!("Set {}", counted(n_wanted as u64, "setting"));
    let button = ui.add_enabled(n_wanted > 0, egui::Button::new(text));
    let button = button
        .on_hover_text(
            "Sets the ticked options in one step (Ctrl+Z undoes it); figures that depend on them remain estimates",
        )
        .on_disabled_hover_text("All ticked options are set");
    if button.clicked() {
        cx.commands
            .push(Command::UseSettings(Box::new(calibration.stamped(is_wanted))));
    }
}

fn is_set(session: &Session, setting: &LearnedSetting) -> bool {
    let value = session.document().options.get(setting.key);
    value.is_some_and(|value| value.to_string() == setting.learned)
}

/// Longest value that is shown whole, in bytes.
const SHORT: usize = 48;

/// A value with its unit; long values are cut, with the whole on hover.
fn value_ui(ui: &mut egui::Ui, name: &str, key: &str, text: &str) {
    let whole = match (text.parse::<u64>(), find(key).and_then(|row| row.unit)) {
        (Ok(number), Some(unit)) => format!("{} {unit}", grouped(number)),
        _ => text.to_owned(),
    };
    ui.horizontal(|ui| {
        ui.weak(name);
        let label = egui::Label::new(RichText::new(&whole).monospace());
        // A figure with its unit may take two lines; a list is cut.
        let label = if whole.len() <= SHORT {
            label.wrap()
        } else {
            label.truncate()
        };
        ui.add(label).on_hover_text(&whole);
    });
}
