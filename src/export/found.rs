//! The blocks or tensors that match a query, as the table of the window lists them.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::{Table, paragraph};
use super::json_parts::{diagnostics_json, list};
use super::record::Record;
use super::table::table_csv;
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, counted};
use highwater_timeline::{Column, TableRows, Value as TableValue};

/// What a query finds.
#[derive(Clone, Copy, Debug)]
pub struct FoundAnswer<'a> {
    pub comparison: &'a Comparison,
    pub query: &'a str,
    /// One per lane that is searched, its rows in the order that they are listed.
    pub tables: &'a [TableRows],
    /// The number of listed rows of a lane.
    pub most: usize,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

impl Answer for FoundAnswer<'_> {
    fn page(&self) -> Page {
        let mut blocks = Vec::new();
        for table in self.tables {
            blocks.push(paragraph(self.title(table)));
            if !table.is_empty() {
                blocks.push(self.listed(table).into());
            }
            let left = table.len().saturating_sub(self.most);
            if left > 0 {
                blocks.push(paragraph(format!("and {left} more (--top N)")));
            }
        }
        blocks.extend(diagnostics_blocks(&self.diagnostics()));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let lanes = list(self.tables, |table| {
            let positions = 0..table.len().min(self.most);
            json!({
                "lane": table.spec().lane + 1,
                "title": self.comparison.title_of(table.spec().lane),
                "count": table.len(),
                "of": table.n_total(),
                "bytes": sum(table).get(),
                "rows": list(positions, |position| row(table, position)),
            })
        });
        Record::new()
            .key("query", self.query)
            .key("lanes", lanes)
            .key("diagnostics", diagnostics_json(&self.diagnostics()))
    }

    /// As the window exports the table; of several lanes each row with its lane in front.
    fn csv(&self) -> Option<String> {
        rows_csv(self).ok()
    }
}

impl FoundAnswer<'_> {
    /// Of the importer, and of the comparison: not every recording has a lane.
    fn diagnostics(&self) -> Diagnostics {
        let mut all = self.import.clone();
        all.extend(&self.comparison.diagnostics);
        all
    }

    fn title(&self, table: &TableRows) -> String {
        let (name, lane) = (&self.comparison.workload.name, table.spec().lane);
        let noun = if self.comparison.is_measured_lane(lane) {
            "block"
        } else {
            "tensor"
        };
        format!(
            "{name}, {}: {} of {} match {}, {} in sum",
            self.comparison.title_of(lane),
            counted(table.len() as u64, noun),
            table.n_total(),
            self.query,
            sum(table)
        )
    }

    fn listed(&self, table: &TableRows) -> Table {
        let heading = |column: &Column| format!("{}{}", if column.is_number { ">" } else { "" }, column.title);
        let headings: Vec<String> = table.columns().iter().map(heading).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows = Table::new(&headings);
        let mut cells = Vec::new();
        for position in 0..table.len().min(self.most) {
            table.values(position, &mut cells);
            rows.strings(cells.iter().map(|cell| cell.shown().into_owned()).collect());
        }
        rows
    }
}

/// The rows of all lanes, which have the same columns; of several each with the number of its lane and its title.
fn rows_csv(answer: &FoundAnswer<'_>) -> Result<String, csv::Error> {
    let cancel = Cancel::new();
    let mut out = csv::Writer::from_writer(Vec::new());
    for (position, table) in answer.tables.iter().enumerate() {
        let mut text = Vec::new();
        // Nothing is cancelled, and memory is written.
        drop(table_csv(table, &mut text, &Progress::silent(&cancel)));
        let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(&text[..]);
        let lane = table.spec().lane;
        let (number, title) = ((lane + 1).to_string(), answer.comparison.title_of(lane));
        for (line, row) in rows.records().take(answer.most.saturating_add(1)).enumerate() {
            let row = row?;
            let mut lane = match (line, answer.tables.len()) {
                (_, 1) => Vec::new(),
                (0, _) => vec!["lane", "lane_title"],
                _ => vec![number.as_str(), title.as_ref()],
            };
            if line > 0 || position == 0 {
                lane.extend(&row);
                out.write_record(lane)?;
            }
        }
    }
    let bytes = out.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Of the first column of bytes.
fn sum(table: &TableRows) -> Bytes {
    let column = table.columns().iter().position(|column| column.raw == "bytes");
    let bytes = |position: usize| match table.value(position, column.unwrap_or(usize::MAX)) {
        TableValue::Bytes(bytes) => bytes.get(),
        _ => 0,
    };
    Bytes((0..table.len()).map(bytes).fold(0, u64::saturating_add))
}

fn row(table: &TableRows, position: usize) -> Json {
    let columns = table.columns().iter().enumerate();
    let cells = columns.map(|(column, head)| {
        let cell = match table.value(position, column) {
            TableValue::Nothing => Json::Null,
            TableValue::Count(count) => count.into(),
            TableValue::Bytes(bytes) => bytes.get().into(),
            TableValue::Time(time) => time.0.into(),
            cell => cell.raw().into_owned().into(),
        };
        (head.raw.to_owned(), cell)
    });
    Json::Object(cells.collect::<Map<String, Json>>())
}
