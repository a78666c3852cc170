//! highwater: plans, simulates and compares the device memory of neural networks.

pub mod analysis;
pub mod diagnostics;
pub mod graph;
pub mod import;
pub mod liveness;
pub mod plan;
pub mod progress;
pub mod sim;
pub mod timeline;
#[cfg(feature = "gui")]
pub mod ui;
pub mod units;
pub mod workload;
