//! The peak explained: live tensors at the peak, at the pinned step or in the selected range, by group, and advice to
//! lower it. Bookmarks are above.
//!
//! In: the session, and the pinned step and selected range of the lanes. Out: a request for a report, which the worker
//! makes; until then the last report stays, dimmed. Groups expand into their tensors, and a click selects one.

mod against;
mod bars;
mod bookmarks;
mod lower;
mod range;
mod ranks;

use eframe::egui::{self, Event, RichText};

use super::{choice_ui, requested_ui};
use crate::combo::ShowChoices as _;
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::lanes::{LanesInput, LanesState};
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::{button_ui, wrapped_ui};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::{Bytes, Step, counted};
use highwater_session::{Command, Selected};
use highwater_timeline::{Attribute, PeakAt, PeakReport, PeakRequest, ReservedRest, StepRange, op_text, peak_step};

/// Entries of rankings.
const FIRST: usize = 8;

/// The explained step or range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// The step with the most live bytes.
    #[default]
    Peak,
    /// The step with the most reserved bytes, where it is another.
    Reserved,
    Step,
    Range,
}

#[derive(Clone, Debug, Default)]
pub struct PeakState {
    /// The selected lane, or another one that is chosen in this frame; `None` for the main lane.
    lane: Option<LaneId>,
    mode: Mode,
    /// The lane to compare with.
    against: Option<LaneId>,
    /// The grouping; `None` for the default.
    by: Option<Attribute>,
    /// The expanded group by its text, and the number of listed tensors.
    open: Option<(Box<str>, usize)>,
    /// Pinned step and range of the last frame: the last change is shown.
    seen: (Option<(usize, Step)>, Option<StepRange>),
}

#[derive(Clone, Copy)]
struct Shown<'a> {
    comparison: &'a Comparison,
    report: &'a PeakReport,
    selected: Option<Selected>,
    theme: &'a Theme,
}

impl Shown<'_> {
    /// What the lane is made of: `tensor`, `block`.
    fn noun(&self) -> &'static str {
        self.comparison.study_of_lane(self.report.ask.lane).words().tensor
    }
}

pub fn peak_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut PeakState, lanes: &mut LanesState) {
    let Some(input) = LanesInput::of(cx.session, cx.theme) else {
        ui.weak("This tab shows the live tensors at the peak. Open a graph (Ctrl+O) or a sample.");
        return;
    };
    let comparison = input.comparison;
    state.follow(&input, lanes);
    let lane = state.lane_in(comparison);
    if peak_step(comparison, lane).is_none() {
        ui.weak("The schedule has no steps, so no tensor is live.");
        return;
    }
    copy_ui(ui, cx.window_commands);
    let before = (lanes.viewport, lanes.spot, lanes.range);
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        head_ui(ui, &input, &mut *state, &mut *lanes, cx.window_commands);
        lanes.set_bookmarks(cx.session);
        bookmarks::bookmarks_ui(ui, &input, &cx.session.document().bookmarks, lanes, cx.commands);
        let ask = state.ask(comparison, lanes);
        let requested = cx.session.peak_report();
        if !requested.wants(&ask) {
            cx.commands.push(Command::ExplainPeak(ask));
        }
        ui.scope(|ui| {
            let known = (requested.current(), &ask);
            if let Some(report) = requested_ui(ui, &requested, known, "Computing live tensors…") {
                let shown = Shown {
                    comparison,
                    report,
                    selected: cx.session.selection(),
                    theme: cx.theme,
                };
                report_ui(ui, shown, &mut *state, &mut *lanes, cx.commands);
            }
        });
    });
    let chosen = state.lane.filter(|_| state.lane != lanes.selected_lane);
    cx.window_commands.extend(chosen.map(UiCommand::ExplainLane));
    if (lanes.viewport, lanes.spot, lanes.range) != before {
        // The lanes are drawn before the pane.
        ui.ctx().request_repaint();
    }
}

impl PeakState {
    /// Explains the newest pin or range, in its lane.
    fn follow(&mut self, input: &LanesInput<'_>, lanes: &LanesState) {
        self.lane = lanes.selected_lane;
        let pinned = lanes.pinned().filter(|spot| spot.lane < input.comparison.lanes.len());
        let now = (pinned.map(|spot| (spot.lane, spot.step)), lanes.range);
        let before = std::mem::replace(&mut self.seen, now);
        let fallback = match now {
            (_, Some(_)) => Mode::Range,
            (Some(_), None) => Mode::Step,
            (None, None) => Mode::Peak,
        };
        if now.1 != before.1 {
            self.mode = fallback;
        }
        if now.0 != before.0 {
            self.mode = if now.0.is_some() { Mode::Step } else { fallback };
            if let Some((lane, _)) = now.0 {
                self.lane = Some(input.comparison.lanes[lane].id);
            }
        }
        let is_gone = match self.mode {
            Mode::Peak => false,
            Mode::Reserved => self.most_reserved(input.comparison).is_none(),
            Mode::Step => now.0.is_none(),
            Mode::Range => now.1.is_none(),
        };
        if is_gone {
            self.mode = fallback;
        }
    }

