//! The option panel: sections of rows, a search, filters; only visible rows are drawn.
//!
//! Rows outside the visible part (with some margin for the keyboard) keep their last height and cost nothing.

mod choices;
mod filter;
mod first;
mod names;
mod row;
mod texts;
mod tooltip;
mod variable;

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{self, RichText};

pub(crate) use self::filter::select_all;
use self::filter::{Filter, Haystacks};
use self::first::FirstRows;
pub use self::row::fixes_ui;
use self::row::option_ui;
use self::texts::Typed;
use self::variable::variable_ui;
use crate::combo::ShowChoices as _;
use crate::commands::UiCommand;
use crate::panels::{PaneCx, are_recordings};
use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_options::{ENVIRONMENT, EnvironmentRow, OptionRow, OptionSubject, Section, TABLE, keys};
use highwater_session::{Command, Session};

/// Points above and below the visible part in which rows are drawn.
const OVERSCAN: f32 = 240.0;
/// Height of a row that was never drawn.
const USUAL_HEIGHT: f32 = 46.0;

#[derive(Debug, Default)]
pub struct OptionsState {
    filter: Filter,
    haystacks: Haystacks,
    /// Sections that the user expanded or collapsed.
    opened: BTreeMap<(Part, &'static str), bool>,
    first: FirstRows,
    /// Whether the options that do not act on what is open are shown too.
    pub shows_rest: bool,
    heights: BTreeMap<&'static str, f32>,
    texts: BTreeMap<&'static str, Typed>,
    /// The row with an explanation below.
    explained: Option<&'static str>,
    /// The row with the keyboard. It is drawn even where it is not visible: egui takes the keyboard from missing
    /// widgets.
    held: Option<&'static str>,
    /// Frames in which the row with the keyboard is scrolled to.
    frames_to_settle: u8,
    /// Expanded lists of names.
    spread: BTreeSet<&'static str>,
    /// Gives the search field the keyboard.
    pub wants_search: bool,
    pub has_search_focus: bool,
    /// Scrolls to this option or variable and gives its field the keyboard.
    pub jump: Option<String>,
}

impl OptionsState {
    /// A state with a search.
    pub fn searching(text: &str) -> Self {
        let mut state = Self::default();
        text.clone_into(&mut state.filter.search);
        state
    }
}

/// The rows above and below the row "All options".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    First,
    Rest,
}

#[derive(Clone, Copy)]
struct RowInput<'a> {
    session: &'a Session,
    theme: &'a Theme,
}

/// State that rows change.
struct Edit<'a> {
    state: &'a mut OptionsState,
    commands: &'a mut Vec<Command>,
    window_commands: &'a mut Vec<UiCommand>,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Option(&'static OptionRow),
    Variable(&'static EnvironmentRow),
}

impl Item {
    const fn name(self) -> &'static str {
        match self {
            Self::Option(row) => row.key,
            Self::Variable(row) => row.name,
        }
    }

    const fn section(self) -> &'static str {
        match self {
            Self::Option(row) => row.section.name(),
            Self::Variable(_) => "environment",
        }
    }

    /// Whether the name has all words of a search.
    fn is_named(self, needle: &str) -> bool {
        if needle.is_empty() {
            return true;
        }
        let name = self.name().to_lowercase();
        needle.split_whitespace().all(|word| name.contains(word))
    }

    /// Whether it changes the bytes of such lanes.
    fn acts(self, subject: Option<OptionSubject>, session: &Session) -> bool {
        let Some(subject) = subject else {
            // The capacity to check recordings against.
            return self.name() == keys::DEVICE_MEMORY && are_recordings(session);
        };
        match self {
            // A deprecated option that is not set is not offered.
            Self::Option(row) => row.deprecated.is_none() && row.changes_memory(subject, &session.document().options),
            Self::Variable(row) => {
                row.affects_memory() && matches!(subject, OptionSubject::Graphs | OptionSubject::Traces)
            }
        }
    }

    fn is_changed(self, session: &Session) -> bool {
        match self {
            Self::Option(row) => session.document().options.is_set(row.key),
            Self::Variable(row) => session.document().environment.get(row.name).is_some(),
        }
    }
}

/// In the order of the panel.
fn items() -> impl Iterator<Item = Item> {
    let options = TABLE.iter().map(Item::Option);
    options.chain(ENVIRONMENT.iter().map(Item::Variable))
}

