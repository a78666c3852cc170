//! Sortable tables: columns as data, heads that sort, rows of one height of which only the visible ones are made.

use std::cmp::Ordering;

use eframe::egui::{self, Align, Layout, RichText, Role, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use super::marker::direction_ui;
use super::width_of;
use crate::widgets::Named as _;
use highwater_timeline::Sort;

/// Height of the heads, and size of their texts, in points.
const HEAD: f32 = 20.0;
pub(super) const SIZE: f32 = 11.0;
/// Room for the mark of the order.
const MARK: f32 = 12.0;

/// The head of a column.
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    /// What it sorts by, for assistive technology; empty for a column that does not sort.
    pub(super) sorts_by: &'a str,
    /// On hover.
    pub(super) about: String,
    pub(super) width: Column,
    /// At first numbers sort from the largest down.
    pub(super) is_number: bool,
    pub(super) is_right_aligned: bool,
    /// Room between its text and the edge of the column, in points, where it does not sort.
    pub(super) margin: f32,
}

impl<'a> Head<'a> {
    /// Of a column that does not sort.
    pub(super) fn new(title: &'a str, width: Column) -> Self {
        Self {
            title,
            sorts_by: "",
            about: String::new(),
            width,
            is_number: false,
            is_right_aligned: false,
            margin: 0.0,
        }
    }
}

/// The chosen order of rows; `None` for the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sorting {
    pub(super) chosen: Option<Sort>,
    /// The order that the rows have without a choice, where it is that of a column.
    pub(super) usual: Option<Sort>,
}

impl Sorting {
    pub(super) fn sort(self) -> Option<Sort> {
        self.chosen.or(self.usual)
    }

    /// A click sorts, a second one reverses, a third one resets.
    pub(super) fn click(&mut self, column: usize, is_number: bool) {
        let first = Sort {
            column,
            is_descending: is_number,
        };
        self.chosen = match self.sort().filter(|sort| sort.column == column) {
            None => Some(first),
            Some(sort) if sort == first => Some(Sort {
                is_descending: !first.is_descending,
                ..first
            }),
            Some(_) => None,
        };
    }

    /// Sorts rows by the values of a column; equal ones stay as they are.
    pub(super) fn order<R>(self, rows: &mut [R], compare: impl Fn(usize, &R, &R) -> Ordering) {
        let Some(Sort { column, is_descending }) = self.sort() else {
            return;
        };
        rows.sort_by(|one, other| {
            let order = compare(column, one, other);
            if is_descending { order.reverse() } else { order }
        });
    }
}

/// Adds heads and rows to a table without columns; `row` gets the widths of the columns, too.
pub(super) fn sorted_table_ui(
    table: TableBuilder<'_>,
    heads: &[Head<'_>],
    sorting: &mut Sorting,
    (height, n_rows): (f32, usize),
    mut row: impl FnMut(&mut TableRow<'_, '_>, &[f32]),
) {
    let table = table.cell_layout(Layout::left_to_right(Align::Center));
    let table = heads.iter().fold(table, |table, head| table.column(head.width));
    let table = table.header(HEAD, |mut header| {
        for (column, head) in heads.iter().enumerate() {
            header.col(|ui| head_ui(ui, column, head, sorting));
        }
    });
    table.body(|body| {
        let widths = body.widths().to_vec();
        body.rows(height, n_rows, |mut line| row(&mut line, &widths));
    });
}

fn head_ui(ui: &mut Ui, column: usize, head: &Head<'_>, sorting: &mut Sorting) {
    let text = RichText::new(head.title).size(SIZE);
    let layout = if head.is_right_aligned {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    if head.sorts_by.is_empty() {
        let label = ui.with_layout(layout, |ui| {
            ui.add_space(head.margin);
            ui.label(text.weak())
        });
        let label = label.inner;
        if !head.about.is_empty() {
            label.on_hover_text(&head.about);
        }
        return;
    }
    let own = sorting.sort().filter(|sort| sort.column == column);
    let state = match own {
        Some(sort) if sort.is_descending => "sorted in reverse by",
        Some(_) => "sorted by",
        None => "sort by",
    };
    let button = ui.with_layout(layout, |ui| {
        // Narrow columns show the title alone.
        let room = ui.available_width() - width_of(ui, head.title, SIZE) - 2.0 * ui.spacing().button_padding.x;
        let button = ui.add(egui::Button::selectable(own.is_some(), text).truncate());
        if let Some(sort) = own.filter(|_| room >= MARK) {
            direction_ui(ui, sort.is_descending);
        }
        button
    });
    let button = button.inner.named_choice(Role::ColumnHeader, own.is_some(), || {
        format!("{state} {}", head.sorts_by)
    });
    if button.on_hover_text(&head.about).clicked() {
        sorting.click(column, head.is_number);
    }
}
