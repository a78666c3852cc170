//! Tables: one is shown at a time, worked out by the worker; the newest wins, and the one before stays until it is there.
//!
//! A table that only follows the pointer to another step waits for the one in hand, so that tables follow as fast as they
//! can be made; any other change stops it.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::jobs::{Answer, Job};
use super::super::problems::problem_lines;
use super::{Notice, Session};
use highwater_timeline::{TableRows, TableSpec, TableSubject};

/// What is wanted, what is in hand, what is known.
#[derive(Debug, Default)]
pub(super) struct TablesWatch {
    /// Of which answer, by number.
    wanted: Option<(u64, TableSpec)>,
    /// With the job's generation.
    asked: Option<(u64, TableSpec, u64)>,
    known: Option<(u64, Arc<TableRows>)>,
    /// What the worker failed at last; it would fail again.
    failed: Option<(u64, TableSpec)>,
}

impl Session {
    /// The table that was worked out last; perhaps another than the one wanted (see [`Self::has_table`]).
    pub fn table(&self) -> Option<&Arc<TableRows>> {
        self.tables.known.as_ref().map(|(_, table)| table)
    }

    /// Whether the table that was worked out last is this one, of the answer and the problems on the screen.
    pub fn has_table(&self, spec: &TableSpec) -> bool {
        self.tables.known.as_ref().is_some_and(|(answer, table)| {
            let is_about_problems = spec.kind == highwater_timeline::TableKind::Problems;
            *answer == self.n_answers
                && table.spec() == spec
                && (!is_about_problems || *table.subject().problems == *problem_lines(self))
        })
    }

    /// Whether this table was asked for already, or cannot be made.
    pub fn wants_table(&self, spec: &TableSpec) -> bool {
        let is_it = |wanted: &(u64, TableSpec)| wanted.0 == self.n_answers && wanted.1 == *spec;
        let is_in_hand = self.tables.asked.is_some() && self.tables.wanted.as_ref().is_some_and(is_it);
        is_in_hand || self.tables.failed.as_ref().is_some_and(is_it)
    }

    /// Whether the worker has still to say.
    pub fn is_listing_rows(&self) -> bool {
        self.tables.asked.is_some()
    }

    pub(super) fn list_rows(&mut self, spec: TableSpec) {
        if self.answer.is_none() {
            return;
        }
        let asked = self.tables.asked.as_ref();
        let follows = asked.is_some_and(|(answer, asked, _)| *answer == self.n_answers && spec.differs_by_step(asked));
        self.tables.wanted = Some((self.n_answers, spec));
        if !follows {
            self.next_table();
        }
    }

    /// Sends what is wanted.
    fn next_table(&mut self) {
        let Some((answer, spec)) = self.tables.wanted.clone() else {
            return;
        };
        let Some((comparison, timeline)) = self.answer.as_ref().filter(|_| answer == self.n_answers) else {
            return;
        };
        let subject = TableSubject {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            problems: problem_lines(self).into(),
        };
        let generation = self.worker.send(Job::Table(Box::new(spec.clone()), subject));
        self.tables.asked = Some((answer, spec, generation));
    }

    /// Takes what the worker says about a table; gives back what is about something else.
    pub(super) fn take_table(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let asked = self.tables.asked.take_if(|(.., asked)| *asked == generation);
        let Some((number, spec, _)) = asked else {
            let is_old = matches!(answer, Answer::Table(_));
            return (!is_old).then_some(answer);
        };
        match answer {
            Answer::Progress { .. } => {
                self.tables.asked = Some((number, spec, generation));
                return None;
            }
            Answer::Table(table) => self.tables.known = Some((number, table)),
            Answer::Failed(message) => {
                self.tables.failed = Some((number, spec.clone()));
                self.notice = Some(Notice::Failed(message));
            }
            _ => {}
        }
        let is_other = |wanted: &(u64, TableSpec)| *wanted != (number, spec);
        if self.tables.wanted.as_ref().is_some_and(is_other) {
            self.next_table();
        }
        None
    }

    /// Writes the table that is shown.
    pub(super) fn export_table(&mut self, path: PathBuf) {
        if let Some(table) = self.table().map(Arc::clone) {
            self.send_write(Job::WriteTable(path, table));
        } else {
            let message = "there is no table yet: open the pane Tables (X) first".to_owned();
            self.notice = Some(Notice::Failed(message));
        }
    }
}
