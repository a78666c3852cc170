//! The planner: every placement strategy of one arena, with footprint, distance to the bound and time; a click applies
//! one.

use eframe::egui::{self, RichText};

use super::points::{Cell, Column, Mark, Points, Tone};
use super::table::{TableState, table_ui};
use super::{PointsState, Run, run_ui};
use crate::combo::ShowChoices as _;
use crate::numbers::to_f64;
use crate::panels::empty::other_ui;
use crate::panels::sorted_table::SIZE;
use crate::panels::{PaneCx, graph_choice_ui};
use crate::widgets::Named as _;
use highwater_analysis::{Comparison, Figure, FoundPlan, LaneId, LaneKind};
use highwater_model::units::{Bytes, grouped, percent_text};
use highwater_model::workload::GraphIdx;
use highwater_plan::{AS_LOGGED, Effort, STRATEGIES, Strategy};
use highwater_session::{Command, PlannerFigures, PlannerRow, PlannerTable};

const BYTES: &str = "bytes";
const OVER: &str = "over";
const TIME: &str = "time";

#[derive(Clone, Debug)]
pub struct StrategiesState {
    graph: usize,
    /// The lane that a click changes; `None` for all.
    lane: Option<LaneId>,
    points: PointsState,
}

impl Default for StrategiesState {
    fn default() -> Self {
        let points = PointsState {
            table: TableState::by(BYTES),
            ..PointsState::default()
        };
        Self {
            graph: 0,
            lane: None,
            points,
        }
    }
}

pub fn strategies_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut StrategiesState) {
    let Some((comparison, _)) = cx.session.answer() else {
        ui.weak("This tab compares the placement strategies of an arena.");
        return;
    };
    let arenas: Vec<usize> = (0..comparison.session.graphs.len())
        .filter(|graph| comparison.session.graphs[*graph].is_static)
        .collect();
    if arenas.is_empty() {
        other_ui(ui, comparison.study().words().no_arena, "mobilenet", cx.commands);
        return;
    }
    let names: Vec<&str> = arenas
        .iter()
        .map(|at| comparison.session.graphs[*at].name.as_str())
        .collect();
    let mut chosen = arenas.iter().position(|at| *at == state.graph).unwrap_or(0);
    graph_choice_ui(ui, &mut chosen, "arena of", &names);
    state.graph = arenas[chosen];
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
    let points = Strategies {
        comparison,
        table,
        lane: state.lane,
    };
    table_ui(ui, cx, &points, &mut state.points);
}

fn lane_choice_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut StrategiesState) {
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
    let (done, all) = (table.rows.len() as u64, (table.rows.len() + table.pending.len()) as u64);
    let run = Run {
        is_running: cx.session.is_planner_running(),
        progress: Some([done, all]),
        is_current: true,
        noun: "plan",
        n_wanted: None,
        hint: "Place the arena by the other strategies",
        start: Command::ListPlans(table.subject.graph),
        stop: Command::StopPlans,
        can_start: !cx.session.is_stale(),
    };
    let next = table.pending.first().filter(|_| run.is_running);
    ui.horizontal_wrapped(|ui| {
        run_ui(ui, cx, run);
        if let Some(next) = next {
            ui.weak(format!("now {}", next.label));
        }
    });
    for row in rows(table).filter(|row| row.strategy.effort == Effort::Search) {
        search_ui(ui, cx, table, row);
    }
}

/// The smallest plan so far of the running search, then the rows that ended.
fn rows(table: &PlannerTable) -> impl Iterator<Item = &PlannerRow> {
    let searching = table.searching.iter().map(|searching| &searching.row);
    searching.chain(&table.rows)
}

/// The result of a search so far: the footprint, its distance from the bound, and whether the search goes on.
fn search_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, table: &PlannerTable, row: &PlannerRow) {
    let Ok(figures) = &row.result else { return };
    let bound = table.proved_bound().max(figures.proved_bound);
    let searching = table.searching.as_ref();
    let found = if searching.is_some_and(|searching| searching.row.strategy == row.strategy) {
        Found::Searching
    } else if figures.is_unfinished {
        Found::Stopped
    } else {
        Found::Ended
    };
    let text = found.sentence(row.strategy, figures.footprint, bound);
    ui.horizontal_wrapped(|ui| {
        let exact = format!("{}, bound {}", figures.footprint.exact(), bound.exact());
        ui.label(RichText::new(text).size(SIZE)).on_hover_text(exact);
        if found == Found::Stopped && ui.button("Search again").clicked() {
            cx.commands.push(Command::RestartSearches);
        }
    });
}

/// The smallest plan so far of a search: its footprint, and its distance from the bound.
pub fn found_text(found: &FoundPlan, state: Found) -> String {
    let planned = &found.planned;
    state.sentence(found.strategy, planned.plan.footprint, planned.proved_bound)
}

/// The state of a search for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Searching,
    Stopped,
    Ended,
}

