//! The sweep over configurations: axes, a plot of peak against estimated overhead, a table of all points, and the
//! recommendation with its reasons. A point that is clicked is pinned.

mod advice;
mod axes;
mod drafts;
mod facts;
mod found;
mod plot;
mod table;

use eframe::egui::{self, RichText};

use self::drafts::Drafts;
use crate::lanes::LanesState;
use crate::panels::empty::other_ui;
use crate::theme::Theme;
use highwater_analysis::study_of;
use highwater_analysis::sweep::{Goal, Space, SweepAxis};
use highwater_model::units::{Bytes, counted, grouped};
use highwater_session::{Command, Session, SweepOrder, SweepTable};

/// The height of the plot.
const PLOT: std::ops::RangeInclusive<f32> = 150.0..=460.0;
/// From this height on the table has what is left; below, all of it scrolls. Where the recommendation stands beside the plot,
/// less will do.
const TALL: f32 = 640.0;
const TALL_BESIDE: f32 = 430.0;
/// The height of the table where all of it scrolls.
const TABLE: f32 = 210.0;
/// From this width on the recommendation stands beside the plot.
const WIDE: f32 = 620.0;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// The least overhead.
    #[default]
    LeastSlowdown,
    /// The lowest peak.
    LowestPeak,
    /// The largest value of an axis, by its key.
    Largest(String),
}

/// What the panel remembers.
#[derive(Clone, Debug, Default)]
pub struct SweepState {
    drafts: Drafts,
    wanted: Wanted,
    /// Overheads in decades.
    is_log: bool,
    selected: Option<u64>,
    table: table::TableState,
    /// An option that a figure leads to, by its key.
    jump: Option<String>,
}

impl SweepState {
    /// Gives the keyboard to the points, as soon as there are some.
    pub fn focus_points(&mut self) {
        self.table.wants_focus = true;
    }

    /// An option that a figure led to since the last time.
    pub fn take_jump(&mut self) -> Option<String> {
        self.jump.take()
    }

    /// What is to be tried; a sentence where an axis cannot be read.
    ///
    /// # Errors
    /// What is wrong with which axis.
    pub fn order(&mut self, session: &Session) -> Result<SweepOrder, String> {
        self.drafts.begin(session);
        self.drafts.order(session)
    }

    /// What is to be recommended out of the axes.
    pub fn goal(&self, order: &SweepOrder) -> Goal {
        match &self.wanted {
            Wanted::LeastSlowdown => Goal::LeastSlowdown,
            Wanted::LowestPeak => Goal::LowestPeak,
            Wanted::Largest(key) => {
                let position = order
                    .axes
                    .iter()
                    .position(|axis| axis.key() == *key && axis.is_quantity());
                position.map_or(Goal::LowestPeak, Goal::Largest)
            }
        }
    }
}

/// What the parts of the pane draw with.
struct Shown<'a> {
    session: &'a Session,
    table: &'a SweepTable,
    theme: &'a Theme,
}

/// Draws the pane.
pub fn sweep_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut SweepState,
    lanes: &mut LanesState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let workload = session.loaded().map(|loaded| &loaded.workload);
    if workload.is_none_or(|workload| study_of(workload).words().no_sweep.is_some()) {
        let why = "Configurations are tried on graphs and allocation traces; what is open is neither.";
        other_ui(ui, why, "mixed", commands);
        return;
    }
    state.drafts.begin(session);
    let is_entered = axes::axes_ui(ui, session, &mut state.drafts, theme);
    let order = state.drafts.order(session);
    if let Some(order) = order.as_ref().ok().filter(|_| is_entered) {
        commands.push(Command::TrySweep(Box::new(order.clone())));
    }
    run_ui(ui, session, state, &order, theme, commands);
    let Some(table) = session.space().filter(|table| !table.points.is_empty()) else {
        about_ui(ui, session);
        return;
    };
    if session.is_space_stale() {
        let text = "The settings have changed since: these points were tried over the settings before. Start again for new ones.";
        ui.add(egui::Label::new(RichText::new(text).color(theme.bad)).wrap());
    }
    let shown = Shown { session, table, theme };
    let order = order.as_ref().ok();
    let tall = if ui.available_width() < WIDE { TALL } else { TALL_BESIDE };
    if ui.available_height() >= tall {
        results_ui(ui, &shown, state, lanes, order, false, commands);
        return;
    }
    // What stands below the rim is seen to be there.
    ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
    let area = egui::ScrollArea::vertical()
        .id_salt("results")
        .auto_shrink([false, false]);
    area.show(ui, |ui| results_ui(ui, &shown, state, lanes, order, true, commands));
}

