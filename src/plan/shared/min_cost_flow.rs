//! Shared objects by minimum cost flow: who takes whose object so that the objects grow least in sum.
//!
//! One unit flows into each buffer, from an earlier buffer that is dead by then (at the cost of what the heir is
//! larger) or from nowhere (at the cost of its size, a new object). Each buffer passes its object on at most once. The
//! cost counts growth from donor to heir alone, so it is an estimate where an object shrinks and grows again.
//!
//! Successive shortest paths with potentials, dense: O(n^3) time, O(n^2) work between two looks at the cancel flag.
//! Above [`MOST`] buffers the assignment by size stands in, which gives the same where sizes are few.
//! Ties: the donor that comes first in order of births; file order among equals.

use super::{Object, agrees, by_size, stack};
use crate::field::Field;
use crate::problem::{Placement, PlanError, Task};
use highwater_model::progress::{Cancelled, Progress};

/// Up to so many buffers flow: a second at most.
const MOST: usize = 768;

/// No path. Below half of the largest number, so that sums hold.
const NEVER: i64 = i64::MAX / 4;

/// Offsets by the rule above.
pub(crate) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| field.items()[idx as usize].lower)?;
    if order.len() > MOST {
        return by_size(task);
    }
    let donors = donors(&field, &order, task.progress)?;
    let mut objects: Vec<Object> = Vec::new();
    let mut object_of = vec![usize::MAX; order.len()];
    // Donors die before their heirs are born, so they stand before them.
    for (heir, donor) in donors.into_iter().enumerate() {
        let idx = order[heir];
        let object = donor.map(|donor| object_of[donor]);
        object_of[heir] = if let Some(object) = object.filter(|object| objects[*object].takes(&field, idx)) {
            objects[object].add(&field, idx);
            object
        } else {
            objects.push(Object::of(&field, idx));
            objects.len() - 1
        };
    }
    Ok(Placement::of(stack(&field, objects)))
}

/// What a donor's object costs an heir; `None` where it cannot take it.
fn growth(field: &Field<'_>, donor: u32, heir: u32) -> Option<i64> {
    let (from, to) = (&field.items()[donor as usize], &field.items()[heir as usize]);
    let is_free = field.upper[donor as usize] <= field.lower[heir as usize];
    (is_free && agrees(from.alignment, to.alignment)).then(|| bytes(to.size.saturating_sub(from.size)))
}

/// For each buffer, by position in `order`, the one whose object it takes.
fn donors(field: &Field<'_>, order: &[u32], progress: &Progress<'_>) -> Result<Vec<Option<usize>>, Cancelled> {
    let n = order.len();
    let mut flow = Flow::new(n);
    for heir in 0..n {
        progress.set("flow of objects", heir as u64, n as u64)?;
        flow.augment(
            heir,
            |donor, heir| growth(field, order[donor], order[heir]),
            |heir| bytes(field.items()[order[heir] as usize].size),
        );
    }
    Ok(flow.donor_of)
}

/// The flow so far: a matching of heirs and donors, with potentials that keep reduced costs at or above zero.
struct Flow {
    heir_of: Vec<Option<usize>>,
    donor_of: Vec<Option<usize>>,
    heir_potential: Vec<i64>,
    donor_potential: Vec<i64>,
}

impl Flow {
    fn new(n: usize) -> Self {
        Self {
            heir_of: vec![None; n],
            donor_of: vec![None; n],
            heir_potential: vec![0; n],
            donor_potential: vec![0; n],
        }
    }

