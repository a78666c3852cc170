//! The planner: every strategy over one arena, with footprint, distance to the bound and time; a click shows one.

use eframe::egui::{self, RichText};

use crate::analysis::{Comparison, LaneId};
use crate::plan::Effort;
use crate::session::{Command, PlannerFigures, PlannerRow, PlannerTable, Session};
use crate::ui::theme::Theme;
use crate::units::{Bytes, percent_text};
use crate::workload::GraphIdx;

/// How the rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The smallest footprint first.
    #[default]
    Footprint,
    /// The quickest first.
    Time,
    /// By name.
    Name,
}

/// What the panel remembers.
#[derive(Clone, Debug, Default)]
pub struct PlannerState {
    order: Order,
    graph: usize,
    /// The lane that a click changes; `None` stands for all.
    lane: Option<LaneId>,
}

/// Draws the pane.
pub fn planner_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut PlannerState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some((comparison, _)) = session.answer() else {
        ui.weak("The strategies that place an arena are compared here.");
        return;
    };
    let arenas: Vec<usize> = (0..comparison.session.graphs.len())
        .filter(|graph| comparison.session.graphs[*graph].is_static)
        .collect();
    let Some(first) = arenas.first() else {
        ui.label("No graph is placed in an arena: all shapes change over the schedule, so tensors are given op by op.");
        return;
    };
    if !arenas.contains(&state.graph) {
        state.graph = *first;
    }
    if arenas.len() > 1 {
        graph_ui(ui, comparison, &arenas, state);
    }
    let graph = GraphIdx(u32::try_from(state.graph).unwrap_or(0));
    if !session.has_planner_table(graph) && !session.is_stale() {
        commands.push(Command::ListPlans(graph));
    }
    lane_choice_ui(ui, comparison, state);
    let Some(table) = session.planner_table() else { return };
    heading_ui(ui, comparison, table, commands);
    egui::ScrollArea::both()
        .auto_shrink([false, false])
        .show(ui, |ui| rows_ui(ui, comparison, table, (state, theme, commands)));
}

fn graph_ui(ui: &mut egui::Ui, comparison: &Comparison, arenas: &[usize], state: &mut PlannerState) {
    let name = |graph: usize| comparison.session.graphs[graph].name.as_str();
    let combo = egui::ComboBox::from_id_salt("planner graph")
        .selected_text(name(state.graph))
        .show_ui(ui, |ui| {
            for graph in arenas {
                ui.selectable_value(&mut state.graph, *graph, name(*graph));
            }
        });
    let label = format!("arena of {}", name(state.graph));
    combo
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &label));
}

fn lane_choice_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PlannerState) {
    let is_known = |id: LaneId| comparison.lanes.iter().any(|lane| lane.id == id);
    if state.lane.is_some_and(|id| !is_known(id)) {
        state.lane = None;
    }
    if comparison.is_problem() && state.lane.is_none() {
        state.lane = comparison.lanes.first().map(|lane| lane.id);
    }
    let name = |id: Option<LaneId>| match id {
        None => "all lanes".to_owned(),
        Some(id) => comparison.lane_title(id),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label("A click shows it in");
        let combo = egui::ComboBox::from_id_salt("planner lane")
            .selected_text(name(state.lane))
            .show_ui(ui, |ui| {
                if !comparison.is_problem() {
                    ui.selectable_value(&mut state.lane, None, "all lanes");
                }
                for lane in &comparison.lanes {
                    ui.selectable_value(&mut state.lane, Some(lane.id), comparison.lane_title(lane.id));
                }
            });
        let label = format!("lane to show it in: {}", name(state.lane));
        combo
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &label));
    });
}

fn heading_ui(ui: &mut egui::Ui, comparison: &Comparison, table: &PlannerTable, commands: &mut Vec<Command>) {
    let bound = table.proved_bound();
    let n_buffers = table.subject.problem.buffers.len();
    ui.label(format!("{n_buffers} buffers, bound {}", table.lower_bound))
        .on_hover_text(format!(
            "No plan needs less than {}: the largest sum of tensors that live at once is {}",
            bound.exact(),
            table.lower_bound.exact()
        ));
    if !comparison.is_problem() {
        ui.weak("engine sizes; graph outputs stand apart").on_hover_text(
            "The arena of the engine: each tensor at the size that the engine asks for, without graph outputs, which lie \
             in the zero-copy segment. `highwater plan` places all storages of the graph at their own bytes, so its \
             figures differ.",
        );
    }
    let (n_rows, n_pending) = (table.rows.len(), table.pending.len());
    if let Some(next) = table.pending.first() {
        ui.horizontal_wrapped(|ui| {
            if table.is_running {
                ui.add(egui::Spinner::new().size(12.0));
                ui.weak(format!(
                    "working out {} ({} of {})",
                    next.label,
                    n_rows + 1,
                    n_rows + n_pending
                ));
            } else if ui.button("Work out the rest").clicked() {
                commands.push(Command::ListPlans(table.subject.graph));
            }
        });
    }
}

