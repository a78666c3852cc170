//! The text of a script: lines of places, and the texts of expressions.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::encoding::declared;
use super::super::quotes::first_mark;

/// The number of letters of an expression in a message.
const MAX_SHOWN: usize = 80;

pub(super) struct Source<'a> {
    text: &'a str,
    /// Byte offsets of the starts of lines, ascending from 0.
    lines: Vec<usize>,
    comments: Vec<TextRange>,
    is_lossy: bool,
    /// Where the script is, as its user writes it.
    pub(super) path: Option<&'a str>,
    /// Whether only Python 2 runs the script, where a text is bytes.
    pub(super) is_python_2: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new<T>(text: &'a str, is_lossy: bool, parsed: &Parsed<T>) -> Self {
        let comments = parsed
            .tokens()
            .iter()
            .filter(|token| token.kind() == TokenKind::Comment);
        Self {
            text,
            lines: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
            comments: comments.map(Ranged::range).collect(),
            is_lossy,
            path: None,
            is_python_2: false,
        }
    }

    pub(super) fn of_python_2(self, is_python_2: bool) -> Self {
        Self { is_python_2, ..self }
    }

    pub(super) fn at(self, path: Option<&'a str>) -> Self {
        Self { path, ..self }
    }

    pub(super) fn starts_with(&self, start: &str) -> bool {
        self.text.starts_with(start)
    }

    /// Why a text with unreadable letters is no value, as words after a name.
    pub(super) fn unreadable(&self, text: &str) -> Option<String> {
        let is_unreadable = self.is_lossy && text.contains(char::REPLACEMENT_CHARACTER);
        let encoding = declared(self.text).map_or("another encoding".to_owned(), |name| format!("the encoding {name}"));
        is_unreadable.then(|| format!("has letters of {encoding}, which highwater does not read"))
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: TextSize) -> usize {
        self.lines.partition_point(|start| *start <= at.to_usize())
    }

    /// The column of a place in letters, from 1.
    pub(super) fn column(&self, at: TextSize) -> usize {
        let start = self.lines[self.line(at).max(1) - 1];
        self.text
            .get(start..at.to_usize())
            .map_or(1, |before| before.chars().count() + 1)
    }

    /// The first typographic quotation mark of a line from a place on, or before it.
    pub(super) fn mark_behind(&self, at: TextSize) -> Option<(TextSize, char)> {
        let line = self.line(at).max(1);
        let start = self.lines[line - 1];
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        let from = at.to_usize().clamp(start, end);
        let (found, mark) = [from, start].into_iter().find_map(|from| {
            let (found, mark) = first_mark(self.text.get(from..end)?)?;
            Some((from + found, mark))
        })?;
        Some((TextSize::try_from(found).ok()?, mark))
    }

    pub(super) fn slice(&self, range: TextRange) -> &'a str {
        self.text.get(range.to_std_range()).unwrap_or("")
    }

    pub(super) fn comments(&self) -> impl Iterator<Item = (TextSize, &'a str)> {
        self.comments.iter().map(|range| (range.start(), self.slice(*range)))
    }

    /// An expression in one line, without comments and with single spaces.
    pub(super) fn expression(&self, range: TextRange) -> String {
        let first = self.comments.partition_point(|comment| comment.end() <= range.start());
        let inner = self.comments[first..]
            .iter()
            .take_while(|comment| comment.start() < range.end());
        let mut text = String::new();
        let mut from = range.start();
        for comment in inner {
            text.push_str(self.slice(TextRange::new(from, comment.start())));
            from = comment.end();
        }
        text.push_str(self.slice(TextRange::new(from, range.end())));
        let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    }

    /// The beginning of an expression, for messages.
    pub(super) fn shown(&self, range: TextRange) -> String {
        let text = self.slice(range);
        let start: String = text.chars().take(MAX_SHOWN + 1).collect();
        let is_whole = start.len() == text.len();
        let mut shown = start.split_whitespace().collect::<Vec<&str>>().join(" ");
        if !is_whole {
            shown.push_str("...");
        }
        shown
    }
}
