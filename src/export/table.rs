//! Tables of the window as CSV: a line of column names, then every row in its order, numbers as plain digits.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::subject::{ExportError, ExportSubject};
use highwater_model::progress::Progress;
use highwater_timeline::{TableKind, TableRows, TableSpec, TableSubject};

/// The number of rows between two checks for cancellation.
const CHUNK: usize = 4096;

/// Writes the whole table, not only its visible part. O(rows).
///
/// # Errors
/// [`ExportError::Cancelled`], or the error of `out`.
pub fn table_csv(table: &TableRows, out: &mut dyn Write, progress: &Progress<'_>) -> Result<(), ExportError> {
    let columns = table.columns();
    let mut writer = csv::Writer::from_writer(out);
    let failed = std::io::Error::from;
    let mut number = String::new();
    writer
        .write_record(columns.iter().map(|column| column.raw))
        .map_err(failed)?;
    for position in 0..table.len() {
        if position % CHUNK == 0 {
            progress.check()?;
        }
        for column in 0..columns.len() {
            let value = table.value(position, column);
            writer.write_field(value.raw_in(&mut number)).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

/// The tensors of one lane.
pub(super) fn tensors_csv(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let [lane] = subject.lanes_or_main()[..] else {
        return Err("a table of tensors needs one lane; choose one".into());
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
        return Err(why.into());
    }
    table_csv(&table, out, progress)
}
