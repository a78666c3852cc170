//! No reuse: every buffer behind the one before. The upper bound that reuse is measured against.

use super::problem::Problem;
use crate::progress::{Cancelled, Progress};

/// Offsets without any reuse, in file order. O(n).
pub(super) fn place(problem: &Problem, progress: &Progress<'_>) -> Result<Vec<u64>, Cancelled> {
    progress.check()?;
    let mut next = crate::units::Bytes::ZERO;
    let offsets = problem
        .buffers
        .iter()
        .map(|buffer| {
            let offset = next.align_up(buffer.alignment);
            next = offset + buffer.size;
            offset.get()
        })
        .collect();
    Ok(offsets)
}