/// Plot, recommendation, what was found, and the table: on the height there is, or on what they need.
fn results_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    state: &mut SweepState,
    lanes: &mut LanesState,
    order: Option<&SweepOrder>,
    is_scrolled: bool,
    commands: &mut Vec<Command>,
) {
    let session = shown.session;
    let room = if is_scrolled { TALL } else { ui.available_height() };
    let height = (room * 0.5).clamp(*PLOT.start(), *PLOT.end());
    let width = ui.available_width();
    let is_narrow = width < WIDE;
    if is_narrow {
        let of_plot = if is_scrolled { *PLOT.start() } else { height * 0.8 };
        plot::plot_ui(ui, shown, state, egui::vec2(width, of_plot), commands);
        found::found_ui(ui, shown, state);
        advice::goal_ui(ui, session, state, order, commands);
        if is_scrolled {
            ui.scope(|ui| advice::advice_ui(ui, shown, state, lanes, commands));
        } else {
            let scroll = egui::ScrollArea::vertical().id_salt("reasons").max_height(height * 0.8);
            scroll.show(ui, |ui| advice::advice_ui(ui, shown, state, lanes, commands));
        }
    } else {
        ui.horizontal_top(|ui| {
            ui.set_height(height);
            let own = width * 0.55;
            plot::plot_ui(ui, shown, state, egui::vec2(own, height), commands);
            ui.vertical(|ui| {
                advice::goal_ui(ui, session, state, order, commands);
                let scroll = egui::ScrollArea::vertical()
                    .id_salt("reasons")
                    .auto_shrink([false, false]);
                scroll.show(ui, |ui| advice::advice_ui(ui, shown, state, lanes, commands));
            });
        });
    }
    if !is_narrow {
        found::found_ui(ui, shown, state);
    }
    selected_ui(ui, shown, state, commands);
    if !is_scrolled {
        table::table_ui(ui, shown, state, commands);
        return;
    }
    let area = egui::Rect::from_min_size(ui.next_widget_position(), egui::vec2(width, TABLE));
    let builder = egui::UiBuilder::new().max_rect(area);
    let is_moved = ui
        .scope_builder(builder, |ui| table::table_ui(ui, shown, state, commands))
        .inner;
    if is_moved {
        ui.scroll_to_rect(area, None);
    }
}

/// How many there are; start, stop, go on; how far it is.
fn run_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut SweepState,
    order: &Result<SweepOrder, String>,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        match order {
            Err(why) => {
                ui.add(egui::Label::new(RichText::new(why).color(theme.bad)).wrap());
            }
            Ok(order) => start_ui(ui, session, order, theme, commands),
        }
        ui.separator();
        ui.label("Overhead");
        let choices = [(false, "linear"), (true, "log")];
        super::choice_ui(ui, &mut state.is_log, "overhead of configurations,", &choices);
    });
}

