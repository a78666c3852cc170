//! Names and sentences of rows.

use super::Table;
use super::columns::COLUMNS;
use crate::panels::measured;
use highwater_analysis::{Fit, LaneId, LaneMark};

impl Table<'_> {
    /// Why a lane has no figures to compare, and what it needs; `None` where it runs to its end, or was measured.
    pub(super) fn failure(&self, lane: usize) -> Option<String> {
        if self.comparison.is_measured_lane(lane) {
            return None;
        }
        self.shortfall(lane)
    }

    /// What speaks against a lane, and what it needs; `None` where nothing does.
    pub(super) fn shortfall(&self, lane: usize) -> Option<String> {
        let marks = self.marks(lane);
        let text = match marks.iter().find(|mark| mark.is_against())? {
            LaneMark::Forbidden(finding) => format!("forbidden by {}: {}", finding.rule, finding.message),
            LaneMark::DoesNotFit(Fit::OutOfMemory(Some(step)), _) => format!("out of memory at step {step}"),
            mark => mark.label(),
        };
        let enough = self.comparison.sufficient_device(lane);
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

    /// The roles of a lane in the verdict; may be empty.
    pub(super) fn tag(&self, lane: usize) -> String {
        let marks = self.marks(lane);
        let roles: Vec<String> = marks
            .iter()
            .filter(|mark| mark.is_role())
            .map(LaneMark::label)
            .collect();
        roles.join(", ")
    }

    /// The row in a line: lane, exact peak, and what the row does not say.
    pub(super) fn hover_text(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let title = self.comparison.lane_title(row.id);
        let names = [title, self.tag(lane)];
        let title = names
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        let shown = self.comparison.shown_peak(lane);
        let kind = if shown.is_live { "live" } else { "reserved" };
        let peak = format!(
            "peak {kind} {}{}",
            self.comparison.bound_sign(lane),
            shown.bytes.exact()
        );
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
        let sign = self.comparison.bound_sign(lane);
        let peak = row.summary.peak_reserved.exact();
        let title = self.comparison.lane_title(row.id);
        let marks = self.marks(lane);
        let labels = marks.iter().map(LaneMark::label).filter(|label| !label.is_empty());
        let names: Vec<String> = std::iter::once(title.clone()).chain(labels).collect();
        let mut words = format!("{}\npeak reserved {sign}{peak}", names.join(", "));
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
        let unlabelled = marks.iter().filter(|mark| mark.label().is_empty());
        for sentence in unlabelled.filter_map(|mark| mark.sentence(&title)) {
            words.push_str(&format!("\n{sentence}"));
        }
        words
    }
}
