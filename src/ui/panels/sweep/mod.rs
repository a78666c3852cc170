//! The sweep over configurations: axes, a plot of peak against estimated overhead, a table, and the recommendation. A
//! click on a point pins it.

mod advice;
mod allocator;
mod axes;
mod drafts;
mod facts;
mod found;
mod plot;
mod table;

use eframe::egui::{self, RichText};

pub use self::allocator::is_for as has_allocator_settings;
use self::drafts::Drafts;
use crate::lanes::LanesState;
use crate::panels::point_table::{RowText, one_row_ui};
use crate::panels::{PaneCx, choice_ui, progress_ui};
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_analysis::LaneGoal;
use highwater_analysis::sweep::{Goal, Space, SweepAxis};
use highwater_model::units::{Bytes, counted, grouped};
use highwater_session::{Command, Session, SweepOrder, SweepTable};

/// Height of the plot.
const PLOT: std::ops::RangeInclusive<f32> = 150.0..=460.0;
/// In panes of this height the table has the remaining room; lower ones scroll. Less is enough where the recommendation
/// is next to the plot.
const TALL: f32 = 640.0;
const TALL_BESIDE: f32 = 430.0;
/// Height of the table in panes that scroll.
const TABLE: f32 = 210.0;
/// Wide panes show the recommendation next to the plot.
const WIDE: f32 = 620.0;

/// The chosen goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Wanted {
    #[default]
    LeastOverhead,
    LowestPeak,
    /// By the axis's key.
    Largest(String),
}

#[derive(Clone, Debug, Default)]
pub struct SweepState {
    drafts: Drafts,
    wanted: Wanted,
    /// Overheads in decades.
    is_log: bool,
    selected: Option<u64>,
    table: table::TableState,
    allocator: allocator::AllocatorState,
}

impl SweepState {
    /// Gives the points the keyboard once there are some.
    pub fn focus_points(&mut self) {
        self.table.wants_focus = true;
    }

    /// # Errors
    /// An axis cannot be parsed.
    pub fn order(&mut self, session: &Session) -> Result<SweepOrder, String> {
        self.drafts.begin(session);
        self.drafts.order(session)
    }

    pub fn goal(&self, order: &SweepOrder) -> Goal {
        match &self.wanted {
            Wanted::LeastOverhead => Goal::Lane(LaneGoal::LeastOverhead),
            Wanted::LowestPeak => Goal::Lane(LaneGoal::LowestPeak),
            Wanted::Largest(key) => {
                let position = order
                    .axes
                    .iter()
                    .position(|axis| axis.key() == *key && axis.is_quantity());
                position.map_or(Goal::Lane(LaneGoal::LowestPeak), Goal::Largest)
            }
        }
    }
}

struct Shown<'a> {
    session: &'a Session,
    table: &'a SweepTable,
    theme: &'a Theme,
    /// The axes in the fields, where they can be parsed.
    order: Option<&'a SweepOrder>,
}

impl Shown<'_> {
    /// The recommended point.
    fn winner(&self) -> Option<u64> {
        let found = self.table.recommendation.as_deref()?;
        Some(found.winner.as_ref()?.point.idx)
    }
}

pub fn sweep_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut SweepState, lanes: &mut LanesState) {
    let session = cx.session;
    if session
        .answer()
        .is_some_and(|(comparison, _)| allocator::is_for(&comparison.workload))
    {
        allocator::allocator_ui(ui, cx, &mut state.allocator);
        return;
    }
    state.drafts.begin(session);
    let is_entered = axes::axes_ui(ui, session, &mut state.drafts, cx.theme);
    let order = state.drafts.order(session);
    if let Some(order) = order
        .as_ref()
        .ok()
        .filter(|order| is_entered || starts_at_once(session, order))
    {
        cx.commands.push(Command::StartSweep(Box::new(order.clone())));
    }
    run_ui(ui, cx, state, &order);
    let Some(table) = session.sweep().filter(|table| !table.points.is_empty()) else {
        about_ui(ui, session);
        return;
    };
    if session.is_sweep_stale() {
        let text = "The settings changed: these points are for the previous settings. Start again to update them.";
        wrapped_ui(ui, RichText::new(text).color(cx.theme.bad));
    }
    let shown = Shown {
        session,
        table,
        theme: cx.theme,
        order: order.as_ref().ok(),
    };
    let tall = if ui.available_width() < WIDE { TALL } else { TALL_BESIDE };
    if ui.available_height() >= tall {
        results_ui(ui, &shown, state, lanes, false, cx);
        return;
    }
    // A solid scroll bar shows that there is more below.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let area = egui::ScrollArea::vertical()
        .id_salt("results")
        .auto_shrink([false, false]);
    area.show(ui, |ui| results_ui(ui, &shown, state, lanes, true, cx));
}

