//! First fit in order of birth: each buffer into the lowest gap that fits.
//!
//! Ties: file order. This is an allocator without lookahead that takes the lowest free bytes. Complexity: that of
//! [`super::gaps`].

use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, |field, idx| field.items()[idx as usize].lower)
}
