//! A lane compared with a baseline, which is a lane of an earlier answer or of the same answer: figures, changes at the peaks, limits.
//!
//! In: a comparison, a baseline, limits. Out: [`BaselineComparison`], and its wire form. The peaks of a run that ended early are not
//! compared: what they would have been is unknown.

use serde_json::json;

use super::baseline::Baseline;
use super::blocks::{Table, figure, text};
use super::contributors::change_rows;
use super::json_parts::list;
use super::limit_checks::{LimitCheck, LimitedFigure};
use super::record::{Record, Rows, Value};
use super::request_summary::RequestSummary;
use highwater_analysis::{Comparison, Configuration, Figure, Fit, Lane, LaneKind, Limit, METRICS, Metric};
use highwater_timeline::{Changes, PeakContributors};

#[derive(Clone, Debug)]
pub struct BaselineComparison<'a> {
    /// The name of the baseline's file, which is empty for a lane of the same answer; `None` where only limits are checked.
    pub baseline: Option<(&'a str, &'a Baseline)>,
    pub lane: &'a Lane,
    pub title: String,
    /// Changes at the peak of live bytes; `None` where the baseline does not list its tensors, or a run ended early.
    pub changes: Option<Changes>,
    /// Changes at the peak of reserved bytes.
    pub reserved_changes: Option<Changes>,
    pub limit_checks: Vec<LimitCheck>,
    comparison: &'a Comparison,
    position: usize,
    /// `None` for a baseline of the same answer.
    request: Option<RequestSummary>,
}

impl<'a> BaselineComparison<'a> {
    /// The active lane under limits; `None` without an active lane. O(events + tensors log tensors).
    pub fn new(
        comparison: &'a Comparison,
        options: &Configuration,
        baseline: Option<(&'a str, &'a Baseline)>,
        limits: &[Limit],
    ) -> Option<Self> {
        let lane = comparison.main_lane()?;
        let mut compared = Self::of_lane(comparison, lane, baseline);
        compared.request = Some(RequestSummary::of_lane(comparison, lane, options));
        compared.limit_checks = compared.checks(limits);
        Some(compared)
    }

    /// Any lane, by position, without limits.
    pub fn of_lane(comparison: &'a Comparison, position: usize, baseline: Option<(&'a str, &'a Baseline)>) -> Self {
        let lane = &comparison.lanes[position];
        let before = baseline.map(|(_, baseline)| &baseline.lane);
        let before = before.filter(|before| !before.ends_early && !lane.ends_early());
        let live = before.and_then(|before| before.contributors.as_ref());
        let reserved = before.and_then(|before| before.reserved_contributors.as_ref());
        Self {
            baseline,
            comparison,
            position,
            lane,
            title: comparison.lane_title(lane.id),
            changes: live
                .zip(PeakContributors::new(comparison, position, usize::MAX))
                .map(|(was, is)| Changes::new(was, &is)),
            reserved_changes: reserved
                .zip(PeakContributors::reserved(comparison, position, usize::MAX))
                .map(|(was, is)| Changes::of_reserved(was, &is)),
            limit_checks: Vec::new(),
            request: None,
        }
    }

    /// Limits of the lane; of recordings without a baseline, limits of each.
    fn checks(&self, limits: &[Limit]) -> Vec<LimitCheck> {
        let lanes = &self.comparison.lanes;
        if self.comparison.lane_kind() != LaneKind::Recordings || self.baseline.is_some() || lanes.len() < 2 {
            return limits.iter().map(|limit| self.check(self.position, limit)).collect();
        }
        let all = lanes.iter().enumerate().flat_map(|(position, lane)| {
            let title = self.comparison.lane_title(lane.id);
            limits.iter().map(move |limit| {
                let check = self.check(position, limit);
                let limit = format!("{title}: {}", check.limit);
                LimitCheck { limit, ..check }
            })
        });
        all.collect()
    }

    fn check(&self, position: usize, limit: &Limit) -> LimitCheck {
        let now = LimitedFigure {
            figure: self.comparison.figure(position, limit.metric),
            ends_early: self.comparison.lanes[position].ends_early(),
        };
        let before = LimitedFigure {
            figure: self.before(limit.metric),
            ends_early: self.baseline_ends_early(),
        };
        let capacity = self.comparison.capacity_of(position).map(|capacity| capacity.bytes);
        LimitCheck::new(limit, now, before, capacity)
    }

