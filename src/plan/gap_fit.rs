//! Strategies that fill gaps by one order and one fit.
//!
//! * By birth: an allocator without lookahead. Ties: file order.
//! * Greedy by size: the largest buffer first, into the smallest gap. Ties: earlier birth, then file order. The order of
//!   TensorFlow Lite's planner (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
//! * Greedy by breadth, of the same paper: the steps with the most live bytes first, of each step the largest buffer
//!   first, into the smallest gap. Ties: the earlier step; among the buffers of a step the earlier birth, then file
//!   order. A buffer is placed with the broadest step of its life, so no list of live buffers is needed.
//! * Plain orders by size, life or area. Ties: the longer life, then the earlier birth, then file order. Life counts
//!   steps from the first to the last.
//!
//! Of equal gaps the lowest; above all neighbours where no gap fits. Complexity: that of [`super::gaps`].

use std::cmp::Reverse;

use super::breadth;
use super::field::Field;
use super::gaps::{Fit, fill, strategy};
use super::problem::{Placement, PlanError, Task};

pub(super) fn first_fit(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, |field, idx| field.items()[idx as usize].lower)
}

/// Shapes with gaps and groups by their largest size and true pieces.
pub(super) fn greedy_by_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, |field, idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })
}

pub(super) fn greedy_by_breadth(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = breadth::order(&field, task.progress)?;
    Ok(Placement::of(fill(&field, &order, Fit::Best, task.progress)?))
}

/// The measure of a plain order; the largest first.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    Size,
    /// Size x life.
    Area,
    Life,
}

pub(super) fn plain(task: &Task<'_>, fit: Fit, measure: Measure) -> Result<Placement, PlanError> {
    strategy(task, fit, |field, idx| {
        let item = &field.items()[idx as usize];
        let life = item.upper - item.lower;
        let key = match measure {
            Measure::Size => u128::from(item.size),
            Measure::Area => u128::from(item.size) * u128::from(life),
            Measure::Life => u128::from(life),
        };
        (Reverse(key), Reverse(life), item.lower)
    })
}
