//! An earlier answer of `compare` as the baseline of a new one.
//!
//! In: the text of `highwater compare --format json`, of this or an earlier version. Out: its figures; beside a comparison
//! what differs, and which limits it breaks. A field that an earlier version did not write is not known, never 0.

use serde::{Deserialize as _, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use super::holders::{WireChange, WireHolders};
use crate::analysis::{Comparison, Figure, Fit, Lane, Limit, METRICS, Metric};
use crate::timeline::{Changes, PeakHolders};

/// Why an earlier answer cannot be used.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// It is no JSON.
    #[error("line {}, column {}: this is no JSON ({error}); write the baseline with `highwater compare FILE --format json`", error.line(), error.column())]
    Json {
        /// Where and why.
        error: serde_json::Error,
    },
    /// It is JSON of something else.
    #[error("{what}; write the baseline with `highwater compare FILE --format json`")]
    Other {
        /// What is missing.
        what: String,
    },
    /// It does not hold the lane that is compared.
    #[error(
        "it holds no figures of its effective policy {policy}; write it without --policies, or with this one among them"
    )]
    NoLane {
        /// The number.
        policy: u8,
    },
}

/// Figures of one lane of an earlier answer.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineLane {
    /// What it is called.
    pub title: String,
    /// The figures, in the order of [`METRICS`].
    figures: Vec<Option<Figure>>,
    /// Whether it ran out of memory.
    pub out_of_memory: bool,
    /// Who held the bytes at its peak.
    pub holders: Option<PeakHolders>,
}

impl BaselineLane {
    /// A figure; `None` where it is not known.
    pub fn figure(&self, metric: &Metric) -> Option<Figure> {
        let position = METRICS.iter().position(|known| known == metric)?;
        self.figures.get(position).copied().flatten()
    }
}

/// An earlier answer: the lane that was in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// What ran.
    pub workload: String,
    /// The device that it was simulated on, and its bytes.
    pub device: Option<(String, u64)>,
    /// The lane.
    pub lane: BaselineLane,
}

/// Where a metric stands in the object of a lane.
fn pointer(metric: &Metric) -> String {
    match metric.name {
        "peak_reserved" | "peak_live" => format!("/{}_bytes", metric.name),
        "features" | "weights" | "variables" | "io" => format!("/reserved/{}", metric.name),
        "estimated_overhead" => "/estimated_overhead_ns".to_owned(),
        name => format!("/{name}"),
    }
}

fn figure(metric: &Metric, lane: &Json) -> Option<Figure> {
    let value = lane.pointer(&pointer(metric))?;
    Some(match metric.kind() {
        Figure::Bytes(_) => Figure::Bytes(value.as_u64()?),
        Figure::Count(_) => Figure::Count(value.as_u64()?),
        Figure::Nanos(_) => Figure::Nanos(value.as_u64()?),
        Figure::Share(_) => Figure::Share(value.as_f64()?),
    })
}

impl Baseline {
    /// Reads an earlier answer.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn read(bytes: &[u8]) -> Result<Self, BaselineError> {
        let json: Json = serde_json::from_slice(bytes).map_err(|error| BaselineError::Json { error })?;
        let other = |what: &str| BaselineError::Other { what: what.to_owned() };
        let lanes = |field: &str| json.get(field).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let (policies, measured) = (lanes("policies"), lanes("measured"));
        let (title, lane) = match (policies, measured) {
            ([], []) => return Err(other("it has no \"policies\", so it is no answer of `compare`")),
            ([], [first, ..]) => ("measured".to_owned(), first),
            (policies, _) => {
                let number = json.get("effective_policy").and_then(Json::as_u64);
                let number = number.and_then(|number| u8::try_from(number).ok());
                let number = number.ok_or_else(|| other("its \"effective_policy\" is no policy"))?;
                let is_it = |lane: &&Json| lane.get("policy").and_then(Json::as_u64) == Some(number.into());
                let lane = policies.iter().find(is_it);
                (
                    format!("policy {number}"),
                    lane.ok_or(BaselineError::NoLane { policy: number })?,
                )
            }
        };
        let holders = lane.get("at_peak").filter(|holders| !holders.is_null());
        let holders = holders
            .map(WireHolders::deserialize)
            .transpose()
            .map_err(|error| other(&format!("its \"at_peak\" cannot be read: {error}")))?;
        let text = |value: Option<&Json>| value.and_then(Json::as_str).unwrap_or_default().to_owned();
        let own_title = text(lane.get("title"));
        let device = json.get("device").and_then(|device| {
            let name = device.get("name")?.as_str()?.to_owned();
            Some((name, device.get("memory_bytes")?.as_u64()?))
        });
        Ok(Self {
            workload: text(json.pointer("/workload/name")),
            device,
            lane: BaselineLane {
                title: if own_title.is_empty() { title } else { own_title },
                figures: METRICS.iter().map(|metric| figure(metric, lane)).collect(),
                out_of_memory: lane.get("out_of_memory").and_then(Json::as_bool).unwrap_or(false),
                holders: holders.map(WireHolders::holders),
            },
        })
    }
}