    /// A figure of the lane; `None` where a recording does not state it.
    pub fn now(&self, metric: &Metric) -> Option<Figure> {
        self.comparison.figure(self.position, metric)
    }

    /// A figure of the baseline.
    pub fn before(&self, metric: &Metric) -> Option<Figure> {
        self.baseline.and_then(|(_, baseline)| baseline.lane.figure(metric))
    }

    /// The position of the lane.
    pub const fn position(&self) -> usize {
        self.position
    }

    pub fn fit(&self) -> Fit {
        self.comparison.fit(self.position)
    }

    /// The file of the baseline; `None` for a lane of the same answer.
    pub fn file(&self) -> Option<&'a str> {
        let (file, _) = self.baseline?;
        (!file.is_empty()).then_some(file)
    }

    pub fn has_broken_limit(&self) -> bool {
        self.limit_checks.iter().any(LimitCheck::is_broken)
    }

    fn baseline_ends_early(&self) -> bool {
        self.baseline.is_some_and(|(_, baseline)| baseline.lane.ends_early)
    }

    /// Whether one of the two runs ended early.
    fn is_cut_short(&self) -> bool {
        self.baseline_ends_early() || self.lane.ends_early()
    }

    /// The metrics of both sides, those that differ and those that `is_kept` names.
    pub fn figures(&self, is_kept: impl Fn(&Metric) -> bool) -> Table {
        let was = self.baseline.map_or("", |(_, baseline)| {
            let lane = &baseline.lane;
            until(lane.ends_early, lane.out_of_memory)
        });
        let headings = [format!(">before{was}"), format!(">now{}", until_of(self.lane))];
        let mut table = Table::captioned("Figures", &["figure", &headings[0], &headings[1], ">difference"]);
        for metric in METRICS {
            let Some((before, now)) = self.before(metric).zip(self.now(metric)) else {
                continue;
            };
            if before != now || is_kept(metric) {
                let difference = now.difference(before).text();
                let difference = if self.is_cut_short() { String::new() } else { difference };
                let cells = [figure(before), figure(now), figure(difference)];
                let cells = std::iter::once(text(metric.label)).chain(cells).collect();
                table.cells(cells);
            }
        }
        table
    }

    /// Why the figures may not be comparable, in sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.baseline_ends_early() {
            warnings.push("The baseline stopped early: its figures end there.".to_owned());
        }
        let before = self.baseline.and_then(|(_, baseline)| baseline.request.as_ref());
        if let Some((now, before)) = self.request.as_ref().zip(before) {
            warnings.extend(before.other_workload(now));
            warnings.extend(self.request_difference(before, now));
        }
        warnings
    }

    /// How the two requests differ, in a sentence; `None` where they are equal.
    fn request_difference(&self, before: &RequestSummary, now: &RequestSummary) -> Option<String> {
        let (_, baseline) = self.baseline?;
        let mut parts = Vec::new();
        if baseline.lane.title != self.title {
            parts.push(format!("{} before, {} now", baseline.lane.title, self.title));
        }
        parts.extend(before.differences(now));
        (!parts.is_empty()).then(|| format!("The requests differ: {}.", parts.join("; ")))
    }

    /// Why changes at the peaks are missing, in sentences; `None` where none is missing.
    pub fn why_no_changes(&self) -> Option<&'static str> {
        if self.is_cut_short() {
            return Some("One of the two stopped early, so live tensors at peak are not compared.");
        }
        let differs = |name: &str| {
            let metric = Metric::find(name);
            metric.is_some_and(|metric| self.now(metric) != self.before(metric))
        };
        match (&self.changes, &self.reserved_changes) {
            (None, _) => Some("The baseline lists no tensors, so changed tensors are unknown."),
            (Some(_), None) if differs("peak_reserved") => Some(
                "The baseline lists no tensors at the peak of reserved bytes; write it again with this version to see \
                 changed tensors.",
            ),
            (Some(live), reserved) if live.is_nothing() && reserved.as_ref().is_none_or(Changes::is_nothing) => {
                Some("All tensors at peak have the same size as before.")
            }
            (Some(_), _) => None,
        }
    }

    /// The changes at each peak with a title, live bytes first: what was asked for explains what is reserved. Empty ones are
    /// left out.
    pub fn peak_changes(&self) -> Vec<(&'static str, &Changes)> {
        let both = [
            ("at the peak of live bytes", &self.changes),
            ("at the peak of reserved bytes", &self.reserved_changes),
        ];
        let listed = both
            .into_iter()
            .filter_map(|(title, changes)| Some((title, changes.as_ref()?)));
        listed.filter(|(_, changes)| !changes.is_nothing()).collect()
    }
}

