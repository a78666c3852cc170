//! The answers of `sweep` (JSON, and CSV in [`table`]) and of `recommend` (JSON in [`recommended`]).
//!
//! Fields are a contract: they may be added, never changed. Bytes and nanoseconds are integers; figures are null where nothing was
//! simulated. `highwater_sweep` and `highwater_recommendation` are the versions of the forms.

mod recommended;
mod table;

use serde_json::{Map, Value as Json, json};

pub use recommended::recommendation_json;
pub use table::sweep_csv;

use super::json_parts::{diagnostics_json, fields_of, list, refusal_json, reserved_json};
use highwater_analysis::sweep::{Outcome, PointFigures, SmallestDevice, Space, SweepPoint, front};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::Value;
use highwater_script::json_of;

/// The version of both forms.
const VERSION: u32 = 1;

/// The answers of a sweep in addition to its points.
#[derive(Clone, Debug, Default)]
pub struct SweepAnswers {
    /// By axis with numbers: its name, the largest value that fits, and the point with it.
    pub largest: Vec<(String, Value, u64)>,
    /// The smallest device profile that fits, and the point that costs least on it.
    pub smallest_device: Option<SmallestDevice>,
    pub diagnostics: Diagnostics,
}

/// The points by number: all of them, or those before the sweep was stopped.
pub fn sweep_json(workload: &str, space: &Space, points: &[SweepPoint], answers: &SweepAnswers) -> Json {
    json!({
        "highwater_sweep": VERSION,
        "workload": workload,
        "axes": axes(space),
        "size": space.size(),
        "is_complete": points.len() as u64 == space.size(),
        "points": list(points, |point| Json::Object(point_json(space, point))),
        "front": front(points).into_iter().map(|position| points[position].idx).collect::<Vec<u64>>(),
        "largest": list(
            &answers.largest,
            |(axis, value, index)| json!({"axis": axis, "value": json_of(value), "index": index}),
        ),
        "smallest_device": answers.smallest_device.as_ref().map(smallest_device),
        "diagnostics": diagnostics_json(&answers.diagnostics),
    })
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

fn point_json(space: &Space, point: &SweepPoint) -> Map<String, Json> {
    let figures = point.figures();
    let of = |figure: fn(&PointFigures) -> u64| figures.map(figure);
    let values = space.axes().iter().zip(space.values(point.idx));
    let values: Map<String, Json> = values.map(|(axis, value)| (axis.key(), json_of(value))).collect();
    let (status, refusals, failed) = match &point.outcome {
        Outcome::Ran(figures) => (figures.ending.name(), &[][..], None),
        Outcome::Refused(refusals) => ("refused", &refusals[..], None),
        Outcome::Failed(why) => ("failed", &[][..], Some(why)),
    };
    let object = json!({
        "index": point.idx,
        "values": values,
        "policy": point.policy.number(),
        "status": status,
        "peak_reserved_bytes": of(|figures| figures.peak_reserved.get()),
        "reserved": figures.map(|figures| reserved_json(&figures.reserved)),
        "peak_live_bytes": of(|figures| figures.peak_live.get()),
        "fragmentation": figures.map(|figures| figures.fragmentation),
        "device_calls": of(PointFigures::device_calls),
        "device_mallocs": of(|figures| figures.device_mallocs),
        "device_frees": of(|figures| figures.device_frees),
        "unloads": of(|figures| figures.unloads),
        "estimated_overhead_ns": of(|figures| figures.overhead.0),
        "capacity_bytes": of(|figures| figures.capacity.get()),
        "refused_by": list(refusals, |refusal| refusal_json(refusal.rule, &refusal.message, &refusal.options)),
        "failed": failed,
    });
    fields_of(object, &["refused_by", "failed"])
}
