//! The table of problems: findings about the configuration, and diagnostics of the files.

use super::column::text;
use super::{Column, Target, Value, View};
use highwater_model::diagnostics::Severity;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemLine {
    pub severity: Severity,
    /// The rule, or the place in a file.
    pub source: String,
    pub text: String,
    pub option: Option<String>,
    /// Position among the session's findings.
    pub finding: Option<usize>,
}

pub(super) const COLUMNS: [Column; 4] = [
    text("severity", "error, warning or info", 9),
    text("source", "the rule, or the place of the finding", 16),
    text("problem", "the finding", 80),
    text("option", "the affected option", 30),
];

pub(super) fn value<'a>(view: &View<'a>, row: u32, column: usize) -> Value<'a> {
    let Some(line) = view.problems.get(row as usize) else {
        return Value::Nothing;
    };
    Value::text(match column {
        0 => line.severity.name(),
        1 => &*line.source,
        2 => &*line.text,
        _ => line.option.as_deref().unwrap_or(""),
    })
}

pub(super) fn target(view: &View<'_>, row: u32) -> Target {
    let line = view.problems.get(row as usize);
    Target {
        option: line.and_then(|line| line.option.clone()),
        ..Target::default()
    }
}
