//! Greedy by size with best fit: the largest buffer first, into the smallest gap that fits.
//!
//! Ties: earlier birth, then file order; among gaps the smallest, the lowest on a tie; above all
//! neighbours where no gap fits. The order is that of TensorFlow Lite's planner (Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020), described there, written here
//! anew. Complexity: that of [`super::gaps`].

use std::cmp::Reverse;

use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

/// Offsets by the rule above; shapes with gaps and groups by their largest size and true pieces.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, |field, idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })
}
