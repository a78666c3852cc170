//! Tables row by row: what the files of a profiler folder have in common, whether text or database.
//!
//! In: a reader of CSV, or rows that were taken from a database. Out: each row passed to the table; rows that
//! cannot be read are counted by what is wrong with them, and the first of each kind is named. Invariants: one row is in
//! memory at a time, none is longer than 16 MiB, and cancelling is looked for at every 64 KiB.

use std::cell::Cell;
use std::io::{Error, Read};
use std::rc::Rc;

use csv::ByteRecord;

use super::header::{Header, SizeColumn, TimeColumn};
use crate::ImportError;
use crate::decimal::Decimal;
use crate::json_stream::Counted;
use crate::text_limits::PROFILER;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::counted;
use highwater_model::workload::{ProblemEntry, Recording};

const PIECE: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// In words that are the same for all rows of this kind.
    pub(super) what: &'static str,
    /// The text at fault, cut to 40 characters.
    pub(super) text: String,
}

impl Fault {
    pub(super) fn new(what: &'static str, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&text[..text.len().min(160)]);
        Self {
            what,
            text: text.chars().take(40).collect(),
        }
    }
}

/// Rows of one kind: their number, and a text of the first, cut to 40 characters.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) first: String,
}

impl Tally {
    pub(super) fn add(&mut self, text: &[u8]) {
        self.count += 1;
        if self.first.is_empty() {
            self.first = String::from_utf8_lossy(text).chars().take(40).collect();
        }
    }

    /// Whether so few of `n_rows` are damaged that they are left out; else no time is claimed.
    pub(super) fn is_few(&self, n_rows: usize) -> bool {
        self.count.saturating_mul(2) <= n_rows as u64
    }

    pub(super) fn report(&self, severity: Severity, message: &str, diagnostics: &mut Diagnostics) {
        diagnostics.counted(severity, message, &self.first, self.count);
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a>(pub(super) &'a ByteRecord);

impl<'a> Row<'a> {
    /// A field without blanks around; empty where there is no such column, or where the tool wrote that it has no value.
    pub(super) fn field(self, at: Option<usize>) -> &'a [u8] {
        let field = at.and_then(|at| self.0.get(at)).unwrap_or_default().trim_ascii();
        match field {
            b"N/A" | b"NA" | b"None" | b"null" | b"NULL" | b"nan" | b"NaN" | b"-" => b"",
            field => field,
        }
    }

    /// The number in a field; `None` where it is empty.
    ///
    /// # Errors
    /// [`Fault`] where it is no number.
    pub(super) fn number(self, at: usize) -> Result<Option<Decimal>, Fault> {
        let field = self.field(Some(at));
        if field.is_empty() {
            return Ok(None);
        }
        match Decimal::parse(field) {
            Some(number) => Ok(Some(number)),
            None => Err(Fault::new("a number cannot be read", field)),
        }
    }

    /// The bytes in a field; `None` where it is empty or negative.
    pub(super) fn size(self, column: Option<SizeColumn>) -> Result<Option<u64>, Fault> {
        let Some(column) = column else { return Ok(None) };
        match self.number(column.at)? {
            Some(number) if !number.is_negative => match number.scaled(column.factor) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(Fault::new("a size is too large to count", self.field(Some(column.at)))),
            },
            _ => Ok(None),
        }
    }

    /// The nanoseconds in a field, and whether digits of it are cut off; `None` where it is empty.
    pub(super) fn time(self, column: Option<TimeColumn>) -> Result<Option<(u64, bool)>, Fault> {
        let Some(column) = column else { return Ok(None) };
        let Some(number) = self.number(column.at)? else {
            return Ok(None);
        };
        let text = self.field(Some(column.at));
        let nanos = number.scaled(column.factor).filter(|_| !number.is_negative);
        match nanos {
            Some(nanos) => Ok(Some((nanos, number.is_rough()))),
            None => Err(Fault::new("a time is negative or too large", text)),
        }
    }
}

/// Takes the items at these positions, which ascend, away.
pub(super) fn leave_out<T>(items: &mut Vec<T>, positions: &[u32]) {
    let mut positions = positions.iter().copied().peekable();
    let mut position = 0_u32;
    items.retain(|_| {
        let is_left_out = positions.next_if_eq(&position).is_some();
        position = position.saturating_add(1);
        !is_left_out
    });
}

#[derive(Debug)]
pub(super) struct Sink<'a, 'p> {
    pub(super) progress: &'a Progress<'p>,
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) recordings: Vec<Recording>,
    pub(super) problems: Vec<ProblemEntry>,
    pub(super) rows: u64,
}

