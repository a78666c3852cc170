//! Search and filters of the option panel.

use std::collections::BTreeSet;

use eframe::egui;

use super::{Item, OptionsState, items};
use crate::panels::PaneCx;
use highwater_options::{EnvironmentRow, OptionRow};
use highwater_session::{Command, Session};

/// A filter that shows fewer rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Narrowing {
    Changed,
    HasProblems,
    NotDeprecated,
}

/// Every filter with its label and tooltip.
const NARROWINGS: &[(Narrowing, &str, &str)] = &[
    (Narrowing::Changed, "Changed", "Only set options"),
    (Narrowing::HasProblems, "Findings", "Only options with a finding"),
    (
        Narrowing::NotDeprecated,
        "Hide deprecated",
        "Hide deprecated options that are not set",
    ),
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) search: String,
    narrowings: BTreeSet<Narrowing>,
}

impl Filter {
    /// Whether rows are searched: then sections do not hide them.
    pub(super) fn is_active(&self) -> bool {
        !self.search.trim().is_empty() || self.narrowings.iter().any(|way| *way != Narrowing::NotDeprecated)
    }

    /// The search text in lower case.
    pub(super) fn needle(&self) -> String {
        self.search.trim().to_lowercase()
    }

    /// Whether a row passes the filters.
    pub(super) fn lets_through(&self, item: Item, session: &Session, troubled: &BTreeSet<&str>) -> bool {
        self.narrowings.iter().all(|way| match way {
            Narrowing::Changed => item.is_changed(session),
            Narrowing::HasProblems => troubled.contains(item.name()),
            Narrowing::NotDeprecated => {
                let is_deprecated = matches!(item, Item::Option(row) if row.deprecated.is_some());
                !is_deprecated || item.is_changed(session)
            }
        })
    }
}

/// The texts of all rows in lower case.
#[derive(Debug, Default)]
pub(super) struct Haystacks(Vec<String>);

impl Haystacks {
    /// Whether the row at a position has all words of a text.
    pub(super) fn contains(&mut self, position: usize, needle: &str) -> bool {
        if needle.is_empty() {
            return true;
        }
        if self.0.is_empty() {
            self.0 = items().map(haystack).collect();
        }
        self.0
            .get(position)
            .is_some_and(|text| needle.split_whitespace().all(|word| text.contains(word)))
    }
}

fn haystack(item: Item) -> String {
    let text = match item {
        Item::Option(row) => of_option(row),
        Item::Variable(row) => of_variable(row),
    };
    text.to_lowercase()
}

fn of_option(row: &OptionRow) -> String {
    let mut text = [row.key, row.summary, row.details, row.section.name(), row.memory_effect].join("\n");
    for (value, summary) in row.kind.choices() {
        text.push_str(&format!("\n{value} {summary}"));
    }
    text
}

fn of_variable(row: &EnvironmentRow) -> String {
    [row.name, row.summary, row.details, "environment"].join("\n")
}

/// The search field and the button that resets it.
pub(super) fn search_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut OptionsState) {
    ui.horizontal(|ui| {
        let label = ui.label("Search");
        let field = egui::TextEdit::singleline(&mut state.filter.search)
            .hint_text("name or text")
            .desired_width((ui.available_width() - 78.0).max(60.0));
        let response = ui.add(field).labelled_by(label.id);
        if std::mem::take(&mut state.wants_search) {
            response.request_focus();
            select_all(ui, &response, &state.filter.search);
        }
        state.has_search_focus = response.has_focus();
        // Escape in the field clears search and filters too.
        if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Escape)) {
            state.filter.search.clear();
        }
        let document = cx.session.document();
        let is_changed = !document.options.is_empty() || !document.environment.is_empty();
        let reset = ui.add_enabled(is_changed, egui::Button::new("Reset all"));
        if reset
            .on_hover_text("Reset every option to its default and clear the environment (Ctrl+Z undoes it)")
            .clicked()
        {
            cx.commands.push(Command::ResetAll);
            // The button disappears; the keyboard goes to the field.
            state.wants_search = true;
        }
    });
}

/// The filters as toggle buttons.
pub(super) fn filters_ui(ui: &mut egui::Ui, state: &mut OptionsState) {
    let narrowings = &mut state.filter.narrowings;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (way, text, tooltip) in NARROWINGS {
            let is_on = narrowings.contains(way);
            let button = egui::Button::selectable(is_on, *text).small().frame_when_inactive(true);
            if ui.add(button).on_hover_text(*tooltip).clicked() && !narrowings.remove(way) {
                narrowings.insert(*way);
            }
        }
    });
}

/// Selects the text of a field, so that typing replaces it.
pub(crate) fn select_all(ui: &egui::Ui, field: &egui::Response, text: &str) {
    use egui::text::{CCursor, CCursorRange};
    let mut state = egui::TextEdit::load_state(ui.ctx(), field.id).unwrap_or_default();
    let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
    state.cursor.set_char_range(Some(all));
    state.store(ui.ctx(), field.id);
}