impl Baseline {
    /// A lane of this answer as the baseline of others.
    pub fn of_lane(comparison: &Comparison, lane: usize) -> Self {
        let row = &comparison.lanes[lane];
        let device = comparison.device_of(lane);
        Self {
            workload: comparison.workload.name.clone(),
            device: (!comparison.is_measured_lane(lane)).then(|| (device.name.clone(), device.memory_bytes)),
            lane: BaselineLane {
                title: comparison.lane_title(row.id),
                figures: METRICS.iter().map(|metric| comparison.figure(lane, metric)).collect(),
                out_of_memory: row.summary.out_of_memory,
                holders: PeakHolders::new(comparison, lane, usize::MAX),
            },
        }
    }
}

/// A limit, and why it is broken where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The limit, as it was written.
    pub limit: String,
    /// Why it is broken.
    pub why: Option<String>,
}

/// A lane beside an earlier answer.
#[derive(Clone, Debug)]
pub struct Against<'a> {
    /// The earlier answer and the name of its file; no name where it is a lane of the same answer.
    pub baseline: Option<(&'a str, &'a Baseline)>,
    /// The lane.
    pub lane: &'a Lane,
    /// What it is called.
    pub title: String,
    /// Tensors that are new, gone, bigger or smaller; `None` where the earlier answer does not list them.
    pub changes: Option<Changes>,
    /// The limits.
    pub judged: Vec<Judged>,
    comparison: &'a Comparison,
    position: usize,
}

impl<'a> Against<'a> {
    /// The lane in force beside an earlier answer. `None` where there is no lane. O(events + tensors log tensors).
    pub fn new(
        comparison: &'a Comparison,
        baseline: Option<(&'a str, &'a Baseline)>,
        limits: &[Limit],
    ) -> Option<Self> {
        Some(Self::of_lane((comparison, comparison.main_lane()?), baseline, limits))
    }

    /// The same of any lane, by position.
    pub fn of_lane(
        (comparison, position): (&'a Comparison, usize),
        baseline: Option<(&'a str, &'a Baseline)>,
        limits: &[Limit],
    ) -> Self {
        let lane = &comparison.lanes[position];
        let before = baseline.and_then(|(_, baseline)| baseline.lane.holders.as_ref());
        let changes = before.and_then(|before| {
            let now = PeakHolders::new(comparison, position, usize::MAX)?;
            Some(Changes::new(before, &now))
        });
        let mut against = Self {
            baseline,
            comparison,
            position,
            lane,
            title: comparison.lane_title(lane.id),
            changes,
            judged: Vec::new(),
        };
        against.judged = limits.iter().map(|limit| against.judge(limit)).collect();
        against
    }

    fn judge(&self, limit: &Limit) -> Judged {
        let now = self.now(limit.metric);
        let before = self.before(limit.metric);
        let unknown = if now.is_none() {
            Some(format!(
                "{} is not recorded, so that nobody can say",
                limit.metric.label
            ))
        } else if limit.needs_before() && before.is_none() {
            Some(format!(
                "the baseline does not say its {}, so that nobody can compare",
                limit.metric.label
            ))
        } else {
            None
        };
        Judged {
            limit: limit.text.clone(),
            why: unknown.or_else(|| limit.broken(now?, before)),
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
        self.judged.iter().any(|judged| judged.why.is_some())
    }

    /// What changed in what both were simulated on, in a sentence; `None` where nothing did.
    pub fn remark(&self) -> Option<String> {
        let comparison = self.comparison;
        let (_, baseline) = self.baseline?;
        let device = comparison.device_of(self.position);
        let mut parts = Vec::new();
        if baseline.lane.title != self.title {
            parts.push(format!("{} before, {} now", baseline.lane.title, self.title));
        }
        if !baseline.workload.is_empty() && baseline.workload != comparison.workload.name {
            let (before, now) = (&baseline.workload, &comparison.workload.name);
            parts.push(format!("{before} before, {now} now"));
        }
        if let Some((name, bytes)) = &baseline.device
            && (name, *bytes) != (&device.name, device.memory_bytes)
        {
            parts.push(format!("{name} before, {} now", device.name));
        }
        (!parts.is_empty()).then(|| format!("The two differ in what was asked: {}.", parts.join("; ")))
    }
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
    limits: Vec<WireJudged>,
}

#[derive(Serialize, Debug)]
struct WireMetric {
    metric: &'static str,
    before: Option<Json>,
    now: Option<Json>,
    percent: Option<f64>,
}

#[derive(Serialize, Debug)]
struct WireJudged {
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
        let changes = against.changes.as_ref().map(|changes| WireChange::all(changes, most));
        let limits = against.judged.iter().map(|judged| WireJudged {
            limit: judged.limit.clone(),
            is_broken: judged.why.is_some(),
            why: judged.why.clone(),
        });
        Self {
            file: against.file().map(str::to_owned),
            lane: against.title.clone(),
            baseline_lane: against.baseline.map(|(_, baseline)| baseline.lane.title.clone()),
            metrics: metrics.collect(),
            changes,
            unlisted_bytes: against.changes.as_ref().map(|changes| changes.unlisted),
            limits: limits.collect(),
        }
    }
}
