//! The prompt for a pin's name.

use eframe::egui::{self, Key, RichText};

use super::CompareState;
use crate::panels::PaneCx;
use crate::panels::options::select_all;
use highwater_analysis::{Configuration, Difference, Pin};
use highwater_session::{Command, Session};

/// Differences listed.
const MOST_LISTED: usize = 8;

/// The configuration to pin, and its name so far.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    name: String,
    configuration: Box<Configuration>,
    /// Differences from the defaults.
    special: Vec<Difference>,
    has_focus: bool,
}

impl Prompt {
    pub(super) fn new(session: &Session) -> Self {
        let configuration = Box::new(session.configuration());
        Self {
            name: session.name_for_pin(&configuration),
            special: configuration.differences(&session.usual_configuration()),
            configuration,
            has_focus: false,
        }
    }
}

pub fn pin_prompt_ui(ctx: &egui::Context, cx: &mut PaneCx<'_>, state: &mut CompareState) {
    let Some(prompt) = &mut state.prompt else { return };
    let mut is_done = false;
    let mut is_pinned = false;
    let modal = egui::Modal::new(egui::Id::unique("pin this configuration")).show(ctx, |ui| {
        ui.set_width(420.0);
        ui.heading("Pin this configuration");
        ui.label("The pinned configuration becomes a lane and does not change with later settings.");
        ui.add_space(4.0);
        let label = ui.label("Name");
        let field = egui::TextEdit::singleline(&mut prompt.name).desired_width(f32::INFINITY);
        let field = ui.add(field).labelled_by(label.id);
        if !std::mem::replace(&mut prompt.has_focus, true) {
            field.request_focus();
            select_all(ui, &field, &prompt.name);
        }
        let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let problem = Pin::checked_name(&prompt.name, cx.session.names_of_pins()).err();
        if let Some(why) = &problem {
            ui.label(RichText::new(why).color(cx.theme.bad));
        }
        special_ui(ui, &prompt.special);
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let pin = ui.add_enabled(problem.is_none(), egui::Button::new("Pin"));
            is_pinned = problem.is_none() && (pin.clicked() || is_entered);
            is_done = ui.button("Cancel").clicked();
        });
        if is_entered && !is_pinned {
            // The message says why not; the field keeps the keyboard.
            field.request_focus();
        }
    });
    if is_pinned {
        cx.commands.push(Command::PinConfiguration {
            name: prompt.name.clone(),
            configuration: prompt.configuration.clone(),
        });
    }
    if is_pinned || is_done || modal.should_close() {
        state.prompt = None;
    }
}

/// Lists differences from the defaults.
fn special_ui(ui: &mut egui::Ui, differences: &[Difference]) {
    if differences.is_empty() {
        ui.weak("All settings are defaults.");
        return;
    }
    ui.add_space(4.0);
    ui.weak("Differences from the defaults:");
    for row in differences.iter().take(MOST_LISTED) {
        ui.add(egui::Label::new(format!("{}: {}", row.name, row.here)).truncate());
    }
    if differences.len() > MOST_LISTED {
        ui.weak(format!("and {} more", differences.len() - MOST_LISTED));
    }
}
