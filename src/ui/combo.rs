//! Combo boxes by keyboard: a key that takes a choice closes the list, and a list closed by key returns the keyboard to
//! its box.
//!
//! egui closes such a list on clicks alone, and Esc takes the keyboard from everything.

use eframe::egui::{ComboBox, Key, Response, Role, Ui};

use crate::widgets::Named as _;
use highwater_analysis::Comparison;

pub(super) trait ShowChoices {
    /// As `ComboBox::show_ui`; Enter or Space on a choice closes the list.
    fn show_choices(self, ui: &mut Ui, choices: impl FnOnce(&mut Ui)) -> Response;

    /// The choice of a value by its text; `name` and the chosen text are read by assistive technology. Changed
    /// where a value was clicked, even the shown one.
    fn show_values<V: PartialEq>(
        self,
        ui: &mut Ui,
        name: &str,
        chosen: &mut V,
        values: impl IntoIterator<Item = V>,
        text: impl Fn(&V) -> String,
    ) -> Response;

    /// The choice of a lane by position.
    fn show_lanes(self, ui: &mut Ui, name: &str, chosen: &mut usize, comparison: &Comparison) -> Response;
}

impl ShowChoices for ComboBox<'_> {
    fn show_choices(self, ui: &mut Ui, choices: impl FnOnce(&mut Ui)) -> Response {
        let taken = |ui: &Ui| ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
        let shown = self.show_ui(ui, |ui| {
            choices(ui);
            // The key that opens the list takes no choice: the list is still in its sizing pass.
            if !ui.is_sizing_pass() && taken(ui) {
                ui.close();
            }
        });
        let response = shown.response;
        let is_closed = shown.inner.is_some() && !Self::is_open(ui.ctx(), response.id);
        if is_closed && (taken(ui) || ui.input(|input| input.key_pressed(Key::Escape))) {
            response.request_focus();
        }
        response
    }

    fn show_values<V: PartialEq>(
        self,
        ui: &mut Ui,
        name: &str,
        chosen: &mut V,
        values: impl IntoIterator<Item = V>,
        text: impl Fn(&V) -> String,
    ) -> Response {
        let shown = text(chosen);
        let mut is_clicked = false;
        let mut response = self.selected_text(&shown).show_choices(ui, |ui| {
            for value in values {
                let words = text(&value);
                is_clicked |= ui.selectable_value(chosen, value, words).clicked();
            }
        });
        if is_clicked {
            response.mark_changed();
        }
        response.named(Role::ComboBox, || format!("{name}{shown}"))
    }

    fn show_lanes(self, ui: &mut Ui, name: &str, chosen: &mut usize, comparison: &Comparison) -> Response {
        let lanes = 0..comparison.lanes.len();
        self.show_values(ui, name, chosen, lanes, |lane| comparison.title_of(*lane))
    }
}
