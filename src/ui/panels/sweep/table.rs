//! The points as a table; a row pins its configuration.

use eframe::egui::{self, RichText};
use egui_extras::{Column, TableRow};

use super::plot::position;
use super::{Shown, SweepState, facts, pin};
use crate::panels::PaneCx;
use crate::panels::marker::marker_ui;
use crate::panels::point_table::{
    HEIGHT, PointColumn, RowFocus, SIZE, Sorting, aligned_cell_ui, cell_ui, table, with_figures,
};
use highwater_analysis::sweep::SweepPoint;
use highwater_model::units::{grouped, percent_text};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The number of the configuration.
    #[default]
    Number,
    Axis(usize),
    Status,
    Peak,
    Live,
    Fragmentation,
    Calls,
    Overhead,
    Front,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TableState {
    sorting: Sorting<Order>,
    focus: RowFocus<u64>,
    /// Gives a row the keyboard, as after the pane's shortcut.
    pub(super) wants_focus: bool,
    /// Positions of points in order, and the key of that order.
    rows: Vec<usize>,
    sorted_for: Option<Sorted>,
}

/// Number of the sweep, number of points, sorting.
type Sorted = (u64, usize, Sorting<Order>);

/// Columns after those of the axes.
const COLUMNS: [PointColumn<Order>; 7] = [
    PointColumn::new(
        Order::Front,
        "front",
        "whether the configuration is Pareto-optimal in memory and time",
        44.0,
    )
    .of_words(),
    PointColumn::new(Order::Status, "status", "outcome", 92.0).of_words(),
    PointColumn::new(Order::Peak, "peak", "peak reserved device bytes", 70.0),
    PointColumn::new(Order::Live, "live", "peak live bytes", 70.0),
    PointColumn::new(
        Order::Fragmentation,
        "fragmentation",
        "1 - live / reserved of feature memory, each at its peak",
        58.0,
    ),
    PointColumn::new(
        Order::Calls,
        "calls",
        "driver calls that allocate, free or map memory",
        56.0,
    ),
    PointColumn::new(
        Order::Overhead,
        "overhead",
        "estimated time of the policy's device calls and of recomputation",
        74.0,
    ),
];

/// Width of the number.
const NUMBER: f32 = 58.0;
/// Least width of an axis's value.
const VALUE: f32 = 44.0;
const OF: &str = ", of configurations";

/// Returns whether a key moved to another row.
pub(super) fn table_ui(ui: &mut egui::Ui, shown: &Shown<'_>, state: &mut SweepState, cx: &mut PaneCx<'_>) -> bool {
    sort(shown, &mut state.table);
    let target = first_focus(ui, shown, state).or_else(|| walk(ui, shown, state));
    let is_narrow = ui.available_width() < 720.0;
    let axes = shown.table.space.axes();
    let mut table = table(ui, "configurations", target).column(Column::exact(NUMBER).clip(true));
    for _ in axes {
        table = table.column(Column::remainder().at_least(VALUE).clip(true));
    }
    let table = with_figures(table, &COLUMNS, is_narrow).header(HEIGHT, |mut header| {
        let sorting = &mut state.table.sorting;
        header.col(|ui| sorting.head_ui(ui, Order::Number, "number", "as they are counted", OF));
        for (position, axis) in axes.iter().enumerate() {
            header.col(|ui| sorting.head_ui(ui, Order::Axis(position), axis.name(), &axis.key(), OF));
        }
        for column in &COLUMNS {
            header.col(|ui| {
                let head = |ui: &mut egui::Ui| sorting.head_ui(ui, column.order, column.name, column.meaning, OF);
                drop(ui.with_layout(column.layout(), head));
            });
        }
    });
    let n_rows = state.table.rows.len();
    table.body(|body| {
        body.rows(HEIGHT, n_rows, |mut line| {
            let position = state.table.rows[line.index()];
            let point = &shown.table.points[position];
            line.set_selected(state.selected == Some(point.idx));
            let is_best = shown.table.front.contains(&position);
            row_ui(&mut line, shown, point, is_best, state, cx);
        });
    });
    target.is_some()
}

