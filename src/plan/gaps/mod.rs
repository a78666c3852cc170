//! Gap filling: shapes in order, each into a gap between the placed ones.
//!
//! Strategies differ in the order and in the choice of the gap. Fixed shapes are placed first. Shapes with gaps and
//! groups are placed by their true pieces: a placed shape excludes an open interval of offsets (see
//! [`Shapes::separation`]). Complexity: O(n * (list + log n)), where the list of a shape holds its neighbours in time
//! and nearby shapes, see [`windows`]: a few times the overlaps for lives of similar length, more for mixed ones.

mod fit;
mod list;
mod windows;

pub(super) use fit::{Align, Fit, Scratch, signed};
pub(super) use windows::{Placed, Windows, n_reads};

use super::field::Field;
use super::problem::{Placement, PlanError, Task};
use highwater_model::progress::{Cancelled, Progress};
#[cfg(doc)]
use highwater_model::workload::Shapes;

/// A strategy of one order and one fit.
pub(super) fn strategy<K: Ord + Copy>(
    task: &Task<'_>,
    fit: Fit,
    key: impl Fn(&Field<'_>, u32) -> K,
) -> Result<Placement, PlanError> {
    let field = Field::new(task.shapes, task.progress)?;
    let order = field.free_by(task.progress, |idx| key(&field, idx))?;
    Ok(Placement::of(fill(&field, &order, fit, task.progress)?))
}

/// Offsets of all shapes; `order` names each free shape once.
pub(super) fn fill(field: &Field<'_>, order: &[u32], fit: Fit, progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    let mut offsets = field.blank_offsets();
    let mut placed = Windows::with_fixed(field);
    let mut scratch = Scratch::default();
    fill_on(field, &mut placed, order, fit, &mut offsets, &mut scratch, progress)?;
    Ok(offsets)
}

/// Places further shapes among the placed ones.
pub(super) fn fill_on(
    field: &Field<'_>,
    placed: &mut Windows,
    order: &[u32],
    fit: Fit,
    offsets: &mut [u64],
    scratch: &mut Scratch,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let mut looked_at = 0_usize;
    for (done, idx) in (0_u64..).zip(order) {
        // About a millisecond of reading.
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