fn start_ui(ui: &mut egui::Ui, session: &Session, order: &SweepOrder, theme: &Theme, commands: &mut Vec<Command>) {
    if session.is_trying() {
        let stop = ui.button("Stop").on_hover_text("stop trying; what is known stays");
        stop.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "stop trying configurations"));
        if stop.clicked() {
            commands.push(Command::StopSpace);
        }
        if let Some(table) = session.space() {
            progress_ui(ui, table);
        }
        return;
    }
    let size = match size_of(session, order) {
        Ok(size) => size,
        Err(why) => {
            ui.add(egui::Label::new(RichText::new(why).color(theme.bad)).wrap());
            return;
        }
    };
    let is_same = session.space_order() == Some(order) && !session.is_space_stale();
    let table = session.space().filter(|_| is_same);
    let words = match table {
        Some(table) if table.is_unfinished() => "Go on",
        Some(_) => {
            ui.label(format!("{}, all tried", counted(size, "configuration")));
            return;
        }
        None if session.space().is_some() => "Start again",
        None => "Start",
    };
    let is_reading = session.busy().is_some_and(|busy| busy.is_loading);
    let start = ui.add_enabled(!is_reading, egui::Button::new(words));
    start.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Button, !is_reading, format!("{words}: try configurations"))
    });
    if start
        .on_hover_text("simulate every configuration of these axes, on all cores")
        .clicked()
    {
        commands.push(Command::TrySweep(Box::new(order.clone())));
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

fn progress_ui(ui: &mut egui::Ui, table: &SweepTable) {
    let (done, all) = (table.points.len() as u64, table.space.size());
    #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
    let part = done as f32 / all.max(1) as f32;
    let words = if done == all {
        "weighing…".to_owned()
    } else {
        format!("{} of {}", grouped(done), grouped(all))
    };
    let bar = ui.add(egui::ProgressBar::new(part).desired_width(130.0).text(&*words));
    bar.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, format!("tried: {words}")));
}

/// How many configurations axes have; a sentence where they are too many.
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

/// What the pane is for, while it is empty.
fn about_ui(ui: &mut egui::Ui, session: &Session) {
    if session.is_trying() {
        return;
    }
    ui.add_space(8.0);
    ui.label("Which configuration fits, and which is the best of them?");
    let text = "Start (or Enter in a field) simulates every combination of the values above: each becomes a point, its peak against what it costs in time. \
                Nobody beats the points on the line. A click on a point pins its configuration, which becomes a lane; Recommend names the one to take, and says why. Values \
                are lists (0,2,4) or ranges (8..128x2, 1GiB..4GiB+512MiB).";
    ui.add(egui::Label::new(RichText::new(text).weak()).wrap());
}

/// The figures of the selected point, and what can be done with it.
fn selected_ui(ui: &mut egui::Ui, shown: &Shown<'_>, state: &SweepState, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let Some(point) = state.selected.and_then(|idx| shown.table.point(idx)) else {
            ui.weak("Arrows choose a row; Enter or a click pins its configuration: it becomes a lane.");
            return;
        };
        ui.add(egui::Label::new(facts::sentence(&shown.table.space, point)).wrap())
            .on_hover_text(facts::hover_text(&shown.table.space, point));
        let configuration = Box::new(shown.table.space.configuration(point.idx));
        let apply = ui.button("Apply");
        apply.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "apply the selected configuration"));
        let is_on_capacity = shown
            .session
            .space_order()
            .is_some_and(|order| order.capacity.is_some());
        let what = if is_on_capacity {
            "set options, dimensions and iterations so, and the memory of the device to the capacity, as one step"
        } else {
            "set options, dimensions and iterations so, as one step"
        };
        if apply.on_hover_text(what).clicked() {
            commands.push(Command::UseConfiguration(configuration));
        }
    });
}

/// Pins a point.
fn pin(space: &Space, idx: u64) -> Command {
    Command::PinConfiguration {
        name: space.title(idx),
        configuration: Box::new(space.configuration(idx)),
    }
}

/// The memory of the device, where it is the same for all points.
fn capacity_of(table: &SweepTable) -> Option<Bytes> {
    let mut figures = table.points.iter().filter_map(|point| point.figures());
    let first = figures.next()?.capacity;
    figures.all(|figures| figures.capacity == first).then_some(first)
}

/// Axes of amounts, for the goal.
fn quantities(axes: &[SweepAxis]) -> impl Iterator<Item = &SweepAxis> {
    axes.iter().filter(|axis| axis.is_quantity())
}