/// Plot, recommendation, summary and table, on the available height or on their own.
fn results_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    state: &mut SweepState,
    lanes: &mut LanesState,
    is_scrolled: bool,
    cx: &mut PaneCx<'_>,
) {
    let room = if is_scrolled { TALL } else { ui.available_height() };
    let height = (room * 0.5).clamp(*PLOT.start(), *PLOT.end());
    let width = ui.available_width();
    let is_narrow = width < WIDE;
    if is_narrow {
        let of_plot = if is_scrolled { *PLOT.start() } else { height * 0.8 };
        plot::plot_ui(ui, shown, state, egui::vec2(width, of_plot), cx);
        found::found_ui(ui, shown, state);
        advice::goal_ui(ui, shown, state, cx);
        if is_scrolled {
            ui.scope(|ui| advice::advice_ui(ui, shown, state, lanes, cx));
        } else {
            let scroll = egui::ScrollArea::vertical().id_salt("reasons").max_height(height * 0.8);
            scroll.show(ui, |ui| advice::advice_ui(ui, shown, state, lanes, cx));
        }
    } else {
        ui.horizontal_top(|ui| {
            ui.set_height(height);
            let own = width * 0.55;
            plot::plot_ui(ui, shown, state, egui::vec2(own, height), cx);
            ui.vertical(|ui| {
                advice::goal_ui(ui, shown, state, cx);
                let scroll = egui::ScrollArea::vertical()
                    .id_salt("reasons")
                    .auto_shrink([false, false]);
                scroll.show(ui, |ui| advice::advice_ui(ui, shown, state, lanes, cx));
            });
        });
        found::found_ui(ui, shown, state);
    }
    selected_ui(ui, shown, state, cx);
    if !is_scrolled {
        table::table_ui(ui, shown, state, cx);
        return;
    }
    let area = egui::Rect::from_min_size(ui.next_widget_position(), egui::vec2(width, TABLE));
    let builder = egui::UiBuilder::new().max_rect(area);
    let is_moved = ui
        .scope_builder(builder, |ui| table::table_ui(ui, shown, state, cx))
        .inner;
    if is_moved {
        ui.scroll_to_rect(area, None);
    }
}

/// Number of configurations; start, stop, go on; progress.
fn run_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut SweepState, order: &Result<SweepOrder, String>) {
    ui.horizontal_wrapped(|ui| {
        match order {
            Err(why) => drop(wrapped_ui(ui, RichText::new(why).color(cx.theme.bad))),
            Ok(order) => start_ui(ui, cx, order),
        }
        ui.separator();
        ui.label("Overhead");
        let choices = [(false, "linear"), (true, "log")];
        choice_ui(ui, &mut state.is_log, "overhead of configurations,", &choices);
    });
}

/// Whether a sweep is so cheap that it starts with the pane, and again where settings changed: a sweep that was stopped
/// does not.
fn starts_at_once(session: &Session, order: &SweepOrder) -> bool {
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
    let steps = u64::from(comparison.axis.n_steps);
    is_wanted && size_of(session, order).is_ok_and(|size| size.saturating_mul(steps) <= CHEAP)
}

