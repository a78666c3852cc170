//! `SQLite` databases of `torch_npu` (`ascend_pytorch_profiler*.db`), msprof and msmemscope.
//!
//! In: the bytes of a file, opened by `sqlite.rs`. Out: the tables that speak of memory, each row
//! passed on like a row of a CSV. Rules:
//!
//! * Names are ids into `STRING_IDS` (modules into `ENUM_MODULE`). Times are in nanoseconds and sizes in bytes, as
//!   `torch_npu` writes them; tables of its first version, with other column names, are left out.
//! * `NPU_OP_MEM`, the events of the graph engine, is read where there is no `OP_MEMORY`, which holds them as blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use csv::ByteRecord;

use super::header::Header;
use super::table::{Faults, Sink};
use crate::ImportError;
use crate::sqlite::{Database, quoted};
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    None,
    Strings,
    Modules,
}

/// A table that is read: its columns and the headings that they replace.
struct Known {
    table: &'static str,
    /// The columns without which it is another version; empty: the column names are headings themselves.
    columns: &'static [(&'static str, &'static str, Ids)],
}

static KNOWN: &[Known] = &[
    Known {
        table: "OP_MEMORY",
        columns: &[
            ("name", "Name", Ids::Strings),
            ("size", "Size(B)", Ids::None),
            ("allocationTime", "Allocation Time(ns)", Ids::None),
            ("releaseTime", "Release Time(ns)", Ids::None),
            ("activeReleaseTime", "Active Release Time(ns)", Ids::None),
            ("allocationTotalAllocated", "Allocation Total Allocated(B)", Ids::None),
            ("allocationTotalReserved", "Allocation Total Reserved(B)", Ids::None),
            ("allocationTotalActive", "Allocation Total Active(B)", Ids::None),
            ("releaseTotalAllocated", "Release Total Allocated(B)", Ids::None),
            ("releaseTotalReserved", "Release Total Reserved(B)", Ids::None),
            ("releaseTotalActive", "Release Total Active(B)", Ids::None),
            ("streamPtr", "Stream Ptr", Ids::None),
            ("deviceId", "Device Id", Ids::None),
        ],
    },
    Known {
        table: "NPU_OP_MEM",
        columns: &[
            ("type", "Event", Ids::Strings),
            ("component", "Event Type", Ids::Strings),
            ("operatorName", "Name", Ids::Strings),
            ("timestampNs", "Timestamp(ns)", Ids::None),
            ("addr", "Ptr", Ids::None),
            ("size", "Size(B)", Ids::None),
            ("totalAllocate", "Total Allocated(B)", Ids::None),
            ("totalReserve", "Total Reserved(B)", Ids::None),
            ("deviceId", "Device Id", Ids::None),
        ],
    },
    Known {
        table: "MEMORY_RECORD",
        columns: &[
            ("component", "Component", Ids::Strings),
            ("timestamp", "Timestamp(ns)", Ids::None),
            ("totalAllocated", "Total Allocated(B)", Ids::None),
            ("totalReserved", "Total Reserved(B)", Ids::None),
            ("totalActive", "Total Active(B)", Ids::None),
            ("deviceId", "Device Id", Ids::None),
        ],
    },
    Known {
        table: "NPU_MODULE_MEM",
        columns: &[
            ("moduleId", "Component", Ids::Modules),
            ("timestampNs", "Timestamp(ns)", Ids::None),
            ("totalReserved", "Total Reserved(B)", Ids::None),
            ("deviceId", "Device Id", Ids::None),
        ],
    },
    Known {
        table: "memscope_dump",
        columns: &[],
    },
    Known {
        table: "leaks_dump",
        columns: &[],
    },
];

/// Tables that speak of memory and are left out.
static LEFT_OUT: &[(&str, &str)] = &[
    ("NPU_MEM", "the unit of its columns is not documented"),
    ("memory_block", "a viewer made it of the dump"),
    ("memory_allocation", "a viewer made it of the dump"),
];

