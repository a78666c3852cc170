//! The tree as text for terminals: an empty line between blocks, columns aligned.

use super::{Block, Line, Span, Table};
use highwater_model::units::{grouped, percent_text};

/// Letters of a line of prose.
const WIDTH: usize = 110;

pub(super) fn text(blocks: &[Block]) -> String {
    let mut out = String::new();
    for (position, block) in blocks.iter().enumerate() {
        if position > 0 && !matches!(block, Block::Note(_)) {
            out.push('\n');
        }
        match block {
            Block::Heading(_, words) | Block::Paragraph(words) | Block::Note(words) => {
                out.push_str(&wrapped("", words));
            }
            Block::Table(rows) => out.push_str(&table(rows)),
            Block::List(items) => {
                for (depth, item) in items {
                    out.push_str(&wrapped(&format!("{}- ", "  ".repeat(*depth)), item));
                }
            }
            Block::Lines(items) => {
                for (depth, item) in items {
                    out.push_str(&wrapped(&"  ".repeat(*depth), item));
                }
            }
            Block::Characters(text) => out.push_str(text),
            Block::Details(summary, content) => out.push_str(&format!("{}\n\n{}", line(summary), text(content))),
            Block::Command(command) => out.push_str(&format!("  {command}\n")),
            Block::Figure { caption, .. } => out.push_str(&format!("{caption}\n")),
        }
    }
    out
}

/// A line behind its lead; prose is wrapped, and its further lines are indented by two letters more.
fn wrapped(lead: &str, words: &Line) -> String {
    let is_prose = words.0.iter().any(|span| matches!(span, Span::Prose(_)));
    let words = line(words);
    if !is_prose {
        return format!("{lead}{words}\n");
    }
    let indent = lead.chars().count() + 2;
    let (mut out, mut column) = (lead.to_owned(), indent - 2);
    for (position, word) in words.split(' ').enumerate() {
        let letters = word.chars().count();
        if position > 0 && column + 1 + letters > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if position > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += letters;
    }
    out.push('\n');
    out
}

pub(super) fn line(words: &Line) -> String {
    words.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    match span {
        Span::Text(text)
        | Span::Prose(text)
        | Span::Code(text)
        | Span::Figure(text)
        | Span::Strong(text)
        | Span::Sign { word: text, .. }
        | Span::Good(text)
        | Span::Bad(text)
        | Span::Weak(text)
        | Span::Hinted { text, .. } => text.clone(),
        Span::Below(text) => format!(" {text}"),
        Span::Bytes(bytes) => bytes.to_string(),
        Span::Step(step) => grouped(u64::from(*step)),
        Span::Op { step, name } => format!("{} {name}", grouped(u64::from(*step))),
        Span::Share(percent) => percent_text(*percent),
    }
}

/// A text of the user may have several lines.
fn cell(words: &Line) -> String {
    line(words).replace('\r', "\\r").replace('\n', "\\n")
}

pub(super) fn table(table: &Table) -> String {
    let mut headings: Vec<String> = table.headings.iter().map(|heading| heading.text.clone()).collect();
    if let (Some(first), Some(title)) = (headings.first_mut(), &table.title) {
        first.clone_from(title);
    }
    let rows = table.rows.iter().map(|row| row.cells.iter().map(cell).collect());
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let letters = |cell: &String| cell.chars().count();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(letters).max();
    let widths: Vec<usize> = (0..table.headings.len()).filter_map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let columns = row.iter().zip(table.headings.iter().zip(&widths));
        let cells = columns.map(|(cell, (heading, width))| {
            let room = " ".repeat(width.saturating_sub(letters(cell)));
            if heading.is_figure {
                room + cell
            } else {
                format!("{cell}{room}")
            }
        });
        out.push_str(cells.collect::<Vec<String>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}
