//! The documentation inside the program: the pages of `docs`, what is new, and the version, with a search through all of them.
//!
//! In: the texts of the pages. Out: a modal window: pages at the left, or the lines that match; the page at the right, line by line, with
//! headings, code and tables in their own look. Nothing is fetched.

use eframe::egui::{self, Key, RichText, Role, TextEdit};

use crate::theme::Theme;
use crate::widgets::{Named as _, wrapped_ui};
use highwater_model::units::counted;

/// A page: its title, and its text in Markdown.
struct Page {
    title: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($title:literal, $file:literal) => {
        Page {
            title: $title,
            text: include_str!(concat!("../../", $file)),
        }
    };
}

/// In the order of the list.
static PAGES: [Page; 20] = [
    page!("The window", "docs/window.md"),
    page!("Command line", "docs/command-line.md"),
    page!("What is new", "CHANGELOG.md"),
    page!("Formats that are read", "docs/formats.md"),
    page!("Options of Ascend, MegEngine and Paddle", "docs/options.md"),
    page!("Comparing", "docs/compare.md"),
    page!("Sweeps and recommendations", "docs/sweep.md"),
    page!("Allocator of PyTorch", "docs/torch-allocator.md"),
    page!("Out of memory: logs and reports", "docs/logs.md"),
    page!("Call sites and categories", "docs/call-sites.md"),
    page!("Exports", "docs/exports.md"),
    page!("Scripts", "docs/scripts.md"),
    page!("Schedule", "docs/schedule.md"),
    page!("Devices", "docs/device.md"),
    page!("Documents", "docs/document.md"),
    page!("Passes of the engine", "docs/passes.md"),
    page!("Planner", "docs/planner.md"),
    page!("Text formats", "docs/text-formats.md"),
    page!("Shape inference", "docs/shape-inference.md"),
    page!("Exporters of frameworks", "docs/exporters.md"),
];

/// Lines that a search lists.
const MOST_FOUND: usize = 200;
/// Shorter texts are not searched.
const LEAST_LETTERS: usize = 2;
const LIST: f32 = 260.0;
/// Around the page, in points.
const AROUND: egui::Vec2 = egui::vec2(80.0, 120.0);

#[derive(Clone, Debug, Default)]
pub struct PagesState {
    pub is_open: bool,
    page: usize,
    search: String,
    /// A line of the page that comes into view.
    scroll_to: Option<usize>,
    has_focus: bool,
}

impl PagesState {
    /// Opens the window, or closes it.
    pub fn toggle(&mut self) {
        self.is_open = !self.is_open;
        self.has_focus = false;
    }
}

pub fn pages_ui(ctx: &egui::Context, state: &mut PagesState, theme: &Theme) {
    if !state.is_open {
        return;
    }
    let modal = egui::Modal::new(egui::Id::unique("documentation")).show(ctx, |ui| {
        let size = (ctx.content_rect().size() - AROUND).max(egui::vec2(300.0, 120.0));
        ui.set_width(size.x);
        let is_closed = head_ui(ui, state);
        ui.separator();
        ui.horizontal_top(|ui| {
            ui.set_height(size.y);
            let left = egui::ScrollArea::vertical()
                .id_salt("pages")
                .auto_shrink([false, false]);
            ui.allocate_ui(egui::vec2(LIST, size.y), |ui| left.show(ui, |ui| list_ui(ui, state)));
            ui.separator();
            let page = &PAGES[state.page];
            let right = egui::ScrollArea::vertical()
                .id_salt(("page", state.page))
                .auto_shrink([false, false]);
            right.show(ui, |ui| page_ui(ui, page, state, theme));
        });
        is_closed
    });
    if modal.inner || modal.should_close() {
        state.is_open = false;
    }
}

/// The version, the search, and whether Close was clicked.
fn head_ui(ui: &mut egui::Ui, state: &mut PagesState) -> bool {
    let row = ui.horizontal(|ui| {
        ui.heading("Documentation");
        ui.weak(concat!("highwater ", env!("CARGO_PKG_VERSION")));
        let label = ui.label("Search");
        let field = TextEdit::singleline(&mut state.search).desired_width(220.0);
        let field = ui.add(field).labelled_by(label.id);
        if !std::mem::replace(&mut state.has_focus, true) {
            field.request_focus();
        }
        ui.button("Close (Esc)").clicked()
    });
    row.inner
}

