//! What everything else speaks of: units, diagnostics and progress; graphs, what runs of them, and when their tensors live.

pub mod diagnostics;
pub mod graph;
pub mod liveness;
pub mod progress;
pub mod units;
pub mod workload;
