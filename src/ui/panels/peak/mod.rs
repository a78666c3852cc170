//! The peak explained: who is live there, at the pinned step or in the selected range, by group, and what would lower it.
//!
//! In: the session, and what the lanes have pinned and selected. Out: a wish for a report, which the worker makes; what is
//! known of another step stays, dimmed, until then. Groups open into their tensors, and a click on one selects it everywhere.
//! Bookmarks stand above it.

mod against;
mod bars;
mod bookmarks;
mod lower;
mod range;

use eframe::egui::{self, Event, RichText};

use super::choice_ui;
use crate::combo::ShowChoices as _;
use crate::lanes::{LanesInput, LanesState};
use crate::theme::Theme;
use highwater_analysis::{Comparison, LaneId};
use highwater_model::units::{Bytes, Step, counted};
use highwater_session::{Command, Selected, Session};
use highwater_timeline::{Attribute, PeakAt, PeakReport, PeakRequest, ReservedRest, StepRange, peak_step, step_facts};

/// How many entries rankings have.
const FIRST: usize = 8;

/// Which of what the lanes have is explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// The step on which most is live.
    #[default]
    Peak,
    /// The step on which most is reserved, where that is another.
    Reserved,
    /// The pinned step.
    Step,
    /// The selected range.
    Range,
}

/// What the pane remembers.
#[derive(Clone, Debug, Default)]
pub struct PeakState {
    /// The lane; `None` for the main one.
    lane: Option<LaneId>,
    mode: Mode,
    /// The lane that it is compared with.
    against: Option<LaneId>,
    /// By what is grouped; `None` for what tells most apart.
    by: Option<Attribute>,
    /// The group that is opened, by its text, and how many of its tensors are listed.
    open: Option<(Box<str>, usize)>,
    /// The pinned step and the range as they were in the last frame: what changes last is shown.
    seen: (Option<(usize, Step)>, Option<StepRange>),
    /// Whether a path to write the report to is to be asked for.
    pub wants_export: bool,
    /// Whether the report is to be put on the clipboard.
    pub wants_copy: bool,
}

/// What the parts of the pane read.
#[derive(Clone, Copy)]
struct Shown<'a> {
    comparison: &'a Comparison,
    report: &'a PeakReport,
    selected: Option<Selected>,
    theme: &'a Theme,
}

/// Draws the pane.
pub fn peak_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut PeakState,
    lanes: &mut LanesState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some(input) = LanesInput::of(session, theme) else {
        ui.weak("Who is live at the peak appears here. Open a graph (Ctrl+O) or choose one under Samples.");
        return;
    };
    let comparison = input.comparison;
    state.follow(&input, lanes);
    let lane = state.lane_in(comparison);
    if peak_step(comparison, lane).is_none() {
        ui.weak("The schedule has no steps, so nothing is live.");
        return;
    }
    copy_ui(ui, state);
    let before = (lanes.viewport, lanes.spot, lanes.range);
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        head_ui(ui, &input, &mut *state, &mut *lanes);
        lanes.set_bookmarks(session);
        bookmarks::bookmarks_ui(ui, &input, &session.document().bookmarks, lanes, commands);
        let ask = state.ask(comparison, lanes);
        if !session.wants_peak_report(&ask) {
            commands.push(Command::ExplainPeak(ask));
        }
        let known = session.peak_report().filter(|_| session.is_peak_report_of_answer());
        match known {
            Some(report) => ui.scope(|ui| {
                if !session.has_peak_report(&ask) || session.is_stale() {
                    ui.multiply_opacity(0.55);
                }
                let shown = Shown {
                    comparison,
                    report,
                    selected: session.selection(),
                    theme,
                };
                report_ui(ui, shown, &mut *state, &mut *lanes, commands);
            }),
            None => ui.scope(|ui| drop(ui.weak("Working out who is live…"))),
        };
    });
    if (lanes.viewport, lanes.spot, lanes.range) != before {
        // The lanes are drawn before the pane.
        ui.ctx().request_repaint();
    }
}

