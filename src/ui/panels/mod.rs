//! The panes around the lanes. Each is a function of the session and its own view state; it pushes commands.

pub mod inspector;
pub mod options;
pub mod overview;
pub mod planner;
pub mod problems;
mod reuse;
pub mod schedule;

use eframe::egui;

/// A small square of a colour, for legends. Painted, because the bundled font has no such letter.
pub fn swatch_ui(ui: &mut egui::Ui, color: egui::Color32) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
    ui.painter().rect_filled(area, 2, color);
}
