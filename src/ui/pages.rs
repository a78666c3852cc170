//! The documentation inside the program: the pages of `docs`, what is new, and the version, with a search through all of them.
//!
//! In: the texts of the pages. Out: a modal window: pages at the left, or the lines that match; the page at the right, line by line, with
//! headings, code and tables in their own look. Nothing is fetched.

use std::ops::Range;

use eframe::egui::{self, Align, Key, Layout, RichText, Role, TextEdit};

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
            let down = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(egui::vec2(LIST, size.y), down, |ui| {
                ui.set_width(LIST);
                let list = egui::ScrollArea::vertical()
                    .id_salt("pages")
                    .auto_shrink([false, false]);
                list.max_height(size.y).show(ui, |ui| list_ui(ui, state));
            });
            ui.separator();
            ui.allocate_ui_with_layout(egui::vec2(ui.available_width(), size.y), down, |ui| {
                let page = egui::ScrollArea::vertical().id_salt(("page", state.page));
                let page = page.auto_shrink([false, false]).max_height(size.y);
                page.show(ui, |ui| page_ui(ui, &PAGES[state.page], state, theme));
            });
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
        let label = ui.label("Search the pages");
        let field = TextEdit::singleline(&mut state.search).desired_width(220.0);
        let field = ui.add(field).labelled_by(label.id);
        if !std::mem::replace(&mut state.has_focus, true) {
            field.request_focus();
        }
        // Enter opens the first line that matches.
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
            let wanted = state.search.trim().to_lowercase();
            let first = found(&wanted)
                .next()
                .filter(|_| wanted.chars().count() >= LEAST_LETTERS);
            if let Some((page, line, _)) = first {
                (state.page, state.scroll_to) = (page, Some(line));
            }
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

/// A part of a page: its look, its words, and its lines.
struct Part {
    look: Look,
    text: String,
    lines: Range<usize>,
}

/// The parts of a page: the lines of a paragraph are one, each other line is one. Delimiter rows of tables are left out.
fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut is_fenced, mut goes_on) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_rule = line.starts_with('|') && line.bytes().all(|byte| b"|-: ".contains(&byte));
        if is_fence || is_rule || line.trim().is_empty() && !is_fenced {
            goes_on = false;
            continue;
        }
        let look = look(line, is_fenced);
        let is_item = line.trim_start().starts_with(['*', '-']);
        let last = parts.last_mut().filter(|_| goes_on && !is_item);
        if let Some(last) = last.filter(|last| last.look == Look::Text && matches!(look, Look::Text)) {
            last.text.push(' ');
            last.text.push_str(line.trim());
            last.lines.end = number + 1;
            continue;
        }
        goes_on = look == Look::Text;
        let text = match look {
            Look::Heading(_) => line.trim_start_matches(['#', ' ']).to_owned(),
            Look::Row => line.trim_matches('|').replace(" | ", "   ").trim().to_owned(),
            Look::Code | Look::Text => line.to_owned(),
        };
        let lines = number..number + 1;
        parts.push(Part { look, text, lines });
    }
    parts
}

fn page_ui(ui: &mut egui::Ui, page: &Page, state: &mut PagesState, theme: &Theme) {
    let wanted = state.search.trim().to_lowercase();
    let is_searched = wanted.chars().count() >= LEAST_LETTERS;
    for part in parts(page.text) {
        let is_found = is_searched && part.text.to_lowercase().contains(&wanted);
        let text = RichText::new(part.text);
        let text = match part.look {
            Look::Heading(level) => text.strong().size(if level == 1 { 20.0 } else { 16.0 }),
            Look::Code => text.monospace(),
            Look::Row | Look::Text => text,
        };
        if part.look != Look::Code {
            ui.add_space(4.0);
        }
        let place = wrapped_ui(ui, if is_found { text.color(theme.found) } else { text });
        if state.scroll_to.is_some_and(|line| part.lines.contains(&line)) {
            place.scroll_to_me(Some(Align::TOP));
            state.scroll_to = None;
        }
    }
    state.scroll_to = None;
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
    fn lines_of_a_paragraph_are_one_part() {
        let parts = parts("# Title\n\nOne\ntwo\n* item\n  goes on\n\n| a | b |\n|---|---|\n| c | d |\n```\nx\n```\n");
        let texts: Vec<(&str, Range<usize>)> = parts.iter().map(|part| (&*part.text, part.lines.clone())).collect();
        assert_eq!(
            texts,
            [
                ("Title", 0..1),
                ("One two", 2..4),
                ("* item goes on", 4..6),
                ("a   b", 7..8),
                ("c   d", 9..10),
                ("x", 11..12),
            ]
        );
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
