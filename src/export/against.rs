//! A lane beside an earlier answer, or beside another lane: figures, who is to blame, limits.
//!
//! In: a comparison, a baseline, limits. Out: [`Against`], and its wire form. The peaks of a run that ended early are not
//! compared: nobody knows what they would have been.

use serde::Serialize;
use serde_json::Value as Json;

use super::baseline::Baseline;
use super::contributors::WireChange;
use super::limit_checks::LimitChecks;
use super::request_summary::RequestSummary;
use highwater_analysis::{Comparison, Configuration, Figure, Fit, Lane, Limit, METRICS, Metric};
use highwater_timeline::{Changes, PeakContributors};

/// A lane beside an earlier answer.
#[derive(Clone, Debug)]
pub struct Against<'a> {
    /// The earlier answer and the name of its file; no name where it is a lane of the same answer.
    pub baseline: Option<(&'a str, &'a Baseline)>,
    /// The lane.
    pub lane: &'a Lane,
    /// What it is called.
    pub title: String,
    /// Who holds other bytes at the peak of live bytes; `None` where the earlier answer does not list them, or a run ended early.
    pub changes: Option<Changes>,
    /// The same at the peak of reserved bytes.
    pub reserved_changes: Option<Changes>,
    /// The limits.
    pub judged: Vec<LimitChecks>,
    comparison: &'a Comparison,
    position: usize,
    /// What was asked of the lane; `None` beside a lane of the same answer.
    asked: Option<RequestSummary>,
}

impl<'a> Against<'a> {
    /// The lane in force beside an earlier answer. `None` where there is no lane. O(events + tensors log tensors).
    pub fn new(
        (comparison, options): (&'a Comparison, &Configuration),
        baseline: Option<(&'a str, &'a Baseline)>,
        limits: &[Limit],
    ) -> Option<Self> {
        let lane = (comparison, comparison.main_lane()?);
        let mut against = Self::of_lane(lane, baseline);
        against.asked = Some(RequestSummary::of_lane(lane, options));
        against.judged = limits.iter().map(|limit| LimitChecks::new(&against, limit)).collect();
        Some(against)
    }

    /// Any lane, by position, under no limit.
    pub fn of_lane((comparison, position): (&'a Comparison, usize), baseline: Option<(&'a str, &'a Baseline)>) -> Self {
        let lane = &comparison.lanes[position];
        let before = baseline.map(|(_, baseline)| &baseline.lane);
        let before = before.filter(|before| !before.ends_early && !lane.ends_early());
        let live = before.and_then(|before| before.holders.as_ref());
        let reserved = before.and_then(|before| before.reserved_holders.as_ref());
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
            judged: Vec::new(),
            asked: None,
        }
    }

    /// A figure of the lane; `None` where a recording does not state it.
    pub fn now(&self, metric: &Metric) -> Option<Figure> {
        self.comparison.figure(self.position, metric)
    }

    /// Whether the lane fits on its device.
    pub fn fit(&self) -> Fit {
        self.comparison.fit(self.position)
    }

    /// The same before.
    pub fn before(&self, metric: &Metric) -> Option<Figure> {
        self.baseline.and_then(|(_, baseline)| baseline.lane.figure(metric))
    }

    /// The file that it is compared with; `None` where that is a lane of the same answer.
    pub fn file(&self) -> Option<&'a str> {
        let (file, _) = self.baseline?;
        (!file.is_empty()).then_some(file)
    }

    /// Whether some limit is broken.
    pub fn is_no(&self) -> bool {
        self.judged.iter().any(LimitChecks::is_broken)
    }

    /// Whether what it is compared with did not run to its end.
    pub fn ended_early_before(&self) -> bool {
        self.baseline.is_some_and(|(_, baseline)| baseline.lane.ends_early)
    }

    /// Whether one of both did not run to its end, so that figures are those until then.
    pub fn is_cut_short(&self) -> bool {
        self.ended_early_before() || self.lane.ends_early()
    }

    /// Both sides as headings, with a mark where figures are those until a run ended early.
    pub fn headings(&self) -> [String; 2] {
        let before = self.baseline.map_or("", |(_, baseline)| {
            let lane = &baseline.lane;
            until((lane.ends_early, lane.out_of_memory))
        });
        [format!("before{before}"), format!("now{}", until_of(self.lane))]
    }

    /// How a figure differs, in words and in percent; nothing where a run ended early.
    pub fn difference_texts(&self, now: Figure, before: Figure) -> [String; 2] {
        if self.is_cut_short() {
            return [String::new(), String::new()];
        }
        [now.difference_text(before), now.percent_text(before)]
    }

