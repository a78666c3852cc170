//! Ranks of addresses, and sets of ranks with predecessor and successor queries.
//!
//! In: rectangles. Out: the rank of each end among all ends, so that sweeps use arrays and bits instead of trees.
//! Ranking is a sort, O(n log n); a query of a set reads one word of 64 bits on each of log64(n) levels.

use super::reuse::Rectangle;

/// The ends of rectangles by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    /// Addresses, ascending, distinct.
    pub(super) values: Vec<u64>,
    /// Ranks of each rectangle's first byte and of its end.
    pub(super) of: Vec<(u32, u32)>,
}

impl Ranks {
    pub(super) fn new(rectangles: &[Rectangle]) -> Self {
        let all = rectangles.iter().fold(0, |all, one| all | one.offset | one.top());
        let shift = all.trailing_zeros() % u64::BITS;
        // Small multiples of a power of two fit into one word with the number of the end: half the memory.
        if u32::try_from(all >> shift).is_ok() {
            let word = |(address, end): (u64, u32)| ((address >> shift) << 32) | u64::from(end);
            let parts = |word: u64| {
                let end = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
                ((word >> 32) << shift, end)
            };
            Self::of(rectangles, word, parts)
        } else {
            Self::of(rectangles, |end| end, |end| end)
        }
    }

    /// `key` makes an end sortable by address, and `parts` gives back its address and number.
    fn of<K: Ord + Copy>(
        rectangles: &[Rectangle],
        key: impl Fn((u64, u32)) -> K,
        parts: impl Fn(K) -> (u64, u32),
    ) -> Self {
        let mut ends: Vec<K> = Vec::with_capacity(rectangles.len() * 2);
        for (idx, rectangle) in (0_u32..).step_by(2).zip(rectangles) {
            ends.push(key((rectangle.offset, idx)));
            ends.push(key((rectangle.top(), idx + 1)));
        }
        ends.sort_unstable();
        let addresses = || ends.iter().map(|end| parts(*end).0);
        let n_values = addresses().zip(addresses().skip(1)).filter(|(one, next)| one != next);
        let mut ranks = Self {
            values: Vec::with_capacity(n_values.count() + 1),
            of: vec![(0, 0); rectangles.len()],
        };
        for end in ends {
            let (address, end) = parts(end);
            if ranks.values.last() != Some(&address) {
                ranks.values.push(address);
            }
            let rank = u32::try_from(ranks.values.len() - 1).unwrap_or(u32::MAX);
            let of = &mut ranks.of[(end / 2) as usize];
            if end % 2 == 0 {
                of.0 = rank;
            } else {
                of.1 = rank;
            }
        }
        ranks
    }
}

/// A step and the position of each rectangle that is not empty, sorted.
pub(super) fn by_step(rectangles: &[Rectangle], step: impl Fn(&Rectangle) -> u32) -> Vec<(u32, u32)> {
    let all = (0_u32..).zip(rectangles);
    let mut order: Vec<(u32, u32)> = all
        .filter(|(_, rectangle)| !rectangle.is_empty())
        .map(|(position, rectangle)| (step(rectangle), position))
        .collect();
    if !order.is_sorted() {
        order.sort_unstable();
    }
    order
}

/// A set of ranks below a limit: bits, bits of non-empty words, and so on.
#[derive(Clone, Debug)]
pub(super) struct RankSet {
    levels: Vec<Vec<u64>>,
}

impl RankSet {
    /// An empty set for ranks below `limit`.
    pub(super) fn new(limit: usize) -> Self {
        let mut levels = Vec::new();
        let mut n = limit.max(1);
        loop {
            n = n.div_ceil(64);
            levels.push(vec![0; n]);
            if n == 1 {
                return Self { levels };
            }
        }
    }

    pub(super) fn insert(&mut self, rank: u32) {
        let mut at = rank as usize;
        for level in &mut self.levels {
            level[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    pub(super) fn remove(&mut self, rank: u32) {
        let mut at = rank as usize;
        for level in &mut self.levels {
            level[at / 64] &= !(1 << (at % 64));
            if level[at / 64] != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least member at or above a rank.
    pub(super) fn at_or_above(&self, rank: u32) -> Option<u32> {
        let mut at = rank as usize;
        for (depth, level) in self.levels.iter().enumerate() {
            let word = level.get(at / 64)? & (u64::MAX << (at % 64));
            if word != 0 {
                return Some(self.down(depth, at / 64 * 64 + word.trailing_zeros() as usize, true));
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The greatest member at or below a rank.
    pub(super) fn at_or_below(&self, rank: u32) -> Option<u32> {
        let mut at = rank as usize;
        for (depth, level) in self.levels.iter().enumerate() {
            let word = level.get(at / 64)? & (u64::MAX >> (63 - at % 64));
            if word != 0 {
                return Some(self.down(depth, at / 64 * 64 + word.ilog2() as usize, false));
            }
            at = (at / 64).checked_sub(1)?;
        }
        None
    }

    /// The first or last member below a bit of a level.
    fn down(&self, depth: usize, mut at: usize, is_first: bool) -> u32 {
        for level in self.levels[..depth].iter().rev() {
            let word = level[at];
            let bit = if is_first { word.trailing_zeros() } else { word.ilog2() };
            at = at * 64 + bit as usize;
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{RankSet, Ranks};
    use crate::reuse::Rectangle;

    proptest! {
        /// Multiples of large powers of two are packed; addresses of any value are not.
        #[test]
        fn ends_have_the_ranks_of_their_addresses(
            spans in prop::collection::vec((0_u64..40, 0_u64..20), 0..30),
            unit in prop::sample::select(vec![1, 512, 1 << 40, (1 << 33) + 1, (1 << 57) - 1]),
        ) {
            let rectangle = |(offset, bytes): &(u64, u64)| Rectangle {
                start: 0,
                end: 1,
                offset: offset * unit,
                bytes: bytes * unit,
            };
            let rectangles: Vec<Rectangle> = spans.iter().map(rectangle).collect();
            let ends = rectangles.iter().flat_map(|one| [one.offset, one.top()]);
            let values: Vec<u64> = ends.collect::<BTreeSet<u64>>().into_iter().collect();
            let rank = |address| u32::try_from(values.partition_point(|value| *value < address)).expect("few");
            let of: Vec<(u32, u32)> = rectangles.iter().map(|one| (rank(one.offset), rank(one.top()))).collect();
            let ranks = Ranks::new(&rectangles);
            prop_assert_eq!((ranks.values, ranks.of), (values, of));
        }
    }

    #[test]
    fn a_rank_set_answers_like_an_ordered_set() {
        let limit = 9_000_u32;
        let mut set = RankSet::new(limit as usize);
        let mut plain = BTreeSet::new();
        let mut seed = 3_u32;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Dense at first, sparse later: whole words become empty again.
            let rank = (seed >> 8) % limit;
            if seed % 5 < 2 {
                set.insert(rank);
                plain.insert(rank);
            } else {
                set.remove(rank);
                plain.remove(&rank);
            }
            let asked = (seed >> 12) % limit;
            assert_eq!(set.at_or_above(asked), plain.range(asked..).next().copied());
            assert_eq!(set.at_or_below(asked), plain.range(..=asked).next_back().copied());
        }
    }
}
