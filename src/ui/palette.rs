//! The command palette: everything that can be done, found by a few letters of its name.
//!
//! In: the tables of commands, panes, samples, options and variables, and the files that were opened. Out: what was
//! chosen. The best match stands first; of equal ones that which was used last, then that which stands first in its
//! table, so the same letters always find the same thing.

mod entries;
pub mod fuzzy;

use eframe::egui::{self, Key, Modifiers, RichText, TextStyle};

use self::entries::step_entry;
pub use self::entries::{Choice, Entry, Known, entries};
use super::theme::Theme;
use fuzzy::Match;

/// The palette's width, and how many rows are seen at once.
const WIDTH: f32 = 640.0;
const N_ROWS: usize = 14;
/// How many of the entries that were used last are remembered.
const MOST_USED: usize = 20;

/// What persists between frames.
#[derive(Clone, Debug, Default)]
pub struct PaletteState {
    is_open: bool,
    query: String,
    /// The row that Enter takes, and whether it was just moved to.
    chosen: usize,
    is_moved: bool,
    wants_focus: bool,
    /// Where the list was scrolled to in the last frame.
    offset: f32,
    /// Keys of entries, the last used first.
    pub used: Vec<String>,
}

impl PaletteState {
    /// Opens the palette, with nothing typed.
    pub fn open(&mut self) {
        self.is_open = true;
        self.wants_focus = true;
        self.start_anew();
        self.query.clear();
    }

    /// Opens it, and takes the letters that came in the same frame from whoever would see them next.
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

    /// Whether it takes the keyboard.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    fn start_anew(&mut self) {
        self.chosen = 0;
        self.is_moved = true;
        self.offset = 0.0;
    }

    /// Notes that an entry was used.
    fn note(&mut self, key: &str) {
        self.used.retain(|known| known != key);
        self.used.insert(0, key.to_owned());
        self.used.truncate(MOST_USED);
    }

    /// How long ago an entry was used: 0 is the last.
    fn age(&self, key: &str) -> usize {
        self.used.iter().position(|known| known == key).unwrap_or(usize::MAX)
    }
}

/// An entry that matches what is typed.
struct Found<'a> {
    entry: &'a Entry,
    places: Vec<usize>,
}

/// The entries that match, best first.
fn found<'a>(entries: &'a [Entry], state: &PaletteState) -> Vec<Found<'a>> {
    let matching = |entry: &'a Entry| {
        let Match { score, places } = entry.matches(&state.query)?;
        Some((score, state.age(&entry.key), Found { entry, places }))
    };
    let mut found: Vec<_> = entries.iter().filter_map(matching).collect();
    found.sort_by_key(|(score, age, _)| (std::cmp::Reverse(*score), *age));
    found.into_iter().map(|(.., found)| found).collect()
}

/// The titles of the entries that match a text, best first; `used` are keys, the last used first.
pub fn titles(entries: &[Entry], query: &str, used: &[&str]) -> Vec<String> {
    let state = PaletteState {
        query: query.to_owned(),
        used: used.iter().map(|key| (*key).to_owned()).collect(),
        ..PaletteState::default()
    };
    let found = found(entries, &state).into_iter();
    found.map(|found| found.entry.title.clone()).collect()
}

/// Draws the palette while it is open; returns what was chosen.
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

/// Arrows move the choice; returns whether Enter takes it; the field below does not see them.
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
    // A field that sees Enter gives the keyboard away, also where there is nothing to do.
    pressed(Key::Enter)
}

fn search_ui(ui: &mut egui::Ui, state: &mut PaletteState) {
    let field = egui::TextEdit::singleline(&mut state.query)
        .desired_width(f32::INFINITY)
        .hint_text("a few letters of a command, pane, option, sample or recent file");
    let response = ui.add(field);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "find a command"));
    if std::mem::take(&mut state.wants_focus) {
        response.request_focus();
    }
    if response.changed() {
        state.start_anew();
    }
}

/// The rows; returns the one that was chosen.
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
        ui.weak("Nothing is called so.");
        return None;
    }
    let height = ui.text_style_height(&TextStyle::Button) + 2.0 * ui.spacing().button_padding.y + 2.0;
    let pitch = height + ui.spacing().item_spacing.y;
    let mut area = egui::ScrollArea::vertical()
        .id_salt("palette rows")
        .max_height(pitch * count(N_ROWS))
        .auto_shrink([false, true]);
    if std::mem::take(&mut state.is_moved) {
        let top = pitch * count(state.chosen);
        let lowest = (top + pitch * (1.0 - count(N_ROWS))).max(0.0);
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
    ui.weak(RichText::new("arrows choose, Enter does it, Esc closes").small());
    chosen.filter(|entry| entry.why_not.is_none())
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
const fn count(rows: usize) -> f32 {
    rows as f32
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
    let response = ui.add_enabled(is_possible, button);
    response.widget_info(|| {
        let name = entry.spoken();
        egui::WidgetInfo::selected(egui::Role::ListBoxOption, is_possible, is_chosen, name)
    });
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

/// The kind and the title, the letters that were typed in strong colour.
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
