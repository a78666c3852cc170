//! Recomputation cost against the memory budget, for every heuristic, as a plot and a table. A point opens as a lane.

mod legend;
mod plot;
mod points;
mod table;

use eframe::egui::{self, RichText};

use self::points::{Key, Sweep};
use crate::panels::empty::other_ui;
use crate::panels::point_table::{RowFocus, RowText, Sorting, one_row_ui};
use crate::panels::{PaneCx, choice_ui, graph_choice_ui, progress_ui};
use crate::widgets::wrapped_ui;
use highwater_model::workload::GraphIdx;
use highwater_session::{Command, Session};

/// Width of the legend right of the plot, and height of the plot.
const LEGEND: f32 = 176.0;
const PLOT: std::ops::RangeInclusive<f32> = 150.0..=460.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Axes {
    /// Budgets in bytes instead of parts of the peak.
    pub(super) in_bytes: bool,
    /// Overheads in decades.
    pub(super) is_log: bool,
}

#[derive(Clone, Debug, Default)]
pub struct BudgetsState {
    graph: usize,
    axes: Axes,
    /// Names of hidden heuristics.
    hidden: Vec<&'static str>,
    sorting: Sorting<table::Order>,
    selected: Option<Key>,
    focus: RowFocus<Key>,
}

impl BudgetsState {
    /// The graph to run.
    pub fn graph(&self) -> GraphIdx {
        GraphIdx(u32::try_from(self.graph).unwrap_or(0))
    }
}

pub fn budgets_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut BudgetsState) {
    let session = cx.session;
    let names = names(session);
    if names.is_empty() {
        let why = "Budgets need a graph or a DTR log; neither is open.";
        other_ui(ui, why, "resnet50", cx.commands);
        return;
    }
    state.graph = state.graph.min(names.len() - 1);
    controls_ui(ui, cx, &names, state);
    if session.budget_sweep().is_some() && session.is_budget_sweep_stale() {
        let text = "The settings changed: these figures are for the previous settings. Start again to update them.";
        ui.label(RichText::new(text).color(cx.theme.bad));
    }
    let Some(sweep) = Sweep::of(session) else {
        about_ui(ui, session);
        return;
    };
    if let Some(verdict) = sweep.verdict() {
        wrapped_ui(ui, RichText::new(verdict).strong());
    }
    let room = ui.available_height();
    let height = (room * 0.46).clamp(*PLOT.start(), *PLOT.end());
    ui.horizontal_top(|ui| {
        ui.set_height(height);
        let width = (ui.available_width() - LEGEND - 8.0).max(160.0);
        plot::plot_ui(ui, cx, &sweep, state, egui::vec2(width, height));
        ui.vertical(|ui| {
            egui::ScrollArea::vertical()
                .id_salt("heuristics")
                .auto_shrink([false, false])
                .show(ui, |ui| legend::legend_ui(ui, &sweep, state, cx.theme));
        });
    });
    selected_ui(ui, cx, &sweep, state);
    note_ui(ui);
    ui.add_space(2.0);
    table::table_ui(ui, cx, &sweep, state);
}

/// The graphs, or the tapes.
fn names(session: &Session) -> Vec<&str> {
    let Some(loaded) = session.loaded() else {
        return Vec::new();
    };
    let graphs = loaded.workload.graphs().iter().map(|entry| entry.name.as_str());
    let tapes = loaded.workload.tapes().iter().map(|tape| tape.name.as_str());
    graphs.chain(tapes).collect()
}

/// Graph, start and stop, progress, scales of the axes.
fn controls_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, names: &[&str], state: &mut BudgetsState) {
    ui.horizontal_wrapped(|ui| {
        graph_choice_ui(ui, &mut state.graph, "graph to run", names);
        run_ui(ui, cx, state.graph());
        ui.separator();
        ui.label("Budget");
        let in_bytes = &mut state.axes.in_bytes;
        choice_ui(ui, in_bytes, "budget in", &[(false, "% of the peak"), (true, "bytes")]);
        ui.separator();
        ui.label("Overhead");
        let is_log = &mut state.axes.is_log;
        choice_ui(ui, is_log, "overhead,", &[(false, "linear"), (true, "log")]);
    });
}