fn list_ui(ui: &mut egui::Ui, state: &mut PagesState) {
    let wanted = state.search.trim().to_lowercase();
    if wanted.chars().count() >= LEAST_LETTERS {
        found_ui(ui, state, &wanted);
        return;
    }
    for (position, page) in PAGES.iter().enumerate() {
        let is_shown = state.page == position;
        let choice = ui.selectable_label(is_shown, page.title);
        if choice.named_choice(Role::Tab, is_shown, || page.title).clicked() {
            (state.page, state.scroll_to) = (position, Some(0));
        }
    }
}

/// Lines with a text: page, line, its words.
fn found(wanted: &str) -> impl Iterator<Item = (usize, usize, &'static str)> + '_ {
    let pages = PAGES.iter().enumerate();
    pages.flat_map(move |(page, of)| {
        let lines = of.text.lines().enumerate();
        let lines = lines.filter(move |(_, line)| line.to_lowercase().contains(wanted));
        lines.map(move |(number, line)| (page, number, line))
    })
}

fn found_ui(ui: &mut egui::Ui, state: &mut PagesState, wanted: &str) {
    let all: Vec<_> = found(wanted).take(MOST_FOUND + 1).collect();
    let more = if all.len() > MOST_FOUND { "at least " } else { "" };
    ui.weak(format!("{more}{}", counted(all.len().min(MOST_FOUND) as u64, "line")));
    let mut last = None;
    for (page, number, line) in all.into_iter().take(MOST_FOUND) {
        if last.replace(page) != Some(page) {
            ui.strong(PAGES[page].title);
        }
        let text = RichText::new(line.trim_start_matches(['#', '|', '*', ' '])).small();
        let choice = ui.add(egui::Button::selectable(false, text).truncate());
        if choice.clicked() {
            (state.page, state.scroll_to) = (page, Some(number));
        }
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Heading(usize),
    Code,
    Row,
    Text,
}

fn look(line: &str, is_fenced: bool) -> Look {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    match line {
        _ if is_fenced || line.starts_with("    ") => Look::Code,
        _ if level > 0 && line[level..].starts_with(' ') => Look::Heading(level),
        _ if line.starts_with('|') => Look::Row,
        _ => Look::Text,
    }
}

fn page_ui(ui: &mut egui::Ui, page: &Page, state: &mut PagesState, theme: &Theme) {
    let wanted = state.search.trim().to_lowercase();
    let is_searched = wanted.chars().count() >= LEAST_LETTERS;
    let mut is_fenced = false;
    for (number, line) in page.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let text = match look(line, is_fenced) {
            Look::Heading(level) => {
                ui.add_space(6.0);
                let size = if level == 1 { 20.0 } else { 16.0 };
                RichText::new(line.trim_start_matches(['#', ' '])).strong().size(size)
            }
            Look::Code => RichText::new(line).monospace(),
            // The rule below the head of a table says nothing.
            Look::Row if line.bytes().all(|byte| b"|-: ".contains(&byte)) => continue,
            Look::Row => RichText::new(line.trim_matches('|').replace(" | ", "   ").trim().to_owned()),
            Look::Text if line.is_empty() => {
                ui.add_space(6.0);
                continue;
            }
            Look::Text => RichText::new(line),
        };
        let is_found = is_searched && line.to_lowercase().contains(&wanted);
        let text = if is_found { text.color(theme.found) } else { text };
        let place = wrapped_ui(ui, text);
        if state.scroll_to == Some(number) {
            place.scroll_to_me(Some(egui::Align::TOP));
            state.scroll_to = None;
        }
    }
    if state.scroll_to.take() == Some(0) || ui.input(|input| input.key_pressed(Key::Home)) {
        ui.scroll_to_rect(ui.min_rect(), Some(egui::Align::TOP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_looks() {
        for (line, is_fenced, expected) in [
            ("# Title", false, Look::Heading(1)),
            ("### Part", false, Look::Heading(3)),
            ("#hash", false, Look::Text),
            ("    code", false, Look::Code),
            ("# in code", true, Look::Code),
            ("| a | b |", false, Look::Row),
            ("words", false, Look::Text),
        ] {
            assert_eq!(look(line, is_fenced), expected, "{line}");
        }
    }

    #[test]
    fn every_page_of_the_folder_is_there_and_found() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let names = std::fs::read_dir(folder)
            .expect("the pages")
            .map(|entry| entry.expect("a file").path());
        let pages = names.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        for path in pages {
            let text = std::fs::read_to_string(&path).expect("a page");
            assert!(PAGES.iter().any(|page| page.text == text), "{}", path.display());
        }
        assert!(found("static_memory_policy").count() > 10);
        assert_eq!(found("no page has these words").count(), 0);
    }
}
