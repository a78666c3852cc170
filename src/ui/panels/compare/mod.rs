//! Lanes side by side: figures of each, what they are more or less than those of a chosen one, whether it fits; pins with what can be
//! done with them; and what the peak of a lane holds otherwise than that of the chosen one.
//!
//! In: the session. Out: commands about pins, the baseline, and a wish for the changes, which the worker finds. Arrow keys walk
//! over the lanes, Enter takes one as the baseline; keys of pages move the whole pane, left and right what is too wide.

mod changes;
mod menu;
mod prompt;
mod table;

use eframe::egui;

pub use prompt::pin_prompt_ui;

use crate::combo::ShowChoices as _;
use crate::theme::Theme;
use highwater_analysis::{Comparison, LaneId};
use highwater_session::{Command, Session};

/// Names of each kind that are listed at first, and at most.
const FIRST: usize = 10;
const MOST: usize = 500;

/// What the pane remembers.
#[derive(Clone, Debug)]
pub struct CompareState {
    /// The lane whose changes are listed; `None` for the last pin, or the one in force.
    lane: Option<LaneId>,
    /// How many names of each kind are listed.
    top: usize,
    /// The pin that is being renamed, by position, and its name so far.
    renamed: Option<(usize, String)>,
    /// What is to be pinned under which name.
    prompt: Option<prompt::Prompt>,
    /// Whether the rows get the keyboard, as when the pane is asked for by its key.
    pub wants_focus: bool,
    /// Whether the row of that lane comes into view.
    wants_row: bool,
    /// How far keys scroll the pane, in views of it: to the right, down.
    scroll: egui::Vec2,
}

impl Default for CompareState {
    fn default() -> Self {
        Self {
            lane: None,
            top: FIRST,
            renamed: None,
            prompt: None,
            wants_focus: false,
            wants_row: false,
            scroll: egui::Vec2::ZERO,
        }
    }
}

impl CompareState {
    /// Asks for a name for what is set.
    pub fn ask_name(&mut self, session: &Session) {
        self.prompt = Some(prompt::Prompt::new(session));
    }

    /// Whether a name is asked for.
    pub const fn is_asking(&self) -> bool {
        self.prompt.is_some()
    }

    /// The lane whose changes are listed, by position: never the baseline.
    fn lane_in(&self, comparison: &Comparison, baseline: usize) -> Option<usize> {
        let chosen = self
            .lane
            .and_then(|id| comparison.lanes.iter().position(|lane| lane.id == id));
        let last_pin = comparison.lanes.iter().rposition(|lane| lane.pinned.is_some());
        let choices = [chosen, last_pin, comparison.main_lane(), Some(0), Some(1)];
        let mut choices = choices.into_iter().flatten();
        choices.find(|lane| *lane != baseline && *lane < comparison.lanes.len())
    }
}

/// Draws the pane.
pub fn compare_ui(
    ui: &mut egui::Ui,
    session: &Session,
    state: &mut CompareState,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some((comparison, _)) = session.answer() else {
        return;
    };
    let baseline = session.baseline(comparison);
    head_ui(ui, session, comparison, baseline, state, commands);
    egui::ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        if session.is_stale() {
            ui.multiply_opacity(0.55);
        }
        let shown = Shown {
            session,
            comparison,
            baseline,
            theme,
        };
        let view = ui.clip_rect();
        let row = ui.scope(|ui| table::table_ui(ui, shown, state, commands)).inner;
        let scroll = std::mem::take(&mut state.scroll);
        if scroll != egui::Vec2::ZERO {
            ui.scroll_with_delta(-scroll * view.size());
        } else if std::mem::take(&mut state.wants_row)
            && let Some(row) = row
        {
            // Sideways nothing moves.
            let row = egui::Rect::from_x_y_ranges(view.x_range().shrink(1.0), row);
            ui.scroll_to_rect(row, None);
        }
        problems_ui(ui, shown, commands);
        ui.add_space(6.0);
        changes::changes_ui(ui, shown, state, commands);
    });
}

/// What the parts of the pane read.
#[derive(Clone, Copy)]
struct Shown<'a> {
    session: &'a Session,
    comparison: &'a Comparison,
    /// The lane that others are compared with, by position.
    baseline: usize,
    theme: &'a Theme,
}

impl Shown<'_> {
    fn title(&self, lane: usize) -> String {
        self.comparison.lane_title(self.comparison.lanes[lane].id)
    }
}

/// Pinning what is set, and which lane the others are compared with.
fn head_ui(
    ui: &mut egui::Ui,
    session: &Session,
    comparison: &Comparison,
    baseline: usize,
    state: &mut CompareState,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        pin_button_ui(ui, session, state, ["Pin…", "pin what is set"]);
        ui.separator();
        ui.label("against");
        let title = |lane: usize| comparison.lane_title(comparison.lanes[lane].id);
        let mut chosen = baseline;
        let shown = comparison
            .lanes
            .get(baseline)
            .map_or_else(String::new, |_| title(baseline));
        let combo = egui::ComboBox::from_id_salt("baseline lane")
            .selected_text(&shown)
            .width(160.0)
            .truncate()
            .show_choices(ui, |ui| {
                for lane in 0..comparison.lanes.len() {
                    ui.selectable_value(&mut chosen, lane, title(lane));
                }
            });
        let label = format!("baseline: {shown}");
        combo
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &label));
        combo
            .response
            .on_hover_text("The lane that the figures of all others are compared with, here and in the lanes' headers");
        if chosen != baseline {
            commands.push(Command::SetBaseline(Some(comparison.lanes[chosen].id)));
        }
    });
}

/// The button that pins what is set.
pub fn pin_button_ui(ui: &mut egui::Ui, session: &Session, state: &mut CompareState, [text, label]: [&str; 2]) {
    let button = ui.button(text);
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, label));
    let hint = "Keep options, environment and schedule under a name, as a lane to compare with (Ctrl+D)";
    if button.on_hover_text(hint).clicked() {
        state.ask_name(session);
    }
}

/// Pins without a lane, each with the reason.
fn problems_ui(ui: &mut egui::Ui, shown: Shown<'_>, commands: &mut Vec<Command>) {
    for problem in &shown.comparison.pin_failures {
        ui.horizontal_wrapped(|ui| {
            let text = format!("{} has no lane: {}.", problem.name, problem.why);
            ui.label(egui::RichText::new(text).color(shown.theme.bad));
            let remove = ui.small_button("Remove");
            let label = format!("remove the pin {}", problem.name);
            remove.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
            if remove.clicked() {
                commands.push(Command::RemovePin(problem.position));
            }
        });
    }
}