impl<'a, 'p> Sink<'a, 'p> {
    pub(super) const fn new(progress: &'a Progress<'p>, diagnostics: &'a mut Diagnostics) -> Self {
        Self {
            progress,
            diagnostics,
            recordings: Vec::new(),
            problems: Vec::new(),
            rows: 0,
        }
    }
}

pub(super) trait Table {
    /// Takes one row.
    ///
    /// # Errors
    /// [`Fault`]; the row is then left out.
    fn row(&mut self, row: Row<'_>) -> Result<(), Fault>;

    /// Makes something of the rows.
    ///
    /// # Errors
    /// [`ImportError::Cancelled`], or that there is nothing.
    fn finish(self: Box<Self>, sink: &mut Sink<'_, '_>) -> Result<(), ImportError>;
}

/// Rows that were left out, by what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Faults {
    kinds: Vec<(Fault, u64, String)>,
    good: u64,
    repeated: u64,
}

impl Faults {
    /// Passes a row to a table and counts the outcome. `place` is called only for a new kind of fault.
    pub(super) fn feed(
        &mut self,
        table: &mut dyn Table,
        header: &Header,
        record: &ByteRecord,
        place: &dyn Fn() -> String,
    ) {
        let is_wide = record
            .iter()
            .skip(header.width())
            .any(|field| !field.trim_ascii().is_empty());
        let done = if record.len() < header.width() || is_wide {
            let text = format!(
                "{}, the header has {}",
                counted(record.len() as u64, "field"),
                header.width()
            );
            if record.iter().all(|field| field.trim_ascii().is_empty()) {
                return;
            }
            Err(Fault::new(
                "the row has another number of fields than the header",
                text.as_bytes(),
            ))
        } else if header.is_repeated_by(record) {
            self.repeated += 1;
            return;
        } else {
            table.row(Row(record))
        };
        match done {
            Ok(()) => self.good += 1,
            Err(fault) => match self.kinds.iter_mut().find(|kind| kind.0.what == fault.what) {
                Some(kind) => kind.1 += 1,
                None => self.kinds.push((fault, 1, place())),
            },
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.kinds
            .iter()
            .fold(self.good, |sum, kind| sum.saturating_add(kind.1))
    }

    /// Reports what was left out, and that there was nothing.
    ///
    /// # Errors
    /// [`ImportError::Malformed`] where rows were left out and none is good.
    pub(super) fn report(self, name: &str, diagnostics: &mut Diagnostics) -> Result<(), ImportError> {
        if self.good == 0 && self.kinds.is_empty() {
            let message = "the table has no rows: nothing was recorded in it";
            diagnostics.info(message, name);
        }
        for (fault, count, place) in &self.kinds {
            if self.good == 0 {
                return Err(ImportError::at(
                    format!(
                        "no row of the table can be read; in the first, {}: \"{}\"",
                        fault.what, fault.text
                    ),
                    place.as_str(),
                    "the file is damaged or of another version, export it again",
                ));
            }
            let message = format!("{}; the row is left out", fault.what);
            diagnostics.counted(
                Severity::Warning,
                message,
                &format!("{place}: \"{}\"", fault.text),
                *count,
            );
        }
        let message = "the header occurs again inside the table, as where slices are joined; it is skipped";
        diagnostics.counted(Severity::Info, message, "", self.repeated);
        Ok(())
    }
}

/// A reader that stops where a row is too long. Lines end in a line feed alone, the last one too: so the reader of rows
/// counts them as people do.
struct Guarded<'p, R> {
    reader: Counted<'p, R>,
    /// Bytes read since the last whole row.
    since_row: Rc<Cell<u64>>,
    /// The last byte that was read; a carriage return is held back until it is known what follows.
    last: u8,
}