/// Sorts where points or sorting changed.
fn sort(shown: &Shown<'_>, state: &mut TableState) {
    let table = shown.table;
    let sorting = state.sorting;
    let wanted = (table.number, table.points.len(), sorting);
    if state.sorted_for == Some(wanted) {
        return;
    }
    state.sorted_for = Some(wanted);
    let mut on_front = vec![1_u64; table.points.len()];
    for position in &table.front {
        on_front[*position] = 0;
    }
    let key = |position: usize| -> (u64, u64) {
        let point = &table.points[position];
        let figures = point.figures();
        let figure = match (sorting.order, figures) {
            (Order::Number, _) => 0,
            (Order::Axis(axis), _) => table.space.digits(point.idx).get(axis).map_or(0, |digit| *digit as u64),
            (Order::Front, _) => on_front[position],
            (Order::Status, None) => 9,
            (Order::Status, Some(figures)) => figures.ending as u64,
            (_, None) => u64::MAX,
            (Order::Peak, Some(figures)) => figures.peak_reserved.get(),
            (Order::Live, Some(figures)) => figures.peak_live.get(),
            (Order::Fragmentation, Some(figures)) => figures.fragmentation.max(0.0).to_bits(),
            (Order::Calls, Some(figures)) => figures.device_calls(),
            (Order::Overhead, Some(figures)) => figures.overhead.0,
        };
        (figure, point.idx)
    };
    let mut rows: Vec<((u64, u64), usize)> = (0..table.points.len()).map(|at| (key(at), at)).collect();
    rows.sort_unstable_by(|((a, a_idx), _), ((b, b_idx), _)| {
        let by = if sorting.order == Order::Number {
            a_idx.cmp(b_idx)
        } else {
            a.cmp(b)
        };
        sorting.directed(by).then_with(|| a_idx.cmp(b_idx))
    });
    state.rows = rows.into_iter().map(|(_, at)| at).collect();
}

/// The row that gets the keyboard after the shortcut, selected and scrolled to: the recommended one, else the first.
fn first_focus(ui: &egui::Ui, shown: &Shown<'_>, state: &mut SweepState) -> Option<usize> {
    let wants_focus = std::mem::take(&mut state.table.wants_focus);
    // A field that has the keyboard keeps it.
    if !wants_focus || ui.text_edit_focused() {
        return None;
    }
    let winner = shown.winner();
    let idx = |row: &usize| shown.table.points[*row].idx;
    let rows = &state.table.rows;
    let row = rows.iter().position(|row| Some(idx(row)) == winner).unwrap_or(0);
    let wanted = idx(rows.get(row)?);
    state.selected = Some(wanted);
    state.table.focus.wanted = Some(wanted);
    Some(row)
}

/// Moves the keyboard; returns the row to scroll to.
fn walk(ui: &egui::Ui, shown: &Shown<'_>, state: &mut SweepState) -> Option<usize> {
    let TableState { focus, rows, .. } = &mut state.table;
    let idx = |row: usize| shown.table.points[rows[row]].idx;
    let next = focus.walk(ui, rows.len(), idx)?;
    state.selected = Some(idx(next));
    Some(next)
}

fn row_ui(
    line: &mut TableRow<'_, '_>,
    shown: &Shown<'_>,
    point: &SweepPoint,
    is_best: bool,
    state: &mut SweepState,
    cx: &mut PaneCx<'_>,
) {
    line.col(|ui| name_ui(ui, shown, point, state, cx));
    let space = &shown.table.space;
    for (axis, value) in space.axes().iter().zip(space.values(point.idx)) {
        let words = axis.value_text(value);
        cell_ui(line, words.into(), format!("{} {value}", axis.key()));
    }
    let best = RichText::new(if is_best { "yes" } else { "" }).size(SIZE);
    line.col(|ui| {
        ui.label(best.color(shown.theme.good));
    });
    let status = RichText::new(point.label());
    let status = if point.fitting().is_some() {
        status
    } else {
        status.color(shown.theme.bad)
    };
    cell_ui(line, status, facts::hover_text(space, point));
    let cells = point.figures().map(|figures| {
        [
            (figures.peak_reserved.to_string(), figures.peak_reserved.exact()),
            (figures.peak_live.to_string(), figures.peak_live.exact()),
            (
                percent_text(figures.fragmentation * 100.0),
                format!("{:.6} %", figures.fragmentation * 100.0),
            ),
            (
                grouped(figures.device_calls()),
                format!("{} mallocs, {} frees", figures.device_mallocs, figures.device_frees),
            ),
            (
                figures.overhead.to_string(),
                format!("{}\u{a0}ns, an estimate", grouped(figures.overhead.0)),
            ),
        ]
    });
    // The first columns are of words.
    for (column, (cell, exact)) in COLUMNS.iter().skip(2).zip(cells.unwrap_or_default()) {
        if cell.is_empty() {
            line.col(|_| {});
        } else {
            aligned_cell_ui(line, column, cell.into(), exact);
        }
    }
}

/// The number; a click pins the configuration.
fn name_ui(ui: &mut egui::Ui, shown: &Shown<'_>, point: &SweepPoint, state: &mut SweepState, cx: &mut PaneCx<'_>) {
    let (space, idx) = (&shown.table.space, point.idx);
    let place = position(point.policy);
    marker_ui(ui, place, 12.0, shown.theme.heuristic(place), point.fitting().is_some());
    let name = || format!("pin {}", facts::sentence(space, point));
    let is_selected = state.selected == Some(idx);
    let button = state.table.focus.button_ui(ui, idx, grouped(idx), is_selected, name);
    if button.clicked() {
        state.selected = Some(idx);
        cx.commands.push(pin(space, idx));
    }
    button.on_hover_text(facts::hover_text(space, point));
}
