//! An earlier answer of `compare` as the baseline of a new one.
//!
//! In: the text of `highwater compare --format json`, of this or an earlier version. Out: the figures of the lane that was active. A
//! field that an earlier version did not write is unknown, never 0.

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
    #[error("line {}, column {}: not JSON ({error}); write the baseline with `highwater compare FILE --format json`", error.line(), error.column())]
    Json { error: serde_json::Error },
    #[error("{what}; write the baseline with `highwater compare FILE --format json`")]
    Other { what: String },
    #[error("no figures of its active policy {policy}; write it without --policies or include that policy")]
    NoLane { policy: u8 },
}

/// Figures of one lane of an earlier answer.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineLane {
    pub title: String,
    /// In the order of [`METRICS`]; `None` where unknown.
    figures: Vec<Option<Figure>>,
    pub out_of_memory: bool,
    /// Whether a run did not reach its end, out of memory or under a budget: figures are those until then.
    pub ends_early: bool,
    /// At the peak of live bytes.
    pub contributors: Option<PeakContributors>,
    /// At the peak of reserved bytes.
    pub reserved_contributors: Option<PeakContributors>,
}

impl BaselineLane {
    pub fn figure(&self, metric: &Metric) -> Option<Figure> {
        let position = METRICS.iter().position(|known| known == metric)?;
        self.figures.get(position).copied().flatten()
    }
}

/// The active lane of an earlier answer, or a lane of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// `None` for a lane of the same answer.
    pub request: Option<RequestSummary>,
    pub lane: BaselineLane,
}

/// The JSON pointer of a metric in the object of a lane.
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
            ([], []) => return Err(other("no \"policies\" in it, so it is not an answer of `compare`")),
            ([], [first, ..]) => ("measured".to_owned(), first),
            (policies, _) => {
                let number = json.get("effective_policy").and_then(Json::as_u64);
                let number = number.and_then(|number| u8::try_from(number).ok());
                let number = number.ok_or_else(|| other("its \"effective_policy\" is not a policy"))?;
                let is_it = |lane: &&Json| lane.get("policy").and_then(Json::as_u64) == Some(number.into());
                let lane = policies.iter().find(is_it);
                (
                    format!("policy {number}"),
                    lane.ok_or(BaselineError::NoLane { policy: number })?,
                )
            }
        };
        let contributors = |field: &str| -> Result<Option<PeakContributors>, BaselineError> {
            let found = lane.get(field).filter(|found| !found.is_null());
            let read = found.map(WireContributors::deserialize).transpose();
            let read = read.map_err(|error| other(&format!("its \"{field}\" cannot be read: {error}")))?;
            Ok(read.map(WireContributors::into_contributors))
        };
        let own_title = lane.get("title").and_then(Json::as_str).unwrap_or_default().to_owned();
        let out_of_memory = lane.get("out_of_memory").and_then(Json::as_bool).unwrap_or(false);
        Ok(Self {
            request: Some(RequestSummary::read(&json)),
            lane: BaselineLane {
                title: if own_title.is_empty() { title } else { own_title },
                figures: METRICS.iter().map(|metric| figure(metric, lane)).collect(),
                out_of_memory,
                ends_early: out_of_memory || stops_under_budget(lane),
                contributors: contributors("at_peak")?,
                reserved_contributors: contributors("at_peak_reserved")?,
            },
        })
    }

    pub fn of_lane(comparison: &Comparison, lane: usize) -> Self {
        let row = &comparison.lanes[lane];
        Self {
            request: None,
            lane: BaselineLane {
                title: comparison.lane_title(row.id),
                figures: METRICS.iter().map(|metric| comparison.figure(lane, metric)).collect(),
                out_of_memory: row.summary.out_of_memory,
                ends_early: row.ends_early(),
                contributors: PeakContributors::new(comparison, lane, usize::MAX),
                reserved_contributors: PeakContributors::reserved(comparison, lane, usize::MAX),
            },
        }
    }
}

/// Whether a run of the lane does not reach its end under a memory budget.
fn stops_under_budget(lane: &Json) -> bool {
    let runs = lane.get("remat").and_then(Json::as_array);
    let mut runs = runs.into_iter().flatten();
    runs.any(|run| {
        let status = run.get("status").and_then(Json::as_str);
        let thrashes = run.get("thrashes").and_then(Json::as_bool);
        thrashes == Some(true) || status.is_some_and(|status| !matches!(status, "ok" | "over_budget"))
    })
}
