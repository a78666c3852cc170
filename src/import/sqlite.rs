//! An `SQLite` database in memory, read without letting it run anything.
//!
//! In: the bytes of a file, copied (this module opens no files). Out: real tables, row by row, as texts. Rules:
//!
//! * Only real tables are read, by a plain scan without a condition: no views, no triggers, no virtual tables, nothing
//!   that the file could make run. The schema is not trusted, writing is off, cancelling is looked for while `SQLite` works.
//! * A table has no more rows than the file has bytes: more come only of damage.

use std::io::Read;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};

use super::ImportError;
use super::json_stream::Counted;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;

/// The largest database; it is read into memory as a whole.
const MOST_BYTES: u64 = 1 << 30;

const MOST_TEXT: i32 = 16 << 20;

const BYTES_BETWEEN_CHECKS: usize = 4 << 20;

/// Steps of `SQLite`'s machine between two checks of the cancel flag.
const STEPS: i32 = 10_000;

/// The length that the header states; `None` where it is not credible.
fn stated_len(head: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let page = match u16::from_be_bytes(head.get(16..18)?.try_into().ok()?) {
        1 => 65_536,
        page => u64::from(page),
    };
    // Old programs change the file without updating the count of pages.
    let is_counted = number(24)? == number(92)?;
    is_counted.then_some(page * u64::from(number(28)?))
}

const MAGIC: &[u8] = b"SQLite format 3\0";

pub(super) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

pub(super) struct Database {
    connection: Connection,
    tables: Vec<String>,
    len: u64,
}

impl Database {
    /// Copies a database of `len` bytes that begins with `head`.
    ///
    /// # Errors
    /// [`ImportError`].
    pub(super) fn open(
        head: &[u8],
        len: u64,
        reader: impl Read,
        progress: &Progress<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, ImportError> {
        if stated_len(head).is_some_and(|stated| stated > len) {
            return Err(ImportError::Truncated {
                at: len,
                what: "the pages of an SQLite database".to_owned(),
            });
        }
        let size = usize::try_from(len).ok().filter(|_| len <= MOST_BYTES);
        let Some(size) = size else {
            return Err(ImportError::at(
                format!("the database has {len} bytes, more than the limit of {MOST_BYTES}"),
                "the file's size",
                "export the tables as CSV, which are read row by row",
            ));
        };
        let mut copied = Copied {
            reader: Counted::new(reader, len, progress),
            has_journal: false,
        };
        let mut connection = Connection::open_in_memory().map_err(|error| broken(&error, "the first page"))?;
        let loaded = connection.deserialize_read_exact(MAIN_DB, &mut copied, size, true);
        progress.check()?;
        loaded.map_err(|error| broken(&error, "the first page"))?;
        if copied.has_journal {
            let message = "the database was open for writing: the content of its journal (-wal) is not read";
            diagnostics.info(message, "");
        }
        harden(&mut connection, progress).map_err(|error| broken(&error, "the first page"))?;
        let mut database = Self {
            connection,
            tables: Vec::new(),
            len,
        };
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' \
                     AND name NOT LIKE 'sqlite_%'";
        let mut tables = Vec::new();
        database.scan(names, "the list of tables", progress, |values| {
            let name = values.first().map(|name| String::from_utf8(name.clone()));
            tables.extend(name.and_then(Result::ok));
        })?;
        database.tables = tables;
        Ok(database)
    }

    /// The names of the real tables.
    pub(super) fn tables(&self) -> &[String] {
        &self.tables
    }

    /// The name of a real table as the file spells it.
    pub(super) fn table(&self, name: &str) -> Option<String> {
        self.tables
            .iter()
            .find(|table| table.eq_ignore_ascii_case(name))
            .cloned()
    }

    /// The names of a table's stored columns: no computed ones, and none that is no text.
    pub(super) fn columns(&self, table: &str, progress: &Progress<'_>) -> Result<Vec<String>, ImportError> {
        let mut columns = Vec::new();
        let query = format!("PRAGMA table_info({})", quoted(table));
        self.scan(&query, table, progress, |values| {
            let name = values.get(1).map(|name| String::from_utf8(name.clone()));
            columns.extend(name.and_then(Result::ok));
        })?;
        Ok(columns)
    }

    /// Runs a query over one table and passes each row on as texts.
    pub(super) fn scan(
        &self,
        query: &str,
        place: &str,
        progress: &Progress<'_>,
        mut found: impl FnMut(&[Vec<u8>]),
    ) -> Result<(), ImportError> {
        let failed = |error: rusqlite::Error| match progress.check() {
            Err(cancelled) => ImportError::Cancelled(cancelled),
            Ok(()) => broken(&error, place),
        };
        let mut statement = self.connection.prepare(query).map_err(failed)?;
        let mut values: Vec<Vec<u8>> = vec![Vec::new(); statement.column_count()];
        let mut rows = statement.query([]).map_err(failed)?;
        let (mut n_rows, mut n_bytes) = (0_u64, 0_usize);
        while let Some(row) = rows.next().map_err(failed)? {
            n_rows += 1;
            if n_rows.is_multiple_of(1 << 12) || n_bytes > BYTES_BETWEEN_CHECKS {
                n_bytes = 0;
                progress.set("reading", n_rows.saturating_mul(64).min(self.len), self.len)?;
            }
            if n_rows > self.len {
                return Err(ImportError::at(
                    "a table has more rows than the file has bytes",
                    place,
                    "the file is damaged, copy or export it again",
                ));
            }
            for (column, value) in values.iter_mut().enumerate() {
                value.clear();
                match row.get_ref(column).map_err(failed)? {
                    ValueRef::Null => {}
                    ValueRef::Integer(number) => value.extend_from_slice(number.to_string().as_bytes()),
                    ValueRef::Real(number) => value.extend_from_slice(number.to_string().as_bytes()),
                    ValueRef::Text(text) | ValueRef::Blob(text) => value.extend_from_slice(text),
                }
            }
            n_bytes += values.iter().map(Vec::len).sum::<usize>();
            found(&values);
        }
        Ok(())
    }
}

/// Turns off features that a hostile file could use.
fn harden(connection: &mut Connection, progress: &Progress<'_>) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    // A name in quotation marks that is no column would else be a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_TEXT)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let cancel = progress.cancel_flag().clone();
    connection.progress_handler(STEPS, Some(move || cancel.is_cancelled()))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn broken(error: &rusqlite::Error, place: &str) -> ImportError {
    ImportError::at(
        format!("SQLite cannot read the database ({error})"),
        place,
        "the file is damaged, copy or export it again",
    )
}

/// A reader that reports progress, and shows a database with a write-ahead journal as one without: it is in memory, so
/// `SQLite` could not look for the journal.
struct Copied<'p, R> {
    reader: Counted<'p, R>,
    has_journal: bool,
}

/// The journals for writing and reading in the header: 1 is the old one, 2 the write-ahead log.
const JOURNAL_VERSIONS: std::ops::Range<u64> = 18..20;

impl<R: Read> Read for Copied<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let piece = buffer.len().min(1 << 20);
        let start = self.reader.at();
        let read = self.reader.read(&mut buffer[..piece])?;
        for (at, byte) in (start..).zip(&mut buffer[..read]).take(20) {
            if JOURNAL_VERSIONS.contains(&at) && *byte == 2 {
                (*byte, self.has_journal) = (1, true);
            }
        }
        Ok(read)
    }
}
