//! The vocabulary of all crates: units, diagnostics and progress; graphs, workloads, and live ranges.

pub mod diagnostics;
pub mod graph;
pub mod lists;
pub mod liveness;
pub mod progress;
pub mod threads;
pub mod units;
pub mod visible;
pub mod workload;
