//! highwater: plans, simulates and compares the device memory of neural networks.

pub mod analysis;
pub mod cli;
pub mod diagnostics;
pub mod export;
pub mod graph;
pub mod import;
pub mod liveness;
pub mod options;
pub mod plan;
pub mod progress;
pub mod rewrite;
pub mod session;
pub mod sim;
pub mod timeline;
#[cfg(feature = "gui")]
pub mod ui;
pub mod units;
pub mod workload;
