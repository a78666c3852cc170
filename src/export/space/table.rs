//! Points of a sweep as CSV.

use super::status;
use crate::csv_line::CsvLine;
use highwater_analysis::sweep::{Space, SweepPoint, front};

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
    let mut out = Vec::new();
    let mut line = CsvLine::default();
    line.push("index");
    for axis in space.axes() {
        line.push(&axis.key());
    }
    for column in COLUMNS {
        line.push(column);
    }
    line.end(&mut out);
    let mut on_front = vec![false; points.len()];
    for position in front(points) {
        on_front[position] = true;
    }
    for (point, on_front) in points.iter().zip(on_front) {
        line.push(&point.idx.to_string());
        for value in space.values(point.idx) {
            line.push(&value.to_string());
        }
        for cell in cells(point, on_front) {
            line.push(&cell);
        }
        line.end(&mut out);
    }
    out
}

fn cells(point: &SweepPoint, on_front: bool) -> [String; 14] {
    let mut cells: [String; 14] = Default::default();
    cells[0] = point.policy.number().to_string();
    status(point).clone_into(&mut cells[1]);
    cells[2] = u8::from(on_front).to_string();
    let Some(figures) = point.figures() else { return cells };
    let reserved = &figures.reserved;
    let bytes = [
        figures.peak_reserved,
        reserved.features,
        reserved.weights,
        reserved.variables,
        reserved.io,
        figures.peak_live,
    ];
    for (cell, bytes) in cells[3..9].iter_mut().zip(bytes) {
        *cell = bytes.get().to_string();
    }
    cells[9] = figures.fragmentation.to_string();
    cells[10] = figures.device_calls().to_string();
    cells[11] = figures.unloads.to_string();
    cells[12] = figures.overhead.0.to_string();
    cells[13] = figures.capacity.get().to_string();
    cells
}
