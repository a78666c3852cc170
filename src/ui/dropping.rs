//! Drag and drop of files onto the window.

use eframe::egui;

use super::theme::Theme;
use highwater_session::{Command, SourceSpec};

/// Shows the drop target and opens dropped files.
pub(super) fn drop_ui(ui: &egui::Ui, theme: &Theme, commands: &mut Vec<Command>) {
    let is_hovered = ui.input(|input| !input.raw.hovered_files.is_empty());
    if is_hovered {
        let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop target"));
        let painter = ui.ctx().layer_painter(layer);
        let area = ui.ctx().content_rect();
        painter.rect_filled(area, 0, theme.halo());
        let font = egui::FontId::proportional(22.0);
        painter.text(
            area.center(),
            egui::Align2::CENTER_CENTER,
            "Drop graphs or a document to open them (with Shift: add graphs to the session), or a configuration or script to read it",
            font,
            theme.text,
        );
    }
    let dropped = ui.input(|input| input.raw.dropped_files.clone());
    if dropped.is_empty() {
        return;
    }
    // The worker reads the file system, which may be slow.
    let sources = dropped
        .iter()
        .map(|file| SourceSpec::Path(file.path().to_owned()))
        .collect();
    let is_added = ui.input(|input| input.modifiers.shift);
    commands.push(if is_added {
        Command::Add(sources)
    } else {
        Command::Open(sources)
    });
}
