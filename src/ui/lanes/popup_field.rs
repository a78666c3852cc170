//! A field of text over the lanes that opens by a key.

use eframe::egui::{Area, Frame, Id, Key, Order, Pos2, TextEdit, Ui};

pub(super) struct PopupField {
    pub(super) id: &'static str,
    pub(super) place: Pos2,
    pub(super) width: f32,
    pub(super) label: String,
    pub(super) hint: &'static str,
}

/// Keys that end the field.
#[derive(Clone, Copy)]
pub(super) struct EndKeys {
    pub(super) is_entered: bool,
    pub(super) is_left: bool,
}

impl PopupField {
    /// `below` adds what is below the field.
    pub(super) fn ui(
        self,
        ui: &Ui,
        text: &mut String,
        wants_focus: &mut bool,
        below: impl FnOnce(&mut Ui, &str, EndKeys),
    ) {
        let area = Area::new(Id::unique(self.id))
            .order(Order::Foreground)
            .fixed_pos(self.place);
        area.show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_width(self.width);
                let label = ui.label(self.label);
                let id = Id::unique((self.id, "text"));
                if *wants_focus {
                    // Before the field is drawn, so that it takes the letters that follow the shortcut.
                    ui.memory_mut(|memory| memory.request_focus(id));
                }
                let edit = TextEdit::singleline(text).id(id).desired_width(f32::INFINITY);
                let field = ui.add(edit.hint_text(self.hint)).labelled_by(label.id);
                // During the sizing pass the field cannot take the keyboard.
                *wants_focus &= !field.has_focus();
                let (has_enter, is_left) = ui.input(|i| (i.key_pressed(Key::Enter), i.key_pressed(Key::Escape)));
                let is_entered = field.lost_focus() && has_enter;
                below(ui, text, EndKeys { is_entered, is_left });
            });
        });
    }
}
