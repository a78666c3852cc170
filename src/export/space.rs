//! What `highwater sweep` and `highwater recommend` write: JSON objects ([`recommended`] has the second), and points as CSV ([`table`]).
//!
//! Fields are a contract: they are added to freely and changed never. Bytes and nanoseconds are integers; what was not simulated has
//! null in the place of figures. `highwater_sweep` and `highwater_recommendation` are the versions of the forms.

mod recommended;
mod table;

use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use recommended::WireRecommendation;
pub use table::sweep_csv;

use super::inspect::WireDiagnostic;
use super::json_of;
use highwater_analysis::sweep::{Outcome, PointFigures, SmallestDevice, Space, SweepPoint, front};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::{Finding, Value};
use highwater_sim::fold::ReservedParts;

/// The version of both forms.
const VERSION: u32 = 1;

/// The points of a space.
#[derive(Serialize, Debug)]
pub struct WireSweep {
    highwater_sweep: u32,
    workload: String,
    axes: Vec<WireAxis>,
    size: u64,
    is_complete: bool,
    points: Vec<WirePoint>,
    front: Vec<u64>,
    largest: Vec<WireLargest>,
    smallest_device: Option<WireDevice>,
    diagnostics: Vec<WireDiagnostic>,
}

/// What a sweep answers beside its points.
#[derive(Clone, Debug, Default)]
pub struct SweepAnswers {
    /// By axis with numbers: its name, the largest value that fits, and the point with it.
    pub largest: Vec<(String, Value, u64)>,
    /// The smallest device profile that fits, and the point that costs least on it.
    pub smallest_device: Option<SmallestDevice>,
    /// What was odd.
    pub diagnostics: Diagnostics,
}

#[derive(Serialize, Debug)]
struct WireAxis {
    key: String,
    name: String,
    values: Vec<Json>,
}

#[derive(Serialize, Debug)]
struct WireLargest {
    axis: String,
    value: Json,
    index: u64,
}

#[derive(Serialize, Debug)]
struct WireDevice {
    name: String,
    memory_bytes: u64,
    index: u64,
    peak_reserved_bytes: Option<u64>,
    estimated_overhead_ns: Option<u64>,
}

impl WireDevice {
    fn of(smallest: &SmallestDevice) -> Self {
        let figures = smallest.point.fitting();
        Self {
            name: smallest.device.name.clone(),
            memory_bytes: smallest.device.memory_bytes,
            index: smallest.point.idx,
            peak_reserved_bytes: figures.map(|figures| figures.peak_reserved.get()),
            estimated_overhead_ns: figures.map(|figures| figures.overhead.0),
        }
    }
}

/// One point.
#[derive(Serialize, Debug)]
struct WirePoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    values: Map<String, Json>,
    policy: u8,
    status: &'static str,
    peak_reserved_bytes: Option<u64>,
    reserved: Option<WireParts>,
    peak_live_bytes: Option<u64>,
    fragmentation: Option<f64>,
    device_calls: Option<u64>,
    device_mallocs: Option<u64>,
    device_frees: Option<u64>,
    unloads: Option<u64>,
    estimated_overhead_ns: Option<u64>,
    capacity_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_by: Vec<WireRefusal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

#[derive(Serialize, Debug)]
struct WireParts {
    features: u64,
    weights: u64,
    variables: u64,
    io: u64,
}

#[derive(Serialize, Debug)]
pub(super) struct WireRefusal {
    rule: &'static str,
    message: String,
    options: Vec<String>,
}

impl From<&Finding> for WireRefusal {
    fn from(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            message: finding.message.clone(),
            options: finding.options.clone(),
        }
    }
}

impl WireSweep {
    /// The points of a space, by number; all of them, or those until it was stopped.
    pub fn new(workload: &str, space: &Space, points: &[SweepPoint], answers: &SweepAnswers) -> Self {
        let largest = answers.largest.iter().map(|(axis, value, index)| WireLargest {
            axis: axis.clone(),
            value: json_of(value),
            index: *index,
        });
        Self {
            highwater_sweep: VERSION,
            workload: workload.to_owned(),
            axes: axes(space),
            size: space.size(),
            is_complete: points.len() as u64 == space.size(),
            points: points.iter().map(|point| WirePoint::new(space, point)).collect(),
            front: front(points).into_iter().map(|position| points[position].idx).collect(),
            largest: largest.collect(),
            smallest_device: answers.smallest_device.as_ref().map(WireDevice::of),
            diagnostics: WireDiagnostic::all(&answers.diagnostics),
        }
    }
}

fn axes(space: &Space) -> Vec<WireAxis> {
    let axes = space.axes().iter().map(|axis| WireAxis {
        key: axis.key(),
        name: axis.name().to_owned(),
        values: axis.values.iter().map(json_of).collect(),
    });
    axes.collect()
}

impl WirePoint {
    fn new(space: &Space, point: &SweepPoint) -> Self {
        let figures = point.figures();
        let of = |figure: fn(&PointFigures) -> u64| figures.map(figure);
        let values = space.axes().iter().zip(space.values(point.idx));
        let (refused_by, failed) = match &point.outcome {
            Outcome::Ran(_) => (Vec::new(), None),
            Outcome::Failed(why) => (Vec::new(), Some(why.clone())),
            Outcome::Refused(refusals) => {
                let refusals = refusals.iter().map(|refusal| WireRefusal {
                    rule: refusal.rule,
                    message: refusal.message.clone(),
                    options: refusal.options.clone(),
                });
                (refusals.collect(), None)
            }
        };
        Self {
            index: Some(point.idx),
            values: values.map(|(axis, value)| (axis.key(), json_of(value))).collect(),
            policy: point.policy.number(),
            status: status(point),
            peak_reserved_bytes: of(|figures| figures.peak_reserved.get()),
            reserved: figures.map(|figures| parts(&figures.reserved)),
            peak_live_bytes: of(|figures| figures.peak_live.get()),
            fragmentation: figures.map(|figures| figures.fragmentation),
            device_calls: of(PointFigures::device_calls),
            device_mallocs: of(|figures| figures.device_mallocs),
            device_frees: of(|figures| figures.device_frees),
            unloads: of(|figures| figures.unloads),
            estimated_overhead_ns: of(|figures| figures.overhead.0),
            capacity_bytes: of(|figures| figures.capacity.get()),
            refused_by,
            failed,
        }
    }
}

/// How a point ended, one word.
fn status(point: &SweepPoint) -> &'static str {
    match &point.outcome {
        Outcome::Ran(figures) => figures.ending.name(),
        Outcome::Refused(_) => "refused",
        Outcome::Failed(_) => "failed",
    }
}

const fn parts(reserved: &ReservedParts) -> WireParts {
    WireParts {
        features: reserved.features.get(),
        weights: reserved.weights.get(),
        variables: reserved.variables.get(),
        io: reserved.io.get(),
    }
}
