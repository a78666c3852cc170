//! A table of points: a click on a column sorts, keys walk, a click or Enter chooses a row.

use eframe::egui::{self, Response, RichText, Role, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use super::marker::direction_ui;
use crate::numbers::count_f32;
use crate::widgets::{Named as _, keep_arrows, walked_row};

/// Size of texts and height of rows, in points.
pub(super) const SIZE: f32 = 11.0;
pub(super) const HEIGHT: f32 = 19.0;
const PAGE: usize = 10;
/// Factor of column widths in narrow panes.
const NARROW: f32 = 0.82;
/// Width of a letter of a head, and of the room around it with the mark of its order.
const LETTER: f32 = 5.7;
const HEAD: f32 = 20.0;

pub(super) struct PointColumn<O> {
    pub(super) order: O,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) width: f32,
    /// Figures are right-aligned.
    pub(super) is_figure: bool,
}

impl<O: Copy> PointColumn<O> {
    pub(super) const fn new(order: O, name: &'static str, meaning: &'static str, width: f32) -> Self {
        Self {
            order,
            name,
            meaning,
            width,
            is_figure: true,
        }
    }

    /// A column of words.
    pub(super) const fn of_words(self) -> Self {
        Self {
            is_figure: false,
            order: self.order,
            name: self.name,
            meaning: self.meaning,
            width: self.width,
        }
    }

    pub(super) fn layout(&self) -> egui::Layout {
        if self.is_figure {
            egui::Layout::right_to_left(egui::Align::Center)
        } else {
            egui::Layout::left_to_right(egui::Align::Center)
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sorting<O> {
    pub(super) order: O,
    pub(super) is_descending: bool,
}

impl<O: PartialEq> Sorting<O> {
    /// The header of a column; `of` follows its name for assistive technology.
    pub(super) fn head_ui(&mut self, ui: &mut Ui, order: O, name: &str, meaning: &str, of: &str) {
        let is_chosen = self.order == order;
        let button = ui.add(egui::Button::selectable(is_chosen, RichText::new(name).size(SIZE)).truncate());
        if is_chosen {
            direction_ui(ui, self.is_descending);
        }
        let words = if is_chosen { "sorted by" } else { "sort by" };
        let button = button.named_choice(Role::Button, is_chosen, || format!("{words} {name}{of}"));
        if button.on_hover_text(meaning).clicked() {
            self.is_descending = is_chosen && !self.is_descending;
            self.order = order;
        }
    }

    pub(super) fn directed(&self, by: std::cmp::Ordering) -> std::cmp::Ordering {
        if self.is_descending { by.reverse() } else { by }
    }
}

/// The header of a column that sorts in one direction.
pub(super) fn order_ui<O: Copy + PartialEq>(ui: &mut Ui, order: &mut O, of: O, text: &str, what: &str) {
    let is_chosen = *order == of;
    let button = ui.selectable_label(is_chosen, RichText::new(text).size(SIZE));
    let words = format!("{} {what}", if is_chosen { "sorted by" } else { "sort by" });
    let button = button.named_choice(Role::Button, is_chosen, || &words);
    if button.on_hover_text(&words).clicked() {
        *order = of;
    }
}

/// The row with the keyboard, and the row that gets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowFocus<K> {
    pub(super) wanted: Option<K>,
    has: Option<K>,
}

impl<K> Default for RowFocus<K> {
    fn default() -> Self {
        Self {
            wanted: None,
            has: None,
        }
    }
}

impl<K: Copy + PartialEq> RowFocus<K> {
    /// Moves the keyboard; returns the row that gets it.
    pub(super) fn walk(&mut self, ui: &Ui, n_rows: usize, key_of: impl Fn(usize) -> K) -> Option<usize> {
        let has = self.has?;
        let here = (0..n_rows).find(|row| key_of(*row) == has)?;
        let next = walked_row(ui, Some(here), n_rows, PAGE)?;
        self.wanted = Some(key_of(next));
        Some(next)
    }

    /// The button of a row, which takes the keyboard for the row.
    pub(super) fn button_ui(
        &mut self,
        ui: &mut Ui,
        key: K,
        text: String,
        is_selected: bool,
        name: impl Fn() -> String,
    ) -> Response {
        let button = ui.add(egui::Button::selectable(is_selected, RichText::new(text).size(SIZE)).truncate());
        let button = button.named_choice(Role::Button, is_selected, name);
        if self.wanted == Some(key) {
            self.wanted = None;
            button.request_focus();
        }
        if button.has_focus() {
            keep_arrows(ui, button.id, false, true);
            self.has = Some(key);
        } else if self.has == Some(key) {
            self.has = None;
        }
        if button.clicked() {
            // The arrow keys continue from here.
            button.request_focus();
        }
        button
    }
}

/// The sentence of a row of a fixed height.
pub(super) struct RowText {
    pub(super) text: String,
    /// On hover.
    pub(super) more: String,
    pub(super) is_weak: bool,
}

impl RowText {
    pub(super) fn weak(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            more: text.to_owned(),
            is_weak: true,
        }
    }
}

/// Height of the sentence of the selected point with its buttons.
const SENTENCE: f32 = 24.0;

/// Buttons on the right, and the sentence that `add` returns left of them, cut where it is too long: a selection never
/// moves what is below.
pub(super) fn one_row_ui(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> RowText) {
    let size = egui::vec2(ui.available_width(), SENTENCE);
    let (area, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    let mut row = ui.new_child(egui::UiBuilder::new().max_rect(area).layout(layout));
    row.shrink_clip_rect(area);
    let RowText { text, more, is_weak } = add(&mut row);
    row.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        let text = if is_weak {
            RichText::new(text).weak()
        } else {
            RichText::new(text)
        };
        ui.add(egui::Label::new(text).truncate()).on_hover_text(more);
    });
}

/// A table without columns, scrolled to a row.
pub(super) fn table<'u>(ui: &'u mut Ui, name: &str, target: Option<usize>) -> TableBuilder<'u> {
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 3.0;
    let table = TableBuilder::new(ui)
        .id_salt(name)
        .striped(true)
        .sense(egui::Sense::hover())
        .auto_shrink([false, false])
        .min_scrolled_height(60.0)
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center));
    match target {
        Some(target) => table.scroll_to_row(target, None),
        None => table,
    }
}

pub(super) fn with_figures<'u, O>(
    table: TableBuilder<'u>,
    columns: &[PointColumn<O>],
    is_narrow: bool,
) -> TableBuilder<'u> {
    let part = if is_narrow { NARROW } else { 1.0 };
    let columns = columns.iter().map(|column| {
        // A head is never cut.
        let head = count_f32(column.name.len()) * LETTER + HEAD;
        Column::exact((column.width * part).max(head)).clip(true)
    });
    columns.fold(table, TableBuilder::column)
}

/// A cell in the alignment of its column, with more on hover.
pub(super) fn aligned_cell_ui<O: Copy>(
    line: &mut TableRow<'_, '_>,
    column: &PointColumn<O>,
    text: RichText,
    more: String,
) {
    line.col(|ui| {
        ui.with_layout(column.layout(), |ui| {
            // The head has this margin, too.
            ui.add_space(ui.spacing().button_padding.x);
            let label = egui::Label::new(text.size(SIZE)).wrap_mode(egui::TextWrapMode::Extend);
            ui.add(label).on_hover_text(more);
        });
    });
}

/// A cell with more on hover.
pub(super) fn cell_ui(line: &mut TableRow<'_, '_>, text: RichText, more: String) {
    line.col(|ui| {
        ui.add(egui::Label::new(text.size(SIZE)).truncate()).on_hover_text(more);
    });
}
