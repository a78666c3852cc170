//! MegEngine's eager interpreter: no lookahead, evict before an op while more than the threshold is in use.
//!
//! In: a tape and a request, whose budget is the threshold (0 and none: never evict). Out: a [`RematRun`].
//!
//! ```text
//! score(v) = (neighbours + 0.001) / (((bytes + free beside it) / 2^20) * (now - last use + 0.001))       the lowest goes
//! ```
//!
//! Neighbours are the evicted inputs and evicted sibling results of v's producer, each with the larger of its class's cost
//! and its own; classes are joined when their tensors are evicted, and a tensor that is computed anew leaves its class.
//! Reaching the threshold is within it, other than for the static planner: only ops that end above it are counted as over.
//! The clock counts bytes moved. Storages stand for their views; an op that makes views alone is left out. Results not
//! larger than the minimum size have no recipe. The caller letting go of a tensor that others are computed from drops its bytes
//! and keeps the recipe.
//!
//! Not modelled, as in the recorded answers: eviction when an allocation finds no block (so it never runs out of memory),
//! the transient memory of siblings that are computed again, sampling of candidates.

mod arena;
mod choose;
mod classes;
mod interpreter;
mod memory;
mod recompute;

use super::run::{RematRequest, RematRun};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Tape;

/// Where the free bytes beside a tensor come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeNeighbors {
    /// Nothing is free beside anything.
    #[default]
    Zero,
    /// An arena: lowest-address first fit without alignment.
    Arena,
}

/// Runs a tape.
///
/// # Errors
/// [`Cancelled`].
pub fn run_eager(tape: &Tape, request: &RematRequest, progress: &Progress<'_>) -> Result<RematRun, Cancelled> {
    interpreter::run(tape, request, progress)
}
