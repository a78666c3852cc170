//! The tree as parts that a window draws: plain texts, no figures.

use super::text::line;
use super::{Block, Line, Span, Table};

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagePart {
    /// 1 is the largest.
    Heading(u8, String),
    Text(String),
    /// A paragraph of weight.
    Strong(String),
    /// An item of a list with its depth, from 0.
    Item(usize, String),
    Command(String),
    Table(PageTable),
}

/// Rows under headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTable {
    pub caption: String,
    /// Texts, and whether the column has figures.
    pub headings: Vec<(String, bool)>,
    pub rows: Vec<Vec<String>>,
}

/// The parts in order; drawings are left out.
pub(crate) fn page(blocks: &[Block]) -> Vec<PagePart> {
    blocks.iter().flat_map(parts).collect()
}

fn parts(block: &Block) -> Vec<PagePart> {
    match block {
        Block::Heading(level, words) => vec![PagePart::Heading(*level, line(words))],
        Block::Paragraph(Line(spans)) if matches!(spans[..], [Span::Strong(_)]) => spans
            .iter()
            .map(|span| PagePart::Strong(line(&span.clone().into())))
            .collect(),
        Block::Paragraph(words) | Block::Note(words) => vec![PagePart::Text(line(words))],
        Block::Table(rows) => vec![PagePart::Table(table(rows))],
        Block::List(items) | Block::Lines(items) => {
            let item = |(depth, words): &(usize, Line)| PagePart::Item(*depth, line(words));
            items.iter().map(item).collect()
        }
        Block::Details(summary, content) => {
            let summary = PagePart::Text(line(summary));
            std::iter::once(summary).chain(page(content)).collect()
        }
        Block::Command(command) | Block::Characters(command) => vec![PagePart::Command(command.clone())],
        Block::Figure { .. } => Vec::new(),
    }
}

fn table(table: &Table) -> PageTable {
    let heading = |heading: &super::Heading| (heading.text.clone(), heading.is_figure);
    PageTable {
        caption: table.caption.clone(),
        headings: table.headings.iter().map(heading).collect(),
        rows: table
            .rows
            .iter()
            .map(|row| row.cells.iter().map(line).collect())
            .collect(),
    }
}
