//! The sweep over budgets: recomputation cost against the memory budget, for every heuristic.

use eframe::egui::{self, RichText};

use super::points::{Action, Cell, Column, Mark, Points, Series};
use super::{PointsState, Run, about_ui, results_ui, run_ui, stale_ui};
use crate::numbers::to_f64;
use crate::panels::empty::other_ui;
use crate::panels::{PaneCx, choice_ui, graph_choice_ui};
use crate::widgets::wrapped_ui;
use highwater_analysis::{BudgetSweepPoint, Figure, LaneSet, RematLane, SWEEP_RATIOS, feasible_limit};
use highwater_model::units::{Bytes, grouped, signed_percent_text};
use highwater_model::workload::GraphIdx;
use highwater_options::{Edit, Fix, Value, keys};
use highwater_rewrite::remat::{Budget, HEURISTICS, Heuristic, RematStatus};
use highwater_session::{BudgetSweepTable, Command, Session};

const OVERHEAD: &str = "overhead";
/// Columns that the plot may have along.
const BUDGET: &str = "budget";
const PART: &str = "part";

#[derive(Clone, Debug, Default)]
pub struct BudgetsState {
    graph: usize,
    /// Budgets in bytes instead of parts of the peak.
    in_bytes: bool,
    points: PointsState,
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
    ui.horizontal_wrapped(|ui| {
        graph_choice_ui(ui, &mut state.graph, "graph to run", &names);
        run_ui(ui, cx, run(session, state.graph()));
        ui.separator();
        ui.label("Budget");
        let units = [(false, "% of the peak"), (true, "bytes")];
        choice_ui(ui, &mut state.in_bytes, "budget in", &units);
        ui.separator();
        ui.label("Overhead");
        let choices = [(false, "linear"), (true, "log")];
        choice_ui(ui, &mut state.points.is_log, "overhead,", &choices);
    });
    let Some(runs) = Runs::of(session, state.in_bytes) else {
        if !session.is_budget_sweep_running() {
            let text = "Start runs the graph under 18 budgets, from 95 % down to 10 % of its unconstrained peak, with \
                        each of nine heuristics that select tensors to evict and recompute. Each run is a point: its \
                        budget and its time overhead. Click a point to open the run as a lane.";
            about_ui(ui, "Smallest feasible budget and its cost", text);
            note_ui(ui);
        }
        return;
    };
    if session.is_budget_sweep_stale() {
        stale_ui(ui, cx);
    }
    note_ui(ui);
    results_ui(ui, cx, &runs, &mut state.points, None);
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

fn run(session: &Session, graph: GraphIdx) -> Run {
    let table = session.budget_sweep();
    let is_of_graph = table.is_some_and(|table| table.subject.graph == graph);
    Run {
        is_running: session.is_budget_sweep_running(),
        progress: table.map(|table| [table.points.len() as u64, table.n_total as u64]),
        is_current: is_of_graph && !session.is_budget_sweep_stale(),
        noun: "run",
        n_wanted: None,
        hint: "Run many budgets with every heuristic, on all cores",
        start: Command::StartBudgetSweep(graph),
        stop: Command::StopBudgetSweep,
        can_start: true,
    }
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

/// The runs and the open lanes.
struct Runs<'a> {
    table: &'a BudgetSweepTable,
    number: u64,
    /// From the document.
    lanes: &'a [RematLane],
    /// Whether there is one graph at most.
    is_alone: bool,
    /// Whether the lanes show something else, which the first run opened as a lane replaces.
    replaces_lanes: bool,
    in_bytes: bool,
}

impl<'a> Runs<'a> {
    fn of(session: &'a Session, in_bytes: bool) -> Option<Self> {
        let (lanes, is_other) = match &session.document().lanes {
            LaneSet::Remat(lanes) => (&lanes[..], false),
            LaneSet::Policies | LaneSet::NameReuse => (&[][..], true),
        };
        let workload = session.loaded().map(|loaded| &loaded.workload);
        Some(Self {
            table: session.budget_sweep()?,
            number: session.budget_sweep_number(),
            lanes,
            is_alone: workload.is_some_and(|workload| workload.graphs().len() <= 1),
            replaces_lanes: is_other && workload.is_some_and(|workload| workload.tapes().is_empty()),
            in_bytes,
        })
    }

    fn point(&self, at: usize) -> &'a BudgetSweepPoint {
        &self.table.points[at]
    }

    /// Position among the open lanes.
    fn lane_of(&self, at: usize) -> Option<usize> {
        let point = self.point(at);
        let is_same = |open: &RematLane| {
            let budget = match open.budget {
                Budget::Unlimited => false,
                Budget::Bytes(bytes) => bytes == point.budget,
                // With several graphs, a lane's ratio is one of the largest peak.
                Budget::Ratio(ratio) => self.is_alone && (ratio - point.ratio).abs() < 1e-9,
            };
            open.heuristic == point.heuristic && budget
        };
        self.lanes.iter().position(is_same)
    }

