//! Sweeps: points over some axes as a plot and a table, with their Pareto front; configurations, budgets, placement
//! strategies and allocator settings are presets. A click on a point shows it as a lane.

mod advice;
mod axes;
mod budgets;
mod configurations;
mod drafts;
mod frame;
mod kept;
mod legend;
mod plot;
mod points;
mod settings;
mod strategies;
mod table;

use eframe::egui::{self, RichText};

pub use self::budgets::{BudgetsState, budgets_ui};
pub use self::configurations::{ConfigurationsState, sweep_ui};
use self::kept::Kept;
use self::plot::PlacedPoints;
use self::points::{Points, hover_text, sentence};
pub use self::settings::is_for as has_allocator_settings;
pub use self::strategies::{Found, StrategiesState, choices, found_text, strategies_ui};
use self::table::{Endings, TableState};
use crate::panels::{PaneCx, progress_ui};
use crate::widgets::{Named as _, wrapped_ui};
use highwater_model::units::{counted, grouped};
use highwater_session::Command;

/// Height of the plot.
const PLOT: std::ops::RangeInclusive<f32> = 150.0..=460.0;
/// In panes of this height the table has the remaining room; lower ones scroll. Less is enough where nothing is below
/// the plot.
const TALL: f32 = 640.0;
const TALL_BESIDE: f32 = 430.0;
/// Height of the table in panes that scroll.
const TABLE: f32 = 210.0;
/// Wide panes show the recommendation next to the plot.
const WIDE: f32 = 620.0;
/// Height of the sentence of the selected point with its buttons.
const SENTENCE: f32 = 24.0;

/// The view of the points of one kind of sweep.
#[derive(Clone, Debug, Default)]
struct PointsState {
    table: TableState,
    selected: Option<u64>,
    /// Positions of hidden series.
    hidden: Vec<usize>,
    /// Overheads in decades.
    is_log: bool,
    /// The number of the sweep that the selection is of.
    number: Option<u64>,
    endings: Kept<Endings>,
    placed: Kept<PlacedPoints>,
}

impl PointsState {
    /// Clears the selection where it is of another sweep.
    fn follow(&mut self, points: &dyn Points) {
        let number = Some(points.number());
        if self.number.is_some() && self.number != number {
            self.selected = None;
        }
        self.number = number;
    }
}

/// Further content next to the plot, or below it in narrow panes; it has this height, or scrolls with the pane.
type Side<'s> = &'s mut dyn FnMut(&mut egui::Ui, &mut PaneCx<'_>, &mut PointsState, Option<f32>);

/// The state of a sweep, and its commands.
struct Run {
    is_running: bool,
    /// Done and all, once that is known.
    progress: Option<[u64; 2]>,
    /// Whether the points are of the wanted order and settings.
    is_current: bool,
    /// One point, such as "run".
    noun: &'static str,
    /// The number of points that start would try, where it is known.
    n_wanted: Option<u64>,
    hint: &'static str,
    start: Command,
    stop: Command,
    /// Whether it can start now.
    can_start: bool,
}

/// Start, stop, go on; the number of points, or progress.
fn run_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, run: Run) {
    if run.is_running {
        let stop = ui.button("Stop").on_hover_text("Stop the sweep and keep its results");
        if stop.clicked() {
            cx.commands.push(run.stop);
        }
        let Some([done, all]) = run.progress else {
            ui.add(egui::Spinner::new().size(12.0));
            ui.weak("preparing…");
            return;
        };
        let text = if done == all {
            "weighing…".to_owned()
        } else {
            format!("{} of {}", grouped(done), counted(all, run.noun))
        };
        progress_ui(ui, [done, all], 150.0, &text, || format!("tried: {text}"));
        return;
    }
    let known = run.progress.filter(|_| run.is_current);
    let words = match known {
        Some([done, all]) if done == all => {
            ui.label(format!("{}, all tried", counted(all, run.noun)));
            return;
        }
        Some(_) => "Continue",
        None if run.progress.is_some() => "Start again",
        None => "Start",
    };
    let is_reading = cx.session.busy().is_some_and(|busy| busy.is_loading);
    let start = ui.add_enabled(run.can_start && !is_reading, egui::Button::new(words));
    if start.on_hover_text(run.hint).clicked() {
        cx.commands.push(run.start);
    }
    match (known, run.n_wanted) {
        (Some([done, all]), _) => ui.weak(format!("stopped at {} of {}", grouped(done), grouped(all))),
        (None, Some(wanted)) => ui.weak(counted(wanted, run.noun)),
        (None, None) => return,
    };
}

