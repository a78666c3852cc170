//! Shared objects: every buffer gets a whole object, shared with buffers that are never live at the same time.
//!
//! ```text
//! object 1  +--a--+  +---c---+
//! object 0  +---b---+   +--d--+       objects are stacked
//! ```
//!
//! For devices whose memory consists of textures or separate allocations; as offsets it needs more than free placement.
//! Shapes with gaps and groups count as their bounding rectangles. Fixed ones keep their offsets, the objects are above
//! the highest of them, the larger below, the older below on a tie. An object's buffers all have alignments that divide
//! its own.

mod min_cost_flow;

pub(super) use min_cost_flow::place as min_cost_flow;

use std::cmp::Reverse;

use super::breadth;
use super::field::Field;
use super::gaps::Align;
use super::problem::{Placement, PlanError, Task};
use highwater_model::progress::{Cancelled, Progress};

/// The largest buffer first: every object is then large enough for all later buffers. Ties: earlier birth, then file
/// order (Pisarchyk and Lee, 2020). O(n * objects * log n).
pub(super) fn by_size(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (Reverse(item.size), item.lower)
    })?;
    in_order(&field, &order, task)
}

/// The steps with the most live bytes first, of each step the largest buffer first. An object may grow. Ties: the
/// earlier step, the earlier birth, file order (Pisarchyk and Lee, 2020). O(n * objects * log n).
pub(super) fn by_breadth(task: &Task<'_>) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = breadth::order(&field, task.progress)?;
    in_order(&field, &order, task)
}

fn in_order(field: &Field<'_>, order: &[u32], task: &Task<'_>) -> Result<Placement, PlanError> {
    let objects = assign(field, order, task.progress)?;
    Ok(Placement::of(stack(field, objects)))
}

/// An object and its buffers.
#[derive(Debug, Default)]
struct Object {
    size: u64,
    alignment: u64,
    /// Live ranges of its shapes, ascending and disjoint, and the shapes.
    holders: Vec<(u32, u32, u32)>,
}

impl Object {
    fn of(field: &Field<'_>, idx: u32) -> Self {
        let item = &field.items()[idx as usize];
        Self {
            size: item.size,
            alignment: item.alignment,
            holders: vec![(field.lower[idx as usize], field.upper[idx as usize], idx)],
        }
    }

    /// Whether it is unused while the shape is live, and the alignments agree.
    fn takes(&self, field: &Field<'_>, idx: u32) -> bool {
        let (lower, upper) = (field.lower[idx as usize], field.upper[idx as usize]);
        let alignment = field.items()[idx as usize].alignment;
        let behind = self.holders.partition_point(|holder| holder.1 <= lower);
        self.holders.get(behind).is_none_or(|holder| holder.0 >= upper) && agrees(self.alignment, alignment)
    }

    fn add(&mut self, field: &Field<'_>, idx: u32) {
        let item = &field.items()[idx as usize];
        let holder = (field.lower[idx as usize], field.upper[idx as usize], idx);
        let position = self.holders.partition_point(|other| *other < holder);
        self.holders.insert(position, holder);
        self.size = self.size.max(item.size);
        self.alignment = self.alignment.max(item.alignment);
    }
}

/// Whether one alignment divides the other, so that the larger serves both.
fn agrees(one: u64, other: u64) -> bool {
    one.max(other).is_multiple_of(one.min(other))
}

/// Assigns objects in order: the smallest free object that is large enough, the older one on a tie; where all free ones
/// are too small the largest of them, which grows; otherwise a new one. O(n * objects * log n).
fn assign(field: &Field<'_>, order: &[u32], progress: &Progress<'_>) -> Result<Vec<Object>, Cancelled> {
    let mut objects: Vec<Object> = Vec::new();
    // Sizes with positions, ascending.
    let mut by_size: Vec<(u64, usize)> = Vec::new();
    for (done, idx) in (0_u64..).zip(order) {
        progress.set("sharing objects", done, order.len() as u64)?;
        let size = field.items()[*idx as usize].size;
        let enough = by_size.partition_point(|(room, _)| *room < size);
        let larger = (enough..by_size.len()).find(|at| objects[by_size[*at].1].takes(field, *idx));
        let found = larger.or_else(|| (0..enough).rev().find(|at| objects[by_size[*at].1].takes(field, *idx)));
        let position = if let Some(at) = found {
            let position = by_size.remove(at).1;
            objects[position].add(field, *idx);
            position
        } else {
            objects.push(Object::of(field, *idx));
            objects.len() - 1
        };
        let entry = (objects[position].size, position);
        by_size.insert(by_size.partition_point(|other| *other < entry), entry);
    }
    Ok(objects)
}

/// Offsets of all shapes: objects in a stack.
fn stack(field: &Field<'_>, mut objects: Vec<Object>) -> Vec<u64> {
    let mut offsets = field.blank_offsets();
    objects.sort_by_key(|object| Reverse(object.size));
    let mut top = field.fixed_top();
    for object in &objects {
        let offset = Align(object.alignment).up(top);
        for (_, _, idx) in &object.holders {
            offsets[*idx as usize] = offset;
        }
        top = offset + object.size;
    }
    offsets
}
