//! Names and sentences of rows.

use super::Table;
use super::columns::COLUMNS;
use crate::panels::measured;
use highwater_analysis::{Fit, LaneId};
use highwater_model::units::grouped;

impl Table<'_> {
    /// Why a lane has no figures to compare, and what it needs; `None` where it runs to its end, or was measured.
    pub(super) fn failure(&self, lane: usize) -> Option<String> {
        if self.comparison.is_measured_lane(lane) {
            return None;
        }
        self.shortfall(lane)
    }

    /// Why a lane does not fit, and what it needs; `None` where nothing speaks against it.
    pub(super) fn shortfall(&self, lane: usize) -> Option<String> {
        let row = &self.comparison.lanes[lane];
        if let Some(finding) = row.forbidden.first() {
            return Some(format!("forbidden by {}: {}", finding.rule, finding.message));
        }
        let fit = self.comparison.fit(lane);
        if fit.is_good() {
            return None;
        }
        let text = match fit {
            Fit::OutOfMemory(Some(step)) => format!("out of memory at step {}", grouped(u64::from(step.0))),
            Fit::OutOfMemory(None) => "out of memory".to_owned(),
            Fit::StopsUnderBudget => "stops under its budget".to_owned(),
            Fit::Refuses(count) => format!("{count} requests refused"),
            Fit::Above { by, .. } => format!("{by} above the capacity"),
            Fit::Unknown | Fit::Yes { .. } => return None,
        };
        let report = row.out_of_memory_report.as_ref();
        let enough = report.and_then(|report| report.sufficient_device);
        Some(enough.map_or_else(|| text.clone(), |enough| format!("{text}; {enough} is enough")))
    }

    pub(super) fn name(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        match row.id {
            LaneId::Policy(policy) => format!("{}  {}", policy.number(), policy.row().label),
            LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_) => {
                self.comparison.lane_title(row.id)
            }
        }
    }

    /// The role of a lane in the verdict; may be empty.
    pub(super) fn tag(&self, lane: usize) -> &'static str {
        match (self.is_recommended(lane), self.is_active(lane)) {
            (true, true) => "recommended, active",
            (true, false) => "recommended",
            (false, true) if self.comparison.is_policy_unknown => "active if unset",
            (false, true) => "active",
            (false, false) if self.is_equivalent(lane) => "equivalent",
            (false, false) => "",
        }
    }

    /// The row in a line: lane, exact peak, and what the row does not say.
    pub(super) fn hover_text(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let title = self.comparison.lane_title(row.id);
        let title = match self.tag(lane) {
            "" => title,
            tag => format!("{title}, {tag}"),
        };
        let shown = self.comparison.shown_peak(lane);
        let kind = if shown.is_live { "live" } else { "reserved" };
        let peak = format!("peak {kind} {}", shown.bytes.exact());
        let more = self.shortfall(lane).or_else(|| self.why_no_difference(lane));
        let more = more.unwrap_or_else(|| "double click: alone; Ctrl+click: minus the selected lane".to_owned());
        [title, peak, more].join(" \u{b7} ")
    }

    /// Why the difference from the baseline is not significant, or cannot be stated.
    pub(super) fn why_no_difference(&self, lane: usize) -> Option<String> {
        if lane == self.baseline {
            return None;
        }
        if self.comparison.lanes[self.baseline].ends_early() {
            let title = self.comparison.lane_title(self.comparison.lanes[self.baseline].id);
            return Some(format!("No difference: the baseline, {title}, ends early"));
        }
        let is_simulated = |lane: usize| !self.comparison.is_measured_lane(lane);
        let text = || self.comparison.equivalence_text(lane, self.baseline);
        (is_simulated(lane) || is_simulated(self.baseline)).then(text)?
    }

    /// Every figure of a row, also those of hidden columns.
    pub(super) fn words(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let peak = row.summary.peak_reserved.exact();
        let title = self.comparison.lane_title(row.id);
        let mut words = match self.tag(lane) {
            "" => format!("{title}\npeak reserved {peak}"),
            tag => format!("{title}, {tag}\npeak reserved {peak}"),
        };
        for (column, label, ..) in COLUMNS.iter().skip(1) {
            let (text, _) = self.cell(lane, *column);
            if !text.is_empty() {
                words.push_str(&format!("\n{label} {text}"));
            }
        }
        if row.is_measured() {
            words.push_str(&format!("\n{}", measured::peaks(self.comparison, row).0));
        }
        if let Some(more) = self.shortfall(lane).or_else(|| self.why_no_difference(lane)) {
            words.push_str(&format!("\n{more}"));
        }
        words
    }
}
