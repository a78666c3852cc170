//! Tables: one is shown at a time, and stays until the next is known.
//!
//! A table that differs from the running one only by the step under the pointer waits for it; any other replaces it.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_export::{GuardedCells, table_csv};
use highwater_model::progress::Progress;
use highwater_timeline::{TableKind, TableRows, TableSpec, TableSubject};

pub(super) struct TableTask {
    spec: TableSpec,
    subject: TableSubject,
}

/// A table, and for the table of problems the revision of these.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TableKey {
    spec: TableSpec,
    problems: Option<u64>,
}

impl Task for TableTask {
    type Key = TableKey;
    type Output = Arc<TableRows>;

    const KIND: TaskKind = TaskKind::Table;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.tables
    }

    fn new(session: &Session, key: &TableKey) -> Option<Self> {
        let (comparison, timeline) = session.answer.as_ref()?;
        Some(Self {
            spec: key.spec.clone(),
            subject: TableSubject {
                comparison: Arc::clone(comparison),
                timeline: Arc::clone(timeline),
                problems: Arc::clone(session.problem_lines()),
            },
        })
    }

    fn perform(self, progress: &Progress<'_>) -> Result<Self::Output, Failure> {
        let table = TableRows::new(self.spec, self.subject, progress)?;
        Ok(Arc::new(table))
    }

    fn waits(running: &TableKey, wanted: &TableKey) -> bool {
        wanted.spec.differs_by_step(&running.spec)
    }
}

impl Session {
    /// The last table; perhaps another than the one wanted (see [`Self::has_table`]).
    pub fn table(&self) -> Option<&Arc<TableRows>> {
        self.tables.known()
    }

    /// Whether the last table is this one, of the answer and the problems on the screen.
    pub fn has_table(&self, spec: &TableSpec) -> bool {
        self.tables.has(self.revision, &self.table_key(spec.clone()))
    }

    /// Whether this table was requested last: it is known, pending, or failed.
    pub fn wants_table(&self, spec: &TableSpec) -> bool {
        self.tables.wants(self.revision, &self.table_key(spec.clone()))
    }

    /// Whether a table is pending.
    pub fn is_listing_rows(&self) -> bool {
        self.worker.is_waiting(TaskKind::Table)
    }

    pub(super) fn table_key(&self, spec: TableSpec) -> TableKey {
        let is_about_problems = spec.kind == TableKind::Problems;
        TableKey {
            spec,
            problems: is_about_problems.then(|| self.problems_revision()),
        }
    }

    /// Writes the table that is shown.
    pub(super) fn export_table(&mut self, path: PathBuf) -> Result<(), Failure> {
        let table = self.table().map(Arc::clone);
        let table = table.ok_or("no table to export yet; open the pane Tables (X)")?;
        self.write(path, move |out, progress| {
            let mut cells = GuardedCells::new(out);
            table_csv(&table, &mut cells, progress)?;
            Ok(cells.flush()?)
        });
        Ok(())
    }
}
