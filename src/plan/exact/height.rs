//! The number type of heights: 32 bits where they suffice, otherwise 64.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Rem, Sub, SubAssign};

/// An offset, a size or a capacity in units of the partition.
pub(super) trait Height:
    Copy
    + Ord
    + Debug
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Above every offset: the bound of placed shapes.
    const MAX: Self;
    const ZERO: Self;
    /// `number` must fit.
    fn of(number: u64) -> Self;
    /// As `u64`.
    fn wide(self) -> u64;

    /// The least multiple of `alignment` at or above it.
    fn align_up(self, alignment: Self) -> Self {
        let over = self % alignment;
        if over == Self::ZERO {
            self
        } else {
            self + (alignment - over)
        }
    }
}

impl Height for u32 {
    const MAX: Self = Self::MAX;
    const ZERO: Self = 0;

    fn of(number: u64) -> Self {
        Self::try_from(number).unwrap_or(Self::MAX)
    }

    fn wide(self) -> u64 {
        u64::from(self)
    }
}

impl Height for u64 {
    const MAX: Self = Self::MAX;
    const ZERO: Self = 0;

    fn of(number: u64) -> Self {
        number
    }

    fn wide(self) -> u64 {
        self
    }
}
