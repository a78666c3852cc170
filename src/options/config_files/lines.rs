//! Files of lines: sections, assignments and comments.

use super::{FileError, quoted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `[name]`.
    Section(&'a str),
    /// `name = value`.
    Assignment(&'a str, &'a str),
    Other(&'a str),
}

/// The lines of a text with their numbers, without comments (`#`, `;` at the start of a line) and blank lines.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, Line<'_>)> {
    text.lines().enumerate().filter_map(|(idx, line)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let section = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let line = match (section, line.split_once('=')) {
            (Some(name), _) => Line::Section(name.trim()),
            (None, Some((name, value))) => Line::Assignment(name.trim(), value.trim()),
            (None, None) => Line::Other(line),
        };
        Some((idx + 1, line))
    })
}

/// The error of a line that is no assignment.
pub(super) fn no_assignment(line: usize, text: &str) -> FileError {
    FileError::new(line, format!("{} is not NAME=VALUE", quoted(text)))
}

/// Names separated by commas.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}
