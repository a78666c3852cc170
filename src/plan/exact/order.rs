//! The order of branches: which shape is tried first, and which section where two have equally few branches.
//!
//! An unlucky order can take far longer than another, so several are tried in turn with growing budgets. From the third
//! round on the ranks are perturbed, differently in each.

use std::cmp::Reverse;

use super::failed::mix;
use super::height::Height;
use super::part::Part;

/// Orders per round.
pub(super) const N_ORDERS: u64 = 4;

/// One way to search.
pub(super) struct Order {
    /// The rank of each shape; lower ranks first.
    pub(super) rank: Vec<u32>,
    /// The equal shape of next lower rank; its own number where there is none.
    pub(super) previous_equal: Vec<u32>,
    /// Whether less slack is preferred to a lower floor.
    pub(super) is_slack_first: bool,
}

/// The order at a place of a round.
pub(super) fn order<T: Height>(part: &Part<T>, round: u64, place: u64) -> Order {
    let mut shapes: Vec<usize> = (0..part.n_shapes()).collect();
    let width = |shape: usize| (part.upper[shape] - part.lower[shape]) as u64;
    let size = |shape: usize| part.bytes[shape];
    let area = |shape: usize| u128::from(width(shape)) * u128::from(size(shape));
    match place {
        0 => shapes.sort_by_key(|shape| (width(*shape), Reverse(size(*shape)), *shape)),
        1 => shapes.sort_by_key(|shape| (Reverse(width(*shape)), Reverse(size(*shape)), *shape)),
        2 => shapes.sort_by_key(|shape| (Reverse(part.peaks[*shape]), Reverse(area(*shape)), *shape)),
        _ => shapes.sort_by_key(|shape| (Reverse(size(*shape)), Reverse(width(*shape)), *shape)),
    }
    let mut keyed: Vec<(u64, usize)> = (0_u64..).zip(shapes).collect();
    if round >= 2 {
        let reach = (keyed.len() as u64 / 8).max(2);
        for (key, shape) in &mut keyed {
            *key = 2 * *key + mix(round * N_ORDERS + place, *shape as u64) % (2 * reach);
        }
        keyed.sort_unstable();
    }
    let mut rank = vec![0; keyed.len()];
    let mut previous_equal = vec![0; keyed.len()];
    let mut last_of_twins: Vec<Option<u32>> = vec![None; keyed.len()];
    for (position, (_, shape)) in (0_u32..).zip(keyed) {
        rank[shape] = position;
        let number = u32::try_from(shape).unwrap_or(u32::MAX);
        let last = last_of_twins[part.twins[shape] as usize].replace(number);
        previous_equal[shape] = last.unwrap_or(number);
    }
    Order {
        rank,
        previous_equal,
        is_slack_first: round.is_multiple_of(2),
    }
}
