//! The story of an out-of-memory, as one page: failed requests, who had the memory, what to try.

use eframe::egui::{self, RichText};

use crate::panels::PaneCx;
use crate::widgets::wrapped_ui;
use highwater_session::{Loaded, PagePart, PageTable};

/// Points by which items of lists are indented, for each depth.
const INDENT: f32 = 14.0;

pub fn log_ui(ui: &mut egui::Ui, cx: &PaneCx<'_>) {
    let Some(page) = cx.session.loaded().and_then(Loaded::log_page) else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        for (name, what, text) in [
            ("Copy as Markdown", "Copy this page for a ticket", &page.markdown),
            ("Copy sentence", "Copy the first sentences alone", &page.ticket),
        ] {
            if ui.button(name).on_hover_text(what).clicked() {
                ui.ctx().copy_text(text.clone());
            }
        }
    });
    ui.separator();
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        wrapped_ui(ui, RichText::new(&page.ticket).strong());
        for (position, part) in page.parts.iter().enumerate() {
            part_ui(ui, part, position);
        }
    });
}

fn part_ui(ui: &mut egui::Ui, part: &PagePart, position: usize) {
    match part {
        PagePart::Heading(level, text) => {
            ui.add_space(8.0);
            let text = RichText::new(text).strong();
            wrapped_ui(ui, if *level < 4 { text.heading() } else { text });
        }
        PagePart::Text(text) => {
            wrapped_ui(ui, text);
        }
        PagePart::Strong(text) => {
            ui.add_space(4.0);
            wrapped_ui(ui, RichText::new(text).strong());
        }
        PagePart::Item(depth, text) => {
            ui.horizontal_top(|ui| {
                for _ in 0..*depth {
                    ui.add_space(INDENT);
                }
                ui.label("•");
                wrapped_ui(ui, text);
            });
        }
        PagePart::Command(text) => {
            ui.monospace(text);
        }
        PagePart::Table(table) => table_ui(ui, table, position),
    }
}

fn table_ui(ui: &mut egui::Ui, table: &PageTable, position: usize) {
    /// The part of the width that one column takes at most.
    const WIDEST: f32 = 0.6;
    const SPACING: [f32; 2] = [16.0, 2.0];
    ui.add_space(4.0);
    ui.weak(&table.caption);
    let width = ui.available_width() * WIDEST;
    let grid = egui::Grid::new(("log", position)).striped(true).spacing(SPACING);
    let grid = grid.max_col_width(width);
    grid.show(ui, |ui| {
        for (column, (heading, is_figure)) in table.headings.iter().enumerate() {
            if *is_figure {
                let room = letters(table, column);
                ui.label(RichText::new(format!("{heading:>room$}")).strong().monospace());
            } else {
                ui.strong(heading);
            }
        }
        ui.end_row();
        for row in &table.rows {
            for (column, (cell, (_, is_figure))) in row.iter().zip(&table.headings).enumerate() {
                if *is_figure {
                    let room = letters(table, column);
                    ui.monospace(format!("{cell:>room$}"));
                } else {
                    wrapped_ui(ui, cell);
                }
            }
            ui.end_row();
        }
    });
}

/// Letters of the widest cell of a column.
fn letters(table: &PageTable, column: usize) -> usize {
    let heading = table.headings.get(column).map(|(heading, _)| heading);
    let cells = table.rows.iter().filter_map(|row| row.get(column));
    let letters = cells.chain(heading).map(|cell| cell.chars().count());
    letters.max().unwrap_or(0)
}
