//! The planner: every placement strategy of one arena, with footprint, distance to the bound and time; a click applies
//! one.

use eframe::egui::{self, RichText};
use egui_extras::{Column, TableBuilder};

use crate::combo::ShowChoices as _;
use crate::panels::PaneCx;
use crate::panels::empty::other_ui;
use crate::panels::point_table::{SIZE, order_ui};
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_analysis::{Comparison, FoundPlan, LaneId, LaneKind};
use highwater_model::units::{Bytes, percent_text};
use highwater_model::workload::GraphIdx;
use highwater_plan::Effort;
use highwater_session::{Command, PlannerFigures, PlannerRow, PlannerTable};

/// Widths of footprint, distance, time; narrow columns show three digits.
const COLUMNS: [f32; 3] = [43.0, 37.0, 38.0];
const WIDE_COLUMNS: [f32; 3] = [64.0, 52.0, 64.0];
const WIDE: f32 = 330.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    #[default]
    Footprint,
    Time,
    Name,
}

#[derive(Clone, Debug, Default)]
pub struct PlannerState {
    order: Order,
    graph: usize,
    /// The lane that a click changes; `None` for all.
    lane: Option<LaneId>,
}

pub fn planner_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut PlannerState) {
    let Some((comparison, _)) = cx.session.answer() else {
        ui.weak("This tab compares the placement strategies of an arena.");
        return;
    };
    let arenas: Vec<usize> = (0..comparison.session.graphs.len())
        .filter(|graph| comparison.session.graphs[*graph].is_static)
        .collect();
    let Some(first) = arenas.first() else {
        other_ui(ui, comparison.study().words().no_arena, "mobilenet", cx.commands);
        return;
    };
    if !arenas.contains(&state.graph) {
        state.graph = *first;
    }
    if arenas.len() > 1 {
        graph_ui(ui, comparison, &arenas, state);
    }
    let graph = GraphIdx(u32::try_from(state.graph).unwrap_or(0));
    if !cx.session.has_planner_table(graph) && !cx.session.is_stale() {
        cx.commands.push(Command::ListPlans(graph));
    }
    lane_choice_ui(ui, comparison, state);
    let Some(table) = cx.session.planner_table() else {
        ui.weak("The strategies are compared once the lanes have their plans.");
        return;
    };
    heading_ui(ui, cx, comparison, table);
    egui::ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| rows_ui(ui, cx, comparison, table, state));
}

fn graph_ui(ui: &mut egui::Ui, comparison: &Comparison, arenas: &[usize], state: &mut PlannerState) {
    let name = |graph: usize| comparison.session.graphs[graph].name.as_str();
    egui::ComboBox::from_id_salt("planner graph")
        .selected_text(name(state.graph))
        .show_choices(ui, |ui| {
            for graph in arenas {
                ui.selectable_value(&mut state.graph, *graph, name(*graph));
            }
        })
        .named(egui::Role::ComboBox, || format!("arena of {}", name(state.graph)));
}

fn lane_choice_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PlannerState) {
    let is_known = |id: LaneId| comparison.lanes.iter().any(|lane| lane.id == id);
    if state.lane.is_some_and(|id| !is_known(id)) {
        state.lane = None;
    }
    if comparison.lane_kind() == LaneKind::Strategies && state.lane.is_none() {
        state.lane = comparison.lanes.first().map(|lane| lane.id);
    }
    let name = |id: Option<LaneId>| match id {
        None => "all lanes".to_owned(),
        Some(id) => comparison.lane_title(id),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label("Click applies to");
        egui::ComboBox::from_id_salt("planner lane")
            .selected_text(name(state.lane))
            .show_choices(ui, |ui| {
                if comparison.lane_kind() != LaneKind::Strategies {
                    ui.selectable_value(&mut state.lane, None, "all lanes");
                }
                for lane in &comparison.lanes {
                    ui.selectable_value(&mut state.lane, Some(lane.id), comparison.lane_title(lane.id));
                }
            })
            .named(egui::Role::ComboBox, || {
                format!("lane of the plan: {}", name(state.lane))
            });
    });
}

