//! A table of the window as CSV: a line of column names, then every row in its order, numbers as plain digits.

use highwater_model::progress::{Cancelled, Progress};
use highwater_timeline::TableRows;

/// Rows between two looks at the flag.
const CHUNK: usize = 4096;

/// The whole table: not only what is visible of it. O(rows).
///
/// # Errors
/// [`Cancelled`].
pub fn table_csv(table: &TableRows, progress: &Progress<'_>) -> Result<Vec<u8>, Cancelled> {
    let columns = table.spec().kind.columns();
    let mut out = Vec::new();
    let mut line = Line::default();
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

/// A line on its way. Memory takes every write, so that nothing can fail.
#[derive(Default)]
pub(super) struct Line {
    text: String,
    n_fields: usize,
}

impl Line {
    pub(super) fn push(&mut self, field: &str) {
        if self.n_fields > 0 {
            self.text.push(',');
        }
        self.n_fields += 1;
        if field.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&field.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(field);
        }
    }

    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        self.text.push('\n');
        out.extend_from_slice(self.text.as_bytes());
        self.text.clear();
        self.n_fields = 0;
    }
}
