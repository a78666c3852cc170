//! The sweep over configurations: axes, the recommendation, and every combination as a point.

use eframe::egui;

use super::drafts::Drafts;
use super::points::{Action, Cell, Column, Highlight, Mark, Points, Series};
use super::settings::{self, SettingsState};
use super::{PointsState, Run, about_ui, advice, axes, results_ui, run_ui, stale_ui};
use crate::lanes::LanesState;
use crate::numbers::to_f64;
use crate::panels::{PaneCx, choice_ui};
use crate::widgets::wrapped_ui;
use highwater_analysis::sweep::{Goal, PointFigures, Space, SweepPoint};
use highwater_analysis::{Figure, LaneGoal};
use highwater_model::units::{Bytes, counted, grouped};
use highwater_session::{Command, Session, SweepOrder, SweepTable};
use highwater_sim::{POLICIES, StaticMemoryPolicy};

/// The plotted columns.
const PEAK: &str = "peak";
const OVERHEAD: &str = "overhead";

/// The chosen goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Wanted {
    #[default]
    LeastOverhead,
    LowestPeak,
    /// By the axis's key.
    Largest(String),
}

#[derive(Clone, Debug, Default)]
pub struct ConfigurationsState {
    drafts: Drafts,
    wanted: Wanted,
    points: PointsState,
    settings: SettingsState,
}

impl ConfigurationsState {
    /// Gives the points the keyboard once there are some.
    pub fn focus_points(&mut self) {
        self.points.table.wants_focus = true;
    }

    /// # Errors
    /// An axis cannot be parsed.
    pub fn order(&mut self, session: &Session) -> Result<SweepOrder, String> {
        self.drafts.begin(session);
        self.drafts.order(session)
    }

    pub fn goal(&self, order: &SweepOrder) -> Goal {
        self.wanted.goal(order)
    }
}

impl Wanted {
    pub(super) fn goal(&self, order: &SweepOrder) -> Goal {
        match self {
            Self::LeastOverhead => Goal::Lane(LaneGoal::LeastOverhead),
            Self::LowestPeak => Goal::Lane(LaneGoal::LowestPeak),
            Self::Largest(key) => {
                let position = order
                    .axes
                    .iter()
                    .position(|axis| axis.key() == *key && axis.is_quantity());
                position.map_or(Goal::Lane(LaneGoal::LowestPeak), Goal::Largest)
            }
        }
    }
}

pub fn sweep_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut ConfigurationsState, lanes: &mut LanesState) {
    let session = cx.session;
    if session
        .answer()
        .is_some_and(|(comparison, _)| settings::is_for(&comparison.workload))
    {
        settings::settings_ui(ui, cx, &mut state.settings);
        return;
    }
    state.drafts.begin(session);
    let is_entered = axes::axes_ui(ui, session, &mut state.drafts, cx.theme);
    let order = state.drafts.order(session);
    let size = order
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|order| size_of(session, order));
    ui.horizontal_wrapped(|ui| {
        match (&order, &size) {
            (Ok(order), Ok(size)) => {
                if is_entered || starts_at_once(session, order, *size) {
                    cx.commands.push(Command::StartSweep(Box::new(order.clone())));
                }
                run_ui(ui, cx, run(session, order, *size));
            }
            (_, Err(why)) | (Err(why), _) => {
                wrapped_ui(ui, egui::RichText::new(why).color(cx.theme.bad));
            }
        }
        ui.separator();
        ui.label("Overhead");
        let choices = [(false, "linear"), (true, "log")];
        choice_ui(ui, &mut state.points.is_log, "overhead,", &choices);
    });
    let Some(table) = session.sweep().filter(|table| !table.points.is_empty()) else {
        let text = "Start (or Enter in a field) simulates every combination of the values above. Each is a point: its \
                    peak and its time overhead. The line is the Pareto front. Click a point to pin its configuration as a \
                    lane; Recommend selects one, with reasons. Values are lists (0,2,4) or ranges (8..128x2, \
                    1GiB..4GiB+512MiB).";
        about_ui(ui, "Configurations that fit, and the recommended one", text);
        return;
    };
    if session.is_sweep_stale() {
        stale_ui(ui, cx);
    }
    let points = Configurations {
        session,
        table,
        capacity: capacity_of(table),
    };
    let (order, wanted) = (order.ok(), &mut state.wanted);
    let mut advice = |ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut PointsState, height: Option<f32>| {
        advice::goal_ui(ui, cx, order.as_ref(), wanted);
        let mut links = advice::Links {
            table,
            selected: &mut state.selected,
            lanes: &mut *lanes,
        };
        let Some(height) = height else {
            ui.scope(|ui| advice::advice_ui(ui, cx, &mut links));
            return;
        };
        let scroll = egui::ScrollArea::vertical()
            .id_salt("reasons")
            .auto_shrink([false, false]);
        scroll
            .max_height(height)
            .show(ui, |ui| advice::advice_ui(ui, cx, &mut links));
    };
    results_ui(ui, cx, &points, &mut state.points, Some(&mut advice));
}

