//! Placement problems: buffers with known live ranges, as CSV or JSON (docs/text-formats.md has the whole description).
//!
//! ```text
//! id,lower,upper,size,alignment,offset,gaps,same_address_as,mem_id    lower..upper half-open; `end` in place of
//! a,0,12,4096,512,,4-6 8-9,,                                       `upper` is inclusive; columns in any order
//! b,12,20,4096,,,,a,
//!
//! { "buffers": [ {"id", "lower", "upper" | "end", "size", "alignment", "offset", "gaps": [[4, 6]],
//!                 "same_address_as", "mem_id"} ], "capacity": 1048576, "planned_by": "IREE" }
//! { "tensors": [ {"tensor", "born", "last", "offset", "bytes", "op"} ] }       a plan as the vendor's engine made it
//! 0 (id=0): size=9216, offset=0, first_used=0 last_used=1       a plan that TFLite Micro prints, a line each
//! ```
//!
//! In: text, read once. Out: one [`ProblemEntry`] for each memory. Offsets fix buffers; where every row has one they are
//! also the recorded plan, and where they contradict each other, or are planned by a framework, they are that alone.

mod banks;
mod columns;
mod csv;
pub(super) mod draft;
mod faults;
mod index;
mod json;
pub(super) mod number;
mod printed;

use std::borrow::Cow;
use std::sync::Arc;

use super::{ImportError, Input};
use banks::{Banks, MEMORY};
use columns::Layout;
use csv::{BadRecord, Records};
use draft::Row;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{ProblemEntry, Source};

/// A header line that names where buffers start and end and how large they are, JSON with a list of such, or printed lines.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    match head.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => false,
        Some(b'{') => json::detect(head),
        Some(_) => is_csv(head) || printed::detect(head),
    }
}

fn is_csv(head: &[u8]) -> bool {
    // The head may end in the middle of a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or(""),
    };
    let mut headings = Vec::new();
    // A header above the limits is one, too: its reader says so.
    drop(Records::new(text).next(&mut headings));
    columns::is_problem(&headings)
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    let text = input.read_text(progress)?;
    let entries = if text.trim_start().starts_with('{') {
        json::read(&text, name, progress, diagnostics)?
    } else if is_csv(input.head()) || !printed::detect(input.head()) {
        read_csv(&text, name, progress, diagnostics)?
    } else {
        printed::read(&text, name, progress, diagnostics)?
    };
    Ok(Source::Problems(entries.into_iter().map(Arc::new).collect()))
}

fn read_csv(
    text: &str,
    name: String,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<ProblemEntry>, ImportError> {
    let mut records = Records::new(text);
    let mut fields: Vec<Cow<'_, str>> = Vec::new();
    let header = records.next(&mut fields).map_err(bad_record)?.unwrap_or(1);
    let layout = Layout::new(&fields).map_err(|what| {
        ImportError::at(
            what,
            format!("line {header}"),
            "the columns are id, lower, upper (or end), size, and if you like alignment, offset, gaps, same_address_as",
        )
    })?;
    for heading in &layout.unknown {
        diagnostics.skipped(&format!("column \"{heading}\""), &format!("line {header}"));
    }
    let mut banks = Banks::new(name, MEMORY);
    while let Some(line) = records.next(&mut fields).map_err(bad_record)? {
        if banks.len().is_multiple_of(4096) {
            progress.check()?;
        }
        read_row(&mut banks, &layout, &fields, line)?;
    }
    if banks.is_empty() {
        return Err(ImportError::at(
            "there is no buffer below the header",
            format!("line {header}"),
            "the file is cut off or empty, export it again",
        ));
    }
    banks.finish(&|row| line_of(text, row), diagnostics)
}

fn read_row(banks: &mut Banks, layout: &Layout, fields: &[Cow<'_, str>], line: u64) -> Result<(), ImportError> {
    let width = layout.headings.len();
    let is_short = fields.len() < width;
    if is_short || fields[width..].iter().any(|field| !field.is_empty()) {
        return Err(ImportError::at(
            format!("the row has {} fields and the header {width}", fields.len()),
            format!("line {line}"),
            "add or remove commas; write an id with a comma in quotes",
        ));
    }
    let wrong = |column: usize, what: String| {
        ImportError::at(
            what,
            format!("line {line} column \"{}\"", layout.headings[column]),
            "correct the row",
        )
    };
    let number = |column: usize| number::parse(&fields[column]).map_err(|what| wrong(column, what));
    let optional = |column: Option<usize>| match column.filter(|column| !fields[*column].is_empty()) {
        Some(column) => number(column).map(Some),
        None => Ok(None),
    };
    if fields[layout.id].is_empty() {
        return Err(wrong(layout.id, "the id is empty".to_owned()));
    }
    let row = Row {
        id: &fields[layout.id],
        lower: number(layout.lower)?,
        upper: number(layout.upper)?,
        is_inclusive: layout.is_inclusive,
        size: number(layout.size)?,
        alignment: optional(layout.alignment)?.unwrap_or(1),
        offset: optional(layout.offset)?,
    };
    let column = if row.alignment == 0 { layout.alignment } else { None };
    let bank = layout.mem_id.map_or("", |column| &*fields[column]);
    let draft = banks.next(bank).map_err(|what| wrong(layout.id, what))?;
    draft
        .push(&row)
        .map_err(|what| wrong(column.unwrap_or(layout.upper), what))?;
    if let Some(column) = layout.gaps {
        for text in fields[column].split_whitespace() {
            number::gap(text)
                .and_then(|(lower, upper)| draft.gap(lower, upper, layout.is_inclusive))
                .map_err(|what| wrong(column, what))?;
        }
    }
    let other = layout.same_address_as.map(|column| &*fields[column]);
    if let Some(id) = other.filter(|id| !id.is_empty()) {
        draft.same_address_as(id);
    }
    Ok(())
}

fn bad_record(bad: BadRecord) -> ImportError {
    ImportError::at(
        bad.what,
        format!("line {}", bad.line),
        "close the quotes; write a quote within them twice",
    )
}

/// The line of a row, found by reading again: only errors ask.
fn line_of(text: &str, row: usize) -> String {
    let mut records = Records::new(text);
    let mut fields = Vec::new();
    let mut line = 0;
    for _ in 0..row + 2 {
        line = records.next(&mut fields).ok().flatten().unwrap_or(line);
    }
    format!("line {line}")
}
