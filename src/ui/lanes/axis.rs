//! The unit of the time axis: one choice for all lanes, the lifetimes and the minimap.

use eframe::egui::{ComboBox, Role, Ui};

use super::{LanesInput, LanesState};
use crate::combo::ShowChoices as _;
use crate::widgets::Named as _;
use highwater_model::units::{Nanos, counted, grouped};
use highwater_timeline::{AxisKind, TimeAxis, Timeline, View, WallRun};

impl LanesState {
    /// The unit in this answer, which may lack the chosen one.
    pub const fn shown_axis(&self) -> AxisKind {
        match self.warp {
            Some(_) => self.axis,
            None => AxisKind::Order,
        }
    }

    pub(super) fn view(&self) -> Option<View<'_>> {
        Some(View::new(self.viewport?, self.warp.as_deref()))
    }

    /// As [`Self::view`], without a borrow of the state.
    pub(super) fn view_in<'a>(&self, timeline: &'a Timeline) -> Option<View<'a>> {
        Some(View::new(self.viewport?, self.along(timeline)))
    }

    /// The axis of an answer; `None` for steps of equal width.
    pub(super) fn along<'a>(&self, timeline: &'a Timeline) -> Option<&'a TimeAxis> {
        timeline.axes.get(self.axis).map(|axis| &**axis)
    }
}

/// The choice of the unit. A unit without data is disabled and says why.
pub(super) fn choice_ui(ui: &mut Ui, input: &LanesInput<'_>, state: &mut LanesState) {
    let axes = &input.timeline.axes;
    let shown = axes.effective(state.axis);
    let response = ComboBox::from_id_salt("time axis")
        .selected_text(format!("Axis: {}", shown.short_name()))
        .width(0.0)
        .show_choices(ui, |ui| {
            for kind in AxisKind::ALL {
                let why_not = axes.why_not(kind);
                let entry = ui.add_enabled_ui(why_not.is_none(), |ui| {
                    ui.selectable_label(kind == shown, axes.name(kind))
                });
                let entry = entry.inner;
                if entry.clicked() {
                    state.axis = kind;
                }
                match why_not {
                    Some(why) => entry.on_disabled_hover_text(why),
                    None => entry.on_hover_text(words(kind, input.timeline)),
                };
            }
        })
        .named(Role::ComboBox, || format!("Axis: {}", axes.name(shown)));
    let words = words(shown, input.timeline);
    response.on_hover_text(format!("Time axis of all lanes (U: next)\n{words}"));
}

/// The tooltip of a unit.
fn words(kind: AxisKind, timeline: &Timeline) -> String {
    match (kind, timeline.axes.get(kind)) {
        (_, None) => "Program order: all steps have the same width.".to_owned(),
        (AxisKind::Wall, Some(axis)) => {
            let total = Nanos(axis.total());
            let what = match timeline.axes.wall_run() {
                None => format!("Wall time, {total} in total: the width of an event is the time until the next one."),
                Some(run) => format!(
                    "Wall time of {}, {total} in total: the width of an op is the time from its start to the start of \
                     the next op in that run. {}",
                    run.name,
                    run_words(run, axis)
                ),
            };
            format!("{what}\n{}", share_words(axis))
        }
        (_, Some(axis)) => format!(
            "Estimated time, {} in total: ops run one after another; the width of an op is its time. {}\n{}",
            Nanos(axis.total()),
            source_words(axis),
            share_words(axis)
        ),
    }
}

/// The steps that have measured times.
fn run_words(run: &WallRun, axis: &TimeAxis) -> String {
    let steps = counted(axis.n_steps() as u64, "step");
    let mut words = format!(
        "{} of {steps} were measured; the others share the remaining time of the measured step before them.",
        grouped(u64::from(axis.n_stated()))
    );
    if !run.is_in_order {
        words += " The run and the graph differ in order: widths are from the run, the order is from the graph.";
    }
    if run.n_runs > 1 {
        words += &format!(" Its times apply to each of {} runs of the graph.", run.n_runs);
    }
    match run.n_without {
        0 => {}
        1 => words += " It has no measurement of 1 run of a graph, which is drawn without time.",
        more => words += &format!(" It has no measurement of {more} runs of graphs, which are drawn without time."),
    }
    words
}

/// The source of the times of ops.
fn source_words(axis: &TimeAxis) -> String {
    const ESTIMATE: &str = "estimated as its launch and the larger of its operations and its bytes over the device's \
                            rates (see the options of costs)";
    let n_steps = u32::try_from(axis.n_steps()).unwrap_or(u32::MAX);
    match axis.n_stated() {
        0 => format!("No op states its time: it is {ESTIMATE}."),
        stated if stated == n_steps => {
            "The source states the time of every op; ops are assumed to run one after another.".to_owned()
        }
        stated => format!(
            "{} of {} state their time; that of each other is {ESTIMATE}.",
            grouped(u64::from(stated)),
            counted(u64::from(n_steps), "step")
        ),
    }
}

/// How steps without a time are drawn.
fn share_words(axis: &TimeAxis) -> String {
    let n_timeless = u64::from(axis.n_timeless());
    let timeless = match n_timeless {
        0 => "Every step takes time".to_owned(),
        1 => "1 step takes no time".to_owned(),
        count => format!("{} steps take no time", grouped(count)),
    };
    format!("{timeless}; all steps share a twentieth of the axis evenly, so that each is visible.")
}
