//! The blocks or tensors of a lane that match a query, as the table of the window lists them.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::{Table, paragraph};
use super::json_parts::{diagnostics_json, list};
use super::record::Record;
use super::table::table_csv;
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, counted};
use highwater_timeline::{TableRows, Value as TableValue};

/// What a query finds in a lane.
#[derive(Clone, Copy, Debug)]
pub struct FoundAnswer<'a> {
    pub comparison: &'a Comparison,
    /// By position.
    pub lane: usize,
    pub table: &'a TableRows,
    /// The number of listed rows.
    pub most: usize,
    /// The importer's diagnostics.
    pub import: &'a Diagnostics,
}

impl Answer for FoundAnswer<'_> {
    fn page(&self) -> Page {
        let (table, name) = (self.table, &self.comparison.workload.name);
        let noun = if self.comparison.is_measured_lane(self.lane) {
            "block"
        } else {
            "tensor"
        };
        let found = counted(table.len() as u64, noun);
        let title = format!(
            "{name}, {}: {found} of {} match {}, {} in sum",
            self.comparison.title_of(self.lane),
            table.n_total(),
            table.spec().filter,
            self.sum()
        );
        let headings: Vec<String> = table
            .columns()
            .iter()
            .map(|column| format!("{}{}", if column.is_number { ">" } else { "" }, column.title))
            .collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows = Table::new(&headings);
        let mut cells = Vec::new();
        for position in 0..table.len().min(self.most) {
            table.values(position, &mut cells);
            rows.strings(cells.iter().map(|cell| cell.shown().into_owned()).collect());
        }
        let mut blocks = vec![paragraph(title)];
        if !table.is_empty() {
            blocks.push(rows.into());
        }
        let left = table.len().saturating_sub(self.most);
        if left > 0 {
            blocks.push(paragraph(format!("and {left} more (--top N)")));
        }
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let positions: Vec<usize> = (0..self.table.len().min(self.most)).collect();
        Record::new()
            .key("lane", self.comparison.title_of(self.lane))
            .key("query", &*self.table.spec().filter)
            .key("count", self.table.len())
            .key("of", self.table.n_total())
            .key("bytes", self.sum())
            .key("rows", list(&positions, |position| self.row(*position)))
            .key("diagnostics", diagnostics_json(self.import))
    }

    /// Every row, as the window exports the table.
    fn csv(&self) -> Option<String> {
        let mut out = Vec::new();
        let cancel = Cancel::new();
        table_csv(self.table, &mut out, &Progress::silent(&cancel)).ok()?;
        String::from_utf8(out).ok()
    }
}

impl FoundAnswer<'_> {
    /// Of the first column of bytes.
    fn sum(&self) -> Bytes {
        let table = self.table;
        let column = table.columns().iter().position(|column| column.raw == "bytes");
        let bytes = |position: usize| match table.value(position, column.unwrap_or(usize::MAX)) {
            TableValue::Bytes(bytes) => bytes.get(),
            _ => 0,
        };
        Bytes((0..table.len()).map(bytes).fold(0, u64::saturating_add))
    }

    fn row(&self, position: usize) -> Json {
        let columns = self.table.columns().iter().enumerate();
        let cells = columns.map(|(column, head)| {
            let cell = match self.table.value(position, column) {
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
}
