//! The part that compares lanes.

use std::collections::BTreeSet;

use super::Report;
use crate::blocks::{Block, Span, Table, text};
use crate::compare::{Columns, lanes_table, pin_lines, recorded_blocks, run_tables};
use highwater_model::units::grouped;
use highwater_sim::fold::Cause;

impl Report<'_> {
    /// All lanes, the parts of their peaks, and what their devices do.
    pub(super) fn comparison_part(&self) -> Vec<Block> {
        let answer = self.answer();
        let table = |columns| lanes_table(&answer, &answer.lanes, columns, Some(self.base)).into();
        let mut blocks = vec![table(Columns::Short), Block::Lines(pin_lines(&answer))];
        blocks.extend(recorded_blocks(&answer));
        blocks.extend(run_tables(self.comparison));
        if self.comparison.study().is_simulated() {
            blocks.extend([table(Columns::Parts), self.overhead_table().into()]);
        }
        blocks
    }

    /// The estimated time of each lane's device calls.
    fn overhead_table(&self) -> Table {
        let overhead = |lane: usize| self.comparison.lanes[lane].summary.overhead.iter();
        let lanes = self.lanes().into_iter();
        let lanes: Vec<usize> = lanes.filter(|lane| !self.comparison.is_measured_lane(*lane)).collect();
        let rows = lanes.iter().flat_map(|lane| overhead(*lane));
        let causes: BTreeSet<Cause> = rows.map(|row| row.cause).collect();
        let names = causes
            .iter()
            .map(|cause| format!(">{}", cause.name().replace('_', " ")));
        let names: Vec<String> = std::iter::once("lane".to_owned()).chain(names).collect();
        let headings: Vec<&str> = names.iter().map(String::as_str).collect();
        let caption = "What the device does, and what it is estimated to cost: counts are exact, times are estimates";
        let mut table = Table::captioned(caption, &headings);
        for lane in lanes.into_iter().filter(|_| !causes.is_empty()) {
            let cell = |cause: &Cause| {
                let row = overhead(lane).find(|row| row.cause == *cause);
                row.map_or_else(
                    || text("0"),
                    |row| text(grouped(row.count)).and(Span::Below(format!("est.\u{a0}{}", row.time))),
                )
            };
            let name = text(self.lane_name(lane));
            table.cells(std::iter::once(name).chain(causes.iter().map(cell)).collect());
        }
        table
    }
}
