//! Skyline: the longest-lived buffer first, each on top of everything on its steps.
//!
//! ```text
//!        +--c--+            each placed buffer raises the skyline over its steps;
//!   +--b--+    |            later buffers never go below it
//!   +-----a----------+
//! ```
//!
//! Ties: the larger one, then the earlier birth, then file order. A segment tree over compressed steps holds the
//! skyline: O(n log n) for any number of buffers. Shapes with gaps and groups count as their bounding rectangles; free
//! ones are above the highest fixed end.

use std::cmp::Reverse;
use std::ops::Range;

use super::field::Field;
use super::gaps::Align;
use super::problem::{Placement, PlanError, Task};

pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.upper - item.lower), Reverse(item.size), item.lower)
    })?;
    let mut offsets = field.blank_offsets();
    let mut skyline = Skyline::new(field.n_steps as usize, field.fixed_top());
    for (done, idx) in (0_u64..).zip(&order) {
        if done % 4096 == 0 {
            task.progress.set("building the skyline", done, order.len() as u64)?;
        }
        let item = &field.items()[*idx as usize];
        let steps = field.lower[*idx as usize] as usize..field.upper[*idx as usize] as usize;
        let offset = Align(item.alignment).up(skyline.highest(&steps));
        offsets[*idx as usize] = offset;
        skyline.raise(&steps, offset + item.size);
    }
    Ok(Placement::of(offsets))
}

/// Heights over steps that only increase: range maximum, and raising a range to at least its maximum.
struct Skyline {
    n_leaves: usize,
    /// Node 1 is the root, `2 k` and `2 k + 1` are the halves of `k`; leaves come last.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    /// The highest below this node, without the floors of its ancestors.
    highest: u64,
    /// A lower bound of the height of all its steps.
    floor: u64,
}

impl Skyline {
    fn new(n_steps: usize, height: u64) -> Self {
        let node = Node {
            highest: height,
            floor: height,
        };
        Self {
            n_leaves: n_steps,
            nodes: vec![node; 2 * n_steps],
        }
    }

    fn highest(&self, steps: &Range<usize>) -> u64 {
        let (mut left, mut right) = (steps.start + self.n_leaves, steps.end + self.n_leaves);
        let mut highest = self.floor(left).max(self.floor(right - 1));
        while left < right {
            if left % 2 == 1 {
                highest = highest.max(self.nodes[left].highest);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                highest = highest.max(self.nodes[right].highest);
            }
            left /= 2;
            right /= 2;
        }
        highest
    }

    /// The floors of a leaf and of its ancestors. The ancestors of both ends include those of every node between.
    fn floor(&self, leaf: usize) -> u64 {
        let (mut node, mut floor) = (leaf, 0);
        while node > 0 {
            floor = floor.max(self.nodes[node].floor);
            node /= 2;
        }
        floor
    }

    fn raise(&mut self, steps: &Range<usize>, height: u64) {
        let (mut left, mut right) = (steps.start + self.n_leaves, steps.end + self.n_leaves);
        let raised = Node {
            highest: height,
            floor: height,
        };
        while left < right {
            if left % 2 == 1 {
                self.nodes[left] = raised;
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.nodes[right] = raised;
            }
            left /= 2;
            right /= 2;
        }
        for leaf in [steps.start + self.n_leaves, steps.end - 1 + self.n_leaves] {
            let mut node = leaf / 2;
            while node > 0 {
                let top = &mut self.nodes[node].highest;
                *top = (*top).max(height);
                node /= 2;
            }
        }
    }
}
