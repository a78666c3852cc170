//! The six plain orders of gap filling: by size, life or area, into the lowest or the smallest gap that fits.
//!
//! Ties: the longer life, then the earlier birth, then file order; of equal gaps the lowest. Life counts steps from the
//! first to the last. Complexity: that of [`super::gaps`].

use std::cmp::Reverse;

use super::field::Field;
use super::gaps::{Fit, strategy};
use super::problem::{Placement, PlanError, Task};

/// The largest key first.
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

pub(super) fn first_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_size)
}

/// Area is size x life.
pub(super) fn first_area(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_area)
}

/// Width is life.
pub(super) fn first_width(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::First, by_width)
}

pub(super) fn best_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_size)
}

pub(super) fn best_area(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_area)
}

pub(super) fn best_width(task: &Task<'_>) -> Result<Placement, PlanError> {
    strategy(task, Fit::Best, by_width)
}
