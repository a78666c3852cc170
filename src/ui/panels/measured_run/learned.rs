//! What runs teach: settings with what holds now and what was learned, taken over in one step.

use eframe::egui::{self, RichText};

use super::MeasuredRunState;
use highwater_analysis::{Calibration, Comparison, LearnedSetting};
use highwater_model::units::{counted, grouped};
use highwater_options::find;
use highwater_session::{Command, Session};

/// All recordings' settings.
pub(super) fn learned_ui(
    ui: &mut egui::Ui,
    session: &Session,
    comparison: &Comparison,
    state: &mut MeasuredRunState,
    commands: &mut Vec<Command>,
) {
    ui.label(RichText::new("Learn costs and workspaces").strong());
    for calibration in &comparison.calibrations {
        ui.add_space(2.0);
        let of = match &calibration.graph {
            Some(graph) => format!("{}, ops of {graph}", calibration.recording),
            None => calibration.recording.clone(),
        };
        ui.add(egui::Label::new(of).wrap());
        if !calibration.settings.is_empty() {
            settings_ui(ui, session, calibration, state);
            apply_ui(ui, session, calibration, state, commands);
        }
        for note in &calibration.notes {
            ui.add(egui::Label::new(RichText::new(note).weak()).wrap());
        }
    }
    if comparison.calibrations.is_empty() {
        ui.weak("The recordings hold neither blocks nor measured ops, so nothing can be learned of them.");
    }
}

/// The settings one below the other, for the pane is narrow.
fn settings_ui(ui: &mut egui::Ui, session: &Session, calibration: &Calibration, state: &mut MeasuredRunState) {
    for setting in &calibration.settings {
        let key = (calibration.recording.clone(), setting.key);
        let mut is_wanted = !state.without.contains(&key);
        let name = find(setting.key).map_or(setting.key, |row| row.short_key());
        ui.horizontal(|ui| {
            let tick = ui
                .checkbox(&mut is_wanted, "")
                .on_hover_text("take it over with the button below");
            tick.widget_info(|| {
                let text = format!("take {name} over");
                egui::WidgetInfo::selected(egui::Role::CheckBox, true, is_wanted, text)
            });
            if tick.changed() && is_wanted {
                state.without.remove(&key);
            } else if tick.changed() {
                state.without.insert(key);
            }
            if ui
                .link(name)
                .on_hover_text(format!("{}: show the option", setting.key))
                .clicked()
            {
                state.jump = Some(setting.key.to_owned());
            }
            if is_set(session, setting) {
                ui.weak("is set");
            }
        });
        value_ui(ui, "now", setting.key, &setting.now);
        value_ui(ui, "learned", setting.key, &setting.learned);
        ui.add(egui::Label::new(RichText::new(&setting.from).weak()).wrap());
        ui.add_space(3.0);
    }
}

/// The button that sets what is ticked.
fn apply_ui(
    ui: &mut egui::Ui,
    session: &Session,
    calibration: &Calibration,
    state: &MeasuredRunState,
    commands: &mut Vec<Command>,
) {
    let is_wanted = |setting: &LearnedSetting| {
        let is_out = state
            .without
            .iter()
            .any(|(recording, key)| *recording == calibration.recording && *key == setting.key);
        !is_out && !is_set(session, setting)
    };
    let n_wanted = calibration.settings.iter().filter(|one| is_wanted(one)).count();
    let text = format!("Set {}", counted(n_wanted as u64, "setting"));
    let button = ui.add_enabled(n_wanted > 0, egui::Button::new(text));
    let button = button
        .on_hover_text(
            "sets the ticked options in one step (Ctrl+Z takes it back); figures that rest on them are estimates still",
        )
        .on_disabled_hover_text("everything that is ticked is set");
    if button.clicked() {
        commands.push(Command::UseSettings(Box::new(calibration.stamped(is_wanted))));
    }
}

fn is_set(session: &Session, setting: &LearnedSetting) -> bool {
    let value = session.document().options.get(setting.key);
    value.is_some_and(|value| value.to_string() == setting.learned)
}

/// Bytes of a value that is shown whole.
const SHORT: usize = 48;

/// A value with its unit; where it is long its beginning, with the whole of it on hover.
fn value_ui(ui: &mut egui::Ui, name: &str, key: &str, text: &str) {
    let whole = match (text.parse::<u64>(), find(key).and_then(|row| row.unit)) {
        (Ok(number), Some(unit)) => format!("{} {unit}", grouped(number)),
        _ => text.to_owned(),
    };
    ui.horizontal(|ui| {
        ui.weak(name);
        let label = egui::Label::new(RichText::new(&whole).monospace());
        // A figure with its unit stays whole, in two lines if need be; a list has its beginning.
        let label = if whole.len() <= SHORT {
            label.wrap()
        } else {
            label.truncate()
        };
        ui.add(label).on_hover_text(&whole);
    });
}
