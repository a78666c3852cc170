//! The search field above the lanes: it searches while one types, Enter goes from match to match.
//!
//! Enter and Shift+Enter select the next and the previous match; letters are commands then, such as F. Escape clears the field and
//! releases the keyboard, the arrow keys restore earlier queries.

use eframe::egui::{self, Key, Modifiers, RichText, TextEdit};

use super::options::select_all;
use crate::commands::UiCommand;
use crate::lanes::LanesState;
use crate::panels::PaneCx;
use crate::panels::marker::{cross, polygon};
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_analysis::LaneKind;
use highwater_model::units::{counted, grouped};
use highwater_session::{Command, Session};
use highwater_timeline::{CONDITIONS, FORMS, Match};

#[derive(Clone, Debug, Default)]
pub struct SearchState {
    text: String,
    /// Gives the field the keyboard.
    pub wants_focus: bool,
    /// In the last frame.
    pub has_focus: bool,
    /// Whether matches are visited from the field, which has released the keyboard.
    is_visiting: bool,
    /// Queries whose matches were visited, newest last.
    history: Vec<String>,
    /// Position in the history.
    recalled: Option<usize>,
}

const MOST_HISTORY: usize = 20;

/// Keys of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pressed {
    Next,
    Previous,
    Largest,
    Clear,
    Older,
    Newer,
}

const KEYS: [(Modifiers, Key, Pressed); 6] = [
    // With modifiers first: the shortcut without them would match too.
    (Modifiers::COMMAND, Key::Enter, Pressed::Largest),
    (Modifiers::SHIFT, Key::Enter, Pressed::Previous),
    (Modifiers::NONE, Key::Enter, Pressed::Next),
    (Modifiers::NONE, Key::Escape, Pressed::Clear),
    (Modifiers::NONE, Key::ArrowUp, Pressed::Older),
    (Modifiers::NONE, Key::ArrowDown, Pressed::Newer),
];

/// Keys that act while matches are visited, the first ones.
const VISITING: usize = 4;

/// Widths in points: the count, and the whole row without its field. Every part keeps its place.
const COUNT: f32 = 150.0;
const REST: f32 = COUNT + 112.0;
/// The least and the greatest width of the field.
const FIELD: (f32, f32) = (60.0, 215.0);

/// Word, field, buttons and count in the current row. The matches of `lane` come first.
pub fn search_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut SearchState, lanes: &mut LanesState, lane: usize) {
    let search = cx.session.search();
    if !state.has_focus && !state.wants_focus && state.text != search.text {
        state.text.clone_from(&search.text);
    }
    let before = state.text.clone();
    let mut pressed = taken(ui, state);
    let width = (ui.available_width() - REST).clamp(FIELD.0, FIELD.1);
    field_ui(ui, state, width);
    pressed = pressed.or(buttons_ui(ui, search.is_on()));
    pressed = pressed.or(count_ui(ui, cx.session, cx.theme));
    state.apply(pressed);
    let has_changed = state.text != before || state.text != search.text;
    if has_changed || (search.is_on() && search.lane != lane) {
        cx.commands.push(Command::Search {
            text: state.text.clone(),
            lane,
        });
    }
    if let Some(pressed) = pressed {
        // Letters are commands now, F among them; Enter and Esc stay those of the search.
        state.is_visiting = pressed.is_visit() && (state.has_focus || state.is_visiting);
        if state.is_visiting && state.has_focus {
            ui.memory_mut(egui::Memory::stop_text_input);
        }
        select(cx, lanes, pressed);
    }
}

impl Pressed {
    /// Whether it selects a match.
    const fn is_visit(self) -> bool {
        matches!(self, Self::Next | Self::Previous | Self::Largest)
    }
}

impl SearchState {
    /// Takes letters typed before there is a field; Escape drops them.
    pub fn type_ahead(&mut self, ui: &egui::Ui) {
        let (typed, is_cancelled) = ui.input_mut(|input| {
            let texts = input.events.iter().filter_map(|event| match event {
                egui::Event::Text(text) => Some(text.as_str()),
                _ => None,
            });
            // Except the key that opened the field.
            let typed: String = texts.filter(|text| !(self.text.is_empty() && *text == "/")).collect();
            (typed, input.consume_key(Modifiers::NONE, Key::Escape))
        });
        self.text.push_str(&typed);
        if is_cancelled {
            self.text.clear();
            self.wants_focus = false;
        }
    }
}

