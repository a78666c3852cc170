//! The panes around the lanes. Each is a function of the session and its own view state; it pushes commands.

pub mod device;
mod footprint;
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

/// A text of a size, cut with an ellipsis where it is wider than the room.
pub fn elided(ui: &egui::Ui, text: &str, size: f32, room: f32) -> String {
    let font = egui::FontId::proportional(size);
    let width = |text: String| {
        let galley = ui.painter().layout_no_wrap(text, font.clone(), egui::Color32::WHITE);
        galley.size().x
    };
    if width(text.to_owned()) <= room {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(end, _)| end).rev();
    let mut cut = ends.map(|end| format!("{}…", text[..end].trim_end()));
    cut.find(|text| width(text.clone()) <= room).unwrap_or_default()
}