    /// The point with a heuristic's smallest feasible budget, by position.
    fn limit_of(&self, heuristic: &Heuristic) -> Option<usize> {
        let limit = feasible_limit(&self.table.points, heuristic)?;
        let is_it = |point: &BudgetSweepPoint| point.heuristic == heuristic && point.budget == limit;
        self.table.points.iter().position(is_it)
    }
}

/// The lane that a point opens.
fn lane(point: &BudgetSweepPoint) -> RematLane {
    RematLane {
        heuristic: point.heuristic,
        budget: Budget::Bytes(point.budget),
    }
}

/// The edit that makes a point the active configuration.
fn as_options(point: &BudgetSweepPoint) -> Command {
    let threshold = i64::try_from(point.budget.get()).unwrap_or(i64::MAX);
    let edit = |key, value| Edit::Option { key, value };
    Command::ApplyFix(Fix {
        text: "set as dtr.eviction_threshold".to_owned(),
        edits: vec![
            edit(keys::EVICTION_THRESHOLD, Value::from(threshold)),
            edit(keys::REMAT_HEURISTIC, Value::from(point.heuristic.name)),
        ],
    })
}

/// Position of a heuristic in the table, which gives colour and marker.
fn position(heuristic: &Heuristic) -> usize {
    HEURISTICS.iter().position(|row| row == heuristic).unwrap_or(0)
}

/// `50 %`, of the peak.
fn percent(point: &BudgetSweepPoint) -> String {
    format!("{:.0} %", point.ratio * 100.0)
}

/// `+23.4 %` of the program's time; what is there never reads as nothing.
fn overhead_text(point: &BudgetSweepPoint) -> String {
    signed_percent_text(((point.overhead - 1.0) * 100.0).max(0.0))
}

fn of_bytes(count: u64, bytes: Bytes) -> String {
    format!("{} ({} in total)", grouped(count), bytes.exact())
}

/// How near the smallest feasible budget may be: budgets were tried in steps.
fn accuracy(ratio: f64) -> String {
    let [largest, next, .., smallest] = SWEEP_RATIOS;
    if ratio <= smallest + 1e-9 {
        return "smaller budgets were not tried".to_owned();
    }
    format!("accurate to {:.0} % of the peak", (largest - next) * 100.0)
}

