//! Shared objects, the largest buffer first: every object is then large enough for all later buffers.
//!
//! Ties: earlier birth, then file order (Pisarchyk and Lee, 2020). Complexity: O(n * objects * log n).

use std::cmp::Reverse;

use super::{assign, stack};
use crate::field::Field;
use crate::problem::{Placement, PlanError, Task};

pub(crate) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })?;
    let objects = assign(&field, &order, task.progress)?;
    Ok(Placement::of(stack(&field, objects)))
}
