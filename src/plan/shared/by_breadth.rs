//! Shared objects, the steps with the most live bytes first, of each step the largest buffer first.
//!
//! Ties: the earlier step, the earlier birth, file order (Pisarchyk and Lee, 2020). An object may grow.
//! Complexity: O(n * objects * log n).

use std::cmp::Reverse;

use super::{assign, stack};
use crate::breadth::Breadth;
use crate::field::Field;
use crate::problem::{Placement, PlanError, Task};

pub(crate) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let breadth = Breadth::new(&field, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (breadth.rank(&field, idx), Reverse(item.size), item.lower)
    })?;
    let objects = assign(&field, &order, task.progress)?;
    Ok(Placement::of(stack(&field, objects)))
}
