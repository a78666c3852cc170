//! Combo boxes without a pointer: a choice that is taken by key closes its list, and a list that a key closes gives the
//! keyboard back to its box.
//!
//! egui closes such a list on clicks of the pointer alone, and Esc takes the keyboard from everything.

use eframe::egui::{ComboBox, InnerResponse, Key, Ui};

/// Shows a combo box whose choices can be taken by key.
pub(super) trait ShowChoices {
    /// As `ComboBox::show_ui`; Enter or Space on a choice closes the list.
    fn show_choices<R>(self, ui: &mut Ui, choices: impl FnOnce(&mut Ui) -> R) -> InnerResponse<Option<R>>;
}

impl ShowChoices for ComboBox<'_> {
    fn show_choices<R>(self, ui: &mut Ui, choices: impl FnOnce(&mut Ui) -> R) -> InnerResponse<Option<R>> {
        let taken = |ui: &Ui| ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
        let shown = self.show_ui(ui, |ui| {
            let inner = choices(ui);
            // The key that opens the list is not one that takes a choice: then its size is still found out.
            if !ui.is_sizing_pass() && taken(ui) {
                ui.close();
            }
            inner
        });
        let response = &shown.response;
        let is_closed = shown.inner.is_some() && !Self::is_open(ui.ctx(), response.id);
        if is_closed && (taken(ui) || ui.input(|input| input.key_pressed(Key::Escape))) {
            response.request_focus();
        }
        shown
    }
}
