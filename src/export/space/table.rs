//! Points of a sweep as CSV.

use serde_json::{Map, Value as Json};

use super::point_json;
use highwater_analysis::sweep::{Space, SweepAxis, SweepPoint, front};

const ON_FRONT: &str = "on_front";

/// The columns after those of the axes. A part of the reserved bytes has the name of the part and a unit.
const COLUMNS: [&str; 14] = [
    "policy",
    "status",
    ON_FRONT,
    "peak_reserved_bytes",
    "features_bytes",
    "weights_bytes",
    "variables_bytes",
    "io_bytes",
    "peak_live_bytes",
    "fragmentation",
    "device_calls",
    "unloads",
    "estimated_overhead_ns",
    "capacity_bytes",
];

/// A row per point: its number, a column per axis, then the figures, which are empty where nothing was simulated.
pub fn sweep_csv(space: &Space, points: &[SweepPoint]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let axes = space.axes().iter().map(SweepAxis::key);
    let columns = COLUMNS.map(str::to_owned);
    let headings = std::iter::once("index".to_owned()).chain(axes).chain(columns);
    // Writing to memory does not fail.
    drop(writer.write_record(headings));
    let mut on_front = vec![false; points.len()];
    for position in front(points) {
        on_front[position] = true;
    }
    for (point, on_front) in points.iter().zip(on_front) {
        let values = space.values(point.idx).into_iter().map(ToString::to_string);
        let fields = point_json(space, point);
        let figures = COLUMNS.iter().map(|column| match *column {
            ON_FRONT => u8::from(on_front).to_string(),
            column => cell(&fields, column),
        });
        let cells = std::iter::once(point.idx.to_string()).chain(values);
        drop(writer.write_record(cells.chain(figures)));
    }
    writer.into_inner().unwrap_or_default()
}

/// The field of a column, or the part of the reserved bytes.
fn cell(fields: &Map<String, Json>, column: &str) -> String {
    let part = || fields.get("reserved")?.get(column.strip_suffix("_bytes")?);
    match fields.get(column).or_else(part) {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(share) => share.to_string(),
            None => number.to_string(),
        },
    }
}
