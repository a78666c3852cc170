//! Memory files of the Ascend profilers: CSV tables and `SQLite` databases.
//!
//! ```text
//! operator_memory.csv      Name,Size(KB),Allocation Time(us),Release Time(us),...    blocks            operators.rs
//! memory_record.csv        Component,Timestamp(us),Total Allocated(MB),...           curves            curves.rs
//! npu_module_mem.csv       Component,Timestamp(us),Total Reserved(KB),Device         curves            curves.rs
//! static_op_mem.csv        Op Name,Graph ID,Node Index Start,Node Index End,...      intervals         static_ops.rs
//! kernel_details.csv       Name,Type,Accelerator Core,Start Time(us),Duration(us)    times of ops      kernels.rs
//! op_summary_*.csv         Op Name,OP Type,Task Type,Task Start Time(us),...         the same          kernels.rs
//! memscope_dump_*.csv      ID,Event,Event Type,Name,Timestamp(ns),...,Ptr,Attr       events            events.rs
//! ascend_pytorch_*.db      OP_MEMORY, MEMORY_RECORD, NPU_OP_MEM, NPU_MODULE_MEM      the same, `SQLite`  database.rs
//! memscope_dump_*.db       memscope_dump (leaks_dump)
//! ```
//!
//! Sources: the profilers of `torch_npu` (Ascend/pytorch), msprof, `MindSpore` and msmemscope (all public), with their guides.
//! Units differ by tool and version and are read from the headings, but for what `MindSpore` calls MB (`curves.rs`). Columns are in any order. Fields may carry
//! trailing tabs, lines may end in CRLF, a byte order mark may come first. Large tables come in slices
//! (`_slice_0_20240101.csv`); `slices.rs` joins them.
//!
//! In: an [`Input`]. Out: recordings, or placement problems for static graphs. Invariant: rows are read one by one; what a
//! row does not state is never filled in.

mod attributes;
mod curves;
mod database;
mod events;
mod header;
mod kernels;
mod operators;
mod pools;
mod slices;
mod stacks;
mod static_ops;
mod table;
#[cfg(test)]
mod tests;
pub(super) mod tracker;
mod workspace_pool;

use std::sync::Arc;

use csv::ByteRecord;

use super::decimal::Decimal;
use super::sqlite::is_database;
use super::{ImportError, Input, torch_snapshot};
use header::Header;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;
pub use slices::{group_slices, join_slices, missing_slices};
use table::{Sink, Table};

type IsHeader = fn(&Header) -> bool;

type MakeTable = fn(&Header) -> Result<Box<dyn Table>, ImportError>;

/// The kinds of tables: how each is known, and how it is made. The first that is known counts.
static TABLES: &[(IsHeader, MakeTable)] = &[
    (static_ops::is_header, |header| {
        Ok(Box::new(static_ops::StaticOps::new(header)?))
    }),
    (operators::is_header, |header| {
        Ok(Box::new(operators::Operators::new(header)?))
    }),
    (kernels::is_header, |header| {
        Ok(Box::new(kernels::Kernels::new(header)?))
    }),
    (events::is_header, |header| Ok(Box::new(events::Events::new(header)?))),
    (curves::is_header, |header| Ok(Box::new(curves::Curves::new(header)?))),
];

/// An `SQLite` database of another kind than a snapshot of PyTorch, or a first row with the headings of one of the tables.
pub(super) fn detect(input: &Input<'_>) -> bool {
    if is_database(input.head()) && !torch_snapshot::is_snapshot_database(input.head()) {
        return true;
    }
    let header = first_row(input).map(|record| Header::of(&record));
    header.is_some_and(|header| TABLES.iter().any(|(is_kind, _)| is_kind(&header)))
}

/// The fields of the first line; `None` where there are none.
fn first_row(input: &Input<'_>) -> Option<ByteRecord> {
    let first_line = input.head().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(first_line);
    let mut record = ByteRecord::new();
    matches!(reader.read_byte_record(&mut record), Ok(true)).then_some(record)
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let mut sink = Sink::new(progress, diagnostics);
    let (head, len) = (input.head()[..input.head().len().min(100)].to_vec(), input.len());
    let reader = input.reader()?;
    if is_database(&head) {
        database::read(&head, len, reader, &mut sink)?;
    } else {
        table::read_csv(reader, len, &table_for, &mut sink)?;
    }
    if !sink.problems.is_empty() {
        return Ok(Source::Problems(sink.problems.into_iter().map(Arc::new).collect()));
    }
    if sink.recordings.is_empty() && sink.rows > 0 {
        return Err(ImportError::at(
            "no row of the table says what was held",
            "any place",
            "profile with profile_memory=True and export again",
        ));
    }
    let recordings = sink.recordings.into_iter();
    Ok(Source::Recordings(recordings.map(Arc::new).collect()))
}

fn table_for(header: &Header) -> Result<Box<dyn Table>, ImportError> {
    match TABLES.iter().find(|(is_kind, _)| is_kind(header)) {
        Some((_, make)) => make(header),
        None => Err(ImportError::at(
            "the headings are of no memory table of the Ascend profilers",
            "line 1",
            "known are operator_memory, memory_record, npu_module_mem, static_op_mem, kernel_details, op_summary and the dumps of \
             msmemscope",
        )),
    }
}

/// A whole number in decimal or with `0x`, also as a spreadsheet writes it (`9.4509E+13`).
fn number_of(text: &[u8]) -> Option<u64> {
    if let Some(digits) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) {
        return u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    }
    Decimal::parse(text).filter(|number| !number.is_negative)?.scaled(1)
}

/// A device as users know it: a bare number is that of an NPU, the only devices that these tables speak of.
fn device_name(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.is_empty() {
        "device".to_owned()
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("NPU:{text}")
    } else {
        text.into_owned()
    }
}