type Parts<'a> = (&'a mut PlannerState, &'a Theme, &'a mut Vec<Command>);

fn rows_ui(ui: &mut egui::Ui, comparison: &Comparison, table: &PlannerTable, (state, theme, commands): Parts<'_>) {
    let mut rows: Vec<&PlannerRow> = table.rows.iter().collect();
    match state.order {
        Order::Footprint => {
            rows.sort_by_key(|row| (row.result.is_err(), figure(row, |figures| figures.footprint.get())))
        }
        Order::Time => rows.sort_by_key(|row| (row.result.is_err(), figure(row, |figures| figures.elapsed.0))),
        Order::Name => rows.sort_by_key(|row| row.strategy.label),
    }
    let smallest = rows
        .iter()
        .filter_map(|row| Some(row.result.as_ref().ok()?.footprint))
        .min();
    let bounds = (table.lower_bound, table.proved_bound());
    egui::Grid::new("planner rows")
        .num_columns(4)
        .spacing([10.0, 4.0])
        .striped(true)
        .show(ui, |ui| {
            for (order, text) in [(Order::Name, "strategy"), (Order::Footprint, "footprint")] {
                sort_ui(ui, state, order, text);
            }
            ui.weak("over bound").on_hover_text(
                "footprint / bound - 1, where the bound is the largest sum of tensors that live at once",
            );
            sort_ui(ui, state, Order::Time, "time");
            ui.end_row();
            for row in rows {
                row_ui(ui, comparison, row, (state, commands));
                match &row.result {
                    Ok(figures) => figures_ui(ui, *figures, bounds, smallest == Some(figures.footprint), theme),
                    Err(why) => {
                        ui.label(RichText::new("none").color(theme.bad)).on_hover_text(why);
                    }
                }
                ui.end_row();
            }
        });
}

fn figure(row: &PlannerRow, of: fn(&PlannerFigures) -> u64) -> u64 {
    row.result.as_ref().map_or(u64::MAX, of)
}

fn sort_ui(ui: &mut egui::Ui, state: &mut PlannerState, order: Order, text: &str) {
    let is_chosen = state.order == order;
    let button = ui.selectable_label(is_chosen, RichText::new(text).small());
    let sorted = if is_chosen { "sorted by" } else { "sort by" };
    let label = format!("{sorted} {text}");
    if button.on_hover_text(&label).clicked() {
        state.order = order;
    }
}

/// The name, marked where the lane in question shows it.
fn row_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    row: &PlannerRow,
    (state, commands): (&PlannerState, &mut Vec<Command>),
) {
    let mut lanes = comparison
        .lanes
        .iter()
        .filter(|lane| state.lane.is_none_or(|id| lane.id == id));
    let is_shown = lanes.any(|lane| lane.strategy == row.strategy);
    let button = ui
        .add_enabled(
            row.result.is_ok(),
            egui::Button::selectable(is_shown, row.strategy.label),
        )
        .on_hover_text(row.strategy.summary);
    if button.clicked() {
        commands.push(Command::SetStrategy {
            lane: state.lane,
            strategy: Some(row.strategy.name),
        });
    }
}

/// `bounds`: the largest sum that lives at once, and what is proved.
fn figures_ui(ui: &mut egui::Ui, figures: PlannerFigures, bounds: (Bytes, Bytes), is_smallest: bool, theme: &Theme) {
    let text = RichText::new(figures.footprint.to_string()).monospace();
    let text = if is_smallest {
        text.color(theme.good).strong()
    } else {
        text
    };
    ui.label(text).on_hover_text(figures.footprint.exact());
    let over = percent_text(figures.footprint.percent_over(bounds.0));
    let mark = if figures.footprint <= bounds.1 {
        "optimal".to_owned()
    } else {
        over
    };
    ui.monospace(mark).on_hover_text(format!(
        "{} above the bound",
        figures.footprint.saturating_sub(bounds.0).exact()
    ));
    let nodes = if figures.nodes > 0 {
        format!("{} search nodes", figures.nodes)
    } else {
        "no search".to_owned()
    };
    ui.monospace(figures.elapsed.to_string()).on_hover_text(nodes);
}

/// The strategies that may be chosen for a lane of this comparison.
pub fn choices(comparison: &Comparison) -> impl Iterator<Item = &'static crate::plan::Strategy> {
    let has_recorded = comparison
        .workload
        .problems()
        .first()
        .is_some_and(|entry| entry.recorded.is_some());
    crate::plan::STRATEGIES
        .iter()
        .filter(move |row| row.effort != Effort::Recorded || has_recorded)
}
