//! Tables of the window as CSV: a line of column names, then every row in its order, numbers as plain digits.

use std::path::Path;
use std::sync::Arc;

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
    let columns = table.columns();
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    drop(writer.write_record(columns.iter().map(|column| column.raw)));
    for position in 0..table.len() {
        if position % CHUNK == 0 {
            progress.check()?;
        }
        for column in 0..columns.len() {
            drop(writer.write_field(&*table.value(position, column).raw()));
        }
        drop(writer.write_record(None::<&[u8]>));
    }
    Ok(writer.into_inner().unwrap_or_default())
}

/// The tensors of one lane.
pub(super) fn tensors_csv(
    subject: &ExportSubject,
    _path: &Path,
    progress: &Progress<'_>,
) -> Result<Vec<u8>, ExportError> {
    let [lane] = subject.lanes_or_main()[..] else {
        return Err("a table of tensors needs one lane; choose one".to_owned().into());
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
        let why = "no table: no tensor has a separate block (inputs, outputs and weights are counted separately)";
        return Err(why.to_owned().into());
    }
    Ok(table_csv(&table, progress)?)
}
