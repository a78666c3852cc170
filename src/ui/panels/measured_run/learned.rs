//! What runs teach: settings with what holds now and what was learned, taken over in one step.

use eframe::egui::{self, RichText};

use super::MeasuredRunState;
use crate::analysis::{Calibration, Comparison, LearnedSetting};
use crate::options::find;
use crate::session::{Command, Session};
use crate::units::counted;

/// Letters of a value that stand in the table; the whole of it stands in the tooltip.
const MOST_LETTERS: usize = 28;

/// All recordings' settings.
pub(super) fn learned_ui(
    ui: &mut egui::Ui,
    (session, comparison): (&Session, &Comparison),
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
            table_ui(ui, (session, calibration), state);
            apply_ui(ui, (session, calibration), state, commands);
        }
        for note in &calibration.notes {
            ui.add(egui::Label::new(RichText::new(note).weak()).wrap());
        }
    }
    if comparison.calibrations.is_empty() {
        ui.weak("The recordings hold neither blocks nor measured ops, so nothing can be learned of them.");
    }
}

fn table_ui(ui: &mut egui::Ui, (session, calibration): (&Session, &Calibration), state: &mut MeasuredRunState) {
    egui::Grid::new(("learned", &calibration.recording))
        .num_columns(4)
        .striped(true)
        .spacing([12.0, 4.0])
        .show(ui, |ui| {
            for title in ["", "setting", "now", "learned"] {
                ui.weak(title);
            }
            ui.end_row();
            for setting in &calibration.settings {
                let key = (calibration.recording.clone(), setting.key);
                let mut is_wanted = !state.without.contains(&key);
                let name = find(setting.key).map_or(setting.key, |row| row.short_key());
                let tick = ui.checkbox(&mut is_wanted, "").on_hover_text(&setting.from);
                tick.widget_info(|| {
                    let text = format!("take {name} over");
                    egui::WidgetInfo::selected(egui::Role::CheckBox, true, is_wanted, text)
                });
                if tick.changed() && is_wanted {
                    state.without.remove(&key);
                } else if tick.changed() {
                    state.without.insert(key);
                }
                let link = ui
                    .link(name)
                    .on_hover_text(format!("{}\n{}", setting.key, setting.from));
                if link.clicked() {
                    state.jump = Some(setting.key.to_owned());
                }
                value_ui(ui, &setting.now);
                if is_set(session, setting) {
                    ui.weak("is set").on_hover_text(&setting.learned);
                } else {
                    value_ui(ui, &setting.learned);
                }
                ui.end_row();
            }
        });
    for setting in &calibration.settings {
        let name = find(setting.key).map_or(setting.key, |row| row.short_key());
        ui.add(egui::Label::new(RichText::new(format!("{name}: {}", setting.from)).weak()).wrap());
    }
}

/// The button that sets what is ticked.
fn apply_ui(
    ui: &mut egui::Ui,
    (session, calibration): (&Session, &Calibration),
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

fn value_ui(ui: &mut egui::Ui, text: &str) {
    let is_long = text.chars().count() > MOST_LETTERS;
    let mut shown: String = text.chars().take(MOST_LETTERS).collect();
    if is_long {
        shown.push('\u{2026}');
    }
    let label = ui.monospace(shown);
    if is_long {
        label.on_hover_text(text);
    }
}