    /// The explained lane by position, and its step or range.
    pub(super) fn explained(&mut self, input: &LanesInput<'_>, lanes: &LanesState) -> (usize, PeakAt) {
        self.follow(input, lanes);
        let ask = self.ask(input.comparison, lanes);
        (ask.lane, ask.at)
    }

    /// The choice of the explained step or range.
    pub(super) fn explained_ui(&mut self, ui: &mut egui::Ui, input: &LanesInput<'_>, lanes: &LanesState) {
        let comparison = input.comparison;
        // The lane's mark is at the peak of reserved bytes.
        let peak = if comparison.states(self.lane_in(comparison)).1 {
            "peak live"
        } else {
            "peak reserved"
        };
        let mut modes = vec![(Mode::Peak, peak)];
        if self.most_reserved(comparison).is_some() {
            modes.push((Mode::Reserved, "peak reserved"));
        }
        if lanes.pinned().is_some() {
            let is_event = comparison.axis_word() == "event";
            modes.push((Mode::Step, if is_event { "pinned event" } else { "pinned step" }));
        }
        if lanes.range.is_some() {
            modes.push((Mode::Range, "range"));
        }
        choice_ui(ui, &mut self.mode, "explain", &modes);
    }

    /// By position.
    fn lane_in(&self, comparison: &Comparison) -> usize {
        let own = self.lane.and_then(|id| comparison.position(id));
        own.or(comparison.main_lane()).unwrap_or(0)
    }

    fn by_in(&self, comparison: &Comparison) -> Attribute {
        let chosen = self.by.filter(|by| by.is_of(comparison));
        chosen.unwrap_or_else(|| Attribute::usual(comparison, self.lane_in(comparison)))
    }

    fn ask(&self, comparison: &Comparison, lanes: &LanesState) -> PeakRequest {
        let last = Step(comparison.axis.n_steps.saturating_sub(1));
        let at = match (self.mode, lanes.pinned(), lanes.range) {
            (Mode::Step, Some(spot), _) => PeakAt::Step(spot.step.min(last)),
            (Mode::Range, _, Some(range)) => PeakAt::Range(range),
            (Mode::Reserved, ..) => self.most_reserved(comparison).map_or(PeakAt::Peak, PeakAt::Step),
            _ => PeakAt::Peak,
        };
        PeakRequest {
            lane: self.lane_in(comparison),
            at,
            by: self.by_in(comparison),
            within: self.by_in(comparison).usual_parts(),
            n_first: FIRST,
            against: self.other_in(comparison),
        }
    }

    /// The step with the most reserved bytes, where it differs from that with the most live bytes.
    fn most_reserved(&self, comparison: &Comparison) -> Option<Step> {
        let lane = self.lane_in(comparison);
        let step = comparison.lanes.get(lane)?.summary.peak_reserved_step?;
        if comparison.shown_peak(lane).is_live {
            // Of the listed segments alone.
            return None;
        }
        (comparison.states(lane) == (true, true) && peak_step(comparison, lane) != Some(step)).then_some(step)
    }

    /// The lane to compare with, by position.
    fn other_in(&self, comparison: &Comparison) -> Option<usize> {
        comparison
            .position(self.against?)
            .filter(|other| *other != self.lane_in(comparison))
    }
}

/// Ctrl+C over the pane copies the report, unless a field has the keyboard.
fn copy_ui(ui: &egui::Ui, window_commands: &mut Vec<UiCommand>) {
    let is_over = ui.rect_contains_pointer(ui.max_rect());
    let is_asked = ui.input(|i| i.events.iter().any(|event| matches!(event, Event::Copy)));
    if is_over && is_asked && !ui.text_edit_focused() {
        window_commands.push(UiCommand::CopyPeak);
    }
}

/// Lane, step or range, and actions.
fn head_ui(
    ui: &mut egui::Ui,
    input: &LanesInput<'_>,
    state: &mut PeakState,
    lanes: &mut LanesState,
    window_commands: &mut Vec<UiCommand>,
) {
    let comparison = input.comparison;
    lane_ui(ui, comparison, state);
    against::choice_ui(ui, comparison, state);
    ui.horizontal_wrapped(|ui| state.explained_ui(ui, input, lanes));
    let at = state.ask(comparison, lanes).at;
    let words = words_of(comparison, state.lane_in(comparison), at);
    wrapped_ui(ui, RichText::new(&words).strong());
    ui.horizontal_wrapped(|ui| {
        let button = |ui: &mut egui::Ui, text: &str, hint: &str| button_ui(ui, egui::Button::new(text), hint);
        if button(ui, "Copy", "Copy this as text (Ctrl+C over the pane)") {
            window_commands.push(UiCommand::CopyPeak);
        }
        if button(
            ui,
            "Export…",
            "Write the live tensors as CSV, everything as JSON, or a text",
        ) {
            window_commands.push(UiCommand::AskPath(Purpose::ExportPeak));
        }
        if let Some(step) = peak_step(comparison, state.lane_in(comparison)) {
            let at = comparison.step_text(state.lane_in(comparison), step);
            if button(
                ui,
                "Pin peak",
                &format!("Pin {at}, the peak of this lane, in all lanes"),
            ) {
                lanes.pin(state.lane_in(comparison), step);
            }
        }
    });
}

