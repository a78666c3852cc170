//! A placement problem of any size, the same in every run: 30 % buffers of nested forward and backward passes, 70 %
//! short ones.

use highwater::plan::{Buffer, PlacementProblem};
use highwater::units::{Bytes, Step};

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(limit)).expect("below a 32-bit limit")
    }
}

/// `n` buffers over `n` steps.
pub(crate) fn nested_and_short(n: u32) -> PlacementProblem {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let n_steps = n.max(16);
    let buffers = (0..n).map(|_| {
        let is_nested = random.below(10) < 3;
        let (lower, upper) = if is_nested {
            // A buffer of a forward step is needed at the mirrored backward step.
            let depth = random.below(n_steps / 2 - 1);
            (depth, n_steps - depth)
        } else {
            let lower = random.below(n_steps - 8);
            (lower, lower + 1 + random.below(7))
        };
        let size = u64::from(1 + random.below(4096)) * 512;
        Buffer {
            lower: Step(lower),
            upper: Step(upper),
            size: Bytes(size),
            alignment: 512,
            offset: None,
        }
    });
    PlacementProblem::of(buffers)
}