impl Found {
    fn sentence(self, strategy: &Strategy, footprint: Bytes, bound: Bytes) -> String {
        let words = self.words(footprint, bound);
        format!("{}: {footprint}, bound {bound}; {words}", strategy.label)
    }

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

struct Strategies<'a> {
    comparison: &'a Comparison,
    table: &'a PlannerTable,
    lane: Option<LaneId>,
}

impl<'a> Strategies<'a> {
    fn row(&self, at: usize) -> &'a PlannerRow {
        let n_searching = usize::from(self.table.searching.is_some());
        match &self.table.searching {
            Some(searching) if at == 0 => &searching.row,
            _ => &self.table.rows[at - n_searching],
        }
    }

    fn figures(&self, at: usize) -> Option<&'a PlannerFigures> {
        self.row(at).result.as_ref().ok()
    }

    fn footprint(&self, at: usize) -> Cell {
        match &self.row(at).result {
            Err(why) => Cell::words(f64::INFINITY, "none")
                .with_exact(why.clone())
                .toned(Tone::Bad),
            Ok(figures) => {
                let is_smallest = rows(self.table)
                    .filter_map(|row| row.result.as_ref().ok())
                    .all(|other| figures.footprint <= other.footprint);
                let tone = if is_smallest { Tone::Good } else { Tone::Plain };
                Cell::from(Figure::Bytes(figures.footprint.get())).toned(tone)
            }
        }
    }

    fn over(&self, figures: &PlannerFigures) -> Cell {
        let footprint = figures.footprint;
        let share = Figure::Share(footprint.percent_over(self.table.lower_bound) / 100.0);
        let above = footprint.saturating_sub(self.table.lower_bound).exact();
        let cell = Cell::from(share).with_exact(format!("{above} above the bound"));
        if footprint <= self.table.proved_bound() {
            cell.with_text("optimal")
        } else {
            cell
        }
    }
}

fn time(figures: &PlannerFigures) -> Cell {
    let Some(time) = figures.elapsed else {
        let why = "its search was stopped; how long it took is not known";
        return Cell::words(f64::INFINITY, "–").with_exact(why.to_owned());
    };
    let searched = match figures.nodes {
        0 => "no search".to_owned(),
        nodes => format!("{} search nodes", grouped(nodes)),
    };
    Cell::from(Figure::Nanos(time.0)).with_exact(format!("{time}, {searched}"))
}

impl Points for Strategies<'_> {
    fn nouns(&self) -> &'static str {
        "strategies"
    }

    fn len(&self) -> usize {
        rows(self.table).count()
    }

    fn key(&self, at: usize) -> u64 {
        let strategy = self.row(at).strategy;
        STRATEGIES.iter().position(|row| row == strategy).unwrap_or(0) as u64
    }

    fn title(&self, at: usize) -> String {
        self.row(at).strategy.label.to_owned()
    }

    fn status(&self, at: usize) -> (Mark, &'static str) {
        let mark = if self.figures(at).is_some() {
            Mark::Fits
        } else {
            Mark::Failed
        };
        (mark, "")
    }

    fn details(&self, at: usize) -> Vec<String> {
        let strategy = self.row(at).strategy;
        vec![
            strategy.summary.to_owned(),
            format!("On the command line: {}", strategy.name),
        ]
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let name = |at| {
            let label = self.row(at).strategy.label;
            let before = STRATEGIES.iter().filter(|other| other.label < label).count();
            Cell::words(to_f64(before as u64), label)
        };
        vec![
            Column::words("strategy", "placement strategy", name),
            Column::figure(BYTES, "footprint of the plan", |at| self.footprint(at)),
            Column::figure(
                OVER,
                "Above the bound: footprint / bound - 1, where the bound is the peak of live tensors",
                |at| self.figures(at).map_or(Cell::EMPTY, |figures| self.over(figures)),
            ),
            Column::figure(TIME, "time of the placement", |at| {
                self.figures(at).map_or(Cell::EMPTY, time)
            }),
        ]
    }

    fn brief(&self) -> &'static [&'static str] {
        &[BYTES, OVER, TIME]
    }

    fn verb(&self) -> &'static str {
        "use"
    }

    fn can_choose(&self, at: usize) -> bool {
        self.figures(at).is_some()
    }

    fn choose(&self, at: usize) -> Option<Command> {
        self.figures(at)?;
        Some(Command::SetStrategy {
            lane: self.lane,
            strategy: Some(self.row(at).strategy.name),
        })
    }

    fn is_lane(&self, at: usize) -> bool {
        let lanes = self.comparison.lanes.iter();
        let mut lanes = lanes.filter(|lane| self.lane.is_none_or(|id| lane.id == id));
        lanes.any(|lane| lane.strategy == self.row(at).strategy)
    }
}

/// The strategies that lanes of this comparison can use.
pub fn choices(comparison: &Comparison) -> impl Iterator<Item = &'static Strategy> {
    let entry = comparison.stated_problem();
    let recorded = entry.and_then(|entry| entry.recorded.as_ref());
    let is_logged = comparison.workload.has_logged_plans();
    let suits = move |row: &&Strategy| row.suits(recorded) || is_logged && row.name == AS_LOGGED;
    STRATEGIES.iter().filter(suits)
}
