//! The points as a table; a row opens as a lane.

use eframe::egui::{self, RichText};
use egui_extras::{Column, TableRow};

use super::BudgetsState;
use super::points::{self, Mark, Sweep};
use crate::panels::PaneCx;
use crate::panels::marker::marker_ui;
use crate::panels::point_table::{HEIGHT, PointColumn, Sorting, aligned_cell_ui, table, with_figures};
use highwater_analysis::BudgetSweepPoint;
use highwater_model::units::{grouped, percent_text};

const MAX_WIDTH: f32 = 760.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// In the order of the heuristics, then by budget.
    #[default]
    Heuristic,
    Budget,
    Percent,
    Status,
    Overhead,
    Peak,
    Evictions,
    Recomputations,
}

/// The columns after the names.
const COLUMNS: [PointColumn<Order>; 7] = [
    PointColumn::new(Order::Budget, "budget", "budget in bytes", 70.0),
    PointColumn::new(Order::Percent, "part", "budget in % of the unconstrained peak", 42.0),
    PointColumn::new(Order::Status, "status", "outcome of the run", 78.0).of_words(),
    PointColumn::new(
        Order::Overhead,
        "overhead",
        "time of recomputation, in % of the program's, up to the end of the run",
        66.0,
    ),
    PointColumn::new(Order::Peak, "peak", "peak live bytes, by the engine's count", 70.0),
    PointColumn::new(Order::Evictions, "evictions", "evictions by the heuristic", 66.0),
    PointColumn::new(Order::Recomputations, "recomputed", "recomputed tensors", 80.0),
];

pub(super) fn table_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, sweep: &Sweep<'_>, state: &mut BudgetsState) {
    let mut rows: Vec<&BudgetSweepPoint> = sweep.shown(&state.hidden).collect();
    sort(&mut rows, state.sorting);
    let target = state.focus.walk(ui, rows.len(), |row| points::key(rows[row]));
    if let Some(target) = target {
        state.selected = Some(points::key(rows[target]));
    }
    // Figures stay near their names.
    ui.set_max_width(ui.available_width().min(MAX_WIDTH));
    let is_narrow = ui.available_width() < 560.0;
    let table = table(ui, "points", target).column(Column::remainder().at_least(90.0).clip(true));
    let table = with_figures(table, &COLUMNS, is_narrow).header(HEIGHT, |mut header| {
        let sorting = &mut state.sorting;
        let meaning = "eviction heuristic";
        header.col(|ui| sorting.head_ui(ui, Order::Heuristic, "heuristic", meaning, ""));
        for column in &COLUMNS {
            header.col(|ui| {
                let head = |ui: &mut egui::Ui| sorting.head_ui(ui, column.order, column.name, column.meaning, "");
                drop(ui.with_layout(column.layout(), head));
            });
        }
    });
    table.body(|body| {
        body.rows(HEIGHT, rows.len(), |mut line| {
            let point = rows[line.index()];
            line.set_selected(state.selected == Some(points::key(point)));
            row_ui(&mut line, cx, sweep, point, state);
        });
    });
}

fn sort(rows: &mut [&BudgetSweepPoint], sorting: Sorting<Order>) {
    let own = |point: &BudgetSweepPoint| (points::position(point.heuristic), std::cmp::Reverse(point.budget));
    let bits = |value: f64| value.max(0.0).to_bits();
    let figure = |point: &BudgetSweepPoint| match sorting.order {
        Order::Heuristic => 0,
        Order::Budget => point.budget.get(),
        Order::Percent => bits(point.ratio),
        Order::Status => Mark::of(point) as u64,
        Order::Overhead => bits(point.overhead),
        Order::Peak => point.peak.get(),
        Order::Evictions => point.counts.evictions,
        Order::Recomputations => point.counts.rematerializations,
    };
    rows.sort_by(|a, b| {
        let by = if sorting.order == Order::Heuristic {
            own(a).cmp(&own(b))
        } else {
            figure(a).cmp(&figure(b))
        };
        sorting.directed(by).then_with(|| own(a).cmp(&own(b)))
    });
}

fn row_ui(
    line: &mut TableRow<'_, '_>,
    cx: &mut PaneCx<'_>,
    sweep: &Sweep<'_>,
    point: &BudgetSweepPoint,
    state: &mut BudgetsState,
) {
    line.col(|ui| name_ui(ui, cx, sweep, point, state));
    let mark = Mark::of(point);
    let status = RichText::new(mark.words());
    let status = if mark == Mark::Fits {
        status
    } else {
        status.color(cx.theme.bad)
    };
    let overhead = points::overhead_text(point);
    let overhead = if mark.has_ended() {
        overhead
    } else {
        format!("({overhead})")
    };
    let counts = &point.counts;
    let cells = [
        (point.budget.to_string().into(), point.budget.exact()),
        (points::percent(point).into(), percent_text(point.ratio * 100.0)),
        (status, points::hover_text(point)),
        (overhead.into(), format!("×{:.9}", point.overhead)),
        (point.peak.to_string().into(), point.peak.exact()),
        (
            grouped(counts.evictions).into(),
            format!("{} in total", counts.evicted_bytes.exact()),
        ),
        (
            grouped(counts.rematerializations).into(),
            format!("{} in total", counts.rematerialized_bytes.exact()),
        ),
    ];
    for (column, (text, exact)) in COLUMNS.iter().zip(cells) {
        aligned_cell_ui(line, column, text, exact);
    }
}

/// The name; a click opens the point as a lane.
fn name_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    sweep: &Sweep<'_>,
    point: &BudgetSweepPoint,
    state: &mut BudgetsState,
) {
    let position = points::position(point.heuristic);
    let is_solid = Mark::of(point) == Mark::Fits;
    marker_ui(ui, position, 12.0, cx.theme.heuristic(position), is_solid);
    let key = points::key(point);
    let lane = sweep.lane_of(point);
    let words = match lane {
        Some(_) => format!("{} (lane)", point.heuristic.label),
        None => point.heuristic.label.to_owned(),
    };
    let verb = match lane {
        Some(_) => "is lane of",
        None if sweep.replaces_lanes => "select",
        None => "open as a lane:",
    };
    let name = || format!("{verb} {}", points::sentence(point));
    let is_selected = state.selected == Some(key);
    let button = state.focus.button_ui(ui, key, words, is_selected, name);
    if button.clicked() {
        state.selected = Some(key);
        cx.commands.extend(sweep.open(point));
    }
    button.on_hover_text(points::hover_text(point));
}