fn heading_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, comparison: &Comparison, table: &PlannerTable) {
    let bound = table.proved_bound();
    let n_buffers = table.subject.problem.buffers.len();
    ui.label(format!("{n_buffers} buffers, bound {}", table.lower_bound))
        .on_hover_text(format!(
            "Lower bound {}: the peak of live tensors is {}",
            bound.exact(),
            table.lower_bound.exact()
        ));
    if comparison.lane_kind() != LaneKind::Strategies {
        ui.weak("GE sizes, without graph outputs").on_hover_text(
            "The arena of GE: each tensor has the size that GE requests; graph outputs are in the zero-copy segment. \
             `highwater plan` places all storages of the graph at their exact sizes, so its figures differ.",
        );
    }
    let (n_rows, n_pending) = (table.rows.len(), table.pending.len());
    if let Some(next) = table.pending.first() {
        ui.horizontal_wrapped(|ui| {
            if cx.session.is_planner_running() {
                ui.add(egui::Spinner::new().size(12.0));
                ui.weak(format!(
                    "computing {} ({} of {})",
                    next.label,
                    n_rows + 1,
                    n_rows + n_pending
                ));
                if table.searching.is_some() && ui.button("Stop").clicked() {
                    cx.commands.push(Command::Cancel);
                }
            } else if ui.button("Compute the rest").clicked() {
                cx.commands.push(Command::ListPlans(table.subject.graph));
            }
        });
    }
    let searching = table.searching.iter().map(|searching| &searching.row);
    for row in searching
        .chain(&table.rows)
        .filter(|row| row.strategy.effort == Effort::Search)
    {
        search_ui(ui, cx, table, row);
    }
}

/// The result of a search so far: the footprint, its distance from the bound, and whether the search goes on.
fn search_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, table: &PlannerTable, row: &PlannerRow) {
    let Ok(figures) = &row.result else { return };
    let bound = table.proved_bound().max(figures.proved_bound);
    let is_running = table
        .searching
        .as_ref()
        .is_some_and(|searching| searching.row.strategy == row.strategy);
    let found = if is_running {
        Found::Searching
    } else if figures.is_unfinished {
        Found::Stopped
    } else {
        Found::Ended
    };
    let (label, footprint) = (row.strategy.label, figures.footprint);
    let text = format!("{label}: {footprint}, bound {bound}; {}", found.words(footprint, bound));
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(text).size(SIZE)).on_hover_text(format!(
            "{}, bound {}",
            footprint.exact(),
            bound.exact()
        ));
        if found == Found::Stopped && ui.button("Search again").clicked() {
            cx.commands.push(Command::RestartSearches);
        }
    });
}

/// The smallest plan so far of a search: its footprint, and its distance from the bound.
pub fn found_text(found: &FoundPlan, state: Found) -> String {
    let (footprint, bound) = (found.planned.plan.footprint, found.planned.proved_bound);
    let label = found.strategy.label;
    format!("{label}: {footprint}, bound {bound}; {}", state.words(footprint, bound))
}

/// The state of a search for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Searching,
    Stopped,
    Ended,
}

impl Found {
    /// The state, and the distance of a footprint from the proved bound.
    pub fn words(self, footprint: Bytes, bound: Bytes) -> String {
        if footprint <= bound {
            return "optimal (proved)".to_owned();
        }
        let over = percent_text(footprint.percent_over(bound));
        match self {
            Self::Searching => format!("searching, {over} above the bound"),
            Self::Stopped => format!("stopped, {over} above the bound"),
            Self::Ended => format!("{over} above the bound"),
        }
    }
}

fn rows_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    table: &PlannerTable,
    state: &mut PlannerState,
) {
    let searching = table.searching.iter().map(|searching| &searching.row);
    let mut rows: Vec<&PlannerRow> = searching.chain(&table.rows).collect();
    match state.order {
        Order::Footprint => {
            rows.sort_by_key(|row| (row.result.is_err(), figure(row, |figures| figures.footprint.get())));
        }
        Order::Time => rows.sort_by_key(|row| (row.result.is_err(), figure(row, time_rank))),
        Order::Name => rows.sort_by_key(|row| row.strategy.label),
    }
    let smallest = rows
        .iter()
        .filter_map(|row| Some(row.result.as_ref().ok()?.footprint))
        .min();
    let bounds = (table.lower_bound, table.proved_bound());
    let is_wide = ui.available_width() >= WIDE;
    let columns = if is_wide { WIDE_COLUMNS } else { COLUMNS };
    ui.style_mut().interaction.selectable_labels = false;
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 2.0;
    let mut table = TableBuilder::new(ui)
        .vscroll(false)
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .striped(true)
        .column(Column::remainder().clip(true));
    for width in columns {
        table = table.column(Column::exact(width));
    }
    let table = table.header(20.0, |mut header| {
        header.col(|ui| order_ui(ui, &mut state.order, Order::Name, "strategy", "name"));
        header.col(|ui| order_ui(ui, &mut state.order, Order::Footprint, "bytes", "footprint"));
        header.col(|ui| {
            ui.weak(RichText::new("over").size(SIZE))
                .on_hover_text("Above the bound: footprint / bound - 1, where the bound is the peak of live tensors");
        });
        header.col(|ui| order_ui(ui, &mut state.order, Order::Time, "time", "time"));
    });
    table.body(|mut body| {
        for row in rows {
            body.row(20.0, |mut line| {
                line.col(|ui| {
                    // The id of the row, so that it keeps the keyboard when rows are sorted again.
                    let own = egui::UiBuilder::new().scope_id(egui::Id::unique(("planner row", row.strategy.name)));
                    ui.scope_builder(own, |ui| row_ui(ui, comparison, row, state, cx.commands));
                });
                match &row.result {
                    Ok(figures) => {
                        let shown = Shown {
                            figures: *figures,
                            bounds,
                            is_smallest: smallest == Some(figures.footprint),
                            is_wide,
                        };
                        line.col(|ui| shown.footprint_ui(ui, cx.theme));
                        line.col(|ui| shown.over_ui(ui));
                        line.col(|ui| shown.time_ui(ui));
                    }
                    Err(why) => {
                        line.col(|ui| {
                            ui.label(RichText::new("none").size(SIZE).color(cx.theme.bad))
                                .on_hover_text(why);
                        });
                    }
                }
            });
        }
    });
}

