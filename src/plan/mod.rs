//! Lifetimes -> Plan: static offsets in one arena.
//!
//! In: a [`Problem`] (half-open live ranges, sizes, alignments). Out: a [`Plan`] (one offset per buffer) with
//! its footprint. [`verify`] checks any plan by brute force and knows nothing of how it was made.
//! One strategy is one file and one row of [`STRATEGIES`].

mod as_dumped;
mod best;
mod greedy_by_size;
mod holes;
mod naive;
mod problem;
mod ranks;
mod reuse;
mod strategies;
mod verify;

pub use holes::{Hole, HoleRule, HoleSum, hole_sums, holes, sum_at};
pub use problem::{Buffer, Clock, Fit, Gap, Limits, Plan, PlanError, Planned, Problem, ProblemError, Tried};
pub use reuse::{AddressHistory, Holder, Rectangle, ReuseEdge, ReuseIndex, pieces, reuse_edges};
pub use strategies::{
    AS_DUMPED, BEST, DEFAULT, Effort, NO_REUSE, PlanRequest, STRATEGIES, Strategy, default_strategy, find, plan,
};
pub use verify::{PlanDefect, verify};
