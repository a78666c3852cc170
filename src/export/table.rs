//! Tables of the window as CSV: a line of column names, then every row in its order, numbers as plain digits.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::subject::{ExportError, ExportSubject};
use highwater_analysis::LaneKind;
use highwater_model::progress::Progress;
use highwater_model::threads::on_threads;
use highwater_model::units::first_of;
use highwater_timeline::{TableKind, TableRows, TableSpec, TableSubject};

/// Rows that one thread puts together at a time.
const CHUNK: usize = 4096;

/// Lanes that an error names.
const MOST_NAMED: usize = 8;

/// Chunks per thread that wait to be written.
const WAITING: usize = 4;

/// Writes the whole table, not only its visible part, in the order of its rows. O(rows).
///
/// # Errors
/// [`ExportError::Cancelled`], or the error of `out`.
pub fn table_csv(table: &TableRows, out: &mut dyn Write, progress: &Progress<'_>) -> Result<(), ExportError> {
    let mut header = csv::Writer::from_writer(&mut *out);
    let columns = table.columns().iter();
    header
        .write_record(columns.map(|column| column.raw))
        .map_err(std::io::Error::from)?;
    header.flush()?;
    drop(header);
    let at_once = CHUNK * WAITING * progress.n_threads();
    for start in (0..table.len()).step_by(at_once) {
        progress.check()?;
        let end = table.len().min(start + at_once);
        let chunks = (start..end).step_by(CHUNK).map(|first| first..end.min(first + CHUNK));
        for records in on_threads(chunks.collect(), progress, |rows| records(table, rows)) {
            out.write_all(&records?)?;
        }
    }
    Ok(())
}

/// Rows as CSV, without the header.
fn records(table: &TableRows, rows: Range<usize>) -> Result<Vec<u8>, std::io::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut number = String::new();
    let mut cells = Vec::new();
    for position in rows {
        table.values(position, &mut cells);
        for cell in &cells {
            writer.write_field(cell.raw_in(&mut number))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// The tensors of one lane.
pub(super) fn tensors_csv(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &subject.comparison;
    let n_lanes = comparison.lanes.len();
    if subject.lanes.is_none() && comparison.lane_kind() == LaneKind::Recordings && n_lanes > 1 {
        let titles = comparison.lanes.iter().map(|lane| comparison.lane_title(lane.id));
        let titles = first_of(titles, MOST_NAMED, ", ");
        return Err(format!("a table of tensors needs one of {n_lanes} lanes (--lane N): {titles}").into());
    }
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