fn stale_ui(ui: &mut egui::Ui, cx: &PaneCx<'_>) {
    let text = "The settings changed: these points are for the previous settings. Start again to update them.";
    wrapped_ui(ui, RichText::new(text).color(cx.theme.bad));
}

/// The purpose of a sweep without points.
fn about_ui(ui: &mut egui::Ui, title: &str, text: &str) {
    ui.add_space(8.0);
    ui.label(title);
    wrapped_ui(ui, RichText::new(text).weak());
}

/// Plot, side, summary, selected point and table, on the available height or scrolled.
fn results_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    points: &dyn Points,
    state: &mut PointsState,
    side: Option<Side<'_>>,
) {
    state.follow(points);
    let is_low = side.is_none() || ui.available_width() >= WIDE;
    let tall = if is_low { TALL_BESIDE } else { TALL };
    if points.plotted().is_none() || ui.available_height() >= tall {
        content_ui(ui, cx, points, state, side, false);
        table::table_ui(ui, cx, points, state);
        return;
    }
    // A solid scroll bar shows that there is more below.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let area = egui::ScrollArea::vertical()
        .id_salt("results")
        .auto_shrink([false, false]);
    area.show(ui, |ui| {
        content_ui(ui, cx, points, state, side, true);
        let room = egui::vec2(ui.available_width(), TABLE);
        let area = egui::Rect::from_min_size(ui.next_widget_position(), room);
        let table = egui::UiBuilder::new().max_rect(area);
        let moved = ui.scope_builder(table, |ui| table::table_ui(ui, cx, points, state));
        if moved.inner {
            ui.scroll_to_rect(area, None);
        }
    });
}

/// Everything above the table.
fn content_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    points: &dyn Points,
    state: &mut PointsState,
    side: Option<Side<'_>>,
    is_scrolled: bool,
) {
    let room = if is_scrolled { TALL } else { ui.available_height() };
    let height = (room * 0.5).clamp(*PLOT.start(), *PLOT.end());
    let width = ui.available_width();
    if let Some(summary) = points.summary().filter(|_| side.is_none()) {
        wrapped_ui(ui, RichText::new(summary).strong());
    }
    match side {
        None => plot::plot_ui(ui, cx, points, state, egui::vec2(width, height)),
        Some(side) if width < WIDE => {
            let of_plot = if is_scrolled { *PLOT.start() } else { height * 0.8 };
            plot::plot_ui(ui, cx, points, state, egui::vec2(width, of_plot));
            highlights_ui(ui, points, state);
            side(ui, cx, state, (!is_scrolled).then_some(height * 0.8));
        }
        Some(side) => {
            ui.horizontal_top(|ui| {
                ui.set_height(height);
                plot::plot_ui(ui, cx, points, state, egui::vec2(width * 0.55, height));
                ui.vertical(|ui| side(ui, cx, state, Some(f32::INFINITY)));
            });
            highlights_ui(ui, points, state);
        }
    }
    selected_ui(ui, cx, points, state);
}

/// The summary and results in a line, each a link to its point.
fn highlights_ui(ui: &mut egui::Ui, points: &dyn Points, state: &mut PointsState) {
    ui.horizontal_wrapped(|ui| {
        if let Some(summary) = points.summary() {
            ui.label(summary);
        }
        for (label, text, more, at) in points.highlights() {
            ui.label("·");
            ui.weak(&label);
            let link = ui.link(&text).named(egui::Role::Link, || format!("{label} {text}"));
            if link.on_hover_text(more + &hover_text(points, at)).clicked() {
                state.selected = Some(points.key(at));
            }
        }
    });
}

/// The selected point in a row of a fixed height: its buttons on the right, its figures left of them, cut where they are
/// too long. A selection never moves what is below.
fn selected_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, points: &dyn Points, state: &PointsState) {
    let size = egui::vec2(ui.available_width(), SENTENCE);
    let (area, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    let mut row = ui.new_child(egui::UiBuilder::new().max_rect(area).layout(layout));
    row.shrink_clip_rect(area);
    let selected = state.selected.and_then(|key| points.find(key));
    let (text, more) = match selected {
        None => {
            let hint = format!("Click a point or a row, or press Enter: {}.", points.verb());
            (RichText::new(&hint).weak(), hint)
        }
        Some(at) => (RichText::new(sentence(points, at)), hover_text(points, at)),
    };
    for (label, hint, command) in selected.map_or_else(Vec::new, |at| points.actions(at)) {
        if row.button(label).on_hover_text(hint).clicked() {
            cx.commands.push(command);
        }
    }
    row.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.add(egui::Label::new(text).truncate()).on_hover_text(more);
    });
}