/// The suffix of a title whose figures end early; empty otherwise.
const fn until(ends_early: bool, out_of_memory: bool) -> &'static str {
    match (ends_early, out_of_memory) {
        (_, true) => ", until out of memory",
        (true, false) => ", until it ended early",
        (false, false) => "",
    }
}

fn until_of(lane: &Lane) -> &'static str {
    until(lane.ends_early(), lane.summary.out_of_memory)
}

/// The lanes of an answer compared with one of them.
#[derive(Clone, Debug)]
pub struct LaneBaseline {
    /// Position of the baseline.
    pub lane: usize,
    pub baseline: Baseline,
}

impl LaneBaseline {
    pub fn new(comparison: &Comparison, lane: usize) -> Self {
        Self {
            lane,
            baseline: Baseline::of_lane(comparison, lane),
        }
    }

    /// Each other lane. O(lanes (events + tensors log tensors)).
    pub fn others<'a>(&'a self, comparison: &'a Comparison) -> Vec<BaselineComparison<'a>> {
        let others = (0..comparison.lanes.len()).filter(|lane| *lane != self.lane);
        others
            .map(|lane| BaselineComparison::of_lane(comparison, lane, Some(("", &self.baseline))))
            .collect()
    }
}

fn number<'a>(figure: Figure) -> Value<'a> {
    match figure {
        Figure::Bytes(whole) | Figure::Count(whole) | Figure::Nanos(whole) => whole.into(),
        Figure::Share(share) => share.into(),
    }
}

/// A lane compared with a baseline, with the largest `most` changes of each kind.
pub(super) fn compared_record<'a>(compared: &'a BaselineComparison<'a>, most: usize) -> Record<'a> {
    let metrics = Rows::new(METRICS, |metric| {
        let (before, now) = (compared.before(metric), compared.now(metric));
        let percent = now.zip(before).and_then(|(now, before)| now.percent_since(before));
        Record::new()
            .key("metric", metric.name)
            .key("before", before.map(number))
            .key("now", now.map(number))
            .key("percent", percent)
    });
    let changed = |changes: &Option<Changes>| changes.as_ref().map(|changes| change_rows(changes, most));
    let unlisted = |changes: &Option<Changes>| changes.as_ref().map(|changes| changes.unlisted);
    let limits = Rows::new(&compared.limit_checks, |check| {
        Record::new()
            .key("limit", &check.limit)
            .key("is_broken", check.is_broken())
            .key("why", check.why())
    });
    Record::new()
        .key("file", compared.file())
        .key("lane", &compared.title)
        .key(
            "baseline_lane",
            compared.baseline.map(|(_, baseline)| &baseline.lane.title),
        )
        .key("metrics", metrics)
        .key("changes", changed(&compared.changes))
        .key("unlisted_bytes", unlisted(&compared.changes))
        .key("changes_at_peak_reserved", changed(&compared.reserved_changes))
        .key("unlisted_at_peak_reserved_bytes", unlisted(&compared.reserved_changes))
        .key("limits", limits)
}

/// The lanes of an answer compared with one of them.
pub(super) fn lane_baseline_record<'a>(
    baseline: &'a LaneBaseline,
    comparison: &'a Comparison,
    most: usize,
) -> Record<'a> {
    let others = baseline.others(comparison);
    let other = |compared: &BaselineComparison<'_>| {
        json!(
            Record::new()
                .key("fits", wire_fit(compared.fit()))
                .and(compared_record(compared, most))
        )
    };
    Record::new()
        .key("lane", &baseline.baseline.lane.title)
        .key("others", list(&others, other))
}

/// Whether a lane fits; `None` where there is no capacity.
pub(super) fn wire_fit(fit: Fit) -> Option<bool> {
    (fit != Fit::Unknown).then(|| fit.is_good())
}
