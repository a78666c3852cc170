//! Lanes side by side: figures, differences from the baseline, fit; pins with their menus; changes at the peak against
//! the baseline.
//!
//! In: the session. Out: commands about pins and the baseline, and a request for the changes, which the worker
//! computes. Arrow keys choose a lane, Enter makes it the baseline; page keys scroll the pane, left and right scroll
//! wide tables.

mod changes;
mod menu;
mod overlay;
mod prompt;
mod table;

use eframe::egui;

pub use prompt::pin_prompt_ui;

use crate::combo::ShowChoices as _;
use crate::commands::UiCommand;
use crate::panels::PaneCx;
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_analysis::{Comparison, LaneId};
use highwater_session::{Command, Session};

#[derive(Clone, Debug, Default)]
pub struct CompareState {
    /// The selected lane, which all panes follow; `None` for the last pin, or the main lane.
    lane: Option<LaneId>,
    /// Position and new name of the pin that is renamed.
    renamed: Option<(usize, String)>,
    /// The configuration to pin, while its name is typed.
    prompt: Option<prompt::Prompt>,
    /// Gives the rows the keyboard, as after the pane's shortcut.
    pub wants_focus: bool,
    /// Scrolls to the row of the chosen lane.
    wants_row: bool,
    /// Scroll by keys, in sizes of the view: right, down.
    scroll: egui::Vec2,
    overlay: overlay::OverlayState,
}

impl CompareState {
    /// Opens the prompt for a pin's name.
    pub fn ask_name(&mut self, session: &Session) {
        self.prompt = Some(prompt::Prompt::new(session));
    }

    pub const fn is_asking(&self) -> bool {
        self.prompt.is_some()
    }

    /// The lane of the list of changes by position; never the baseline.
    fn lane_in(&self, comparison: &Comparison, baseline: usize) -> Option<usize> {
        let chosen = self.lane.and_then(|id| comparison.position(id));
        let last_pin = comparison.lanes.iter().rposition(|lane| lane.pinned.is_some());
        let choices = [chosen, last_pin, comparison.main_lane(), Some(0), Some(1)];
        let mut choices = choices.into_iter().flatten();
        choices.find(|lane| *lane != baseline && *lane < comparison.lanes.len())
    }
}

/// The list of changes is of the lane that is selected in the window; a click selects another one.
pub fn compare_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut CompareState, selected: Option<LaneId>) {
    let Some((comparison, timeline)) = cx.session.answer() else {
        return;
    };
    state.lane = selected;
    let baseline = cx.session.baseline(comparison);
    head_ui(ui, cx, comparison, baseline, state);
    egui::ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        let shown = Shown {
            session: cx.session,
            comparison,
            baseline,
            theme: cx.theme,
        };
        let view = ui.clip_rect();
        let row = ui.scope(|ui| table::table_ui(ui, shown, state, cx.commands)).inner;
        let scroll = std::mem::take(&mut state.scroll);
        if scroll != egui::Vec2::ZERO {
            ui.scroll_with_delta(-scroll * view.size());
        } else if std::mem::take(&mut state.wants_row)
            && let Some(row) = row
        {
            // Nothing scrolls sideways.
            let row = egui::Rect::from_x_y_ranges(view.x_range().shrink(1.0), row);
            ui.scroll_to_rect(row, None);
        }
        problems_ui(ui, shown, cx.commands);
        notes_ui(ui, shown);
        overlay::overlay_ui(ui, shown, timeline, &mut state.overlay);
        ui.add_space(6.0);
        changes::changes_ui(ui, shown, state, cx.commands);
    });
    if state.lane != selected {
        cx.window_commands.extend(state.lane.map(UiCommand::ExplainLane));
    }
}

#[derive(Clone, Copy)]
struct Shown<'a> {
    session: &'a Session,
    comparison: &'a Comparison,
    baseline: usize,
    theme: &'a Theme,
}

impl Shown<'_> {
    fn title(&self, lane: usize) -> String {
        self.comparison.title_of(lane)
    }
}

/// The pin button and the choice of the baseline.
fn head_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, comparison: &Comparison, baseline: usize, state: &mut CompareState) {
    ui.horizontal_wrapped(|ui| {
        pin_button_ui(ui, cx.session, state, ["Pin…", "pin the active configuration"]);
        ui.separator();
        ui.label("Baseline");
        let mut chosen = baseline;
        egui::ComboBox::from_id_salt("baseline lane")
            .width(160.0)
            .truncate()
            .show_lanes(ui, "baseline: ", &mut chosen, comparison)
            .on_hover_text("Baseline of the figures of all other lanes, here and in the lane headers");
        if chosen != baseline {
            cx.commands
                .push(Command::SetBaseline(Some(comparison.lanes[chosen].id)));
        }
    });
}

/// The button that pins the active configuration.
pub fn pin_button_ui(ui: &mut egui::Ui, session: &Session, state: &mut CompareState, [text, label]: [&str; 2]) {
    let button = ui.button(text).named(egui::Role::Button, || &label);
    let hint = "Store options, environment and schedule under a name, as a lane to compare with (Ctrl+D)";
    if button.on_hover_text(hint).clicked() {
        state.ask_name(session);
    }
}

/// What concerns all lanes: how figures are meant, and settings without effect here.
fn notes_ui(ui: &mut egui::Ui, shown: Shown<'_>) {
    let all: Vec<usize> = (0..shown.comparison.lanes.len()).collect();
    for sentence in shown
        .comparison
        .mark_sentences(&all, shown.session.document().goal, |mark| mark.label().is_empty())
    {
        ui.weak(sentence);
    }
}

/// Pins that cannot be lanes, with the reason.
fn problems_ui(ui: &mut egui::Ui, shown: Shown<'_>, commands: &mut Vec<Command>) {
    for problem in &shown.comparison.pin_failures {
        ui.horizontal_wrapped(|ui| {
            let text = format!("{} has no lane: {}.", problem.name, problem.why);
            ui.label(egui::RichText::new(text).color(shown.theme.bad));
            let remove = ui.small_button("Remove");
            let remove = remove.named(egui::Role::Button, || format!("remove the pin {}", problem.name));
            if remove.clicked() {
                commands.push(Command::RemovePin(problem.position));
            }
        });
    }
}