impl PeakState {
    /// What was pinned or selected last is explained, in its lane.
    fn follow(&mut self, input: &LanesInput<'_>, lanes: &LanesState) {
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

    /// Explains another lane from now on.
    pub const fn explain(&mut self, lane: LaneId) {
        self.lane = Some(lane);
    }

    /// The lane by position.
    fn lane_in(&self, comparison: &Comparison) -> usize {
        let own = self.lane;
        let own = own.and_then(|id| comparison.lanes.iter().position(|lane| lane.id == id));
        own.or(comparison.main_lane()).unwrap_or(0)
    }

    /// By what tensors are grouped. Nearly all that is live is activations, and a recording knows only who asked.
    fn by_in(&self, comparison: &Comparison) -> Attribute {
        let usual = if comparison.is_measured_lane(self.lane_in(comparison)) {
            Attribute::Scope
        } else {
            Attribute::OpType
        };
        self.by.unwrap_or(usual)
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
            n_first: FIRST,
            against: self.other_in(comparison),
        }
    }

    /// The step on which the lane reserves most, where that is another than the one on which most is live.
    fn most_reserved(&self, comparison: &Comparison) -> Option<Step> {
        let lane = self.lane_in(comparison);
        let step = comparison.lanes.get(lane)?.summary.peak_reserved_step?;
        (comparison.states(lane) == (true, true) && peak_step(comparison, lane) != Some(step)).then_some(step)
    }

    /// The lane that it is compared with, by position.
    fn other_in(&self, comparison: &Comparison) -> Option<usize> {
        let id = self.against?;
        let position = comparison.lanes.iter().position(|lane| lane.id == id);
        position.filter(|other| *other != self.lane_in(comparison))
    }
}

/// Ctrl+C over the pane copies the report, unless something else has text to copy.
fn copy_ui(ui: &egui::Ui, state: &mut PeakState) {
    let is_over = ui.rect_contains_pointer(ui.max_rect());
    let is_asked = ui.input(|i| i.events.iter().any(|event| matches!(event, Event::Copy)));
    state.wants_copy |= is_over && is_asked && !ui.text_edit_focused();
}

/// The lane, what is explained of it, and what can be done with that.
fn head_ui(ui: &mut egui::Ui, input: &LanesInput<'_>, state: &mut PeakState, lanes: &mut LanesState) {
    let comparison = input.comparison;
    lane_ui(ui, comparison, state);
    against::choice_ui(ui, comparison, state);
    ui.horizontal_wrapped(|ui| {
        // Not where the lane's mark stands, which is at the peak of what is reserved.
        let peak = if comparison.states(state.lane_in(comparison)).1 {
            "most live"
        } else {
            "most reserved"
        };
        let mut modes = vec![(Mode::Peak, peak)];
        if state.most_reserved(comparison).is_some() {
            modes.push((Mode::Reserved, "most reserved"));
        }
        if lanes.pinned().is_some() {
            modes.push((Mode::Step, "pinned step"));
        }
        if lanes.range.is_some() {
            modes.push((Mode::Range, "range"));
        }
        choice_ui(ui, &mut state.mode, "explain", &modes);
    });
    let at = state.ask(comparison, lanes).at;
    let words = words_of(comparison, state.lane_in(comparison), at);
    ui.add(egui::Label::new(RichText::new(&words).strong()).wrap());
    ui.horizontal_wrapped(|ui| {
        let copy = ui
            .button("Copy")
            .on_hover_text("Copy this as text (Ctrl+C over the pane)");
        state.wants_copy |= copy.clicked();
        let export = ui.button("Export…");
        let export = export.on_hover_text("Write the live tensors as CSV, everything as JSON, or a text");
        state.wants_export |= export.clicked();
        if let Some(step) = peak_step(comparison, state.lane_in(comparison)) {
            let pin = ui.button("Pin peak");
            let words = format!(
                "Pin {} {step}, the peak of this lane, in all lanes",
                comparison.axis_word()
            );
            if pin.on_hover_text(words).clicked() {
                lanes.pin(state.lane_in(comparison), step);
            }
        }
    });
}

fn lane_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    let lane = state.lane_in(comparison);
    let title = |lane: usize| comparison.lane_title(comparison.lanes[lane].id);
    let combo = egui::ComboBox::from_id_salt("peak lane")
        .selected_text(title(lane))
        .width(ui.available_width() - 8.0)
        .truncate()
        .show_choices(ui, |ui| {
            for (position, row) in comparison.lanes.iter().enumerate() {
                ui.selectable_value(&mut state.lane, Some(row.id), title(position));
            }
        });
    combo.response.widget_info(|| {
        let words = format!("explained lane: {}", title(lane));
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, words)
    });
}