/// Plans of unknown time come last.
fn time_rank(figures: &PlannerFigures) -> u64 {
    figures.elapsed.map_or(u64::MAX, |elapsed| elapsed.0)
}

fn figure(row: &PlannerRow, of: fn(&PlannerFigures) -> u64) -> u64 {
    row.result.as_ref().map_or(u64::MAX, of)
}

/// The name, marked where the lane uses the strategy.
fn row_ui(
    ui: &mut egui::Ui,
    comparison: &Comparison,
    row: &PlannerRow,
    state: &PlannerState,
    commands: &mut Vec<Command>,
) {
    let mut lanes = comparison
        .lanes
        .iter()
        .filter(|lane| state.lane.is_none_or(|id| lane.id == id));
    let is_shown = lanes.any(|lane| lane.strategy == row.strategy);
    let button = ui
        .add_enabled(
            row.result.is_ok(),
            egui::Button::selectable(is_shown, RichText::new(row.strategy.label).size(SIZE)).truncate(),
        )
        .on_hover_text(format!(
            "{}: {}\nOn the command line: {}",
            row.strategy.label, row.strategy.summary, row.strategy.name
        ));
    if button.clicked() {
        commands.push(Command::SetStrategy {
            lane: state.lane,
            strategy: Some(row.strategy.name),
        });
    }
}

/// The figures of a row.
struct Shown {
    figures: PlannerFigures,
    /// The largest sum of live buffers, and the proved bound.
    bounds: (Bytes, Bytes),
    is_smallest: bool,
    is_wide: bool,
}

impl Shown {
    fn text(&self, text: String) -> RichText {
        let text = if self.is_wide { text } else { three_digits(&text) };
        RichText::new(text).size(SIZE)
    }

    fn footprint_ui(&self, ui: &mut egui::Ui, theme: &Theme) {
        let footprint = self.figures.footprint;
        let text = if self.is_wide {
            footprint.to_string()
        } else {
            footprint.short()
        };
        let text = RichText::new(text).size(SIZE);
        let text = if self.is_smallest {
            text.color(theme.good).strong()
        } else {
            text
        };
        ui.label(text).on_hover_text(footprint.exact());
    }

    fn over_ui(&self, ui: &mut egui::Ui) {
        let footprint = self.figures.footprint;
        let text = if footprint <= self.bounds.1 {
            "optimal".to_owned()
        } else {
            percent_text(footprint.percent_over(self.bounds.0))
        };
        let above = footprint.saturating_sub(self.bounds.0).exact();
        ui.label(self.text(text))
            .on_hover_text(format!("{above} above the bound"));
    }

    fn time_ui(&self, ui: &mut egui::Ui) {
        let searched = if self.figures.nodes > 0 {
            format!("{} search nodes", self.figures.nodes)
        } else {
            "no search".to_owned()
        };
        let Some(time) = self.figures.elapsed else {
            ui.label(self.text("–".to_owned()))
                .on_hover_text("Its search was stopped; how long it took is not known.");
            return;
        };
        ui.label(self.text(time.to_string()))
            .on_hover_text(format!("{time}, {searched}"));
    }
}

/// A number with its unit, cut to three digits: `2.574 GiB` becomes `2.57 GiB`, `205.58 ms` becomes `206 ms`.
fn three_digits(text: &str) -> String {
    let Some((number, unit)) = text.split_once([' ', '\u{a0}']) else {
        return text.to_owned();
    };
    match number.parse::<f64>() {
        Ok(value) if number.contains('.') => {
            let decimals = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            format!("{value:.decimals$}\u{a0}{unit}")
        }
        _ => text.to_owned(),
    }
}

/// The strategies that lanes of this comparison can use.
pub fn choices(comparison: &Comparison) -> impl Iterator<Item = &'static highwater_plan::Strategy> {
    let entry = comparison.stated_problem();
    let recorded = entry.and_then(|entry| entry.recorded.as_ref());
    let is_logged = comparison.workload.has_logged_plans();
    let suits = move |row: &&highwater_plan::Strategy| {
        row.suits(recorded) || is_logged && row.name == highwater_plan::AS_LOGGED
    };
    highwater_plan::STRATEGIES.iter().filter(suits)
}
