//! What leaves the program: versioned wire structs of its own, never an engine type as it is.
//!
//! In: values of the engine. Out: JSON objects, CSV, the configuration file. Deliberately not here: writing files.

mod comparison;
pub mod config;
mod inspect;
mod options;
mod plan;

pub use comparison::WireComparison;
pub use config::ConfigDocument;
pub use inspect::{WireDiagnostic, WireInspection};
pub use options::{WireCheck, WireOptions};
pub use plan::{WireEdge, WirePlan, plan_csv};
