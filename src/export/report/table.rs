//! The table that lanes are compared in.

use std::collections::BTreeSet;

use super::Report;
use super::page::{Page, Table, below, bytes, count_difference, difference};
use crate::svg::text::escaped;
use highwater_analysis::Configuration;
use highwater_model::units::{Bytes, Nanos, grouped, percent_text};
use highwater_sim::fold::{Cause, Summary};

/// What is not known.
const UNKNOWN: &str = "not recorded";

impl Report<'_> {
    /// All lanes, their parts, and what their devices do.
    pub(super) fn compared(&self, page: &mut Page) {
        page.table(&self.lanes_table());
        self.pins(page);
        if self.comparison.is_problem() || self.comparison.is_measured() {
            return;
        }
        page.table(&self.parts_table());
        page.table(&self.overhead_table());
    }

    fn lanes_table(&self) -> Table {
        let base = self.lane_name(self.base);
        let is_problem = self.comparison.is_problem();
        let caption = format!("Lanes side by side; differences are from {base}");
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
        let headings = if is_problem { &plain[..] } else { &with_calls[..] };
        let mut table = Table::new(&caption, headings);
        for lane in self.lanes() {
            let mut cells = vec![self.name_cell(lane)];
            cells.extend(self.byte_cells(lane));
            if !is_problem {
                cells.extend(self.call_cells(lane));
            }
            cells.push(self.fits_cell(lane));
            if lane == self.base {
                table.base_row(cells);
            } else {
                table.row(cells);
            }
        }
        table
    }

    /// What pinned lanes were simulated under, and which pins have no lane.
    fn pins(&self, page: &mut Page) {
        let about = &self.subject.about.configuration;
        let options = Configuration {
            options: about.options.clone(),
            environment: about.environment.clone(),
            plan: about.schedule.clone().unwrap_or_default(),
        };
        let caption = "Pinned configurations: what is set otherwise there";
        let mut table = Table::new(caption, &["lane", "setting", "pinned", "in the options"]);
        for lane in self.lanes() {
            let Some(pinned) = self.comparison.pinned(lane) else {
                continue;
            };
            let name = escaped(&self.lane_name(lane));
            let differences = pinned.configuration.differences(&options);
            if differences.is_empty() {
                let same = "nothing".to_owned();
                table.row(vec![name, same, String::new(), String::new()]);
                continue;
            }
            for row in differences {
                let setting = format!("<code>{}</code>", escaped(&row.name));
                table.row(vec![name.clone(), setting, escaped(&row.here), escaped(&row.other)]);
            }
        }
        page.table(&table);
        for problem in &self.comparison.pin_failures {
            page.line("p", &format!("Pinned {} has no lane: {}.", problem.name, problem.why));
        }
    }

    fn name_cell(&self, lane: usize) -> String {
        let comparison = self.comparison;
        let row = &comparison.lanes[lane];
        let mut tags = Vec::new();
        let is_of_policy = matches!(row.id, highwater_analysis::LaneId::Policy(_));
        if is_of_policy && row.policy == comparison.active_policy {
            tags.push("in force");
        } else if lane == self.base {
            tags.push("baseline");
        }
        if is_of_policy
            && comparison
                .lowest_peak
                .as_ref()
                .is_some_and(|best| best.policy == row.policy)
        {
            tags.push("needs least");
        }
        if row.summary.unloads > 0 {
            tags.push("unloads graphs");
        }
        let tags: Vec<String> = tags
            .iter()
            .map(|tag| format!(" <span class=\"tag\">{tag}</span>"))
            .collect();
        let tags = tags.concat();
        format!("{}{tags}", escaped(&self.lane_name(lane)))
    }

    /// Peaks and fragmentation.
    fn byte_cells(&self, lane: usize) -> [String; 3] {
        let comparison = self.comparison;
        let (row, base) = (&comparison.lanes[lane].summary, &comparison.lanes[self.base].summary);
        let (states_reserved, states_live) = comparison.states(lane);
        let (base_reserved, base_live) = comparison.states(self.base);
        let cell = |is_stated: bool, (now, then): (Bytes, Bytes), is_comparable: bool| {
            if !is_stated {
                return UNKNOWN.to_owned();
            }
            let shown = format!("{}{}", self.bound(lane), bytes(now));
            if lane == self.base || !is_comparable {
                return shown;
            }
            format!("{shown}{}", below(&difference(now, then)))
        };
        let recording = comparison.recording(comparison.lanes[lane].id);
        let shares = recording.is_none_or(|one| one.states_use_of_reserved(row.peak_live, row.peak_reserved));
        [
            cell(states_reserved, (row.peak_reserved, base.peak_reserved), base_reserved),
            cell(states_live, (row.peak_live, base.peak_live), base_live),
            if shares {
                let shown = percent_text(row.fragmentation * 100.0);
                let points = (row.fragmentation - base.fragmentation) * 100.0;
                let sign = if points < 0.0 { "\u{2212}" } else { "+" };
                let is_other = lane != self.base && points.abs() >= 0.05;
                let other = format!("{sign}{:.1} points", points.abs());
                if is_other {
                    format!("{shown}{}", below(&other))
                } else {
                    shown
                }
            } else {
                UNKNOWN.to_owned()
            },
        ]
    }

    /// Calls and the time that they are estimated to cost.
    fn call_cells(&self, lane: usize) -> [String; 2] {
        if self.comparison.is_measured_lane(lane) {
            return [UNKNOWN.to_owned(), UNKNOWN.to_owned()];
        }
        let (row, base) = (
            &self.comparison.lanes[lane].summary,
            &self.comparison.lanes[self.base].summary,
        );
        let title = calls_text(row);
        let calls = format!(
            "<span title=\"{}\">{}</span>",
            escaped(&title),
            grouped(row.device_calls())
        );
        let time = format!("est.\u{a0}{}", row.estimated_overhead);
        if lane == self.base || self.comparison.is_measured_lane(self.base) {
            return [calls, time];
        }
        let times = (row.estimated_overhead.0, base.estimated_overhead.0);
        let (more, longer) = (
            count_difference((row.device_calls(), base.device_calls()), grouped),
            count_difference(times, |nanos| Nanos(nanos).to_string()),
        );
        [format!("{calls}{}", below(&more)), format!("{time}{}", below(&longer))]
    }

    fn fits_cell(&self, lane: usize) -> String {
        match self.fits(lane) {
            (text, _) if text.is_empty() => "no capacity is stated".to_owned(),
            (text, true) => format!("<span class=\"good\">{}</span>", escaped(&text)),
            (text, false) => format!("<span class=\"bad\">{}</span>", escaped(&text)),
        }
    }

    /// Whether a lane fits, in words, and as what that is good; no words where there is no capacity.
    pub(super) fn fits(&self, lane: usize) -> (String, bool) {
        let fit = self.comparison.fit(lane);
        (fit.text(), fit.is_good())
    }

    /// What the peaks consist of.
    fn parts_table(&self) -> Table {
        let headings = [
            "lane",
            ">features",
            ">weights",
            ">variables",
            ">inputs and outputs",
            ">at step",
            ">reserved less live",
        ];
        let mut table = Table::new("Parts of the reserved peak", &headings);
        for lane in self.lanes() {
            if self.comparison.is_measured_lane(lane) {
                continue;
            }
            let summary = &self.comparison.lanes[lane].summary;
            let parts = &summary.reserved;
            let step = summary.peak_reserved_step;
            table.row(vec![
                escaped(&self.lane_name(lane)),
                bytes(parts.features),
                bytes(parts.weights),
                bytes(parts.variables),
                bytes(parts.io),
                step.map_or_else(String::new, |step| grouped(u64::from(step.0))),
                bytes(summary.internal_waste),
            ]);
        }
        table
    }

    /// What the calls of each lane are estimated to cost.
    fn overhead_table(&self) -> Table {
        let overhead = |lane: usize| self.comparison.lanes[lane].summary.overhead.iter();
        let lanes = self.lanes().into_iter();
        let lanes: Vec<usize> = lanes.filter(|lane| !self.comparison.is_measured_lane(*lane)).collect();
        let causes: BTreeSet<Cause> = lanes
            .iter()
            .flat_map(|lane| overhead(*lane))
            .map(|row| row.cause)
            .collect();
        let names = causes
            .iter()
            .map(|cause| format!(">{}", cause.name().replace('_', " ")));
        let names: Vec<String> = std::iter::once("lane".to_owned()).chain(names).collect();
        let headings: Vec<&str> = names.iter().map(String::as_str).collect();
        let caption = "What the device does, and what it is estimated to cost: counts are exact, times are estimates";
        let mut table = Table::new(caption, &headings);
        for lane in lanes.into_iter().filter(|_| !causes.is_empty()) {
            let cell = |cause: &Cause| {
                let row = overhead(lane).find(|row| row.cause == *cause);
                row.map_or_else(
                    || "0".to_owned(),
                    |row| format!("{}{}", grouped(row.count), below(&format!("est.\u{a0}{}", row.time))),
                )
            };
            let name = escaped(&self.lane_name(lane));
            table.row(std::iter::once(name).chain(causes.iter().map(cell)).collect());
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
