//! Greedy by breadth: the steps with the most live bytes first, of each step the largest buffer first, into the
//! smallest gap that fits.
//!
//! Ties: the earlier step; among the buffers of a step the earlier birth, then file order; of equal gaps the lowest.
//! The order is that of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020). A buffer
//! is placed with the broadest step of its life, so no list of live buffers is needed. Complexity: that of
//! [`super::gaps`].

use std::cmp::Reverse;

use super::breadth::Breadth;
use super::field::Field;
use super::gaps::{Fit, fill};
use super::problem::{Placement, PlanError, Task};

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let breadth = Breadth::new(&field, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (breadth.rank(&field, idx), Reverse(item.size), item.lower)
    })?;
    Ok(Placement::of(fill(&field, &order, Fit::Best, task.progress)?))
}
