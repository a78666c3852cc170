//! Greedy by size with best fit: the largest buffer first, into the smallest gap that fits.
//!
//! Ties: earlier birth, then file order; of equal gaps the lowest; above all neighbours where no gap fits. The order is
//! that of TensorFlow Lite's planner (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
//! 2020). Complexity: that of [`super::gaps`].

use std::cmp::Reverse;

use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

/// Shapes with gaps and groups by their largest size and true pieces.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, |field, idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })
}
