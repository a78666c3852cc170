//! Points of a sweep as CSV.

use super::status;
use highwater_analysis::sweep::{Space, SweepAxis, SweepPoint, front};

/// The columns after those of the axes.
const COLUMNS: [&str; 14] = [
    "policy",
    "status",
    "on_front",
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
        let cells = std::iter::once(point.idx.to_string()).chain(values);
        drop(writer.write_record(cells.chain(figures(point, on_front))));
    }
    writer.into_inner().unwrap_or_default()
}

fn figures(point: &SweepPoint, on_front: bool) -> Vec<String> {
    let mut cells = vec![
        point.policy.number().to_string(),
        status(point).to_owned(),
        u8::from(on_front).to_string(),
    ];
    if let Some(figures) = point.figures() {
        let reserved = &figures.reserved;
        cells.extend([
            figures.peak_reserved.get().to_string(),
            reserved.features.get().to_string(),
            reserved.weights.get().to_string(),
            reserved.variables.get().to_string(),
            reserved.io.get().to_string(),
            figures.peak_live.get().to_string(),
            figures.fragmentation.to_string(),
            figures.device_calls().to_string(),
            figures.unloads.to_string(),
            figures.overhead.0.to_string(),
            figures.capacity.get().to_string(),
        ]);
    }
    cells.resize(COLUMNS.len(), String::new());
    cells
}
