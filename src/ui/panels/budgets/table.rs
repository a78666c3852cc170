//! The points as a table; a row opens as a lane.

use eframe::egui::{self, Key as Letter, RichText};
use egui_extras::{Column, TableBuilder, TableRow};

use super::BudgetsState;
use super::marker::{DOWN, UP, marker};
use super::points::{self, Mark, Sweep};
use crate::theme::Theme;
use highwater_analysis::BudgetSweepPoint;
use highwater_model::units::grouped;
use highwater_session::Command;

const SIZE: f32 = 11.0;
const HEIGHT: f32 = 19.0;
const MAX_WIDTH: f32 = 760.0;

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The table of heuristics, then budgets.
    #[default]
    Heuristic,
    Budget,
    Percent,
    Status,
    Overhead,
    Peak,
    Evictions,
    Anew,
}

/// How the rows are sorted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sorting {
    order: Order,
    is_descending: bool,
}

/// Columns: order, name, meaning, width.
const COLUMNS: [(Order, &str, &str, f32); 8] = [
    (Order::Heuristic, "heuristic", "what chooses what is evicted", 0.0),
    (Order::Budget, "budget", "the budget in bytes", 70.0),
    (
        Order::Percent,
        "part",
        "the budget as a part of the heuristic's own peak without one",
        42.0,
    ),
    (Order::Status, "status", "how the run ended", 78.0),
    (
        Order::Overhead,
        "overhead",
        "(program + computed anew) / program, in time; up to where the run ended",
        66.0,
    ),
    (
        Order::Peak,
        "peak",
        "the highest bytes in use, as the engine counts them",
        70.0,
    ),
    (Order::Evictions, "evictions", "chosen by the heuristic", 66.0),
    (
        Order::Anew,
        "anew",
        "tensors computed anew because they were needed",
        60.0,
    ),
];

/// Draws the table.
pub(super) fn table_ui(
    ui: &mut egui::Ui,
    sweep: &Sweep<'_>,
    state: &mut BudgetsState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let mut rows: Vec<&BudgetSweepPoint> = sweep.shown(&state.hidden).collect();
    sort(&mut rows, state.order);
    let target = walk(ui, &rows, state);
    // Figures stay near to the names that they belong to.
    ui.set_max_width(ui.available_width().min(MAX_WIDTH));
    let is_narrow = ui.available_width() < 560.0;
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 3.0;
    let mut table = TableBuilder::new(ui)
        .id_salt("points")
        .striped(true)
        .sense(egui::Sense::hover())
        .auto_shrink([false, false])
        .min_scrolled_height(60.0)
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::remainder().at_least(90.0).clip(true));
    for (_, _, _, width) in &COLUMNS[1..] {
        table = table.column(Column::exact(if is_narrow { width * 0.82 } else { *width }).clip(true));
    }
    if let Some(target) = target {
        table = table.scroll_to_row(target, None);
    }
    let table = table.header(HEIGHT, |mut header| {
        for (order, name, meaning, _) in COLUMNS {
            header.col(|ui| sort_ui(ui, &mut state.order, order, name, meaning));
        }
    });
    table.body(|body| {
        body.rows(HEIGHT, rows.len(), |mut line| {
            let point = rows[line.index()];
            line.set_selected(state.selected == Some(points::key(point)));
            row_ui(&mut line, sweep, point, state, theme, commands);
        });
    });
}

fn sort(rows: &mut [&BudgetSweepPoint], Sorting { order, is_descending }: Sorting) {
    let own = |point: &BudgetSweepPoint| (points::position(point.heuristic), std::cmp::Reverse(point.budget));
    let bits = |value: f64| value.max(0.0).to_bits();
    let figure = |point: &BudgetSweepPoint| match order {
        Order::Heuristic => 0,
        Order::Budget => point.budget.get(),
        Order::Percent => bits(point.ratio),
        Order::Status => Mark::of(point) as u64,
        Order::Overhead => bits(point.overhead),
        Order::Peak => point.peak.get(),
        Order::Evictions => point.counts.evictions,
        Order::Anew => point.counts.rematerializations,
    };
    rows.sort_by(|a, b| {
        let by = figure(a).cmp(&figure(b));
        let by = if order == Order::Heuristic {
            own(a).cmp(&own(b))
        } else {
            by
        };
        let by = if is_descending { by.reverse() } else { by };
        by.then_with(|| own(a).cmp(&own(b)))
    });
}

fn sort_ui(ui: &mut egui::Ui, sorting: &mut Sorting, order: Order, name: &str, meaning: &str) {
    let is_chosen = sorting.order == order;
    let button = ui.add(egui::Button::selectable(is_chosen, RichText::new(name).size(SIZE)).truncate());
    if is_chosen {
        direction_ui(ui, sorting.is_descending);
    }
    button.widget_info(|| {
        let words = if is_chosen { "sorted by" } else { "sort by" };
        egui::WidgetInfo::selected(egui::Role::Button, true, is_chosen, format!("{words} {name}"))
    });
    if button.on_hover_text(meaning).clicked() {
        sorting.is_descending = is_chosen && !sorting.is_descending;
        sorting.order = order;
    }
}

