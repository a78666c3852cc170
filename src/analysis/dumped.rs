//! The plan that a compiler's dump states for its own graph, as a plan of the live ranges found here.

use crate::workload::{DumpedOffsets, Lifetimes, RecordedPlan};

/// The dumped offset of each live range. A live range is that of a tensor or of the root of a storage.
///
/// # Errors
/// Positions of the live ranges whose tensor has no offset.
pub fn dumped_plan(dumped: &DumpedOffsets, lifetimes: &Lifetimes) -> Result<RecordedPlan, Vec<usize>> {
    let mut offsets = Vec::with_capacity(lifetimes.items.len());
    let mut missing = Vec::new();
    for (position, item) in lifetimes.items.iter().enumerate() {
        match dumped.offsets.get(item.tensor.0 as usize).copied().flatten() {
            Some(offset) => offsets.push(offset),
            None => missing.push(position),
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    Ok(RecordedPlan {
        offsets,
        maker: dumped.maker.clone(),
    })
}
