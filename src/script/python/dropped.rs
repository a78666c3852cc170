//! Reports of statements with settings that are not read.

use ruff_python_ast::{Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_model::diagnostics::Severity;

use super::datum::Fact;
use super::reader::Reader;
use super::walk::Clause;
use crate::config_document::NotFollowed;

/// Statements that are left out and have one of these words are reported.
pub(super) const MARKERS: &[&str] = &[
    "parameter_map",
    "RunConfig(",
    "global_options()",
    "environ",
    "Config(",
    "memory_optimize(",
    "get_npu_backend(",
    "set_context(",
];

/// The most left-out bodies in which calls are looked for.
const MAX_DROPPED: usize = 256;

impl Reader<'_> {
    /// Reports settings in an arm that is not taken.
    pub(super) fn remark_on_skipped(&mut self, clause: &Clause<'_>, fact: Option<&Fact>, line: usize) {
        let why = match (clause.test, fact) {
            (Some(test), Some(fact)) => {
                let test = self.source.shown(test.range());
                match &fact.note {
                    Some(note) => format!("\"{test}\" in line {line} {note}"),
                    None => format!("\"{test}\" in line {line} is false"),
                }
            }
            _ => format!("line {line} has another branch that is taken"),
        };
        self.drops_by_assumption |= fact.is_some_and(|fact| fact.note.is_some()) && self.has_settings(clause.body);
        self.remark_on_dropped(clause.body, &why, Severity::Info);
    }

    /// Reports settings in the arms behind the one that is taken.
    pub(super) fn remark_on_others(&mut self, others: &[Clause<'_>], line: usize, is_assumed: bool) {
        for clause in others {
            let by_default = if is_assumed { " by default" } else { "" };
            let why = format!("the condition in line {line} holds{by_default}");
            self.drops_by_assumption |= is_assumed && self.has_settings(clause.body);
            self.remark_on_dropped(clause.body, &why, Severity::Info);
        }
    }

    /// Reports settings that are never reached.
    pub(super) fn remark_on_rest(&mut self, end: &Stmt, rest: &[Stmt]) {
        let line = self.source.line(end.start());
        let shown = self.source.shown(end.range());
        let why = format!("the flow ends in line {line} ({shown})");
        self.remark_on_dropped(rest, &why, Severity::Warning);
    }

    /// Whether statements seem to set options.
    pub(super) fn has_settings(&self, body: &[Stmt]) -> bool {
        let text = Self::text_of(body).map_or("", |range| self.source.slice(range));
        let calls = |setter: &&str| {
            let mut calls = text.match_indices(*setter);
            calls.any(|(at, _)| text[at + setter.len()..].starts_with('('))
        };
        MARKERS.iter().any(|marker| text.contains(marker)) || self.survey.setters.iter().any(calls)
    }

    /// Whether all calls of a function are in statements that are left out.
    pub(super) fn is_left_out(&self, function: &StmtFunctionDef) -> bool {
        let calls = self.survey.functions.get(function.name.as_str());
        let is_dropped = |range: TextRange| self.dropped.iter().any(|dropped| dropped.contains_range(range));
        let mut outside = calls
            .into_iter()
            .flatten()
            .filter(|call| !function.range().contains_range(call.range()));
        calls.is_some_and(|calls| !calls.is_empty()) && outside.all(|call| is_dropped(call.range()))
    }

    fn text_of(body: &[Stmt]) -> Option<TextRange> {
        Some(TextRange::new(body.first()?.start(), body.last()?.end()))
    }

    /// Why the body of a loop never runs.
    pub(super) fn idle_loop(&self, over: TextRange) -> String {
        let line = self.source.line(over.start());
        format!("the loop of line {line} has no rounds ({})", self.source.shown(over))
    }

    /// Reports statements that set options and are not read.
    pub(super) fn remark_on_dropped(&mut self, body: &[Stmt], why: &str, severity: Severity) {
        let Some(range) = Self::text_of(body).filter(|_| !self.is_in_rounds) else {
            return;
        };
        if self.dropped.len() < MAX_DROPPED {
            self.dropped.push(range);
        }
        if !self.has_settings(body) {
            return;
        }
        let (from, to) = (self.source.line(range.start()), self.source.line(range.end()));
        let lines = if from == to {
            "this is ignored".to_owned()
        } else {
            format!("lines up to {to} are ignored")
        };
        self.records.remark(severity, from, format!("{lines}: {why}"));
        self.records.not_followed.push(NotFollowed {
            lines: [from, to],
            why: why.to_owned(),
        });
    }
}
