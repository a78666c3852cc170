//! Folds over the event log: curves, blocks, counts, costs, the summary of a lane. Each is one pass.
//!
//! ```text
//! step        0   1   2        a step's value is the largest that held at any moment of the step,
//! reserved    2   5   3        so a peak can never hide between two events
//! ```
//!
//! Counts are exact. Times are counts by the cost figures of [`super::Params`], and so as good as these: estimates.

mod blocks;
mod costs;
mod curves;
mod moment;
mod parts;
mod step_bytes;
mod summary;

pub use blocks::{Block, blocks};
pub use costs::{Cause, Overhead, overhead};
pub use curves::{Curves, curves};
pub use moment::{Moment, live_peaks_without, moment, most_reserved_moment};
pub use parts::ReservedParts;
pub(super) use parts::parts_after;
pub use step_bytes::StepBytes;
pub use summary::{PoolIdle, Summary, summary};
