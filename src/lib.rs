//! highwater plans and simulates the device memory of neural networks, and compares every static memory policy on one
//! time axis.
//!
//! ```text
//! file bytes --import--> Workload --liveness--> Lifetimes --rewrite--> Program --plan--> Plan
//!     --sim--> Simulation --analysis--> Comparison --timeline--> Timeline
//! ```
//!
//! Each stage is a module with its own result type; ARCHITECTURE.md has the codemap and the invariants. The window
//! (`ui`) is the feature `gui`; everything else works without it.
//!
//! # The whole pipeline
//!
//! ```
//! use highwater::analysis::{Configuration, Request, compare};
//! use highwater::import::{Input, import};
//! use highwater::progress::{Cancel, Progress};
//! use highwater::timeline::Timeline;
//! use highwater::workload::Workload;
//!
//! let text = r#"{
//!     "nodes": [
//!         {"op": "mm", "inputs": ["x"], "outputs": [{"id": "y", "shape": ["seq", 1024], "dtype": "float32"}]},
//!         {"op": "relu", "inputs": ["y"], "outputs": [{"id": "z", "shape": ["seq", 8], "dtype": "float32"}]}],
//!     "inputs": [{"id": "x", "shape": ["seq", 64], "dtype": "float32"}],
//!     "outputs": ["z"]}"#;
//!
//! let cancel = Cancel::new();
//! let progress = Progress::silent(&cancel);
//! let imported = import(&mut Input::from_bytes("net.json", text)?, &progress)?;
//! let mut configuration = Configuration::default();
//! configuration.plan.dims.insert("seq".to_owned(), vec![64, 256]);
//! let workload = Workload::new("net".to_owned(), imported.source);
//! let comparison = compare(&Request::new(workload, configuration), &progress)?;
//! assert_eq!(comparison.lanes.len(), 4);
//! assert_eq!(comparison.lanes[0].summary.peak_live.get(), 256 * 1024 * 4);
//! println!("{}", Timeline::new(&comparison).lanes[0].ascii(60, 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use highwater_analysis as analysis;
pub use highwater_cli as cli;
pub use highwater_export as export;
pub use highwater_import as import;
pub use highwater_model::{diagnostics, graph, liveness, progress, typed_id, units, visible, workload};
pub use highwater_options as options;
pub use highwater_plan as plan;
pub use highwater_rewrite as rewrite;
pub use highwater_script as script;
pub use highwater_session as session;
pub use highwater_sim as sim;
pub use highwater_timeline as timeline;
#[cfg(feature = "gui")]
pub use highwater_ui as ui;