impl Points for Runs<'_> {
    fn nouns(&self) -> &'static str {
        "runs"
    }

    fn len(&self) -> usize {
        self.table.points.len()
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn title(&self, at: usize) -> String {
        let point = self.point(at);
        format!(
            "{} under {} ({} of its peak)",
            point.heuristic.label,
            point.budget,
            percent(point)
        )
    }

    fn status(&self, at: usize) -> (Mark, &'static str) {
        let point = self.point(at);
        match point.status {
            RematStatus::Ok if point.is_feasible() => (Mark::Fits, "ok"),
            RematStatus::Ok => (Mark::Over, "over budget"),
            RematStatus::Thrash => (Mark::Stopped, "thrash"),
            RematStatus::OutOfMemory(_) => (Mark::Failed, "out of memory"),
        }
    }

    /// Its end, or what was short.
    fn details(&self, at: usize) -> Vec<String> {
        let end = match (&self.point(at).status, self.status(at).0) {
            (RematStatus::OutOfMemory(shortage), _) => format!(
                "no tensor could be evicted: an op requested {}, {} were short; the overhead is up to that point",
                shortage.requested.exact(),
                shortage.short.exact()
            ),
            (_, Mark::Fits) => "completed within the budget".to_owned(),
            (_, Mark::Over) => "completed, over budget where no tensor could be evicted".to_owned(),
            (_, Mark::Stopped | Mark::Failed) => "stopped by thrashing; the overhead is up to that point".to_owned(),
        };
        vec![end]
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let heuristic = |at| {
            let point = self.point(at);
            let lane = if self.is_lane(at) { " (lane)" } else { "" };
            let text = format!("{}{lane}", point.heuristic.label);
            Cell::words(to_f64(position(point.heuristic) as u64), text)
        };
        let figure = |name, meaning, of: fn(&BudgetSweepPoint) -> Cell| {
            Column::figure(name, meaning, move |at| of(self.point(at)))
        };
        let overhead = |at| {
            let text = overhead_text(self.point(at));
            let text = if self.status(at).0.has_completed() {
                text
            } else {
                format!("({text})")
            };
            let cell = Cell::from(Figure::Share((self.point(at).overhead - 1.0).max(0.0)));
            cell.with_text(text)
                .with_exact(format!("×{:.9}", self.point(at).overhead))
        };
        vec![
            Column::words("heuristic", "eviction heuristic", heuristic).at_least(90.0),
            figure(BUDGET, "budget in bytes", |of| Figure::Bytes(of.budget.get()).into()),
            figure(PART, "budget in % of the unconstrained peak", |of| {
                Cell::from(Figure::Share(of.ratio)).with_text(percent(of))
            }),
            Column::figure(
                OVERHEAD,
                "time of recomputation, in % of the program's, up to the end of the run",
                overhead,
            ),
            figure("peak", "peak live bytes, by the engine's count", |of| {
                Figure::Bytes(of.peak.get()).into()
            }),
            figure("evictions", "evictions by the heuristic", |of| {
                let cell = Cell::from(Figure::Count(of.counts.evictions));
                cell.with_exact(of_bytes(of.counts.evictions, of.counts.evicted_bytes))
            }),
            figure("recomputed", "recomputed tensors", |of| {
                let cell = Cell::from(Figure::Count(of.counts.rematerializations));
                cell.with_exact(of_bytes(of.counts.rematerializations, of.counts.rematerialized_bytes))
            }),
        ]
    }

    fn brief(&self) -> &'static [&'static str] {
        &[OVERHEAD]
    }

    fn verb(&self) -> &'static str {
        if self.replaces_lanes {
            "select"
        } else {
            "open as a lane"
        }
    }

    /// Opens the lane, unless it is open or would replace lanes of another kind.
    fn choose(&self, at: usize) -> Option<Command> {
        let is_open = self.replaces_lanes || self.is_lane(at);
        (!is_open).then(|| Command::AddRematLane(lane(self.point(at))))
    }

    fn actions(&self, at: usize) -> Vec<Action> {
        let point = self.point(at);
        let add = || Command::AddRematLane(lane(point));
        let lane = match self.lane_of(at) {
            Some(lane) => (
                "Close lane",
                "Remove this run from the lanes",
                Command::RemoveRematLane(lane),
            ),
            None if self.replaces_lanes => (
                "Show instead of these lanes",
                "Replaces the lanes with this run and the run without a budget; the list next to Find switches back",
                add(),
            ),
            None => ("Open as a lane", "Adds this run to the lanes", add()),
        };
        let set = format!(
            "sets dtr.eviction_threshold to {} and simulation.remat_heuristic to {}, for every lane",
            point.budget.get(),
            point.heuristic.name
        );
        vec![
            (lane.0, lane.1.to_owned(), lane.2),
            ("Set as dtr.eviction_threshold", set, as_options(point)),
        ]
    }

    fn is_lane(&self, at: usize) -> bool {
        self.lane_of(at).is_some()
    }

    fn series_of(&self, at: usize) -> usize {
        position(self.point(at).heuristic)
    }

    /// Heuristics with their smallest feasible budget.
    fn series(&self) -> Vec<Series> {
        let series = HEURISTICS.iter().enumerate().map(|(position, heuristic)| {
            let is_tried = self.table.points.iter().any(|point| point.heuristic == heuristic);
            let limit_at = self.limit_of(heuristic);
            let limit = match limit_at.map(|at| self.point(at)) {
                None if is_tried => "none".into(),
                None => "…".into(),
                Some(point) if self.in_bytes => point.budget.to_string().into(),
                Some(point) => percent(point).into(),
            };
            Series {
                position,
                label: heuristic.label.to_owned(),
                meaning: heuristic.summary.to_owned(),
                limit,
                limit_at,
            }
        });
        series.collect()
    }

    /// The smallest feasible budget of all heuristics and its cost; `None` before a run has ended within its budget.
    fn summary(&self) -> Option<String> {
        let limits = HEURISTICS.iter().filter_map(|heuristic| self.limit_of(heuristic));
        let limits = limits.map(|at| self.point(at));
        let best = limits.min_by(|a, b| a.budget.cmp(&b.budget).then(a.overhead.total_cmp(&b.overhead)))?;
        let time = match (best.overhead - 1.0) * 100.0 {
            percent if percent < 0.05 => "no extra time".to_owned(),
            _ => format!("{} time", overhead_text(best)),
        };
        let tried = if self.table.is_unfinished() { " so far" } else { "" };
        Some(format!(
            "Smallest feasible budget{tried}: {} ({} of its peak, {}), {time}; {}",
            best.budget,
            percent(best),
            best.heuristic.label,
            accuracy(best.ratio)
        ))
    }

    fn plotted(&self) -> Option<[(&'static str, &'static str); 2]> {
        let along = if self.in_bytes {
            (BUDGET, "budget")
        } else {
            (PART, "budget (% of unconstrained peak)")
        };
        Some([along, (OVERHEAD, "overhead")])
    }

    fn strips(&self) -> Option<[&'static str; 2]> {
        Some(["thrash / out of memory", "feasible"])
    }
}
