//! Names and sentences of rows.

use super::Table;
use super::columns::COLUMNS;
use crate::panels::measured;
use highwater_analysis::{Comparison, Fit, LaneGoal, LaneId, LaneMark};

/// What is said of a lane.
pub(super) struct LaneTexts<'a> {
    pub(super) marks: Vec<LaneMark<'a>>,
    pub(super) name: String,
    /// Its roles in the verdict; may be empty.
    pub(super) tag: String,
    /// What speaks against it, and what it needs; `None` where nothing does.
    pub(super) shortfall: Option<String>,
}

impl<'a> LaneTexts<'a> {
    pub(super) fn new(comparison: &'a Comparison, lane: usize, goal: LaneGoal) -> Self {
        let marks = comparison.lane_marks(lane, goal);
        let roles = marks.iter().filter(|mark| mark.is_role()).map(LaneMark::label);
        let against = marks.iter().find(|mark| mark.is_against()).map(|mark| match mark {
            LaneMark::Forbidden(finding) => format!("forbidden by {}: {}", finding.rule, finding.message),
            LaneMark::DoesNotFit(fit @ Fit::OutOfMemory(Some(_)), _) => fit.why(),
            mark => mark.label(),
        });
        let enough = comparison.sufficient_device(lane);
        let enough = enough.map_or_else(String::new, |enough| format!("; {enough} is enough"));
        let id = comparison.lanes[lane].id;
        Self {
            name: match id {
                LaneId::Policy(policy) => format!("{}  {}", policy.number(), policy.row().label),
                _ => comparison.lane_title(id),
            },
            tag: roles.collect::<Vec<_>>().join(", "),
            shortfall: against.map(|text| format!("{text}{enough}")),
            marks,
        }
    }
}

impl Table<'_> {
    /// Why a lane has no figures to compare, and what it needs; `None` where it runs to its end, or was measured.
    pub(super) fn failure(&self, lane: usize) -> Option<&str> {
        let shortfall = self.lanes[lane].shortfall.as_deref();
        shortfall.filter(|_| !self.comparison.is_measured_lane(lane))
    }

    /// The row in a line: lane, exact peak, and what the row does not say.
    pub(super) fn hover_text(&self, lane: usize) -> String {
        let row = &self.comparison.lanes[lane];
        let title = self.comparison.lane_title(row.id);
        let title = match &*self.lanes[lane].tag {
            "" => title,
            tag => format!("{title}, {tag}"),
        };
        let shown = self.comparison.shown_peak(lane);
        let kind = if shown.is_live { "live" } else { "reserved" };
        let peak = format!(
            "peak {kind} {}{}",
            self.comparison.bound_sign(lane),
            shown.bytes.exact()
        );
        let more = self
            .more(lane)
            .unwrap_or_else(|| "double click: alone; Ctrl+click: minus the selected lane".to_owned());
        [title, peak, more].join(" \u{b7} ")
    }

    /// What speaks against a lane, else why it has no difference.
    fn more(&self, lane: usize) -> Option<String> {
        let shortfall = self.lanes[lane].shortfall.clone();
        shortfall.or_else(|| self.why_no_difference(lane))
    }

    /// Why the difference from the baseline is not significant, or cannot be stated.
    fn why_no_difference(&self, lane: usize) -> Option<String> {
        if lane == self.baseline {
            return None;
        }
        if self.comparison.lanes[self.baseline].ends_early() {
            let title = self.comparison.title_of(self.baseline);
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
        let marks = &self.lanes[lane].marks;
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
        if let Some(more) = self.more(lane) {
            words.push_str(&format!("\n{more}"));
        }
        let unlabelled = marks.iter().filter(|mark| mark.label().is_empty());
        for sentence in unlabelled.filter_map(|mark| mark.sentence(&title)) {
            words.push_str(&format!("\n{sentence}"));
        }
        words
    }
}
