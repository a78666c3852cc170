//! The answer of a command: a value that every form of it is written from.

use serde::Serialize;

use super::blocks::{Block, markdown, paragraph, plain_text, text};
use highwater_model::diagnostics::Diagnostics;

/// Blocks of an answer, for people.
#[derive(Clone, Debug)]
pub struct Page(pub(crate) Vec<Block>);

impl Page {
    pub fn text(&self) -> String {
        plain_text(&self.0)
    }

    pub fn markdown(&self) -> String {
        markdown(&self.0)
    }
}

pub trait Answer {
    /// For people.
    fn page(&self) -> Page;

    /// For a comment on a change, in Markdown.
    fn comment(&self) -> Page {
        self.page()
    }

    /// For programs.
    fn json(&self) -> impl Serialize;

    /// Its rows for a spreadsheet; `None` where it has none.
    fn csv(&self) -> Option<String> {
        None
    }
}

/// A line per entry.
pub(crate) fn diagnostics_blocks(entries: &Diagnostics) -> Vec<Block> {
    let lines = entries.entries().iter();
    lines_blocks(lines.map(|entry| format!("{}: {}", entry.severity, entry.words())))
}

/// A paragraph of lines.
pub(crate) fn lines_blocks(lines: impl IntoIterator<Item = String>) -> Vec<Block> {
    let block = |(position, line)| match position {
        0 => paragraph(line),
        _ => Block::Note(text(line)),
    };
    lines.into_iter().enumerate().map(block).collect()
}

/// A line per entry.
pub fn diagnostics_text(entries: &Diagnostics) -> String {
    plain_text(&diagnostics_blocks(entries))
}
