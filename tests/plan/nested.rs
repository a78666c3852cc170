//! A made-up problem of any size: buffers of a forward pass that wait for the backward pass, and short ones.

use highwater_model::units::{Bytes, Step};
use highwater_plan::{Buffer, PlacementProblem};

/// Three buffers in ten are born in the first half and die as far from the end as they were born from the start; the
/// others live up to eight steps. Sizes are multiples of 512 bytes over four orders of magnitude.
pub(crate) fn nested(n_buffers: u32) -> PlacementProblem {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |limit: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u32::try_from((state >> 16) % u64::from(limit.max(1))).unwrap_or(0)
    };
    let n_steps = n_buffers.max(2);
    PlacementProblem::of((0..n_buffers).map(|position| {
        let size = u64::from(1 + below(64)) << below(12);
        let (lower, upper) = if position % 10 < 3 {
            let lower = below(n_steps / 2);
            (lower, n_steps - lower)
        } else {
            let lower = below(n_steps);
            (lower, lower + 1 + below(8))
        };
        Buffer {
            lower: Step(lower),
            upper: Step(upper),
            size: Bytes(size * 512),
            alignment: 1,
            offset: None,
        }
    }))
}