    /// Sends one more unit into `root` along the cheapest path; the path ends at a free donor or a new object.
    fn augment(&mut self, root: usize, growth: impl Fn(usize, usize) -> Option<i64>, alone: impl Fn(usize) -> i64) {
        let n = self.heir_of.len();
        let mut distance = vec![NEVER; n];
        let mut heir_before = vec![root; n];
        let mut is_done = vec![false; n];
        let (mut heir, mut reached) = (root, 0_i64);
        // The cheapest way to end with a new object, and for whom.
        let (mut cheapest, mut alone_heir) = (NEVER, root);
        let end = loop {
            let new_object = reached + alone(heir) - self.heir_potential[heir];
            if new_object < cheapest {
                (cheapest, alone_heir) = (new_object, heir);
            }
            let mut next: Option<usize> = None;
            for donor in 0..n {
                if is_done[donor] {
                    continue;
                }
                if let Some(cost) = growth(donor, heir) {
                    let through = reached + cost - self.heir_potential[heir] - self.donor_potential[donor];
                    if through < distance[donor] {
                        distance[donor] = through;
                        heir_before[donor] = heir;
                    }
                }
                if distance[donor] < next.map_or(NEVER, |next| distance[next]) {
                    next = Some(donor);
                }
            }
            let Some(donor) = next.filter(|donor| distance[*donor] < cheapest) else {
                reached = cheapest;
                break None;
            };
            reached = distance[donor];
            is_done[donor] = true;
            match self.heir_of[donor] {
                Some(other) => heir = other,
                None => break Some(donor),
            }
        };
        self.raise(root, reached, &is_done, &distance);
        self.switch(
            root,
            end.map_or((alone_heir, None), |donor| (heir_before[donor], Some(donor))),
            &heir_before,
        );
    }

    /// Moves the potentials so that the path found costs nothing more.
    fn raise(&mut self, root: usize, reached: i64, is_done: &[bool], distance: &[i64]) {
        self.heir_potential[root] += reached;
        for donor in 0..is_done.len() {
            if is_done[donor] {
                let gain = reached - distance[donor];
                self.donor_potential[donor] -= gain;
                if let Some(heir) = self.heir_of[donor] {
                    self.heir_potential[heir] += gain;
                }
            }
        }
    }

    /// Gives each heir on the path its new donor, from the path's end back to the root.
    fn switch(&mut self, root: usize, end: (usize, Option<usize>), heir_before: &[usize]) {
        let (mut heir, mut donor) = end;
        loop {
            let given_up = std::mem::replace(&mut self.donor_of[heir], donor);
            if let Some(donor) = donor {
                self.heir_of[donor] = Some(heir);
            }
            if heir == root {
                return;
            }
            // The donor that this heir gave up goes to the heir before it.
            let Some(freed) = given_up else { return };
            donor = Some(freed);
            heir = heir_before[freed];
        }
    }
}

/// Valid problems stay below 2^62 in sum.
fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The least cost over all ways to give each heir from `heir` on a donor of its own or a new object.
    fn least(costs: &[Vec<Option<i64>>], alone: &[i64], heir: usize, is_taken: &mut [bool]) -> i64 {
        let Some(row) = costs.get(heir) else { return 0 };
        let mut best = alone[heir] + least(costs, alone, heir + 1, is_taken);
        for (donor, cost) in row.iter().enumerate() {
            if let Some(cost) = cost.filter(|_| !is_taken[donor]) {
                is_taken[donor] = true;
                best = best.min(cost + least(costs, alone, heir + 1, is_taken));
                is_taken[donor] = false;
            }
        }
        best
    }

    #[test]
    fn the_flow_costs_as_little_as_any_assignment() {
        let mut random = Random::new(3);
        for _ in 0..400 {
            let n = 1 + usize::try_from(random.below(6)).unwrap_or(0);
            let cost = |random: &mut Random| bytes(random.below(9));
            let alone: Vec<i64> = (0..n).map(|_| 3 + cost(&mut random)).collect();
            let costs: Vec<Vec<Option<i64>>> = (0..n)
                .map(|_| {
                    let row = (0..n).map(|_| Some(cost(&mut random)).filter(|_| random.below(3) > 0));
                    row.collect()
                })
                .collect();
            let mut flow = Flow::new(n);
            for heir in 0..n {
                flow.augment(heir, |donor, heir| costs[heir][donor], |heir| alone[heir]);
            }
            let paid = |heir: usize| flow.donor_of[heir].map_or(Some(alone[heir]), |donor| costs[heir][donor]);
            let total: Option<i64> = (0..n).map(paid).sum();
            assert_eq!(total, Some(least(&costs, &alone, 0, &mut vec![false; n])));
            for (heir, donor) in flow.donor_of.iter().enumerate() {
                assert!(donor.is_none_or(|donor| flow.heir_of[donor] == Some(heir)));
            }
        }
    }
}
