//! The points as a table; a row pins its configuration.

use eframe::egui::{self, Key as Letter, RichText};
use egui_extras::{Column, TableBuilder, TableRow};

use super::plot::position;
use super::{Shown, SweepState, facts, pin};
use crate::panels::budgets::{direction_ui, marker};
use highwater_analysis::sweep::SweepPoint;
use highwater_model::units::grouped;
use highwater_session::Command;

const SIZE: f32 = 11.0;
const HEIGHT: f32 = 19.0;
const PAGE: usize = 10;

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The number in the space.
    #[default]
    Number,
    /// The value of an axis.
    Axis(usize),
    Status,
    Peak,
    Live,
    Fragmentation,
    Calls,
    Overhead,
    Front,
}

/// How the rows are sorted, and where the keyboard is.
#[derive(Clone, Debug, Default)]
pub(super) struct TableState {
    order: Order,
    is_descending: bool,
    /// The row that gets the keyboard, and the one that has it.
    focus: Option<u64>,
    focused: Option<u64>,
    /// Whether a row is to get it, as when points are asked for by key.
    pub(super) wants_focus: bool,
    /// Positions of points in order, and what they were sorted for.
    rows: Vec<usize>,
    sorted_for: Option<Sorted>,
}

/// What an order of rows depends on: the space by its number, how many points, what by.
type Sorted = (u64, usize, Order, bool);

/// Columns of figures, behind those of the axes: order, name, meaning, width.
const COLUMNS: [(Order, &str, &str, f32); 7] = [
    (
        Order::Front,
        "best",
        "whether nobody needs less memory in no more time, or less time in no more memory",
        40.0,
    ),
    (Order::Status, "status", "how it ended", 92.0),
    (Order::Peak, "peak", "the largest device bytes in use", 70.0),
    (Order::Live, "live", "the largest bytes that graphs ask for", 70.0),
    (
        Order::Fragmentation,
        "waste",
        "1 - live / reserved of feature memory, each at its peak",
        58.0,
    ),
    (
        Order::Calls,
        "calls",
        "calls of the driver that give, take or map memory",
        56.0,
    ),
    (
        Order::Overhead,
        "overhead",
        "estimated time of the policy's own calls and of computing anew",
        74.0,
    ),
];

/// Room for the number of a configuration.
const NUMBER: f32 = 58.0;
/// The least room for a value of an axis.
const VALUE: f32 = 40.0;

/// Draws the table; says whether the keyboard moved in it.
pub(super) fn table_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    state: &mut SweepState,
    commands: &mut Vec<Command>,
) -> bool {
    sort(shown, &mut state.table);
    let target = first_focus(ui, shown, state).or_else(|| walk(ui, shown, state));
    let is_narrow = ui.available_width() < 620.0;
    let axes = shown.table.space.axes();
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 3.0;
    let mut table = TableBuilder::new(ui)
        .id_salt("configurations")
        .striped(true)
        .sense(egui::Sense::hover())
        .auto_shrink([false, false])
        .min_scrolled_height(60.0)
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::exact(NUMBER).clip(true));
    for _ in axes {
        table = table.column(Column::remainder().at_least(VALUE).clip(true));
    }
    for (_, _, _, width) in &COLUMNS {
        table = table.column(Column::exact(if is_narrow { width * 0.82 } else { *width }).clip(true));
    }
    if let Some(target) = target {
        table = table.scroll_to_row(target, None);
    }
    let table = table.header(HEIGHT, |mut header| {
        header.col(|ui| sort_ui(ui, &mut state.table, Order::Number, "number", "as they are counted"));
        for (position, axis) in axes.iter().enumerate() {
            let key = axis.key();
            header.col(|ui| sort_ui(ui, &mut state.table, Order::Axis(position), axis.name(), &key));
        }
        for (order, name, meaning, _) in COLUMNS {
            header.col(|ui| sort_ui(ui, &mut state.table, order, name, meaning));
        }
    });
    let n_rows = state.table.rows.len();
    table.body(|body| {
        body.rows(HEIGHT, n_rows, |mut line| {
            let position = state.table.rows[line.index()];
            let point = &shown.table.points[position];
            line.set_selected(state.selected == Some(point.idx));
            let is_best = shown.table.front.contains(&position);
            row_ui(&mut line, shown, point, is_best, state, commands);
        });
    });
    target.is_some()
}

