//! The planner's vocabulary: buffers, problems, plans.
//!
//! ```text
//! offset                      a buffer is a rectangle: lower..upper wide (steps),
//!   |   +----b----+           size high; two that overlap in steps must not
//!   |+--a--+      |           overlap in offsets
//!   +-----------------> step
//! ```

use crate::units::{Bytes, Step};
use crate::workload::Lifetimes;

/// One buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First step, inclusive.
    pub lower: Step,
    /// Last step, exclusive; greater than `lower`.
    pub upper: Step,
    /// Bytes to place.
    pub size: Bytes,
    /// Divisor of the offset, at least 1.
    pub alignment: u64,
}

impl Buffer {
    /// Whether both are live on some step.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }
}

/// Buffers to place in one arena, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The buffers.
    pub buffers: Vec<Buffer>,
}

impl Problem {
    /// The problem of placing lifetimes: sizes are rounded up to `alignment`, ranges stay as they are.
    pub fn from_lifetimes(lifetimes: &Lifetimes, alignment: u64) -> Self {
        let buffers = lifetimes
            .items
            .iter()
            .map(|item| Buffer {
                lower: item.birth,
                upper: item.end,
                size: item.bytes.align_up(alignment),
                alignment: alignment.max(1),
            })
            .collect();
        Self { buffers }
    }

    /// The largest sum of sizes that are live at once: no plan can need less. O(n log n).
    pub fn lower_bound(&self) -> Bytes {
        let mut changes: Vec<(Step, bool, u64)> = Vec::with_capacity(self.buffers.len() * 2);
        for buffer in &self.buffers {
            changes.push((buffer.lower, true, buffer.size.get()));
            changes.push((buffer.upper, false, buffer.size.get()));
        }
        // Ends sort before births on the same step, because ranges are half-open.
        changes.sort_unstable();
        let (mut live, mut peak) = (0_u64, 0_u64);
        for (_, is_birth, size) in changes {
            live = if is_birth {
                live.saturating_add(size)
            } else {
                live.saturating_sub(size)
            };
            peak = peak.max(live);
        }
        Bytes(peak)
    }
}

/// An offset for each buffer of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Offsets in the order of the problem's buffers.
    pub offsets: Vec<u64>,
    /// The highest offset plus size.
    pub footprint: Bytes,
}

impl Plan {
    /// The plan of these offsets, with its footprint.
    pub fn new(problem: &Problem, offsets: Vec<u64>) -> Self {
        let footprint = problem
            .buffers
            .iter()
            .zip(&offsets)
            .map(|(buffer, offset)| offset.saturating_add(buffer.size.get()))
            .max()
            .unwrap_or(0);
        Self {
            offsets,
            footprint: Bytes(footprint),
        }
    }
}
