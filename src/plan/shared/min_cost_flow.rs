//! Shared objects by minimum cost flow: assigns objects to buffers so that they grow least in total.
//!
//! One unit flows into each buffer, from an earlier buffer that is dead by then (at the cost of the later one's extra
//! size) or from a source (at the cost of its size, a new object). Each buffer passes its object on at most once. The
//! cost counts growth from one buffer to the next only, so it is an estimate where an object shrinks and grows again.
//!
//! Successive shortest paths with potentials, dense: O(n^3) time, O(n^2) work between two checks of the cancel flag.
//! Above [`MOST`] buffers the assignment by size is used, which is equal where there are few sizes. Ties: the earlier
//! buffer that comes first in order of births; file order among equal ones.

use super::{Object, agrees, by_size, stack};
use crate::field::Field;
use crate::problem::{Placement, PlanError, Task};
use highwater_model::progress::{Cancelled, Progress};

/// Most buffers of a flow: at most a second.
const MOST: usize = 768;

/// No path. Below half of the largest number, so that sums do not overflow.
const NEVER: i64 = i64::MAX / 4;

pub(crate) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| field.items()[idx as usize].lower)?;
    if order.len() > MOST {
        return by_size(task);
    }
    let earlier_of = earlier_of(&field, &order, task.progress)?;
    let mut objects: Vec<Object> = Vec::new();
    let mut object_of = vec![usize::MAX; order.len()];
    // Earlier buffers die before later ones are born, so they precede them.
    for (later, earlier) in earlier_of.into_iter().enumerate() {
        let idx = order[later];
        let object = earlier.map(|earlier| object_of[earlier]);
        object_of[later] = if let Some(object) = object.filter(|object| objects[*object].takes(&field, idx)) {
            objects[object].add(&field, idx);
            object
        } else {
            objects.push(Object::of(&field, idx));
            objects.len() - 1
        };
    }
    Ok(Placement::of(stack(&field, objects)))
}

/// Cost of passing the earlier buffer's object to the later one; `None` where it cannot be used.
fn growth(field: &Field<'_>, earlier: u32, later: u32) -> Option<i64> {
    let (from, to) = (&field.items()[earlier as usize], &field.items()[later as usize]);
    let is_free = field.upper[earlier as usize] <= field.lower[later as usize];
    (is_free && agrees(from.alignment, to.alignment)).then(|| bytes(to.size.saturating_sub(from.size)))
}

/// By position in `order`: the buffer whose object it takes.
fn earlier_of(field: &Field<'_>, order: &[u32], progress: &Progress<'_>) -> Result<Vec<Option<usize>>, Cancelled> {
    let n = order.len();
    let mut flow = Flow::new(n);
    for later in 0..n {
        progress.set("flow of objects", later as u64, n as u64)?;
        flow.augment(
            later,
            |earlier, later| growth(field, order[earlier], order[later]),
            |later| bytes(field.items()[order[later] as usize].size),
        );
    }
    Ok(flow.earlier_of)
}

/// The flow so far: a matching of earlier and later buffers, with potentials that keep reduced costs non-negative.
struct Flow {
    later_of: Vec<Option<usize>>,
    earlier_of: Vec<Option<usize>>,
    later_potential: Vec<i64>,
    earlier_potential: Vec<i64>,
}

impl Flow {
    fn new(n: usize) -> Self {
        Self {
            later_of: vec![None; n],
            earlier_of: vec![None; n],
            later_potential: vec![0; n],
            earlier_potential: vec![0; n],
        }
    }

    /// Sends one more unit into `root` along the cheapest path; the path ends at a free earlier buffer or a new object.
    fn augment(&mut self, root: usize, growth: impl Fn(usize, usize) -> Option<i64>, alone: impl Fn(usize) -> i64) {
        let n = self.later_of.len();
        let mut distance = vec![NEVER; n];
        let mut later_before = vec![root; n];
        let mut is_done = vec![false; n];
        let (mut later, mut reached) = (root, 0_i64);
        // The cheapest way to end with a new object, and its buffer.
        let (mut cheapest, mut alone_later) = (NEVER, root);
        let end = loop {
            let new_object = reached + alone(later) - self.later_potential[later];
            if new_object < cheapest {
                (cheapest, alone_later) = (new_object, later);
            }
            let mut next: Option<usize> = None;
            for earlier in 0..n {
                if is_done[earlier] {
                    continue;
                }
                if let Some(cost) = growth(earlier, later) {
                    let through = reached + cost - self.later_potential[later] - self.earlier_potential[earlier];
                    if through < distance[earlier] {
                        distance[earlier] = through;
                        later_before[earlier] = later;
                    }
                }
                if distance[earlier] < next.map_or(NEVER, |next| distance[next]) {
                    next = Some(earlier);
                }
            }
            let Some(earlier) = next.filter(|earlier| distance[*earlier] < cheapest) else {
                reached = cheapest;
                break None;
            };
            reached = distance[earlier];
            is_done[earlier] = true;
            match self.later_of[earlier] {
                Some(other) => later = other,
                None => break Some(earlier),
            }
        };
        self.raise(root, reached, &is_done, &distance);
        self.switch(
            root,
            end.map_or((alone_later, None), |earlier| (later_before[earlier], Some(earlier))),
            &later_before,
        );
    }

    /// Updates the potentials so that the found path has reduced cost 0.
    fn raise(&mut self, root: usize, reached: i64, is_done: &[bool], distance: &[i64]) {
        self.later_potential[root] += reached;
        for earlier in 0..is_done.len() {
            if is_done[earlier] {
                let gain = reached - distance[earlier];
                self.earlier_potential[earlier] -= gain;
                if let Some(later) = self.later_of[earlier] {
                    self.later_potential[later] += gain;
                }
            }
        }
    }

    /// Reassigns the buffers on the path, from its end back to the root.
    fn switch(&mut self, root: usize, end: (usize, Option<usize>), later_before: &[usize]) {
        let (mut later, mut earlier) = end;
        loop {
            let given_up = std::mem::replace(&mut self.earlier_of[later], earlier);
            if let Some(earlier) = earlier {
                self.later_of[earlier] = Some(later);
            }
            if later == root {
                return;
            }
            // The freed earlier buffer goes to the previous later one on the path.
            let Some(freed) = given_up else { return };
            earlier = Some(freed);
            later = later_before[freed];
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

    /// The least cost of assigning each buffer from `later` on a distinct earlier buffer or a new object.
    fn least(costs: &[Vec<Option<i64>>], alone: &[i64], later: usize, is_taken: &mut [bool]) -> i64 {
        let Some(row) = costs.get(later) else { return 0 };
        let mut best = alone[later] + least(costs, alone, later + 1, is_taken);
        for (earlier, cost) in row.iter().enumerate() {
            if let Some(cost) = cost.filter(|_| !is_taken[earlier]) {
                is_taken[earlier] = true;
                best = best.min(cost + least(costs, alone, later + 1, is_taken));
                is_taken[earlier] = false;
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
            for later in 0..n {
                flow.augment(later, |earlier, later| costs[later][earlier], |later| alone[later]);
            }
            let paid =
                |later: usize| flow.earlier_of[later].map_or(Some(alone[later]), |earlier| costs[later][earlier]);
            let total: Option<i64> = (0..n).map(paid).sum();
            assert_eq!(total, Some(least(&costs, &alone, 0, &mut vec![false; n])));
            for (later, earlier) in flow.earlier_of.iter().enumerate() {
                assert!(earlier.is_none_or(|earlier| flow.later_of[earlier] == Some(later)));
            }
        }
    }
}
