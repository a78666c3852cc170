//! A snapshot as an `SQLite` database, as `torch.cuda.memory._dump_snapshot_sqlite` of pytorch#178670 and scripts after it
//! write one.
//!
//! ```text
//! device_traces   id, device, action, addr, size, stream, time_us, frames           frames: a list as JSON
//! segments        segment_id, device, address, total_size, stream, segment_type, ...
//! blocks          id, segment_id, address, size, requested_size, state, frames
//! ```
//!
//! In: the bytes of a file. Out: the same snapshot as JSON, which [`super::literal`] reads: columns have the names of its
//! keys. Rows keep the order of their ids.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::sqlite::{Database, is_database, quoted};
use crate::{ImportError, Input};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;

const TRACES: &str = "device_traces";
const SEGMENTS: &str = "segments";
const BLOCKS: &str = "blocks";

/// Whether the list of tables, as far as the head goes, has those of a snapshot.
pub(super) fn detect(head: &[u8]) -> bool {
    let has = |table: &str| {
        let name = |window: &[u8]| window.eq_ignore_ascii_case(table.as_bytes());
        head.windows(table.len()).any(name)
    };
    is_database(head) && has("CREATE TABLE") && (has(TRACES) || has(SEGMENTS) && has(BLOCKS) && has("total_size"))
}

/// The snapshot as JSON.
pub(super) fn json(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<u8>, ImportError> {
    let (head, len) = (input.head()[..input.head().len().min(100)].to_vec(), input.len());
    let database = Database::open(&head, len, input.reader()?, progress, diagnostics)?;
    let mut tables = Tables {
        database,
        damaged: (0, String::new()),
    };
    let traces = tables.rows(TRACES, "device", "", &BTreeMap::new(), progress)?;
    let blocks = tables.rows(BLOCKS, "segment_id", "", &BTreeMap::new(), progress)?;
    let segments = tables.rows(SEGMENTS, "", "segment_id", &blocks, progress)?;
    let known = [TRACES, SEGMENTS, BLOCKS];
    for table in tables.database.tables() {
        if !known.iter().any(|known| table.eq_ignore_ascii_case(known)) {
            diagnostics.skipped("a table of the snapshot that is not known", table);
        }
    }
    let message = "the frames of a row are no JSON and are left out";
    diagnostics.counted(Severity::Warning, message, &tables.damaged.1, tables.damaged.0);
    let all = segments.into_values().next().unwrap_or_default();
    let mut json = [b"{\"segments\": [", &all[..], b"], \"device_traces\": ["].concat();
    // Traces are told apart by their positions.
    let last = traces.keys().filter_map(|device| device.parse().ok()).max();
    for device in 0..=last.unwrap_or(0_u64).min(MOST_DEVICES) {
        if device > 0 {
            json.push(b',');
        }
        json.push(b'[');
        json.extend(traces.get(&device.to_string()).into_iter().flatten());
        json.push(b']');
    }
    json.extend(b"]}");
    Ok(json)
}

/// One more than a snapshot may have, so that its reader reports them.
const MOST_DEVICES: u64 = 256;

/// Objects, divided by commas, by the text of a column.
type Groups = BTreeMap<String, Vec<u8>>;

struct Tables {
    database: Database,
    /// Rows whose frames cannot be read, and the first.
    damaged: (u64, String),
}

impl Tables {
    /// The rows of a table as objects, by the text of a column; all under one empty text where that is empty. Each has the
    /// blocks whose group its column `key` names. Empty without such a table.
    fn rows(
        &mut self,
        name: &str,
        group: &str,
        key: &str,
        blocks: &Groups,
        progress: &Progress<'_>,
    ) -> Result<Groups, ImportError> {
        let mut groups = Groups::new();
        let Some(table) = self.database.table(name) else {
            return Ok(groups);
        };
        let columns = self.database.columns(&table, progress)?;
        let names: Vec<String> = columns.iter().map(|column| column.to_ascii_lowercase()).collect();
        let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let query = format!("SELECT {} FROM {} NOT INDEXED", list.join(", "), quoted(&table));
        let position = |wanted: &str| names.iter().position(|column| column == wanted);
        let (group, key) = (position(group), position(key));
        let (mut row, damaged) = (0_u64, &mut self.damaged);
        self.database.scan(&query, &table, progress, |values| {
            row += 1;
            let text = |at: Option<usize>| at.map_or("".into(), |at| String::from_utf8_lossy(&values[at]));
            let rows: &mut Vec<u8> = groups.entry(text(group).into_owned()).or_default();
            rows.extend(if rows.is_empty() { &b"{"[..] } else { b",{" });
            for (at, (column, value)) in names.iter().zip(values).enumerate() {
                // Numbers of rows, and what divides them into lists, are no part of the snapshot.
                if matches!(column.as_str(), "id" | "segment_id") || group == Some(at) || value.is_empty() {
                    continue;
                }
                let Some(value) = json_of(column, value) else {
                    if damaged.0 == 0 {
                        damaged.1 = format!("row {row} of {table}");
                    }
                    damaged.0 += 1;
                    continue;
                };
                rows.extend(quoted_text(column));
                rows.push(b':');
                rows.extend(value);
                rows.push(b',');
            }
            if let Some(key) = key {
                rows.extend(b"\"blocks\":[");
                rows.extend(blocks.get(&*text(Some(key))).into_iter().flatten());
                rows.extend(b"],");
            }
            // The last comma.
            if rows.ends_with(b",") {
                rows.pop();
            }
            rows.push(b'}');
        })?;
        Ok(groups)
    }
}

/// A stored value as JSON: a whole number, a list where the column holds lists, else a text; `None` where a list is damaged.
fn json_of(column: &str, value: &[u8]) -> Option<Vec<u8>> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.iter().all(u8::is_ascii_digit) {
        return Some(value.to_vec());
    }
    if matches!(column, "frames" | "segment_pool_id" | "pool_id") {
        return serde_json::from_slice::<IgnoredAny>(value)
            .is_ok()
            .then(|| value.to_vec());
    }
    Some(quoted_text(&String::from_utf8_lossy(value)))
}

fn quoted_text(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}
