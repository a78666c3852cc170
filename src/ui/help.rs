//! The list of keys and gestures, from the same table as the menus.

use eframe::egui;

use super::commands::{COMMANDS, GESTURES};

/// Draws the window while it is open; `words` say what the program is run with.
pub fn help_ui(ctx: &egui::Context, words: &str, is_open: &mut bool) {
    if !*is_open {
        return;
    }
    let modal = egui::Modal::new(egui::Id::unique("keys")).show(ctx, |ui| {
        let window = ctx.content_rect();
        ui.set_width(960.0_f32.min(window.width() - 50.0));
        ui.heading("Keys and gestures");
        ui.add_space(6.0);
        // A low window scrolls.
        let height = (window.height() - 190.0).max(120.0);
        let area = egui::ScrollArea::both().max_height(height).auto_shrink([false, true]);
        area.show(ui, lists_ui);
        ui.add_space(8.0);
        ui.label("Every figure has its exact bytes in a tooltip. Files can be dropped onto the window.");
        if !words.is_empty() {
            ui.weak(words);
        }
        if ui.button("Close (Esc)").clicked() {
            *is_open = false;
        }
    });
    if modal.should_close() {
        *is_open = false;
    }
}

fn lists_ui(ui: &mut egui::Ui) {
    let ctx = ui.ctx().clone();
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            ui.strong("In the lanes");
            let rows = GESTURES.iter().map(|(keys, text)| ((*keys).to_owned(), *text));
            list_ui(ui, "gestures", rows);
        });
        ui.add_space(18.0);
        ui.vertical(|ui| {
            ui.strong("Everywhere");
            let rows = COMMANDS
                .iter()
                .filter_map(|row| Some((keys_text(row.shortcut?, &ctx), row.text)));
            list_ui(ui, "commands", rows);
        });
    });
}

/// Keys as people write them.
pub fn keys_text(shortcut: egui::KeyboardShortcut, ctx: &egui::Context) -> String {
    if shortcut.logical_key == egui::Key::Questionmark {
        return "?".to_owned();
    }
    shortcut.format(&egui::ModifierNames::NAMES, ctx.os().is_mac())
}

fn list_ui(ui: &mut egui::Ui, salt: &str, rows: impl Iterator<Item = (String, &'static str)>) {
    egui::Grid::new(salt)
        .num_columns(2)
        .spacing([12.0, 4.0])
        .striped(true)
        .show(ui, |ui| {
            for (keys, text) in rows {
                ui.monospace(keys);
                ui.label(text);
                ui.end_row();
            }
        });
}
