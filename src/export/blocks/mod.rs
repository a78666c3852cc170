//! A small document tree with four writers: text for terminals, Markdown for comments on changes, HTML for pages, parts for the
//! window.
//!
//! In: content as [`Block`]s, built once. Out: one text per writer. A writer alone decides on escaping, on spacing and on how much of
//! a figure it shows, so that no text of a file becomes markup.

mod html;
mod markdown;
mod page;
mod text;

use std::fmt::Display;

pub(crate) use html::{html, line as html_line};
pub(crate) use markdown::markdown;
pub(crate) use page::page;
pub use page::{PagePart, PageTable};

use highwater_model::units::Bytes;

/// A part of a line, by its meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Span {
    Text(String),
    /// With names in backticks, which are Markdown.
    Prose(String),
    Code(String),
    /// A figure: Markdown needs no escapes for the `<` of `<0.01 %`.
    Figure(String),
    Strong(String),
    /// A word, or in Markdown the short code of an emoji, such as `:x:`.
    Sign {
        word: String,
        emoji: &'static str,
    },
    Good(String),
    Bad(String),
    Weak(String),
    /// A second line of a cell.
    Below(String),
    /// Rounded; HTML has the exact bytes in a tooltip.
    Bytes(Bytes),
    Hinted {
        text: String,
        hint: String,
    },
    Step(u32),
    Op {
        step: u32,
        name: String,
    },
    /// In percent; HTML draws a bar too.
    Share(f64),
}

/// A cell, a paragraph or an item of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line(Vec<Span>);

pub(crate) fn text(value: impl Display) -> Line {
    Span::Text(value.to_string()).into()
}

pub(crate) fn prose(value: impl Display) -> Line {
    Span::Prose(value.to_string()).into()
}

pub(crate) fn code(value: impl Display) -> Line {
    Span::Code(value.to_string()).into()
}

pub(crate) fn figure(value: impl Display) -> Line {
    Span::Figure(value.to_string()).into()
}

pub(crate) fn bytes(bytes: Bytes) -> Line {
    Span::Bytes(bytes).into()
}

pub(crate) fn step(step: u32) -> Line {
    Span::Step(step).into()
}

impl From<Span> for Line {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl Line {
    /// This line followed by another.
    #[must_use]
    pub(crate) fn and(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn joined(lines: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        lines.into_iter().fold(Self::default(), |all, line| {
            if all.is_empty() {
                line
            } else {
                all.and(text(separator)).and(line)
            }
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Block {
    Heading(u8, Line),
    Paragraph(Line),
    /// A paragraph that belongs to the block before it.
    Note(Line),
    Table(Table),
    /// Items with their depth, from 0.
    List(Vec<(usize, Line)>),
    /// The same, in text without bullets.
    Lines(Vec<(usize, Line)>),
    /// Several lines, character by character.
    Characters(String),
    /// Folded until the reader opens it.
    Details(Line, Vec<Self>),
    Command(String),
    /// A drawing as SVG with its caption, and its position among the drawings of the page.
    Figure {
        position: usize,
        svg: String,
        caption: String,
    },
}

impl Block {
    /// A line per item.
    pub(crate) fn lines(lines: Vec<Line>) -> Self {
        Self::Lines(lines.into_iter().map(|line| (0, line)).collect())
    }

    /// Whether nothing is written: a table without rows, or a list without items.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(table) => table.is_empty(),
            Self::List(items) | Self::Lines(items) => items.is_empty(),
            _ => false,
        }
    }
}

pub(crate) fn paragraph(value: impl Display) -> Block {
    Block::Paragraph(text(value))
}

#[derive(Clone, Debug)]
struct Heading {
    text: String,
    is_figure: bool,
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<Line>,
    is_base: bool,
}

/// Rows under headings.
#[derive(Clone, Debug)]
pub struct Table {
    caption: String,
    /// Replaces the first heading in text, which has no captions.
    title: Option<String>,
    headings: Vec<Heading>,
    rows: Vec<Row>,
}

impl Table {
    /// A heading that starts with `>` is over figures: its column is aligned to the right.
    pub fn new(headings: &[&str]) -> Self {
        let heading = |text: &&str| Heading {
            text: text.trim_start_matches('>').to_owned(),
            is_figure: text.starts_with('>'),
        };
        Self {
            caption: String::new(),
            title: None,
            headings: headings.iter().map(heading).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn captioned(caption: impl Into<String>, headings: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            ..Self::new(headings)
        }
    }

    #[must_use]
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self {
            title: Some(title.into()),
            ..self
        }
    }

    pub fn row(&mut self, cells: &[&dyn Display]) {
        self.cells(cells.iter().map(text).collect());
    }

    /// A row whose number of cells is not known before.
    pub fn strings(&mut self, cells: Vec<String>) {
        self.cells(cells.into_iter().map(|cell| Span::Text(cell).into()).collect());
    }

    pub(crate) fn cells(&mut self, cells: Vec<Line>) {
        self.push(cells, false);
    }

    /// Adds a row; the base is the row that the others are compared with.
    pub(crate) fn push(&mut self, cells: Vec<Line>, is_base: bool) {
        self.rows.push(Row { cells, is_base });
    }

    /// Puts the base in front; cells that it lacks are empty.
    pub(crate) fn insert_base(&mut self, mut cells: Vec<Line>) {
        cells.resize(self.headings.len(), Line::default());
        self.rows.insert(0, Row { cells, is_base: true });
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes the columns after the first in which every cell is empty or one of these texts.
    pub fn remove_columns_of(&mut self, blank: &[&str]) {
        let blank: Vec<Line> = blank.iter().map(text).chain([Line::default()]).collect();
        let is_blank = |column: usize| self.rows.iter().all(|row| blank.contains(&row.cells[column]));
        let removed: Vec<usize> = (1..self.headings.len()).filter(|column| is_blank(*column)).collect();
        for column in removed.into_iter().rev() {
            self.headings.remove(column);
            for row in &mut self.rows {
                row.cells.remove(column);
            }
        }
    }

    /// One line per row, each with its line break; columns are as wide as their widest cell.
    pub fn text(&self) -> String {
        text::table(self)
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

pub(crate) fn plain_text(blocks: &[Block]) -> String {
    text::text(blocks)
}
