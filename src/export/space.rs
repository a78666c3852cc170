//! The answers of `sweep` (JSON, and CSV in [`table`]) and of `recommend` (JSON in [`recommended`]).
//!
//! Fields are a contract: they may be added, never changed. Bytes and nanoseconds are integers; figures are null where nothing was
//! simulated. `highwater_sweep` and `highwater_recommendation` are the versions of the forms.

mod recommended;
mod table;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

pub use recommended::recommendation_json;
pub use table::sweep_csv;

use super::json_parts::{diagnostics_json, list, refusal_json, reserved_json};
use highwater_analysis::sweep::{Outcome, PointFigures, SmallestDevice, Space, SweepPoint, front};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::Value;
use highwater_script::json_of;

/// The version of both forms.
const VERSION: u32 = 1;

/// The points of a space.
#[derive(Serialize, Debug)]
pub struct WireSweep {
    highwater_sweep: u32,
    workload: String,
    axes: Json,
    size: u64,
    is_complete: bool,
    points: Vec<WirePoint>,
    front: Vec<u64>,
    largest: Json,
    smallest_device: Option<Json>,
    diagnostics: Json,
}

/// The answers of a sweep in addition to its points.
#[derive(Clone, Debug, Default)]
pub struct SweepAnswers {
    /// By axis with numbers: its name, the largest value that fits, and the point with it.
    pub largest: Vec<(String, Value, u64)>,
    /// The smallest device profile that fits, and the point that costs least on it.
    pub smallest_device: Option<SmallestDevice>,
    pub diagnostics: Diagnostics,
}

#[derive(Serialize, Debug)]
struct WirePoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    values: Map<String, Json>,
    policy: u8,
    status: &'static str,
    peak_reserved_bytes: Option<u64>,
    reserved: Option<Json>,
    peak_live_bytes: Option<u64>,
    fragmentation: Option<f64>,
    device_calls: Option<u64>,
    device_mallocs: Option<u64>,
    device_frees: Option<u64>,
    unloads: Option<u64>,
    estimated_overhead_ns: Option<u64>,
    capacity_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_by: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

impl WireSweep {
    /// The points by number: all of them, or those before the sweep was stopped.
    pub fn new(workload: &str, space: &Space, points: &[SweepPoint], answers: &SweepAnswers) -> Self {
        Self {
            highwater_sweep: VERSION,
            workload: workload.to_owned(),
            axes: axes(space),
            size: space.size(),
            is_complete: points.len() as u64 == space.size(),
            points: points.iter().map(|point| WirePoint::new(space, point)).collect(),
            front: front(points).into_iter().map(|position| points[position].idx).collect(),
            largest: list(
                &answers.largest,
                |(axis, value, index)| json!({"axis": axis, "value": json_of(value), "index": index}),
            ),
            smallest_device: answers.smallest_device.as_ref().map(smallest_device),
            diagnostics: diagnostics_json(&answers.diagnostics),
        }
    }
}

fn smallest_device(smallest: &SmallestDevice) -> Json {
    let figures = smallest.point.fitting();
    json!({
        "name": smallest.device.name,
        "memory_bytes": smallest.device.memory().get(),
        "index": smallest.point.idx,
        "peak_reserved_bytes": figures.map(|figures| figures.peak_reserved.get()),
        "estimated_overhead_ns": figures.map(|figures| figures.overhead.0),
    })
}

fn axes(space: &Space) -> Json {
    list(
        space.axes(),
        |axis| json!({"key": axis.key(), "name": axis.name(), "values": list(&axis.values, json_of)}),
    )
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
                let refusals = refusals
                    .iter()
                    .map(|refusal| refusal_json(refusal.rule, &refusal.message, &refusal.options));
                (refusals.collect(), None)
            }
        };
        Self {
            index: Some(point.idx),
            values: values.map(|(axis, value)| (axis.key(), json_of(value))).collect(),
            policy: point.policy.number(),
            status: status(point),
            peak_reserved_bytes: of(|figures| figures.peak_reserved.get()),
            reserved: figures.map(|figures| reserved_json(&figures.reserved)),
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

/// How a point ended, in a word.
fn status(point: &SweepPoint) -> &'static str {
    match &point.outcome {
        Outcome::Ran(figures) => figures.ending.name(),
        Outcome::Refused(_) => "refused",
        Outcome::Failed(_) => "failed",
    }
}