fn start_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, order: &SweepOrder) {
    let session = cx.session;
    if session.is_sweep_running() {
        let stop = ui.button("Stop").on_hover_text("Stop the sweep and keep its results");
        if stop.named(egui::Role::Button, || "stop the sweep").clicked() {
            cx.commands.push(Command::StopSweep);
        }
        if let Some(table) = session.sweep() {
            let (done, all) = (table.points.len() as u64, table.space.size());
            let words = if done == all {
                "weighing…".to_owned()
            } else {
                format!("{} of {}", grouped(done), grouped(all))
            };
            progress_ui(ui, [done, all], 130.0, &words, || format!("tried: {words}"));
        }
        return;
    }
    let size = match size_of(session, order) {
        Ok(size) => size,
        Err(why) => {
            wrapped_ui(ui, RichText::new(why).color(cx.theme.bad));
            return;
        }
    };
    let is_same = session.sweep_order() == Some(order) && !session.is_sweep_stale();
    let table = session.sweep().filter(|_| is_same);
    let words = match table {
        Some(table) if table.is_unfinished() => "Continue",
        Some(_) => {
            ui.label(format!("{}, all tried", counted(size, "configuration")));
            return;
        }
        None if session.sweep().is_some() => "Start again",
        None => "Start",
    };
    let is_reading = session.busy().is_some_and(|busy| busy.is_loading);
    let start = ui
        .add_enabled(!is_reading, egui::Button::new(words))
        .named(egui::Role::Button, || format!("{words}: try configurations"))
        .on_hover_text("Simulate every configuration of these axes, on all cores");
    if start.clicked() {
        cx.commands.push(Command::StartSweep(Box::new(order.clone())));
    }
    match table {
        Some(table) => ui.weak(format!(
            "stopped at {} of {}",
            grouped(table.points.len() as u64),
            grouped(size)
        )),
        None => ui.weak(counted(size, "configuration")),
    };
}

/// The number of configurations; an error where it is too large.
fn size_of(session: &Session, order: &SweepOrder) -> Result<u64, String> {
    let base = highwater_analysis::Configuration {
        options: session.document().options.clone(),
        environment: session.document().environment.clone(),
        plan: session.document().plan.clone(),
    };
    let space = Space::new(base, order.axes.clone()).map_err(|error| error.to_string())?;
    space.checked().map_err(|error| error.to_string())?;
    Ok(space.size())
}

/// The purpose of the pane, while it is empty.
fn about_ui(ui: &mut egui::Ui, session: &Session) {
    if session.is_sweep_running() {
        return;
    }
    ui.add_space(8.0);
    ui.label("Configurations that fit, and the recommended one");
    let text = "Start (or Enter in a field) simulates every combination of the values above. Each is a point: its \
                peak and its time overhead. The line is the Pareto front. Click a point to pin its configuration as a \
                lane; Recommend selects one, with reasons. Values are lists (0,2,4) or ranges (8..128x2, \
                1GiB..4GiB+512MiB).";
    wrapped_ui(ui, RichText::new(text).weak());
}

/// The figures of the selected point, and its actions.
fn selected_ui(ui: &mut egui::Ui, shown: &Shown<'_>, state: &SweepState, cx: &mut PaneCx<'_>) {
    one_row_ui(ui, |ui| {
        let Some(point) = state.selected.and_then(|idx| shown.table.point(idx)) else {
            return RowText::weak("Arrows select a row; Enter or a click pins its configuration as a lane.");
        };
        let configuration = Box::new(shown.table.space.configuration(point.idx));
        let apply = ui
            .button("Apply")
            .named(egui::Role::Button, || "apply the selected configuration");
        let is_on_capacity = shown
            .session
            .sweep_order()
            .is_some_and(|order| order.capacity.is_some());
        let what = if is_on_capacity {
            "set options, dimensions, iterations and the device memory in one step"
        } else {
            "set options, dimensions and iterations in one step"
        };
        if apply.on_hover_text(what).clicked() {
            cx.commands.push(Command::UseConfiguration(configuration));
        }
        RowText {
            text: facts::sentence(&shown.table.space, point),
            more: facts::hover_text(&shown.table.space, point),
            is_weak: false,
        }
    });
}

fn pin(space: &Space, idx: u64) -> Command {
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

/// Axes with amounts, for the goal.
fn quantities(axes: &[SweepAxis]) -> impl Iterator<Item = &SweepAxis> {
    axes.iter().filter(|axis| axis.is_quantity())
}
