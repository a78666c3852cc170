//! Reports of statements with settings that are not read.

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged as _, TextRange};

use highwater_model::diagnostics::Severity;

use super::super::super::config_document::NotFollowed;
use super::datum::Fact;
use super::reader::Reader;
use super::walk::Clause;

/// Statements that are left out and have one of these words are reported.
const MARKERS: &[&str] = &[
    "parameter_map",
    "RunConfig(",
    "global_options()",
    "environ",
    "Config(",
    "memory_optimize(",
];

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
        self.remark_on_dropped(clause.body, &why, Severity::Info);
    }

    /// Reports settings in the arms behind the one that is taken.
    pub(super) fn remark_on_others(&mut self, others: &[Clause<'_>], line: usize) {
        for clause in others {
            let why = format!("the condition in line {line} holds");
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

    /// Reports statements that set options and are not read.
    fn remark_on_dropped(&mut self, body: &[Stmt], why: &str, severity: Severity) {
        let (Some(first), Some(last)) = (body.first(), body.last()) else {
            return;
        };
        let range = TextRange::new(first.start(), last.end());
        let text = self.source.slice(range);
        if MARKERS.iter().any(|marker| text.contains(marker)) {
            let (from, to) = (self.source.line(range.start()), self.source.line(range.end()));
            let lines = if from == to {
                "this is left out".to_owned()
            } else {
                format!("this and what follows up to line {to} is left out")
            };
            self.records.remark(severity, from, format!("{lines}: {why}"));
            self.records.not_followed.push(NotFollowed {
                lines: [from, to],
                why: why.to_owned(),
            });
        }
    }
}
