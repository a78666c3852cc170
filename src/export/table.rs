//! Tables of the window as CSV: a line of column names, then every row in its order, numbers as plain digits.

use std::path::Path;
use std::sync::Arc;

use super::csv_line::CsvLine;
use super::subject::{ExportError, ExportSubject};
use highwater_model::progress::{Cancelled, Progress};
use highwater_timeline::{TableKind, TableRows, TableSpec, TableSubject};

/// The number of rows between two checks for cancellation.
const CHUNK: usize = 4096;

/// The whole table, not only its visible part. O(rows).
///
/// # Errors
/// [`Cancelled`].
pub fn table_csv(table: &TableRows, progress: &Progress<'_>) -> Result<Vec<u8>, Cancelled> {
    let columns = table.spec().kind.columns();
    let mut out = Vec::new();
    let mut line = CsvLine::default();
    for column in columns {
        line.push(column.raw);
    }
    line.end(&mut out);
    for position in 0..table.len() {
        if position % CHUNK == 0 {
            progress.check()?;
        }
        for column in 0..columns.len() {
            line.push(&table.value(position, column).raw());
        }
        line.end(&mut out);
    }
    Ok(out)
}

/// The tensors of one lane.
///
/// # Errors
/// [`ExportError`]: several lanes, a lane without tensors, or cancelled.
pub(super) fn tensors_csv(
    subject: &ExportSubject,
    _path: &Path,
    progress: &Progress<'_>,
) -> Result<Vec<u8>, ExportError> {
    let [lane] = subject.lanes_or_main()[..] else {
        return Err("a table of tensors is of one lane; choose one".to_owned().into());
    };
    let spec = TableSpec {
        kind: TableKind::Tensors,
        lane,
        ..TableSpec::default()
    };
    let subject = TableSubject {
        comparison: Arc::clone(&subject.comparison),
        timeline: Arc::clone(&subject.timeline),
        problems: Arc::from([]),
    };
    let table = TableRows::new(spec, subject, progress).map_err(|error| error.to_string())?;
    progress.check()?;
    if table.is_empty() {
        let why =
            "no tensor has a block of its own here (inputs, outputs and weights are held apart), so there is no table";
        return Err(why.to_owned().into());
    }
    Ok(table_csv(&table, progress)?)
}