/// Consumes a key of the field.
fn taken(ui: &egui::Ui, state: &mut SearchState) -> Option<Pressed> {
    let is_elsewhere = ui.text_edit_focused()
        || ui.memory(|memory| memory.top_modal_layer().is_some())
        || ui.input(|input| input.pointer.any_pressed() || input.key_pressed(Key::Tab));
    state.is_visiting &= !is_elsewhere;
    if !state.has_focus && !state.is_visiting {
        return None;
    }
    let pressed = |(modifiers, key, what): &(Modifiers, Key, Pressed)| {
        let is_pressed = ui.input_mut(|input| input.consume_key(*modifiers, *key));
        is_pressed.then_some(*what)
    };
    let n_keys = if state.has_focus { KEYS.len() } else { VISITING };
    KEYS[..n_keys].iter().find_map(pressed)
}

fn field_ui(ui: &mut egui::Ui, state: &mut SearchState, width: f32) {
    let label = ui.label("Find").on_hover_ui(help_ui);
    let field = TextEdit::singleline(&mut state.text)
        .hint_text("name, op:conv, size:>1MiB ( / )")
        .desired_width(width);
    let response = ui.add(field).labelled_by(label.id);
    if std::mem::take(&mut state.wants_focus) {
        response.request_focus();
        select_all(ui, &response, &state.text);
    }
    state.has_focus = response.has_focus();
    if response.changed() {
        state.recalled = None;
    }
}

/// Buttons keep their place; without a search they are disabled.
fn buttons_ui(ui: &mut egui::Ui, is_on: bool) -> Option<Pressed> {
    let mut pressed = None;
    ui.spacing_mut().item_spacing.x = 2.0;
    for (name, tooltip, what) in [
        (
            "previous",
            "Select the previous match (Shift+Enter in the field)",
            Pressed::Previous,
        ),
        ("next", "Select the next match (Enter in the field)", Pressed::Next),
        ("clear", "Clear the search (Esc in the field)", Pressed::Clear),
    ] {
        let button = ui.add_enabled_ui(is_on, |ui| icon_ui(ui, what)).inner;
        let button = button.named(egui::Role::Button, || name);
        if button.on_hover_text(tooltip).clicked() && is_on {
            pressed = Some(what);
        }
    }
    ui.add_space(4.0);
    pressed
}

/// Painted, because the bundled font has no arrows.
fn icon_ui(ui: &mut egui::Ui, what: Pressed) -> egui::Response {
    const HALF: f32 = 3.5;
    let (area, response) = ui.allocate_exact_size(egui::vec2(18.0, 18.0), egui::Sense::click());
    let visuals = ui.style().interact(&response);
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(area, 3, visuals.weak_bg_fill);
    }
    let (center, color) = (area.center(), visuals.fg_stroke.color);
    if what == Pressed::Clear {
        cross(ui.painter(), center, HALF, color);
    } else {
        let to = if what == Pressed::Next { 1.0 } else { -1.0 };
        let corners = [(-to * 0.7, -1.0), (to, 0.0), (-to * 0.7, 1.0)];
        ui.painter()
            .add(polygon(center, HALF, &corners, color, egui::Stroke::NONE));
    }
    response
}

const WHOLES: &str = "Weights, variables, inputs and outputs are regions without rows; the search skips them.";

