//! Filling gaps: shapes one after the other, each into a gap that the shapes before it left.
//!
//! The strategies that fill gaps differ in the order and in the gap they take. Fixed shapes stand first. Shapes with
//! gaps and groups are placed by their true pieces: a placed shape forbids an open interval of offsets (see
//! [`Shapes::separation`]). Complexity: O(n * (list + log n)), where the list of a shape holds what meets it and what
//! lives near it, see [`windows`]: a few times the overlaps for lives that are alike, more for mixed ones.

mod fit;
mod list;
mod windows;

pub(super) use fit::{Align, Fit, Scratch, signed};
pub(super) use windows::{Placed, Windows, looks};

use super::field::Field;
use super::problem::{Placement, PlanError, Task};
use highwater_model::progress::{Cancelled, Progress};
#[cfg(doc)]
use highwater_model::workload::Shapes;

/// One order filled into gaps by one rule, as a whole strategy.
pub(super) fn strategy<K: Ord + Copy>(
    task: &Task<'_>,
    fit: Fit,
    key: impl Fn(&Field<'_>, u32) -> K,
) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| key(&field, idx))?;
    Ok(Placement::of(fill(&field, &order, fit, task.progress)?))
}

/// Offsets of all shapes, the free ones (`order` names each of them once) in the order given.
pub(super) fn fill(field: &Field<'_>, order: &[u32], fit: Fit, progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    let mut offsets = field.blank_offsets();
    let mut placed = Windows::with_fixed(field);
    let mut scratch = Scratch::default();
    fill_on(field, &mut placed, (order, fit), (&mut offsets, &mut scratch), progress)?;
    Ok(offsets)
}

/// Fills further shapes into what stands already.
pub(super) fn fill_on(
    field: &Field<'_>,
    placed: &mut Windows,
    (order, fit): (&[u32], Fit),
    (offsets, scratch): (&mut [u64], &mut Scratch),
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let mut looked_at = 0_usize;
    for (done, idx) in (0_u64..).zip(order) {
        // About a millisecond of looking.
        if looked_at > 500_000 {
            looked_at = 0;
            progress.set("filling gaps", done, order.len() as u64)?;
        }
        let near = placed.around(field, *idx);
        looked_at += near.len() + 64;
        let gap = scratch.gap(field, *idx, near, fit);
        offsets[*idx as usize] = gap.offset;
        placed.add(Placed::new(field, *idx, gap.offset));
    }
    Ok(())
}