/// A triangle, as the bundled font has no such letter: up where the smallest comes first.
pub(in crate::panels) fn direction_ui(ui: &mut egui::Ui, is_descending: bool) {
    let (area, _) = ui.allocate_exact_size(egui::vec2(7.0, 7.0), egui::Sense::hover());
    let position = if is_descending { DOWN } else { UP };
    let color = ui.visuals().text_color();
    marker(ui.painter(), area.center(), position, 2.8, color, true);
}

/// Up and down while a row has the keyboard; the row to bring into view.
fn walk(ui: &egui::Ui, rows: &[&BudgetSweepPoint], state: &mut BudgetsState) -> Option<usize> {
    let focused = state.focused?;
    let here = rows.iter().position(|point| points::key(point) == focused)?;
    let pressed = |letter| ui.input(|input| input.key_pressed(letter));
    let page = 10;
    let next = if pressed(Letter::ArrowDown) {
        here + 1
    } else if pressed(Letter::ArrowUp) {
        here.saturating_sub(1)
    } else if pressed(Letter::PageDown) {
        here + page
    } else if pressed(Letter::PageUp) {
        here.saturating_sub(page)
    } else {
        return None;
    };
    let next = next.min(rows.len() - 1);
    let key = points::key(rows[next]);
    state.selected = Some(key);
    state.focus = Some(key);
    Some(next)
}

fn row_ui(
    line: &mut TableRow<'_, '_>,
    sweep: &Sweep<'_>,
    point: &BudgetSweepPoint,
    state: &mut BudgetsState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    line.col(|ui| name_ui(ui, sweep, point, state, theme, commands));
    let mark = Mark::of(point);
    let status = RichText::new(mark.words()).size(SIZE);
    let status = if mark == Mark::Fits {
        status
    } else {
        status.color(theme.bad)
    };
    let text = |text: String| RichText::new(text).size(SIZE);
    let overhead = points::overhead_text(point);
    let overhead = if mark.has_ended() {
        overhead
    } else {
        format!("({overhead})")
    };
    let cells = [
        (text(point.budget.to_string()), point.budget.exact()),
        (text(points::percent(point)), format!("{:.2} %", point.ratio * 100.0)),
        (status, points::hover_text(point)),
        (text(overhead), format!("{:.9}", point.overhead)),
        (text(point.peak.to_string()), point.peak.exact()),
        (
            text(grouped(point.counts.evictions)),
            format!("{} in sum", point.counts.evicted_bytes.exact()),
        ),
        (
            text(grouped(point.counts.rematerializations)),
            format!("{} in sum", point.counts.rematerialized_bytes.exact()),
        ),
    ];
    for (text, exact) in cells {
        line.col(|ui| {
            ui.add(egui::Label::new(text).truncate()).on_hover_text(exact);
        });
    }
}

/// The name, which opens the point as a lane.
fn name_ui(
    ui: &mut egui::Ui,
    sweep: &Sweep<'_>,
    point: &BudgetSweepPoint,
    state: &mut BudgetsState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let position = points::position(point.heuristic);
    let (area, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
    let is_solid = Mark::of(point) == Mark::Fits;
    marker(
        ui.painter(),
        area.center(),
        position,
        3.2,
        theme.heuristic(position),
        is_solid,
    );
    let key = points::key(point);
    let lane = sweep.lane_of(point);
    let words = match lane {
        Some(lane) => format!("{} (lane {})", point.heuristic.label, lane + 2),
        None => point.heuristic.label.to_owned(),
    };
    let is_selected = state.selected == Some(key);
    let button = ui.add(egui::Button::selectable(is_selected, RichText::new(words).size(SIZE)).truncate());
    button.widget_info(|| {
        let verb = if lane.is_some() {
            "is lane of"
        } else {
            "open as a lane:"
        };
        let label = format!("{verb} {}", points::sentence(point));
        egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, label)
    });
    if state.focus == Some(key) {
        state.focus = None;
        button.request_focus();
    }
    if button.has_focus() {
        let arrows = egui::EventFilter {
            vertical_arrows: true,
            ..egui::EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(button.id, arrows));
        state.focused = Some(key);
    } else if state.focused == Some(key) {
        state.focused = None;
    }
    if button.clicked() {
        // The arrow keys go on from here.
        button.request_focus();
        state.selected = Some(key);
        commands.extend(sweep.open(point));
    }
    button.on_hover_text(points::hover_text(point));
}
