//! The axes: a field of values each, and a list of further ones.

use eframe::egui;

use super::drafts::{Drafts, dims, short};
use crate::combo::ShowChoices as _;
use crate::panels::width_of;
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_options::find;
use highwater_session::Session;

const FIELD: f32 = 150.0;
/// Width of the button that removes an axis, with gaps.
const REMOVE: f32 = 44.0;

/// Returns whether Enter was pressed in a field.
pub(super) fn axes_ui(ui: &mut egui::Ui, session: &Session, drafts: &mut Drafts, theme: &Theme) -> bool {
    let mut is_entered = false;
    let dims = dims(session);
    let mut removed = None;
    ui.horizontal_wrapped(|ui| {
        for (position, draft) in drafts.axes.iter_mut().enumerate() {
            let problem = Drafts::axis(draft, &dims).err();
            let name = short(&draft.key).to_owned();
            let row = find(&draft.key);
            // A name stays on the line of its field.
            let size = egui::TextStyle::Body.resolve(ui.style()).size;
            if ui.available_size_before_wrap().x < width_of(ui, &name, size) + FIELD + REMOVE {
                ui.end_row();
            }
            let label = ui.label(&name);
            if let Some(row) = row {
                label.on_hover_text(format!("{}\n{}", row.key, row.summary));
            }
            let color = problem.as_ref().map(|_| theme.bad);
            let field = egui::TextEdit::singleline(&mut draft.values)
                .desired_width(FIELD)
                .text_color_opt(color);
            let field = ui.add(field);
            is_entered |= has_entered(ui, &field);
            let field = field.named(egui::Role::TextInput, || format!("values of {name}"));
            let hint = "a list (0,2,4), ranges (8..128x2, 1GiB..4GiB+512MiB), None for an option that is not set";
            field.on_hover_text(problem.unwrap_or_else(|| hint.to_owned()));
            let remove = ui
                .small_button("×")
                .named(egui::Role::Button, || format!("remove the axis {name}"));
            if remove.on_hover_text(format!("Do not vary {name}")).clicked() {
                removed = Some(position);
            }
            ui.add_space(6.0);
        }
        add_ui(ui, session, drafts);
        is_entered |= capacity_ui(ui, session, drafts);
    });
    if let Some(position) = removed.filter(|position| *position < drafts.axes.len()) {
        drafts.axes.remove(position);
    }
    is_entered
}

fn has_entered(ui: &egui::Ui, field: &egui::Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter))
}

/// A list of further axes.
fn add_ui(ui: &mut egui::Ui, session: &Session, drafts: &mut Drafts) {
    let mut added = None;
    egui::ComboBox::from_id_salt("add axis")
        .selected_text("Add axis")
        .width(90.0)
        .show_choices(ui, |ui| {
            for key in drafts.addable(session) {
                let text = key.strip_prefix("dim:").unwrap_or(&key);
                if ui.selectable_label(false, text).clicked() {
                    added = Some(key);
                }
            }
        })
        .named(egui::Role::ComboBox, || "add an axis");
    if let Some(key) = added {
        drafts.add(&key, session);
    }
}

fn capacity_ui(ui: &mut egui::Ui, session: &Session, drafts: &mut Drafts) -> bool {
    ui.separator();
    ui.add(egui::Label::new("Capacity").extend());
    let known = session.document().device().memory();
    let field = egui::TextEdit::singleline(&mut drafts.capacity)
        .desired_width(80.0)
        .hint_text(known.short());
    let field = ui.add(field);
    let is_entered = has_entered(ui, &field);
    let field = field.named(egui::Role::TextInput, || "capacity that configurations must fit");
    field.on_hover_text("Device memory for the sweep, such as 16GiB; empty: the active setting");
    is_entered
}