fn lane_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    let mut chosen = state.lane_in(comparison);
    let list = egui::ComboBox::from_id_salt("peak lane")
        .width(ui.available_width() - 8.0)
        .truncate()
        .show_lanes(ui, "lane: ", &mut chosen, comparison);
    if list.changed() {
        state.lane = comparison.lanes.get(chosen).map(|lane| lane.id);
    }
}

/// The explained step or range in words.
fn words_of(comparison: &Comparison, lane: usize, at: PeakAt) -> String {
    let with_op = |step: Step| {
        let at = comparison.step_text(lane, step);
        match op_text(comparison, step) {
            op if op.is_empty() || comparison.is_measured_lane(lane) => at,
            op => format!("{at} ({op})"),
        }
    };
    match at {
        PeakAt::Peak => {
            let what = if comparison.states(lane).1 { "live" } else { "reserved" };
            let at = peak_step(comparison, lane).map_or_else(String::new, with_op);
            format!("Peak {what}: {at}")
        }
        PeakAt::Step(step) => format!("Pinned: {}", with_op(step)),
        PeakAt::Range(range) => {
            let steps = counted(u64::from(range.n_steps()), comparison.axis_word());
            let ends = comparison.steps_text(lane, range.start, range.end);
            format!("Range: {ends} ({steps})")
        }
    }
}

fn report_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    state: &mut PeakState,
    lanes: &mut LanesState,
    commands: &mut Vec<Command>,
) {
    ui.add_space(4.0);
    figures_ui(ui, shown);
    if let Some(stats) = &shown.report.range {
        range::range_ui(ui, shown, stats, lanes);
        range::groups_ui(ui, shown, stats, commands);
    }
    ui.separator();
    if shown.report.set.members.is_empty() {
        ui.weak(format!("No live {}s here.", shown.noun()));
        return;
    }
    if let Some(spread) = &shown.report.ranks {
        ranks::ranks_ui(ui, shown, spread, state);
        ui.separator();
    }
    against::changes_ui(ui, shown, commands);
    bars::by_ui(ui, shown.comparison, state);
    bars::groups_ui(ui, shown, state, commands);
    ui.add_space(6.0);
    lower::lower_ui(ui, shown, lanes, commands);
}

/// Live bytes, reserved bytes, and their difference by cause.
fn figures_ui(ui: &mut egui::Ui, shown: Shown<'_>) {
    let set = &shown.report.set;
    let lane = shown.report.ask.lane;
    let is_live_stated = shown.comparison.states(lane).1;
    let sign = shown.comparison.bound_sign(lane);
    let is_partial = !sign.is_empty() && shown.comparison.is_measured_lane(lane);
    egui::Grid::new("peak figures")
        .num_columns(2)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            let mut row = |what: &str, bytes: Bytes, note: &str| {
                ui.label(what).on_hover_text(note);
                let bound = if what == RESERVED { sign } else { "" };
                let figure = ui.monospace(format!("{bound}{bytes}"));
                figure.on_hover_text(bytes.exact());
                ui.end_row();
            };
            let noun = shown.noun();
            let n_tensors = counted(set.members.len() as u64, noun);
            if is_live_stated {
                let note = format!("Exact bytes of {noun}s");
                row(&format!("live, {n_tensors}"), set.live, &note);
            }
            if set.unlisted > Bytes::ZERO {
                row("not listed", set.unlisted, "Live bytes without a listed block");
            }
            for (rest, bytes) in &set.rest {
                row(&format!("+ {}", short(*rest)), *bytes, rest.words());
            }
            if set.surplus > Bytes::ZERO {
                row(
                    "− shared, or outside",
                    set.surplus,
                    "Tensors that share bytes with others, or lie outside the listed regions",
                );
            }
            match set.reserved {
                Some(reserved) if is_partial => row(
                    RESERVED,
                    reserved,
                    "A lower bound: live exceeds it, so the file does not list all segments",
                ),
                Some(reserved) => row(
                    RESERVED,
                    reserved,
                    "Reserved device bytes at this step: the sum of these rows",
                ),
                None => drop(ui.weak("reserved is not recorded")),
            }
        });
}

/// The label of the sum.
const RESERVED: &str = "= reserved";

/// Short enough for a narrow pane.
const fn short(rest: ReservedRest) -> &'static str {
    match rest {
        ReservedRest::Rounding => "rounding",
        ReservedRest::Idle => "reserved, unused",
        ReservedRest::Weights => "weights",
        ReservedRest::Variables => "variables",
        ReservedRest::InputOutput => "inputs, outputs",
        ReservedRest::Elsewhere => "within the step",
        ReservedRest::Unlisted => "not listed",
    }
}