fn run(session: &Session, order: &SweepOrder, size: u64) -> Run {
    let is_stale = session.is_sweep_stale();
    Run {
        is_running: session.is_sweep_running(),
        progress: session
            .sweep()
            .map(|table| [table.points.len() as u64, table.space.size()]),
        is_current: session.sweep_order() == Some(order) && !is_stale,
        noun: "configuration",
        n_wanted: Some(size),
        hint: "Simulate every configuration of these axes, on all cores",
        start: Command::StartSweep(Box::new(order.clone())),
        stop: Command::StopSweep,
        can_start: true,
    }
}

/// Whether a sweep is so cheap that it starts with the pane, and again where settings changed: a sweep that was stopped
/// does not.
fn starts_at_once(session: &Session, order: &SweepOrder, size: u64) -> bool {
    /// Steps of all points; they take well below a second.
    const CHEAP: u64 = 200_000;
    let Some((comparison, _)) = session.answer().filter(|_| !session.is_stale()) else {
        return false;
    };
    if session.is_sweep_running() || session.busy().is_some() {
        return false;
    }
    let is_wanted = match session.sweep_order() {
        None => session.sweep().is_none(),
        Some(known) => known == order && session.is_sweep_stale(),
    };
    is_wanted && size.saturating_mul(u64::from(comparison.axis.n_steps)) <= CHEAP
}

/// The number of configurations; an error where it is too large.
fn size_of(session: &Session, order: &SweepOrder) -> Result<u64, String> {
    let space = Space::new(session.configuration(), order.axes.clone()).map_err(|error| error.to_string())?;
    space.checked().map_err(|error| error.to_string())?;
    Ok(space.size())
}

pub(super) fn pin(space: &Space, idx: u64) -> Command {
    Command::PinConfiguration {
        name: space.title(idx),
        configuration: Box::new(space.configuration(idx)),
    }
}

/// The memory of the device, where all points have the same.
fn capacity_of(table: &SweepTable) -> Option<Bytes> {
    let mut figures = table.points.iter().filter_map(|point| point.figures());
    let first = figures.next()?.capacity;
    figures.all(|figures| figures.capacity == first).then_some(first)
}

/// Position of a policy in the table, which gives colour and marker.
fn position(policy: StaticMemoryPolicy) -> usize {
    POLICIES.iter().position(|row| row.policy == policy).unwrap_or(0)
}

struct Configurations<'a> {
    session: &'a Session,
    table: &'a SweepTable,
    capacity: Option<Bytes>,
}

impl Configurations<'_> {
    fn point(&self, at: usize) -> &SweepPoint {
        &self.table.points[at]
    }

    fn figure<'p>(&'p self, name: &'static str, meaning: &'static str, cell: fn(&PointFigures) -> Cell) -> Column<'p> {
        Column::figure(name, meaning, move |at| {
            self.point(at).figures().map_or(Cell::EMPTY, cell)
        })
    }
}

