//! The command palette: every command, pane, sample, option and recent file, found by a few letters of its name.
//!
//! In: the tables of commands, panes, samples, options and variables, and recent files. Out: the choice. The best match
//! comes first; equal ones are ordered by last use, then by their tables, so the same letters always find the same
//! entry.

mod entries;
pub mod fuzzy;

use eframe::egui::{self, Key, Modifiers, RichText, TextStyle};

use self::entries::step_entry;
pub use self::entries::{Choice, Entry, Known, entries};
use super::theme::Theme;
use crate::numbers::count_f32;
use crate::widgets::Named as _;
use fuzzy::Match;

/// Width, and visible rows.
const WIDTH: f32 = 640.0;
const N_ROWS: usize = 14;
/// Recently used entries kept.
const MOST_USED: usize = 20;

#[derive(Clone, Debug, Default)]
pub struct PaletteState {
    is_open: bool,
    query: String,
    /// The row of the cursor, and whether it moved in this frame.
    chosen: usize,
    is_moved: bool,
    wants_focus: bool,
    /// Scroll offset of the last frame.
    offset: f32,
    /// Keys of used entries, newest first.
    pub used: Vec<String>,
}

impl PaletteState {
    pub fn open(&mut self) {
        self.is_open = true;
        self.wants_focus = true;
        self.restart();
        self.query.clear();
    }

    /// Opens it, and takes the letters typed in the same frame.
    pub fn open_ahead(&mut self, ui: &egui::Ui) {
        self.open();
        ui.input_mut(|input| {
            for event in &input.events {
                if let egui::Event::Text(text) = event {
                    self.query.push_str(text);
                }
            }
            let is_letter = |event: &egui::Event| match event {
                egui::Event::Text(_) => true,
                egui::Event::Key { key, modifiers, .. } => !modifiers.command && key.name().chars().count() == 1,
                _ => false,
            };
            input.events.retain(|event| !is_letter(event));
            input.keys_down.clear();
        });
    }

    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    fn restart(&mut self) {
        self.chosen = 0;
        self.is_moved = true;
        self.offset = 0.0;
    }

    fn note(&mut self, key: &str) {
        self.used.retain(|known| known != key);
        self.used.insert(0, key.to_owned());
        self.used.truncate(MOST_USED);
    }

    /// Entries used since; 0 for the last one.
    fn age(&self, key: &str) -> usize {
        self.used.iter().position(|known| known == key).unwrap_or(usize::MAX)
    }
}

/// An entry that matches the typed letters.
struct Found<'a> {
    entry: &'a Entry,
    places: Vec<usize>,
}

fn found<'a>(entries: &'a [Entry], state: &PaletteState) -> Vec<Found<'a>> {
    let matching = |entry: &'a Entry| {
        let Match { score, places } = entry.matches(&state.query)?;
        Some((score, state.age(&entry.key), Found { entry, places }))
    };
    let mut found: Vec<_> = entries.iter().filter_map(matching).collect();
    found.sort_by_key(|(score, age, _)| (std::cmp::Reverse(*score), *age));
    found.into_iter().map(|(.., found)| found).collect()
}

/// Titles of matching entries, best first; `used` are keys, newest first.
pub fn titles(entries: &[Entry], query: &str, used: &[&str]) -> Vec<String> {
    let state = PaletteState {
        query: query.to_owned(),
        used: used.iter().map(|key| (*key).to_owned()).collect(),
        ..PaletteState::default()
    };
    let found = found(entries, &state).into_iter();
    found.map(|found| found.entry.title.clone()).collect()
}

/// Returns the choice.
pub fn palette_ui(ctx: &egui::Context, state: &mut PaletteState, known: &Known<'_>, theme: &Theme) -> Option<Choice> {
    if !state.is_open {
        return None;
    }
    let mut entries = entries(known, ctx);
    let area =
        egui::Modal::default_area(egui::Id::unique("palette")).anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, 48.0));
    let entries = &mut entries;
    let modal = egui::Modal::new(egui::Id::unique("palette"))
        .area(area)
        .show(ctx, |ui| {
            ui.set_width(WIDTH.min(ui.ctx().content_rect().width() - 60.0).max(0.0));
            let is_entered = keys(ui, state);
            search_ui(ui, state);
            entries.extend(step_entry(&state.query, known.session));
            let found = found(entries, state);
            state.chosen = state.chosen.min(found.len().saturating_sub(1));
            list_ui(ui, &found, is_entered, state, theme)
        });
    if modal.should_close() {
        state.is_open = false;
    }
    let chosen = modal.inner?;
    state.is_open = false;
    state.note(&chosen.key);
    ctx.request_repaint();
    Some(chosen.choice.clone())
}

