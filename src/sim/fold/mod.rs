//! Folds over the event log: curves, blocks, counts, costs, the summary of a lane. Each is one pass.
//!
//! ```text
//! step        0   1   2        a step's value is the largest at any moment of the step,
//! reserved    2   5   3        so that no peak between two events is lost
//! ```
//!
//! Counts are exact. Times are counts multiplied by the cost figures of [`super::Params`]: estimates.

mod blocks;
mod costs;
mod curves;
mod moment;
mod parts;
mod step_bytes;
mod summary;

pub use blocks::{Block, blocks};
pub use costs::{Cause, Overhead, overhead, overhead_from};
pub use curves::{Curves, curves, curves_without_rounding};
pub use moment::{Moment, live_peaks_without, moment, most_reserved_moment};
pub use parts::ReservedParts;
pub(super) use parts::parts_after;
pub use step_bytes::StepBytes;
pub use summary::{PoolIdle, Summary, summary};
