//! Tables row by row: what the files of a profiler folder have in common, whether text or database.
//!
//! In: a reader of CSV, or rows that were taken from a database. Out: each row handed to the table at hand; rows that
//! cannot be read are counted by what is wrong with them, and the first of each kind is named. Invariants: one row is in
//! memory at a time, none is longer than 16 MiB, and cancelling is looked for at every 64 KiB.

use std::cell::Cell;
use std::io::{Error, Read};
use std::rc::Rc;

use csv::ByteRecord;

use super::decimal::Decimal;
use super::header::{Header, SizeColumn, TimeColumn};
use crate::diagnostics::{Diagnostics, Severity};
use crate::import::ImportError;
use crate::progress::Progress;
use crate::workload::{ProblemEntry, Recording};

/// The longest row; a call stack of thousands of lines fits.
const ROW_BYTES: u64 = 16 << 20;

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// What is wrong with a row.
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

/// One row.
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
    ///
    /// # Errors
    /// As [`Self::number`].
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
    ///
    /// # Errors
    /// As [`Self::number`].
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

/// Where what was read goes.
#[derive(Debug)]
pub(super) struct Sink<'a, 'p> {
    /// Reports and looks for cancelling.
    pub(super) progress: &'a Progress<'p>,
    /// Oddities.
    pub(super) diagnostics: &'a mut Diagnostics,
    /// What runs held.
    pub(super) recordings: Vec<Recording>,
    /// Static graphs.
    pub(super) problems: Vec<ProblemEntry>,
}

/// A table that takes rows.
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
    /// Rows that could be read.
    good: u64,
    repeated: u64,
}

impl Faults {
    /// Hands a row to a table and counts what comes of it. `place` is asked only for a kind of fault that is new.
    pub(super) fn feed(
        &mut self,
        table: &mut dyn Table,
        (header, record): (&Header, &ByteRecord),
        place: &dyn Fn() -> String,
    ) {
        let is_wide = record
            .iter()
            .skip(header.width())
            .any(|field| !field.trim_ascii().is_empty());
        let done = if record.len() < header.width() || is_wide {
            let text = format!("{} fields, the header has {}", record.len(), header.width());
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

    /// Reports what was left out.
    ///
    /// # Errors
    /// [`ImportError::Malformed`] where rows were left out and none is good.
    pub(super) fn report(self, diagnostics: &mut Diagnostics) -> Result<(), ImportError> {
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
        if self.repeated > 0 {
            let message = "the header stands again inside the table, as where slices are joined; it is skipped";
            diagnostics.counted(Severity::Info, message.to_owned(), "", self.repeated);
        }
        Ok(())
    }
}

/// Why reading stopped within the CSV reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Cancelled,
    LongRow,
}

/// A reader that reports progress and stops.
struct Guarded<'a, 'p, R> {
    reader: R,
    progress: &'a Progress<'p>,
    /// Bytes read and bytes there are.
    at: (u64, u64),
    /// Bytes read since the last whole row.
    since_row: Rc<Cell<u64>>,
    stop: Rc<Cell<Option<Stop>>>,
}

impl<R: Read> Read for Guarded<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.progress.set("reading", self.at.0, self.at.1).is_err() {
            self.stop.set(Some(Stop::Cancelled));
            return Err(Error::other("cancelled"));
        }
        if self.since_row.get() > ROW_BYTES {
            self.stop.set(Some(Stop::LongRow));
            return Err(Error::other("a row is too long"));
        }
        let read = self.reader.read(buffer)?;
        self.at.0 += read as u64;
        self.since_row.set(self.since_row.get() + read as u64);
        Ok(read)
    }
}

/// Makes the table that a header asks for.
pub(super) type Choose<'a> = &'a dyn Fn(&Header) -> Result<Box<dyn Table>, ImportError>;

/// Reads a CSV text of `len` bytes to its end.
///
/// # Errors
/// [`ImportError`].
pub(super) fn read_csv(
    reader: impl Read,
    len: u64,
    choose: Choose<'_>,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let (since_row, stop) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
    let guarded = Guarded {
        reader,
        progress: sink.progress,
        at: (0, len),
        since_row: Rc::clone(&since_row),
        stop: Rc::clone(&stop),
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(PIECE)
        .from_reader(guarded);
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| -> Result<bool, ImportError> {
        since_row.set(0);
        let line = reader.position().line();
        let read = reader.read_byte_record(record);
        read.map_err(|error| stopped(error, stop.get(), line))
    };
    let header = if next(&mut record)? {
        Header::of(&record)
    } else {
        Header::of(&ByteRecord::new())
    };
    let mut table = choose(&header)?;
    let mut faults = Faults::default();
    while next(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        faults.feed(&mut *table, (&header, &record), &|| format!("line {line}"));
    }
    faults.report(sink.diagnostics)?;
    table.finish(sink)
}

fn stopped(error: csv::Error, stop: Option<Stop>, line: u64) -> ImportError {
    match (stop, error.into_kind()) {
        (Some(Stop::Cancelled), _) => ImportError::Cancelled(crate::progress::Cancelled),
        (Some(Stop::LongRow), _) => ImportError::at(
            format!("a row is longer than {} MiB, the limit", ROW_BYTES >> 20),
            format!("line {line}"),
            "a quotation mark is probably missing: export the file again",
        ),
        (None, csv::ErrorKind::Io(error)) => ImportError::Io(error),
        (None, _) => ImportError::at("the row is no CSV", format!("line {line}"), "export the file again"),
    }
}
