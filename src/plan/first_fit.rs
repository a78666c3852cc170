//! First fit in order of birth: each buffer into the lowest gap that takes it.
//!
//! Ties: file order. What an allocator without foresight does that always takes the lowest free bytes. Complexity:
//! that of [`super::gaps`].

use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

/// Offsets by the rule above.
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, |field, idx| field.items()[idx as usize].lower)
}