pub fn options_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut OptionsState) {
    script_ui(ui, cx);
    let troubled: BTreeSet<&str> = cx
        .session
        .findings()
        .iter()
        .flat_map(|finding| finding.options.iter().map(String::as_str))
        .collect();
    state.first.follow(cx.session, &troubled, state.shows_rest);
    state.shows_rest |= state.wants_search && !state.first.has_acting();
    // Filters of few rows would only be in the way.
    if state.first.has_acting() || state.shows_rest || state.filter.is_active() {
        filter::search_ui(ui, cx, state);
        filter::filters_ui(ui, state);
    }
    let target = state.jump.clone();
    reveal_target(cx.session, state, &troubled);
    let shown = shown(cx.session, state, &troubled);
    if shown.is_empty() {
        ui.add_space(6.0);
        ui.weak("No option matches the search and the filters.");
        if ui.button("Show all options").clicked() {
            state.filter = Filter::default();
        }
    } else if state.filter.is_active() {
        sections_ui(ui, cx, state, &shown, Part::First, &troubled);
    } else {
        let (first, rest): (Vec<Item>, Vec<Item>) = shown.into_iter().partition(|item| state.first.has(*item));
        sections_ui(ui, cx, state, &first, Part::First, &troubled);
        rest_ui(ui, cx.theme, &mut state.shows_rest);
        if state.shows_rest {
            sections_ui(ui, cx, state, &rest, Part::Rest, &troubled);
        }
    }
    // The name may be unknown. A jump requested in this frame waits for the next one.
    if state.jump == target {
        state.jump = None;
    }
    unknown_ui(ui, cx);
}

/// Rows by section; where they are searched, those found by name first.
fn sections_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    state: &mut OptionsState,
    shown: &[Item],
    part: Part,
    troubled: &BTreeSet<&str>,
) {
    let look = RowInput {
        session: cx.session,
        theme: cx.theme,
    };
    let needle = state.filter.needle();
    let mut rest = shown;
    let mut is_mention = false;
    while let Some(first) = rest.first() {
        if !is_mention && !first.is_named(&needle) {
            is_mention = true;
            ui.add_space(8.0);
            ui.weak(format!("\"{needle}\" in the explanations of:"));
        }
        let belongs = |item: &&Item| item.section() == first.section() && item.is_named(&needle) != is_mention;
        let n_rows = rest.iter().take_while(belongs).count();
        let (rows, later) = rest.split_at(n_rows);
        let mut edit = Edit {
            state,
            commands: cx.commands,
            window_commands: cx.window_commands,
        };
        section_ui(ui, rows, part, troubled, look, &mut edit);
        rest = later;
    }
}

/// The row that opens or closes the options that do not act on what is open.
fn rest_ui(ui: &mut egui::Ui, theme: &Theme, shows_rest: &mut bool) {
    ui.add_space(8.0);
    let text = format!("All options ({})", items().count());
    let button = bar(RichText::new(&text).strong(), *shows_rest, ui, theme);
    let hint = "The other options change no bytes of what is open";
    let response = ui.add(button).on_hover_text(hint);
    let response = response.named_choice(egui::Role::Button, *shows_rest, || &text);
    *shows_rest ^= response.clicked();
}

/// The choice among the configurations of a script.
fn script_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let Some(script) = cx.session.script() else {
        return;
    };
    let file = script
        .path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let taken = script.taken();
    let count = script.configurations.len();
    let title = format!("Configuration of {file}");
    let label = ui
        .add(egui::Label::new(&title).truncate())
        .on_hover_text(format!("{title}: the script has {count}; one at a time is active"));
    egui::ComboBox::from_id_salt("configuration of a script")
        .selected_text(taken.join(", "))
        .width(ui.available_width())
        .truncate()
        .show_choices(ui, |ui| {
            for name in &script.configurations {
                let is_taken = taken.contains(&name.as_str());
                if ui.selectable_label(is_taken, name).clicked() && !is_taken {
                    cx.commands.push(Command::ChooseConfiguration(name.clone()));
                }
            }
        })
        .labelled_by(label.id);
    ui.add_space(4.0);
}

/// Unknown options of a configuration, which are saved again.
fn unknown_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>) {
    let unknown = &cx.session.document().unknown_options;
    if unknown.is_empty() {
        return;
    }
    ui.add_space(6.0);
    ui.strong("Unknown options, kept unchanged");
    for (key, value) in unknown {
        ui.horizontal(|ui| {
            let button = ui.small_button("×").on_hover_text(format!("Remove {key}"));
            if button.clicked() {
                cx.commands.push(Command::RemoveUnknown(key.clone()));
            }
            let text = format!("{key} = {value}");
            wrapped_ui(ui, RichText::new(text).small());
        });
    }
}

/// The rows that pass search and filters.
fn shown(session: &Session, state: &mut OptionsState, troubled: &BTreeSet<&str>) -> Vec<Item> {
    let OptionsState { filter, haystacks, .. } = state;
    let needle = filter.needle();
    let mut shown: Vec<Item> = items()
        .enumerate()
        .filter(|(position, item)| {
            haystacks.contains(*position, &needle) && filter.lets_through(*item, session, troubled)
        })
        .map(|(_, item)| item)
        .collect();
    // Names before explanations.
    shown.sort_by_key(|item| !item.is_named(&needle));
    shown
}

/// Resets filters that hide the target of a jump, and expands its section.
fn reveal_target(session: &Session, state: &mut OptionsState, troubled: &BTreeSet<&str>) {
    let Some(target) = state.jump.clone() else {
        return;
    };
    let is_target = |item: &Item| item.name() == target;
    if !shown(session, state, troubled).iter().any(is_target) {
        state.filter = Filter::default();
    }
    if let Some(item) = items().find(is_target) {
        let part = if state.first.has(item) { Part::First } else { Part::Rest };
        state.shows_rest |= part == Part::Rest;
        state.opened.insert((part, item.section()), true);
    }
}