    /// What the reader has to know before believing the figures, in sentences: that a run ended early, another workload, what
    /// else differs in what was asked.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.ended_early_before() {
            warnings.push("The baseline did not run to its end: its figures are those until then.".to_owned());
        }
        let asked = self
            .asked
            .as_ref()
            .zip(self.baseline.and_then(|(_, baseline)| baseline.asked.as_ref()));
        if let Some((now, before)) = asked {
            warnings.extend(before.other_workload(now));
            warnings.extend(self.remark(before, now));
        }
        warnings
    }

    /// What changed in what both were simulated on, in a sentence; `None` where nothing did.
    fn remark(&self, before: &RequestSummary, now: &RequestSummary) -> Option<String> {
        let (_, baseline) = self.baseline?;
        let mut parts = Vec::new();
        if baseline.lane.title != self.title {
            parts.push(format!("{} before, {} now", baseline.lane.title, self.title));
        }
        parts.extend(before.differences(now));
        (!parts.is_empty()).then(|| format!("The two differ in what was asked: {}.", parts.join("; ")))
    }

    /// Why the holders at the peaks are not told in full, in sentences.
    pub fn untold(&self) -> Option<&'static str> {
        if self.is_cut_short() {
            return Some("One of the two ended early, so that who holds their peaks is not compared.");
        }
        let differs = |name: &str| {
            let metric = Metric::find(name);
            metric.is_some_and(|metric| self.now(metric) != self.before(metric))
        };
        match (&self.changes, &self.reserved_changes) {
            (None, _) => Some("The baseline does not list tensors, so that nobody can say which of them changed."),
            (Some(_), None) if differs("peak_reserved") => Some(
                "The baseline does not list who holds the memory at the peak of reserved bytes, so that nobody can say who \
                 changed it; write the baseline again with this version.",
            ),
            (Some(live), reserved) if live.is_nothing() && reserved.as_ref().is_none_or(Changes::is_nothing) => {
                Some("At the peak every tensor holds what it held before.")
            }
            _ => None,
        }
    }

    /// What is told of the peaks, each with its title: reserved bytes first, nothing that is empty.
    pub fn told(&self) -> Vec<(&'static str, &Changes)> {
        let both = [
            ("at the peak of reserved bytes", &self.reserved_changes),
            ("at the peak of live bytes", &self.changes),
        ];
        let told = both
            .into_iter()
            .filter_map(|(title, changes)| Some((title, changes.as_ref()?)));
        told.filter(|(_, changes)| !changes.is_nothing()).collect()
    }
}

/// What stands behind the title of figures that are those until a run ended early; nothing where it did not.
const fn until((ends_early, out_of_memory): (bool, bool)) -> &'static str {
    match (ends_early, out_of_memory) {
        (_, true) => ", until out of memory",
        (true, false) => ", until it ended early",
        (false, false) => "",
    }
}

/// The same of a lane.
pub(super) fn until_of(lane: &Lane) -> &'static str {
    until((lane.ends_early(), lane.summary.out_of_memory))
}

/// A lane beside an earlier answer, as a part of the answer of `compare`.
#[derive(Serialize, Debug)]
pub struct WireAgainst {
    file: Option<String>,
    lane: String,
    baseline_lane: Option<String>,
    metrics: Vec<WireMetric>,
    changes: Option<Vec<WireChange>>,
    unlisted_bytes: Option<i128>,
    changes_at_peak_reserved: Option<Vec<WireChange>>,
    unlisted_at_peak_reserved_bytes: Option<i128>,
    limits: Vec<WireLimitCheck>,
}

#[derive(Serialize, Debug)]
struct WireMetric {
    metric: &'static str,
    before: Option<Json>,
    now: Option<Json>,
    percent: Option<f64>,
}

#[derive(Serialize, Debug)]
struct WireLimitCheck {
    limit: String,
    is_broken: bool,
    why: Option<String>,
}

fn number(figure: Figure) -> Json {
    match figure {
        Figure::Bytes(whole) | Figure::Count(whole) | Figure::Nanos(whole) => whole.into(),
        Figure::Share(share) => share.into(),
    }
}

impl WireAgainst {
    /// The wire form, with the largest `most` changes of each kind.
    pub fn new(against: &Against<'_>, most: usize) -> Self {
        let metrics = METRICS.iter().map(|metric| {
            let (before, now) = (against.before(metric), against.now(metric));
            WireMetric {
                metric: metric.name,
                before: before.map(number),
                now: now.map(number),
                percent: now.zip(before).and_then(|(now, before)| now.percent_since(before)),
            }
        });
        let wire = |changes: &Option<Changes>| changes.as_ref().map(|changes| WireChange::all(changes, most));
        let unlisted = |changes: &Option<Changes>| changes.as_ref().map(|changes| changes.unlisted);
        let limits = against.judged.iter().map(|judged| WireLimitCheck {
            limit: judged.limit.clone(),
            is_broken: judged.is_broken(),
            why: judged.why().map(str::to_owned),
        });
        Self {
            file: against.file().map(str::to_owned),
            lane: against.title.clone(),
            baseline_lane: against.baseline.map(|(_, baseline)| baseline.lane.title.clone()),
            metrics: metrics.collect(),
            changes: wire(&against.changes),
            unlisted_bytes: unlisted(&against.changes),
            changes_at_peak_reserved: wire(&against.reserved_changes),
            unlisted_at_peak_reserved_bytes: unlisted(&against.reserved_changes),
            limits: limits.collect(),
        }
    }
}
