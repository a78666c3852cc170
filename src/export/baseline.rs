//! An earlier answer of `compare` as the baseline of a new one.
//!
//! In: the text of `highwater compare --format json`, of this or an earlier version. Out: its figures; beside a comparison
//! what differs, and which limits it breaks. A field that an earlier version did not write is not known, never 0.

use serde::Deserialize as _;
use serde_json::Value as Json;
use thiserror::Error;

use super::contributors::WireContributors;
use super::request_summary::RequestSummary;
use highwater_analysis::{Comparison, Figure, METRICS, Metric};
use highwater_timeline::PeakContributors;

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
    /// Whether a run did not reach its end, for want of memory or under a budget: figures are those until then.
    pub ends_early: bool,
    /// Who held the bytes at its peak of live bytes.
    pub holders: Option<PeakContributors>,
    /// Who held them at its peak of reserved bytes.
    pub reserved_holders: Option<PeakContributors>,
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
    /// What was asked; `None` where it is a lane of the same answer.
    pub asked: Option<RequestSummary>,
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
        let holders = |field: &str| {
            let found = lane.get(field).filter(|holders| !holders.is_null());
            let read = found.map(WireContributors::deserialize).transpose();
            read.map_err(|error| other(&format!("its \"{field}\" cannot be read: {error}")))
        };
        let own_title = lane.get("title").and_then(Json::as_str).unwrap_or_default().to_owned();
        let out_of_memory = lane.get("out_of_memory").and_then(Json::as_bool).unwrap_or(false);
        Ok(Self {
            asked: Some(RequestSummary::read(&json)),
            lane: BaselineLane {
                title: if own_title.is_empty() { title } else { own_title },
                figures: METRICS.iter().map(|metric| figure(metric, lane)).collect(),
                out_of_memory,
                ends_early: out_of_memory || stops_under_budget(lane),
                holders: holders("at_peak")?.map(WireContributors::holders),
                reserved_holders: holders("at_peak_reserved")?.map(WireContributors::holders),
            },
        })
    }
}

/// Whether a run of the lane does not reach its end under its memory budget.
fn stops_under_budget(lane: &Json) -> bool {
    let runs = lane.get("remat").and_then(Json::as_array);
    let mut runs = runs.into_iter().flatten();
    runs.any(|run| {
        run.get("status")
            .and_then(Json::as_str)
            .is_some_and(|status| status != "ok")
    })
}

impl Baseline {
    /// A lane of this answer as the baseline of others.
    pub fn of_lane(comparison: &Comparison, lane: usize) -> Self {
        let row = &comparison.lanes[lane];
        Self {
            asked: None,
            lane: BaselineLane {
                title: comparison.lane_title(row.id),
                figures: METRICS.iter().map(|metric| comparison.figure(lane, metric)).collect(),
                out_of_memory: row.summary.out_of_memory,
                ends_early: row.ends_early(),
                holders: PeakContributors::new(comparison, lane, usize::MAX),
                reserved_holders: PeakContributors::reserved(comparison, lane, usize::MAX),
            },
        }
    }
}
