//! MegEngine's eager interpreter: no lookahead; it evicts before an op while usage is above the threshold.
//!
//! In: a tape and a request whose budget is the threshold (0 and none: never evict). Out: a [`RematRun`].
//! The candidate with the lowest score is evicted.
//!
//! ```text
//! score(v) = (neighbours + 0.001) / (((bytes + adjacent free bytes) / 2^20) * (now - last use + 0.001))
//! ```
//!
//! Neighbours are the evicted inputs and evicted sibling results of v's producer, each with the larger of its class's
//! cost and its own; classes are merged when their tensors are evicted, and a recomputed tensor leaves its class. Usage
//! equal to the threshold is within it, unlike in the static planner: only ops that end above it count as over. The
//! clock counts bytes moved. Storages represent their views; ops that only make views are left out. Results not larger
//! than the minimum size have no recipe. When the caller releases a tensor that others are computed from, its bytes are
//! dropped and its recipe stays.
//!
//! Not modelled, as in the recorded answers: eviction when an allocation finds no block (so it never runs out of
//! memory), the transient memory of recomputed siblings, sampling of candidates.

mod arena;
mod choose;
mod classes;
mod interpreter;
mod memory;
mod recompute;

use super::run::{RematRequest, RematRun};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Tape;

/// Source of the adjacent free bytes in the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeNeighbors {
    /// Always 0.
    #[default]
    Zero,
    /// An arena: lowest-address first fit without alignment.
    Arena,
}

/// # Errors
/// [`Cancelled`].
pub fn run_eager(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
    interpreter::run(tape, request, progress)
}
