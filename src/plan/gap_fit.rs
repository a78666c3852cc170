//! The six plain orders of gap filling: the largest, the longest or the largest in both first, into the lowest or the
//! smallest gap that takes it.
//!
//! Ties: the longer life, then the earlier birth, then file order; among gaps the smallest, the lowest on a tie. Life
//! counts steps from the first to the last. Complexity: that of [`super::gaps`].

use std::cmp::Reverse;

use super::field::Field;
use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

/// An order: the largest key first.
type Key = (Reverse<u128>, Reverse<u32>, u32);

fn by_size(field: &Field<'_>, idx: u32) -> Key {
    let item = &field.items()[idx as usize];
    (
        Reverse(u128::from(item.size)),
        Reverse(item.upper - item.lower),
        item.lower,
    )
}

fn by_area(field: &Field<'_>, idx: u32) -> Key {
    let item = &field.items()[idx as usize];
    let life = item.upper - item.lower;
    (
        Reverse(u128::from(item.size) * u128::from(life)),
        Reverse(life),
        item.lower,
    )
}

fn by_width(field: &Field<'_>, idx: u32) -> Key {
    let item = &field.items()[idx as usize];
    let life = item.upper - item.lower;
    (Reverse(u128::from(life)), Reverse(life), item.lower)
}

/// Size order, lowest gap.
pub(super) fn first_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_size)
}

/// Area order (size x life), lowest gap.
pub(super) fn first_area(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_area)
}

/// Width order (life), lowest gap.
pub(super) fn first_width(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_width)
}

/// Size order, smallest gap.
pub(super) fn best_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_size)
}

/// Area order (size x life), smallest gap.
pub(super) fn best_area(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_area)
}

/// Width order (life), smallest gap.
pub(super) fn best_width(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_width)
}
