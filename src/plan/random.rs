//! Seeded pseudo-random numbers for searches (xorshift, 64 bits): equal seeds give equal searches.

#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Any seed is valid.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`; 0 where that is 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16).checked_rem(limit).unwrap_or(0)
    }
}