/// Sorts where something came or another order is wanted.
fn sort(shown: &Shown<'_>, state: &mut TableState) {
    let table = shown.table;
    let wanted = (table.number, table.points.len(), state.order, state.is_descending);
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
        let figure = match (state.order, figures) {
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
    let is_descending = state.is_descending;
    rows.sort_unstable_by(|((a, a_idx), _), ((b, b_idx), _)| {
        let by = if state.order == Order::Number {
            a_idx.cmp(b_idx)
        } else {
            a.cmp(b)
        };
        let by = if is_descending { by.reverse() } else { by };
        by.then_with(|| a_idx.cmp(b_idx))
    });
    state.rows = rows.into_iter().map(|(_, at)| at).collect();
}

fn sort_ui(ui: &mut egui::Ui, state: &mut TableState, order: Order, name: &str, meaning: &str) {
    let is_chosen = state.order == order;
    let button = ui.add(egui::Button::selectable(is_chosen, RichText::new(name).size(SIZE)).truncate());
    if is_chosen {
        direction_ui(ui, state.is_descending);
    }
    button.widget_info(|| {
        let words = if is_chosen { "sorted by" } else { "sort by" };
        egui::WidgetInfo::selected(
            egui::Role::Button,
            true,
            is_chosen,
            format!("{words} {name}, of configurations"),
        )
    });
    if button.on_hover_text(meaning).clicked() {
        state.is_descending = is_chosen && !state.is_descending;
        state.order = order;
    }
}

/// The row that gets the keyboard when points were asked for by key, chosen and brought into view: the recommended one, else
/// the first.
fn first_focus(ui: &egui::Ui, shown: &Shown<'_>, state: &mut SweepState) -> Option<usize> {
    let wants_focus = std::mem::take(&mut state.table.wants_focus);
    // Whoever types meanwhile goes on typing.
    if !wants_focus || ui.text_edit_focused() {
        return None;
    }
    let found = shown.table.recommendation.as_deref();
    let winner = found
        .and_then(|found| found.winner.as_ref())
        .map(|winner| winner.point.idx);
    let idx = |row: &usize| shown.table.points[*row].idx;
    let rows = &state.table.rows;
    let row = rows.iter().position(|row| Some(idx(row)) == winner).unwrap_or(0);
    let wanted = idx(rows.get(row)?);
    state.selected = Some(wanted);
    state.table.focus = Some(wanted);
    Some(row)
}

/// Up and down while a row has the keyboard; the row to bring into view.
fn walk(ui: &egui::Ui, shown: &Shown<'_>, state: &mut SweepState) -> Option<usize> {
    let focused = state.table.focused?;
    let idx = |position: &usize| shown.table.points[*position].idx;
    let rows = &state.table.rows;
    let here = rows.iter().position(|position| idx(position) == focused)?;
    let pressed = |letter| ui.input(|input| input.key_pressed(letter));
    let next = if pressed(Letter::ArrowDown) {
        here + 1
    } else if pressed(Letter::ArrowUp) {
        here.saturating_sub(1)
    } else if pressed(Letter::PageDown) {
        here + PAGE
    } else if pressed(Letter::PageUp) {
        here.saturating_sub(PAGE)
    } else if pressed(Letter::Home) {
        0
    } else if pressed(Letter::End) {
        rows.len() - 1
    } else {
        return None;
    };
    let next = next.min(rows.len() - 1);
    let wanted = idx(&rows[next]);
    state.selected = Some(wanted);
    state.table.focus = Some(wanted);
    Some(next)
}

fn row_ui(
    line: &mut TableRow<'_, '_>,
    shown: &Shown<'_>,
    point: &SweepPoint,
    is_best: bool,
    state: &mut SweepState,
    commands: &mut Vec<Command>,
) {
    line.col(|ui| name_ui(ui, shown, point, state, commands));
    let space = &shown.table.space;
    for (axis, value) in space.axes().iter().zip(space.values(point.idx)) {
        let words = axis.value_text(value);
        line.col(|ui| {
            let cell = egui::Label::new(RichText::new(&words).size(SIZE)).truncate();
            ui.add(cell).on_hover_text(format!("{} {value}", axis.key()));
        });
    }
    let text = |text: String| RichText::new(text).size(SIZE);
    let best = if is_best { "yes" } else { "" };
    line.col(|ui| {
        ui.label(text(best.to_owned()).color(shown.theme.good));
    });
    let status = text(point.label().to_owned());
    let status = if point.fitting().is_some() {
        status
    } else {
        status.color(shown.theme.bad)
    };
    let hover = facts::hover_text(&shown.table.space, point);
    line.col(|ui| {
        ui.add(egui::Label::new(status).truncate()).on_hover_text(hover);
    });
    let cells = point.figures().map(|figures| {
        [
            (figures.peak_reserved.to_string(), figures.peak_reserved.exact()),
            (figures.peak_live.to_string(), figures.peak_live.exact()),
            (
                format!("{:.2} %", figures.fragmentation * 100.0),
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
    for (cell, exact) in cells.unwrap_or_default() {
        line.col(|ui| {
            if !cell.is_empty() {
                ui.add(egui::Label::new(text(cell)).truncate()).on_hover_text(exact);
            }
        });
    }
}

/// The number, a button that pins.
fn name_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    point: &SweepPoint,
    state: &mut SweepState,
    commands: &mut Vec<Command>,
) {
    let space = &shown.table.space;
    let place = position(point.policy);
    let (area, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
    let color = shown.theme.heuristic(place);
    marker(
        ui.painter(),
        area.center(),
        place,
        3.2,
        color,
        point.fitting().is_some(),
    );
    let idx = point.idx;
    let is_selected = state.selected == Some(idx);
    let words = RichText::new(grouped(idx)).size(SIZE);
    let button = ui.add(egui::Button::selectable(is_selected, words).truncate());
    button.widget_info(|| {
        let label = format!("pin {}", facts::sentence(space, point));
        egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, label)
    });
    if state.table.focus == Some(idx) {
        state.table.focus = None;
        button.request_focus();
    }
    if button.has_focus() {
        let arrows = egui::EventFilter {
            vertical_arrows: true,
            ..egui::EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(button.id, arrows));
        state.table.focused = Some(idx);
    } else if state.table.focused == Some(idx) {
        state.table.focused = None;
    }
    if button.clicked() {
        // The arrow keys go on from here.
        button.request_focus();
        state.selected = Some(idx);
        commands.push(pin(space, idx));
    }
    button.on_hover_text(facts::hover_text(space, point));
}