/// `3 of 17`, or `17 found`, where a click selects the largest; the status bar has the error.
fn count_ui(ui: &mut egui::Ui, session: &Session, theme: &Theme) -> Option<Pressed> {
    let search = session.search();
    if let Some(error) = &search.error {
        ui.label(RichText::new("error").color(theme.bad))
            .on_hover_text(error.to_string());
        return None;
    }
    let Some(matches) = search.matches.as_ref().filter(|_| search.is_on()) else {
        if session.is_searching() {
            ui.weak("searching…");
        }
        return None;
    };
    let found = grouped(u64::try_from(matches.len()).unwrap_or(u64::MAX));
    let (comparison, _) = session.answer().unzip();
    let is_recorded = comparison.is_some_and(|comparison| comparison.lane_kind() == LaneKind::Recordings);
    let noun = if is_recorded { "block" } else { "tensor" };
    let rows = counted(u64::try_from(matches.n_rows()).unwrap_or(u64::MAX), noun);
    let position = session.selection().and_then(|tensor| matches.position(tensor));
    let text = match position {
        Some(position) => format!(
            "{} of {found}, {}",
            grouped(u64::try_from(position + 1).unwrap_or(u64::MAX)),
            matches.bytes()
        ),
        None if matches.is_empty() => "0 found".to_owned(),
        None => format!("{found} found, {}", matches.bytes()),
    };
    let whole = format!("{found} of {rows}, {}", matches.bytes());
    let tooltip = format!(
        "{whole}\nBytes: {}, whenever they are live; a {noun} counts once per run\n{}{}",
        matches.bytes().exact(),
        matches.largest().map_or_else(String::new, |largest| {
            format!(
                "Click: select the largest, {} (Ctrl+Enter in the field)\n",
                largest.row.bytes
            )
        }),
        if is_recorded { "" } else { WHOLES }
    );
    let color = if matches.is_empty() { theme.bad } else { theme.text };
    let label = egui::Label::new(RichText::new(text).color(color)).sense(egui::Sense::click());
    let label = ui.add(label).named(egui::Role::Label, || &whole).on_hover_text(tooltip);
    label.clicked().then_some(Pressed::Largest)
}

pub fn help_ui(ui: &mut egui::Ui) {
    ui.strong("Search syntax");
    egui::Grid::new("search help").num_columns(2).show(ui, |ui| {
        let forms = FORMS.iter().copied();
        let conditions = CONDITIONS.iter().map(|row| (row.example, row.help));
        for (example, help) in forms.chain(conditions) {
            ui.monospace(example);
            ui.label(help);
            ui.end_row();
        }
    });
    ui.label(WHOLES);
    ui.label("Terms separated by spaces must all match. Case does not matter.");
    ui.label("Enter: next match    Shift+Enter: previous match    Ctrl+Enter: the largest    Esc: clear    Up, Down: earlier queries");
}

fn select(cx: &mut PaneCx<'_>, lanes: &mut LanesState, pressed: Pressed) {
    let (Some(matches), Some((comparison, timeline))) = (&cx.session.search().matches, cx.session.answer()) else {
        return;
    };
    let selection = cx.session.selection();
    let found = match pressed {
        Pressed::Next => matches.neighbour(selection, true),
        Pressed::Previous => matches.neighbour(selection, false),
        Pressed::Largest => matches.largest(),
        Pressed::Clear | Pressed::Older | Pressed::Newer => None,
    };
    let Some(Match { lane, row }) = found else { return };
    cx.commands.push(Command::Select(Some(row.tensor)));
    // The panes follow to the lane that holds it; lanes that share their tensors all do.
    if timeline.has_lane_rows() {
        cx.window_commands
            .extend(comparison.lanes.get(lane).map(|lane| UiCommand::ExplainLane(lane.id)));
    }
    lanes.reveal(timeline, lane, row.tensor);
}

impl SearchState {
    fn apply(&mut self, pressed: Option<Pressed>) {
        match pressed {
            Some(Pressed::Clear) => {
                self.text.clear();
                self.recalled = None;
            }
            Some(pressed) if pressed.is_visit() => self.keep(),
            Some(Pressed::Older) => self.recall(false),
            Some(Pressed::Newer) => self.recall(true),
            Some(_) | None => {}
        }
    }

    /// Adds the query to the history.
    fn keep(&mut self) {
        let text = self.text.trim();
        if !text.is_empty() && self.recalled.is_none() {
            self.history.retain(|known| known != text);
            self.history.push(text.to_owned());
            let excess = self.history.len().saturating_sub(MOST_HISTORY);
            self.history.drain(..excess);
        }
    }

    /// Restores an earlier query, or a later one; after the newest the field is empty.
    fn recall(&mut self, is_newer: bool) {
        let end = self.history.len();
        let at = self.recalled.unwrap_or(end);
        let to = if is_newer {
            (at + 1).min(end)
        } else {
            at.saturating_sub(1)
        };
        self.recalled = (to < end).then_some(to);
        self.text = self.history.get(to).cloned().unwrap_or_default();
    }
}