impl Points for Configurations<'_> {
    fn nouns(&self) -> &'static str {
        "configurations"
    }

    fn len(&self) -> usize {
        self.table.points.len()
    }

    fn key(&self, at: usize) -> u64 {
        self.point(at).idx
    }

    fn find(&self, key: u64) -> Option<usize> {
        self.table.position(key)
    }

    fn number(&self) -> u64 {
        self.table.number
    }

    fn version(&self) -> Option<u64> {
        Some(self.table.number)
    }

    fn title(&self, at: usize) -> String {
        self.table.space.title(self.point(at).idx)
    }

    fn status(&self, at: usize) -> (Mark, &'static str) {
        let point = self.point(at);
        let mark = if point.fitting().is_some() {
            Mark::Fits
        } else {
            Mark::Failed
        };
        (mark, point.label())
    }

    /// Its policy, and its room or why it failed.
    fn details(&self, at: usize) -> Vec<String> {
        let point = self.point(at);
        let room = point.fitting().map(|figures| {
            let (free, capacity) = (figures.capacity - figures.peak_reserved, figures.capacity);
            format!("{} of {} free at the peak", free.exact(), capacity.exact())
        });
        let policy = format!("policy {}", point.policy.number());
        let parts: Vec<String> = std::iter::once(policy).chain(room).chain(point.why()).collect();
        vec![parts.join("; ")]
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let number = |at| Figure::Count(self.point(at).idx).into();
        let mut columns = vec![Column::words("number", "as they are counted", number).exactly(66.0)];
        let space = &self.table.space;
        columns.extend(space.axes().iter().enumerate().map(|(position, axis)| {
            let digit = move |at: usize| space.digits(self.point(at).idx)[position];
            let value = move |at: usize| {
                let digit = digit(at);
                Cell::words(to_f64(digit as u64), axis.value_text(&axis.values[digit]))
            };
            Column::axis(position, axis.name(), axis.key(), value)
                .ranked(move |at| to_f64(digit(at) as u64))
                .with_exact(move |at| format!("{} {}", axis.key(), axis.values[digit(at)]))
        }));
        columns.extend([
            self.figure(PEAK, "peak reserved device bytes", |of| {
                Figure::Bytes(of.peak_reserved.get()).into()
            }),
            self.figure("live", "peak live bytes", |of| Figure::Bytes(of.peak_live.get()).into()),
            self.figure(
                "fragmentation",
                "1 - live / reserved of feature memory, each at its peak",
                |of| Figure::Share(of.fragmentation).into(),
            ),
            self.figure("calls", "driver calls that allocate, free or map memory", |of| {
                Figure::Count(of.device_calls()).into()
            })
            .with_exact(|at| {
                let figures = self.point(at).figures();
                figures.map_or_else(String::new, |of| {
                    format!("{} mallocs, {} frees", of.device_mallocs, of.device_frees)
                })
            }),
            self.figure(
                OVERHEAD,
                "estimated time of the policy's device calls and of recomputation",
                |of| Figure::Nanos(of.overhead.0).into(),
            )
            .with_exact(|at| {
                let figures = self.point(at).figures();
                figures.map_or_else(String::new, |of| {
                    format!("{}\u{a0}ns, an estimate", grouped(of.overhead.0))
                })
            }),
        ]);
        columns
    }

    fn verb(&self) -> &'static str {
        "pin"
    }

    fn choose(&self, at: usize) -> Option<Command> {
        Some(pin(&self.table.space, self.key(at)))
    }

    fn actions(&self, at: usize) -> Vec<Action> {
        let order = self.session.sweep_order();
        let memory = match order.and_then(|order| order.capacity) {
            Some(_) => "options, dimensions, iterations and the device memory",
            None => "options, dimensions and iterations",
        };
        let configuration = Box::new(self.table.space.configuration(self.key(at)));
        vec![(
            "Apply",
            format!("set {memory} in one step"),
            Command::UseConfiguration(configuration),
        )]
    }

    fn series_of(&self, at: usize) -> usize {
        position(self.point(at).policy)
    }

    fn series(&self) -> Vec<Series> {
        let points = &self.table.points;
        let is_tried = |policy: StaticMemoryPolicy| points.iter().any(|point| point.policy == policy);
        let policies = POLICIES.iter().enumerate().filter(|(_, row)| is_tried(row.policy));
        let series = policies.map(|(position, row)| Series {
            position,
            label: format!("policy {}", row.policy.number()),
            meaning: row.summary.to_owned(),
            limit: "".into(),
            limit_at: None,
        });
        series.collect()
    }

    fn winner(&self) -> Option<u64> {
        let found = self.table.recommendation.as_deref()?;
        Some(found.winner.as_ref()?.point.idx)
    }

    fn summary(&self) -> Option<String> {
        let tried = counted(self.table.points.len() as u64, "configuration");
        let device = match &self.table.smallest {
            Some(None) => "; no device profile fits",
            None | Some(Some(_)) => "",
        };
        Some(format!("{} of {tried} fit{device}", grouped(self.table.n_fitting)))
    }

    /// The lowest peak, the largest amounts, and the point for the smallest device.
    fn highlights(&self) -> Vec<Highlight> {
        let (table, space) = (self.table, &self.table.space);
        let lowest = table
            .front
            .first()
            .and_then(|at| Some((self.point(*at).figures()?, *at)));
        let lowest = lowest.map(|(figures, at)| {
            let peak = figures.peak_reserved.to_string();
            ("lowest peak".to_owned(), peak, String::new(), at)
        });
        let largest = table.largest.iter().map(|(position, at)| {
            let axis = &space.axes()[*position];
            let value = axis.value_text(space.values(self.key(*at))[*position]);
            (format!("largest {}", axis.name()), value, String::new(), *at)
        });
        let smallest = table.smallest.iter().flatten().filter_map(|smallest| {
            let at = table.position(smallest.point.idx)?;
            let device = &smallest.device;
            let more = format!("{}\non it:\n", device.summary);
            Some(("smallest device".to_owned(), device.name.clone(), more, at))
        });
        lowest.into_iter().chain(largest).chain(smallest).collect()
    }

    fn brief(&self) -> &'static [&'static str] {
        &[PEAK, OVERHEAD]
    }

    fn plotted(&self) -> Option<[(&'static str, &'static str); 2]> {
        Some([(PEAK, "peak reserved"), (OVERHEAD, "overhead (estimate)")])
    }

    fn front(&self) -> Option<&[usize]> {
        Some(&self.table.front)
    }

    fn limit(&self) -> Option<(Figure, &'static str)> {
        Some((Figure::Bytes(self.capacity?.get()), "capacity"))
    }
}
