//! The tables that compare lanes.

use std::collections::BTreeSet;

use super::Report;
use crate::blocks::{Block, Line, Span, Table, bytes, code, paragraph, step, text};
use highwater_analysis::{Configuration, LaneId, LaneKind, Metric};
use highwater_model::units::{Bytes, grouped, percent_text};
use highwater_sim::fold::{Cause, Summary};

const UNKNOWN: &str = "not recorded";

impl Report<'_> {
    /// All lanes, the parts of their peaks, and what their devices do.
    pub(super) fn comparison_part(&self) -> Vec<Block> {
        let mut blocks = vec![self.lanes_table().into()];
        blocks.extend(self.pins());
        if self.comparison.study().is_simulated() {
            blocks.extend([self.parts_table().into(), self.overhead_table().into()]);
        }
        blocks
    }

    fn lanes_table(&self) -> Table {
        let is_problem = self.comparison.lane_kind() == LaneKind::Strategies;
        let caption = format!("Lanes; differences from {}", self.lane_name(self.base));
        let with_calls = [
            "lane",
            ">peak reserved",
            ">peak live",
            ">fragmentation",
            ">device calls",
            ">est. overhead",
            "fits",
        ];
        let plain = ["plan", ">footprint", ">peak live", ">fragmentation", "fits"];
        let mut table = Table::captioned(caption, if is_problem { &plain[..] } else { &with_calls[..] });
        for lane in self.lanes() {
            let mut cells = vec![self.name_cell(lane)];
            cells.extend(self.byte_cells(lane));
            if !is_problem {
                cells.extend(self.call_cells(lane));
            }
            cells.push(self.fits_cell(lane));
            table.push(cells, lane == self.base);
        }
        table
    }

    /// The configurations of pinned lanes, and pins without a lane.
    fn pins(&self) -> Vec<Block> {
        let about = &self.subject.about.configuration;
        let options = Configuration {
            options: about.options.clone(),
            environment: about.environment.clone(),
            plan: about.schedule.clone().unwrap_or_default(),
        };
        let caption = "Pins: differing settings";
        let mut table = Table::captioned(caption, &["lane", "setting", "pinned", "in the options"]);
        for lane in self.lanes() {
            let Some(pinned) = self.comparison.pinned(lane) else {
                continue;
            };
            let name = self.lane_name(lane);
            let differences = pinned.configuration.differences(&options);
            if differences.is_empty() {
                table.row(&[&name, &"nothing", &"", &""]);
            }
            for row in differences {
                table.cells(vec![text(&name), code(&row.name), text(&row.here), text(&row.other)]);
            }
        }
        let problems = self.comparison.pin_failures.iter();
        let problems = problems.map(|problem| format!("Pin {} has no lane: {}.", problem.name, problem.why));
        std::iter::once(table.into()).chain(problems.map(paragraph)).collect()
    }

    fn name_cell(&self, lane: usize) -> Line {
        let comparison = self.comparison;
        let row = &comparison.lanes[lane];
        let is_baseline = lane == self.base && !matches!(row.id, LaneId::Policy(_));
        let marks = comparison.lane_marks(lane, self.subject.about.goal);
        let labels = marks.iter().map(|mark| (mark.is_against(), mark.label()));
        let labels = labels.chain(is_baseline.then(|| (false, "baseline".to_owned())));
        let labels = labels.filter(|(_, label)| !label.is_empty());
        labels.fold(text(self.lane_name(lane)), |name, (is_against, label)| {
            let tag = if is_against { Span::Bad(label) } else { Span::Tag(label) };
            name.and(text(" ")).and(tag)
        })
    }

    /// Peaks and fragmentation.
    fn byte_cells(&self, lane: usize) -> [Line; 3] {
        let comparison = self.comparison;
        let (states_reserved, states_live) = comparison.states(lane);
        let row = &comparison.lanes[lane].summary;
        let cell = |is_stated: bool, name: &str, peak: Bytes| {
            if !is_stated {
                return text(UNKNOWN);
            }
            text(comparison.bound_sign(lane))
                .and(bytes(peak))
                .and(self.difference(lane, name))
        };
        let share = comparison.fragmentation(lane);
        [
            cell(states_reserved, "peak_reserved", row.peak_reserved),
            cell(states_live, "peak_live", row.peak_live),
            share.map_or_else(
                || text(UNKNOWN),
                |share| text(percent_text(share * 100.0)).and(self.difference(lane, "fragmentation")),
            ),
        ]
    }

    /// The difference of a figure from the base lane, below the figure.
    fn difference(&self, lane: usize, metric: &str) -> Line {
        let metric = Metric::find(metric).filter(|_| lane != self.base);
        let found = metric.and_then(|metric| self.comparison.difference(lane, self.base, metric));
        found.map_or_else(Line::default, |(difference, _)| Span::Below(difference.text()).into())
    }

    /// Device calls and their estimated time.
    fn call_cells(&self, lane: usize) -> [Line; 2] {
        if self.comparison.is_measured_lane(lane) {
            return [text(UNKNOWN), text(UNKNOWN)];
        }
        let row = &self.comparison.lanes[lane].summary;
        let calls = Line::from(Span::Hinted {
            text: grouped(row.device_calls()),
            hint: calls_text(row),
        });
        let time = text(format!("est.\u{a0}{}", row.estimated_overhead));
        [
            calls.and(self.difference(lane, "device_calls")),
            time.and(self.difference(lane, "estimated_overhead")),
        ]
    }

    fn fits_cell(&self, lane: usize) -> Line {
        let fit = self.comparison.fit(lane);
        match fit.text() {
            words if words.is_empty() => text("no capacity is stated"),
            words if fit.is_good() => Span::Good(words).into(),
            words => Span::Bad(words).into(),
        }
    }

    fn parts_table(&self) -> Table {
        let headings = [
            "lane",
            ">features",
            ">weights",
            ">variables",
            ">inputs and outputs",
            ">at step",
            ">reserved, unused",
        ];
        let mut table = Table::captioned("Parts of the reserved peak", &headings);
        for lane in self.simulated_lanes() {
            let summary = &self.comparison.lanes[lane].summary;
            let parts = &summary.reserved;
            table.cells(vec![
                text(self.lane_name(lane)),
                bytes(parts.features),
                bytes(parts.weights),
                bytes(parts.variables),
                bytes(parts.io),
                summary.peak_reserved_step.map_or_else(Line::default, |at| step(at.0)),
                bytes(summary.internal_waste),
            ]);
        }
        table
    }

    fn simulated_lanes(&self) -> Vec<usize> {
        let lanes = self.lanes().into_iter();
        lanes.filter(|lane| !self.comparison.is_measured_lane(*lane)).collect()
    }

    /// The estimated time of each lane's device calls.
    fn overhead_table(&self) -> Table {
        let overhead = |lane: usize| self.comparison.lanes[lane].summary.overhead.iter();
        let lanes = self.simulated_lanes();
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

fn calls_text(summary: &Summary) -> String {
    let rows = [
        (summary.device_mallocs, "malloc"),
        (summary.device_frees, "free"),
        (summary.pages_allocated, "page allocated"),
        (summary.pages_mapped, "page mapped"),
        (summary.pages_unmapped, "page unmapped"),
    ];
    let rows = rows.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = rows
        .map(|(count, what)| format!("{what}: {}", grouped(*count)))
        .collect();
    if texts.is_empty() {
        "none".to_owned()
    } else {
        texts.join(", ")
    }
}