fn run_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, graph: GraphIdx) {
    let session = cx.session;
    let sweep = session.budget_sweep();
    if session.is_budget_sweep_running() {
        let stop = ui.button("Stop").on_hover_text("Stop the sweep and keep its results");
        if stop.clicked() {
            cx.commands.push(Command::StopBudgetSweep);
        }
        if let Some(table) = sweep {
            let (done, all) = (table.points.len(), table.n_total);
            let text = format!("{done} of {all}");
            progress_ui(ui, [done as u64, all as u64], 110.0, &text, || {
                format!("sweep: {text} runs")
            });
        } else {
            ui.add(egui::Spinner::new().size(12.0));
            ui.weak("unconstrained peaks…");
        }
        return;
    }
    let of_graph = sweep.filter(|table| table.subject.graph == graph && !session.is_budget_sweep_stale());
    let is_reading = session.busy().is_some_and(|busy| busy.is_loading);
    let words = match of_graph {
        None if sweep.is_some() => "Start again",
        None => "Start",
        Some(table) if table.is_unfinished() => "Continue",
        Some(table) => {
            ui.label(format!("{} runs", table.points.len()));
            return;
        }
    };
    let start = ui
        .add_enabled(!is_reading, egui::Button::new(words))
        .on_hover_text("Run many budgets with every heuristic, on all cores");
    if start.clicked() {
        cx.commands.push(Command::StartBudgetSweep(graph));
    }
    if let Some(table) = of_graph {
        ui.weak(format!("stopped at {} of {}", table.points.len(), table.n_total));
    }
}

/// The purpose of the pane, while it is empty.
fn about_ui(ui: &mut egui::Ui, session: &Session) {
    ui.add_space(8.0);
    if session.is_budget_sweep_running() {
        return;
    }
    ui.label("Smallest feasible budget and its cost");
    let text = "Start runs the graph under 18 budgets, from 95 % down to 10 % of its unconstrained peak, with each of \
                nine heuristics that select tensors to evict and recompute. Each run is a point: its budget and its \
                time overhead. Click a point to open the run as a lane.";
    wrapped_ui(ui, RichText::new(text).weak());
    note_ui(ui);
}

/// The origin of counts and times.
fn note_ui(ui: &mut egui::Ui) {
    let text = "Each engine counts peaks, evictions and recomputations by its own rules; op times are estimates from \
                the device profile unless the file states them.";
    wrapped_ui(ui, RichText::new(text).small().weak()).on_hover_text(
        "The paper's runtime counts constants and all resident tensors; MegEngine's static planner counts planned \
             tensors at the end of each step, and its eager interpreter counts allocated blocks. Percentages refer to \
             the unconstrained peak of the heuristic. Overhead is the time of recomputation in % of the program's.",
    );
}

/// The figures of the selected point, and its actions.
fn selected_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, sweep: &Sweep<'_>, state: &BudgetsState) {
    one_row_ui(ui, |ui| {
        let Some(point) = state.selected.and_then(|key| sweep.find(key)) else {
            return RowText::weak(if sweep.replaces_lanes {
                "Click a point or a row (or Enter) to select it."
            } else {
                "Click a point or a row (or Enter) to open it as a lane."
            });
        };
        if let Some(lane) = sweep.lane_of(point) {
            let close = ui.button("Close lane");
            if close.on_hover_text("Remove this run from the lanes").clicked() {
                cx.commands.push(Command::RemoveRematLane(lane));
            }
        } else {
            let (words, hint) = if sweep.replaces_lanes {
                let hint = "Replaces the lanes with this run and the run without a budget; the list next to Find \
                            switches back";
                ("Show instead of these lanes", hint)
            } else {
                ("Open as a lane", "Adds this run to the lanes")
            };
            if ui.button(words).on_hover_text(hint).clicked() {
                cx.commands.push(Command::AddRematLane(points::lane(point)));
            }
        }
        let set = ui.button("Set as dtr.eviction_threshold").on_hover_text(format!(
            "sets dtr.eviction_threshold to {} and simulation.remat_heuristic to {}, for every lane",
            point.budget.get(),
            point.heuristic.name
        ));
        if set.clicked() {
            cx.commands.push(points::as_options(point));
        }
        RowText {
            text: points::sentence(point),
            more: points::hover_text(point),
            is_weak: false,
        }
    });
}