/// What is explained, in words.
fn words_of(comparison: &Comparison, lane: usize, at: PeakAt) -> String {
    let word = comparison.axis_word();
    let with_op = |step: Step| {
        let facts = step_facts(comparison, step).filter(|_| !comparison.is_measured_lane(lane));
        let op = facts.map_or_else(String::new, |facts| facts.op_text().to_owned());
        if op.is_empty() {
            format!("{word} {step}")
        } else {
            format!("{word} {step} ({op})")
        }
    };
    match at {
        PeakAt::Peak => {
            let what = if comparison.states(lane).1 { "live" } else { "reserved" };
            let at = peak_step(comparison, lane).map_or_else(String::new, with_op);
            format!("Most {what} bytes: {at}")
        }
        PeakAt::Step(step) => format!("Pinned: {}", with_op(step)),
        PeakAt::Range(range) => {
            let steps = counted(u64::from(range.n_steps()), word);
            format!("Range: {word}s {} to {} ({steps})", range.start, range.last())
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
        ui.weak("No tensor is listed as live there.");
        return;
    }
    against::changes_ui(ui, shown, commands);
    by_ui(ui, shown.comparison, state);
    bars::groups_ui(ui, shown, state, commands);
    ui.add_space(6.0);
    lower::lower_ui(ui, shown, lanes, commands);
}

/// Live and reserved bytes, and what the latter are besides.
fn figures_ui(ui: &mut egui::Ui, shown: Shown<'_>) {
    let set = &shown.report.set;
    let is_live_stated = shown.comparison.states(shown.report.ask.lane).1;
    egui::Grid::new("peak figures")
        .num_columns(2)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            let mut row = |what: &str, bytes: Bytes, note: &str| {
                ui.label(what).on_hover_text(note);
                let figure = ui.monospace(format!("{bytes}"));
                figure.on_hover_text(bytes.exact());
                ui.end_row();
            };
            let n_tensors = counted(set.members.len() as u64, "tensor");
            if is_live_stated {
                row(&format!("live, {n_tensors}"), set.live, "Exact bytes that tensors hold");
            }
            if set.unlisted > Bytes::ZERO {
                row(
                    "of no listed tensor",
                    set.unlisted,
                    "Live bytes that the file states without a block",
                );
            }
            for (rest, bytes) in &set.rest {
                row(&format!("+ {}", short(*rest)), *bytes, rest.words());
            }
            if set.surplus > Bytes::ZERO {
                row(
                    "− shared, or outside",
                    set.surplus,
                    "What shares its place with others, or stands in no region that the file states",
                );
            }
            match set.reserved {
                Some(reserved) => row(
                    "= reserved",
                    reserved,
                    "Device bytes in use on this step: the sum of these rows",
                ),
                None => drop(ui.weak("reserved is not recorded")),
            }
        });
}

/// Fits a narrow pane.
const fn short(rest: ReservedRest) -> &'static str {
    match rest {
        ReservedRest::Rounding => "rounding",
        ReservedRest::Idle => "held by no tensor",
        ReservedRest::Weights => "weights",
        ReservedRest::Variables => "variables",
        ReservedRest::InputOutput => "inputs, outputs",
        ReservedRest::Elsewhere => "within the step",
        ReservedRest::Unlisted => "not listed",
    }
}

fn by_ui(ui: &mut egui::Ui, comparison: &Comparison, state: &mut PeakState) {
    let by = state.by_in(comparison);
    ui.horizontal(|ui| {
        ui.label("Group by");
        let combo = egui::ComboBox::from_id_salt("peak group by")
            .selected_text(by.words())
            .width(110.0)
            .show_choices(ui, |ui| {
                for attribute in Attribute::ALL {
                    if ui.selectable_label(by == attribute, attribute.words()).clicked() {
                        state.by = Some(attribute);
                    }
                }
            });
        let words = format!("group by {}", by.words());
        combo
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &words));
    });
}