impl<R: Read> Read for Guarded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.since_row.get() > PROFILER.line_bytes {
            return Err(Error::other("a row is too long"));
        }
        loop {
            let held = usize::from(self.last == b'\r');
            let Some(rest) = buffer.get_mut(held..).filter(|rest| !rest.is_empty()) else {
                return Ok(0);
            };
            let read = self.reader.read(rest)?;
            self.since_row.set(self.since_row.get() + read as u64);
            if read == 0 {
                let is_open = self.last != b'\n';
                self.last = b'\n';
                buffer[0] = b'\n';
                return Ok(usize::from(is_open));
            }
            self.last = rest[read - 1];
            if held > 0 {
                buffer[0] = b'\r';
            }
            let kept = without_returns(&mut buffer[..held + read]);
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

/// Takes carriage returns before line feeds away, and one at the end; returns how many bytes are left.
fn without_returns(bytes: &mut [u8]) -> usize {
    if !bytes.contains(&b'\r') {
        return bytes.len();
    }
    let mut kept = 0;
    for at in 0..bytes.len() {
        if bytes[at] != b'\r' || bytes.get(at + 1).is_some_and(|next| *next != b'\n') {
            bytes[kept] = bytes[at];
            kept += 1;
        }
    }
    kept
}

pub(super) type ChooseTable<'a> = &'a dyn Fn(&Header) -> Result<Box<dyn Table>, ImportError>;

/// Reads a CSV text of `len` bytes to its end.
///
/// # Errors
/// [`ImportError`].
pub(super) fn read_csv(
    reader: impl Read,
    len: u64,
    choose: ChooseTable<'_>,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let (since_row, progress) = (Rc::new(Cell::new(0)), *sink.progress);
    let guarded = Guarded {
        reader: Counted::new(reader, len, &progress),
        since_row: Rc::clone(&since_row),
        last: b'\n',
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(PIECE)
        .from_reader(guarded);
    let mut record = ByteRecord::new();
    // The line behind the row, where there is one.
    let mut next = |record: &mut ByteRecord| -> Result<Option<u64>, ImportError> {
        since_row.set(0);
        let line = reader.position().line();
        match reader.read_byte_record(record) {
            Ok(is_row) => {
                PROFILER.check(0, record.len(), format!("line {line}"), "export the file again")?;
                Ok(is_row.then(|| reader.position().line()))
            }
            Err(error) => {
                progress.check()?;
                Err(stopped(error, since_row.get() > PROFILER.line_bytes, line))
            }
        }
    };
    let header = if next(&mut record)?.is_some() {
        Header::of(&record)
    } else {
        Header::of(&ByteRecord::new())
    };
    let mut table = choose(&header)?;
    let mut faults = Faults::default();
    while let Some(behind) = next(&mut record)? {
        // The first line of the row: blank lines before it do not belong to it, line breaks within quotation marks do.
        let line = || {
            let n_within = record.as_slice().split(|byte| *byte == b'\n').skip(1).count() as u64;
            behind.saturating_sub(n_within + 1)
        };
        faults.feed(&mut *table, &header, &record, &|| format!("line {}", line()));
    }
    sink.rows += faults.rows();
    faults.report("", sink.diagnostics)?;
    table.finish(sink)
}

fn stopped(error: csv::Error, is_long: bool, line: u64) -> ImportError {
    match error.into_kind() {
        _ if is_long => ImportError::at(
            format!("a row is longer than {} MiB, the limit", PROFILER.line_bytes >> 20),
            format!("line {line}"),
            "a quotation mark is probably missing: export the file again",
        ),
        csv::ErrorKind::Io(error) => ImportError::Io(error),
        _ => ImportError::at("the row is no CSV", format!("line {line}"), "export the file again"),
    }
}
