//! The list of keys and gestures, from the same table as the menus.

use eframe::egui::scroll_area::ScrollBarVisibility;
use eframe::egui::style::ScrollAnimation;
use eframe::egui::{self, Key, Modifiers};

use super::commands::{COMMANDS, GESTURES};

use crate::widgets::wrapped_ui;

/// Height of the window without the list, in points.
const OTHERS: f32 = 150.0;
/// Least width of a column, and the gap between two.
const COLUMN: f32 = 520.0;
const GAP: f32 = 16.0;
/// Gap between keys and descriptions.
const BETWEEN: f32 = 12.0;
/// Approximate height of a line.
const ROW: f32 = 20.0;

pub fn help_ui(ctx: &egui::Context, is_open: &mut bool) {
    if !*is_open {
        return;
    }
    let modal = egui::Modal::new(egui::Id::unique("keys")).show(ctx, |ui| {
        let window = ctx.content_rect();
        ui.set_width((window.width() - 60.0).max(0.0));
        ui.heading("Keys and gestures");
        ui.add_space(6.0);
        // A solid scroll bar: keys scroll, too.
        ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
        let height = (window.height() - OTHERS).max(120.0);
        let area = egui::ScrollArea::vertical()
            .max_height(height)
            // The full height in the first frame: a remembered size would grow from frame to frame.
            .min_scrolled_height(height)
            .auto_shrink([false, true])
            .scroll_bar_visibility(ScrollBarVisibility::AlwaysVisible);
        area.show(ui, |ui| {
            scroll_by_keys(ui, height);
            lists_ui(ui);
        });
        ui.add_space(8.0);
        ui.label("Tooltips show exact bytes. Drop files onto the window to open them.");
        if ui.button("Close (Esc)").clicked() {
            *is_open = false;
        }
    });
    if modal.should_close() {
        *is_open = false;
    }
}

/// Arrows scroll two rows, page keys a page, Home and End to the ends.
fn scroll_by_keys(ui: &egui::Ui, height: f32) {
    /// Higher than any list.
    const ALL: f32 = 1e6;
    let page = height - 2.0 * ROW;
    let keys = [
        (Key::ArrowDown, 2.0 * ROW),
        (Key::ArrowUp, -2.0 * ROW),
        (Key::PageDown, page),
        (Key::PageUp, -page),
        (Key::Space, page),
        (Key::Home, -ALL),
        (Key::End, ALL),
    ];
    for (key, by) in keys {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            ui.scroll_with_delta_animation(egui::vec2(0.0, -by), ScrollAnimation::none());
        }
    }
}

enum Line {
    Title(&'static str),
    Row(String, &'static str),
}

/// All lines in as many columns as fit, one column after the other.
fn lists_ui(ui: &mut egui::Ui) {
    let ctx = ui.ctx().clone();
    let gestures = GESTURES.iter().map(|(keys, text)| Line::Row((*keys).to_owned(), text));
    let commands = COMMANDS
        .iter()
        .filter_map(|row| Some(Line::Row(keys_text(row.shortcut?, &ctx), row.text)));
    let lines: Vec<Line> = std::iter::once(Line::Title("In the lanes"))
        .chain(gestures)
        .chain([Line::Title("Everywhere")])
        .chain(commands)
        .collect();
    let room = ui.available_width();
    let n_columns = (1..=4_u8)
        .rev()
        .find(|count| room / f32::from(*count) >= COLUMN)
        .unwrap_or(1);
    let width = room / f32::from(n_columns) - GAP;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for lines in lines.chunks(lines.len().div_ceil(n_columns.into())) {
            ui.vertical(|ui| {
                ui.set_width(width.max(0.0));
                list_ui(ui, lines);
            });
        }
    });
}

/// Keys as people write them.
pub fn keys_text(shortcut: egui::KeyboardShortcut, ctx: &egui::Context) -> String {
    // Keys known by the printed character.
    let printed = match shortcut.logical_key {
        Key::Questionmark => Some("?"),
        Key::Slash => Some("/"),
        _ => None,
    };
    if let Some(printed) = printed.filter(|_| shortcut.modifiers.is_none()) {
        return printed.to_owned();
    }
    shortcut.format(&egui::ModifierNames::NAMES, ctx.os().is_mac())
}

/// Rows are placed by hand: a grid would need several frames.
fn list_ui(ui: &mut egui::Ui, lines: &[Line]) {
    let font = egui::TextStyle::Monospace.resolve(ui.style());
    let color = ui.visuals().text_color();
    let width_of = |line: &Line| match line {
        Line::Title(_) => 0.0,
        Line::Row(keys, _) => ui.painter().layout_no_wrap(keys.clone(), font.clone(), color).size().x,
    };
    let widest = lines.iter().map(width_of).fold(0.0, f32::max);
    ui.spacing_mut().item_spacing = egui::Vec2::ZERO;
    for (position, line) in lines.iter().enumerate() {
        let ground = ui.painter().add(egui::Shape::Noop);
        let row = ui.horizontal_top(|ui| {
            ui.set_min_height(ROW);
            ui.set_width(ui.available_width());
            match line {
                Line::Title(title) => {
                    ui.strong(*title);
                }
                Line::Row(keys, text) => {
                    let used = ui.monospace(keys).rect.width();
                    ui.add_space(widest - used + BETWEEN);
                    wrapped_ui(ui, *text);
                }
            }
        });
        if position % 2 == 1 {
            let stripe = egui::Shape::rect_filled(row.response.rect, 2, ui.visuals().faint_bg_color);
            ui.painter().set(ground, stripe);
        }
    }
}