/// Reads the tables of a database of `len` bytes that begins with `head`.
///
/// # Errors
/// [`ImportError`].
pub(super) fn read(head: &[u8], len: u64, reader: impl Read, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let database = Database::open(head, len, reader, sink.progress, sink.diagnostics)?;
    let strings = database.dictionary("STRING_IDS", "value", sink.progress)?;
    let modules = database.dictionary("ENUM_MODULE", "name", sink.progress)?;
    let mut n_read = 0;
    for known in KNOWN {
        let Some(table) = database.table(known.table) else {
            continue;
        };
        if known.table == "NPU_OP_MEM" && database.table("OP_MEMORY").is_some() {
            continue;
        }
        let before = sink.recordings.len();
        if database.read_table(known, &table, &strings, &modules, sink)? {
            n_read += 1;
        } else {
            let message = format!("the table {table} has other columns than are known, it is not read");
            sink.diagnostics.warning(message, &table);
        }
        // A component may occur in several tables.
        let (old, new) = sink.recordings.split_at_mut(before);
        let taken: BTreeSet<&str> = old.iter().map(|recording| recording.name.as_str()).collect();
        for recording in new {
            if taken.contains(recording.name.as_str()) {
                recording.name = format!("{} ({table})", recording.name);
            }
        }
    }
    for (table, why) in LEFT_OUT {
        if let Some(table) = database.table(table) {
            sink.diagnostics.skipped(&format!("the table {table} ({why})"), &table);
        }
    }
    if n_read == 0 {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.table).collect();
        return Err(ImportError::at(
            format!(
                "the database has none of the tables that speak of memory ({})",
                names.join(", ")
            ),
            "the list of its tables",
            "profile with profile_memory=True and export again",
        ));
    }
    Ok(())
}

/// Texts by the digits of their id.
type Dictionary = BTreeMap<Box<[u8]>, Box<[u8]>>;

impl Database {
    /// Texts by id; empty where there is no such table.
    fn dictionary(&self, table: &str, value: &str, progress: &Progress<'_>) -> Result<Dictionary, ImportError> {
        let mut texts = Dictionary::new();
        let Some(table) = self.table(table) else {
            return Ok(texts);
        };
        let columns = self.columns(&table, progress)?;
        let find = |name: &str| columns.iter().find(|column| column.eq_ignore_ascii_case(name));
        let (Some(id), Some(value)) = (find("id"), find(value)) else {
            return Ok(texts);
        };
        let query = format!(
            "SELECT {}, {} FROM {} NOT INDEXED",
            quoted(id),
            quoted(value),
            quoted(&table)
        );
        self.scan(&query, &table, progress, |values| {
            if let [id, value] = values {
                texts.insert(id.as_slice().into(), value.as_slice().into());
            }
        })?;
        Ok(texts)
    }

    /// Reads a table; whether it has the columns that are wanted.
    fn read_table(
        &self,
        known: &Known,
        table: &str,
        strings: &Dictionary,
        modules: &Dictionary,
        sink: &mut Sink<'_, '_>,
    ) -> Result<bool, ImportError> {
        let columns = self.columns(table, sink.progress)?;
        let mut wanted: Vec<(&str, &str, Ids)> = Vec::new();
        if known.columns.is_empty() {
            wanted.extend(
                columns
                    .iter()
                    .map(|column| (column.as_str(), column.as_str(), Ids::None)),
            );
        }
        for (name, heading, ids) in known.columns {
            let found = columns.iter().find(|column| column.eq_ignore_ascii_case(name));
            wanted.extend(found.map(|column| (column.as_str(), *heading, *ids)));
        }
        let headings: ByteRecord = wanted.iter().map(|(_, heading, _)| *heading).collect();
        let header = Header::of(&headings);
        let Some((_, make)) = super::TABLES.iter().find(|(is_kind, _)| is_kind(&header)) else {
            return Ok(false);
        };
        let mut reader = make(&header)?;
        let list: Vec<String> = wanted.iter().map(|(column, _, _)| quoted(column)).collect();
        let query = format!("SELECT {} FROM {} NOT INDEXED", list.join(", "), quoted(table));
        let (mut faults, mut record, mut row, mut unknown) =
            (Faults::default(), ByteRecord::new(), 0_u64, (0_u64, Vec::new()));
        self.scan(&query, table, sink.progress, |values| {
            row += 1;
            record.clear();
            for (value, (_, _, ids)) in values.iter().zip(&wanted) {
                let texts = match ids {
                    Ids::None => None,
                    Ids::Strings => Some(strings),
                    Ids::Modules => Some(modules),
                };
                let text = texts.and_then(|texts| texts.get(value.as_slice()));
                if texts.is_some_and(|texts| text.is_none() && !texts.is_empty()) && !value.is_empty() {
                    unknown.0 += 1;
                    unknown.1.clone_from(value);
                }
                record.push_field(text.map_or(value.as_slice(), |text| text));
            }
            faults.feed(&mut *reader, &header, &record, &|| format!("row {row} of {table}"));
        })?;
        if unknown.0 > 0 {
            let message = format!("an id of {table} has no text, so the id is shown");
            let place = String::from_utf8_lossy(&unknown.1).into_owned();
            sink.diagnostics.counted(Severity::Info, message, &place, unknown.0);
        }
        sink.rows += faults.rows();
        faults.report(table, sink.diagnostics)?;
        reader.finish(sink)?;
        Ok(true)
    }
}