/// Sections expanded at first; others expand on a click, or where an option is set or has a problem.
fn opens_by_itself(section: &str) -> bool {
    [Section::Memory, Section::Basic, Section::Simulation]
        .iter()
        .any(|known| known.name() == section)
        || section == "environment"
}

fn section_ui(
    ui: &mut egui::Ui,
    rows: &[Item],
    part: Part,
    troubled: &BTreeSet<&str>,
    look: RowInput<'_>,
    edit: &mut Edit<'_>,
) {
    let section = rows[0].section();
    let n_changed = rows.iter().filter(|item| item.is_changed(look.session)).count();
    let n_troubled = rows.iter().filter(|item| troubled.contains(item.name())).count();
    let by_itself = part == Part::First && opens_by_itself(section) || n_changed + n_troubled > 0;
    let chosen = edit.state.opened.get(&(part, section)).copied();
    let is_open = edit.state.filter.is_active() || chosen.unwrap_or(by_itself);
    ui.add_space(6.0);
    let builder = egui::UiBuilder::new().scope_id(egui::Id::unique(("option section", rows[0].name())));
    let counts = SectionCounts {
        rows: rows.len(),
        changed: n_changed,
        with_findings: n_troubled,
    };
    let header = ui.scope_builder(builder, |ui| {
        let title = SectionTitle { section, part };
        header_ui(ui, &title, is_open, &counts, look.theme)
    });
    let clicked = header.inner;
    if clicked && !edit.state.filter.is_active() {
        edit.state.opened.insert((part, section), !is_open);
    }
    if is_open {
        for item in rows {
            culled_ui(ui, *item, look, edit);
        }
    }
}

/// Options of a section.
struct SectionCounts {
    rows: usize,
    changed: usize,
    with_findings: usize,
}

struct SectionTitle {
    section: &'static str,
    part: Part,
}

/// A section's heading; returns whether it was clicked.
fn header_ui(ui: &mut egui::Ui, title: &SectionTitle, is_open: bool, counts: &SectionCounts, theme: &Theme) -> bool {
    let SectionTitle { section, part } = *title;
    let mut text = egui::text::LayoutJob::default();
    let style = |color: egui::Color32, size: f32| egui::TextFormat::simple(egui::FontId::proportional(size), color);
    text.append(&capitalised(section), 0.0, style(theme.text, 13.5));
    text.append(&format!("  {}", counts.rows), 0.0, style(theme.text_weak, 11.0));
    if counts.changed > 0 {
        text.append(&format!("  {} set", counts.changed), 0.0, style(theme.accent(), 11.0));
    }
    if counts.with_findings > 0 {
        let noun = if counts.with_findings == 1 {
            "finding"
        } else {
            "findings"
        };
        let words = format!("  {} with {noun}", counts.with_findings);
        text.append(&words, 0.0, style(theme.peak, 11.0));
    }
    let response = ui.add(bar(text, is_open, ui, theme));
    let response = response.named_choice(egui::Role::Button, is_open, || match part {
        Part::First => format!("section {section}"),
        Part::Rest => format!("other options of section {section}"),
    });
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    response.clicked()
}

/// A heading as wide as the panel that opens and closes what is below.
fn bar<'a>(text: impl Into<egui::WidgetText>, is_open: bool, ui: &egui::Ui, theme: &Theme) -> egui::Button<'a> {
    let mark = if is_open { "−" } else { "+" };
    egui::Button::new(text.into())
        .truncate()
        .right_text(RichText::new(mark).strong())
        .fill(theme.grid)
        .min_size(egui::vec2(ui.available_width() - 8.0, 20.0))
}

/// Draws a row if it is visible, else keeps its place.
fn culled_ui(ui: &mut egui::Ui, item: Item, look: RowInput<'_>, edit: &mut Edit<'_>) {
    let name = item.name();
    let top = ui.cursor().top();
    let height = edit.state.heights.get(name).copied().unwrap_or(USUAL_HEIGHT);
    let seen = ui.clip_rect().expand(OVERSCAN);
    let is_wanted = edit.state.jump.as_deref() == Some(name) || edit.state.held == Some(name);
    if !is_wanted && (top + height < seen.top() || top > seen.bottom()) {
        ui.add_space(height);
        return;
    }
    // A fixed id, so that the field keeps the keyboard when rows above come and go.
    let builder = egui::UiBuilder::new().scope_id(egui::Id::unique(("option row", name)));
    ui.scope_builder(builder, |ui| match item {
        Item::Option(row) => option_ui(ui, row, look, edit),
        Item::Variable(row) => variable_ui(ui, row, look, edit),
    });
    edit.state.heights.insert(name, ui.cursor().top() - top);
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        // `memory_optimize` is an identifier.
        Some(first) if !name.contains('_') => first.to_uppercase().chain(letters).collect(),
        _ => name.to_owned(),
    }
}