/// Arrows move the cursor; returns whether Enter chooses. Consumes the keys before the field sees them.
fn keys(ui: &egui::Ui, state: &mut PaletteState) -> bool {
    const PAGE: usize = N_ROWS - 1;
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let before = state.chosen;
    if pressed(Key::ArrowDown) {
        state.chosen += 1;
    }
    if pressed(Key::ArrowUp) {
        state.chosen = state.chosen.saturating_sub(1);
    }
    if pressed(Key::PageDown) {
        state.chosen += PAGE;
    }
    if pressed(Key::PageUp) {
        state.chosen = state.chosen.saturating_sub(PAGE);
    }
    state.is_moved |= state.chosen != before;
    // A field that sees Enter releases the keyboard.
    pressed(Key::Enter)
}

fn search_ui(ui: &mut egui::Ui, state: &mut PaletteState) {
    let field = egui::TextEdit::singleline(&mut state.query)
        .desired_width(f32::INFINITY)
        .hint_text("command, pane, option, sample or recent file");
    let response = ui.add(field).named(egui::Role::TextInput, || "find a command");
    if std::mem::take(&mut state.wants_focus) {
        response.request_focus();
    }
    if response.changed() {
        state.restart();
    }
}

/// Returns the choice.
fn list_ui<'a>(
    ui: &mut egui::Ui,
    found: &[Found<'a>],
    is_entered: bool,
    state: &mut PaletteState,
    theme: &Theme,
) -> Option<&'a Entry> {
    let mut chosen = found.get(state.chosen).filter(|_| is_entered).map(|found| found.entry);
    ui.add_space(4.0);
    if found.is_empty() {
        ui.weak("No match.");
        return None;
    }
    let height = ui.text_style_height(&TextStyle::Button) + 2.0 * ui.spacing().button_padding.y + 2.0;
    let pitch = height + ui.spacing().item_spacing.y;
    let mut area = egui::ScrollArea::vertical()
        .id_salt("palette rows")
        .max_height(pitch * count_f32(N_ROWS))
        .auto_shrink([false, true]);
    if std::mem::take(&mut state.is_moved) {
        let top = pitch * count_f32(state.chosen);
        let lowest = (top + pitch * (1.0 - count_f32(N_ROWS))).max(0.0);
        area = area.vertical_scroll_offset(state.offset.clamp(lowest, top.max(lowest)));
    }
    let output = area.show_rows(ui, height, found.len(), |ui, rows| {
        for row in rows {
            let is_chosen = row == state.chosen;
            if row_ui(ui, &found[row], is_chosen, height, theme).clicked() {
                chosen = Some(found[row].entry);
            }
        }
    });
    state.offset = output.state.clamped_offset().y;
    ui.add_space(2.0);
    ui.weak(RichText::new("arrows select, Enter runs, Esc closes").small());
    chosen.filter(|entry| entry.why_not.is_none())
}

fn row_ui(ui: &mut egui::Ui, found: &Found<'_>, is_chosen: bool, height: f32, theme: &Theme) -> egui::Response {
    let entry = found.entry;
    let is_possible = entry.why_not.is_none();
    let text = row_text(ui, found, theme);
    let right = entry.right_text();
    let button = egui::Button::selectable(is_chosen, text)
        .min_size(egui::vec2(ui.available_width(), height))
        .truncate()
        .right_text(RichText::new(right).color(theme.text_weak));
    let response = ui
        .add_enabled(is_possible, button)
        .named_choice(egui::Role::ListBoxOption, is_chosen, || entry.spoken());
    let response = if entry.tooltip.is_empty() {
        response
    } else {
        response.on_hover_text(&entry.tooltip)
    };
    match entry.why_not.as_deref() {
        Some(why) => response.on_disabled_hover_text(why),
        None => response,
    }
}

/// Kind and title, with matched letters highlighted.
fn row_text(ui: &egui::Ui, found: &Found<'_>, theme: &Theme) -> egui::text::LayoutJob {
    let entry = found.entry;
    let font = TextStyle::Button.resolve(ui.style());
    let format = |color: egui::Color32| egui::TextFormat::simple(font.clone(), color);
    let mut job = egui::text::LayoutJob::default();
    let kind = entry.choice.kind();
    if !kind.is_empty() {
        job.append(kind, 0.0, format(theme.text_weak));
        job.append(" ", 0.0, format(theme.text_weak));
    }
    let plain = if entry.why_not.is_none() {
        theme.text
    } else {
        theme.text_weak
    };
    for (place, letter) in entry.title.chars().enumerate() {
        let is_typed = found.places.binary_search(&place).is_ok();
        let color = if is_typed { theme.accent() } else { plain };
        job.append(letter.encode_utf8(&mut [0; 4]), 0.0, format(color));
    }
    if let Some(why) = &entry.why_not {
        job.append(&format!(" ({why})"), 0.0, format(theme.text_weak));
    }
    job
}
