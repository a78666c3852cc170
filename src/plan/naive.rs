//! No reuse: every buffer behind the previous one. The upper bound that reuse is measured against.
//!
//! Fixed buffers keep their offsets; all others are above the highest of them.

use super::problem::{Placement, PlanError, Task};
use highwater_model::units::Bytes;

/// O(n).
pub(super) fn place(task: &Task<'_>) -> Result<Placement, PlanError> {
    task.progress.check()?;
    let items = &task.shapes.items;
    let fixed = items.iter().filter_map(|item| Some(item.fixed? + item.size));
    let mut next = Bytes(fixed.max().unwrap_or(0));
    let offsets = items.iter().map(|item| {
        item.fixed.unwrap_or_else(|| {
            let offset = next.align_up(item.alignment);
            next = offset + Bytes(item.size);
            offset.get()
        })
    });
    Ok(Placement::of(offsets.collect()))
}
