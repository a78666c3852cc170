//! Matches of a query in a lane: a bit per row, counts, and the next or previous match.

use crate::{Row, Rows, Selected};
use highwater_model::units::Bytes;

/// Rows per word.
const BITS: usize = 64;

/// A bit per row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bits {
    pub(super) rows: Rows,
    pub(super) words: Vec<u64>,
}

impl Bits {
    pub(super) fn new(rows: Rows) -> Self {
        Self {
            words: vec![0; rows.len().div_ceil(BITS)],
            rows,
        }
    }

    pub(super) fn set(&mut self, number: usize) {
        self.words[number / BITS] |= 1 << (number % BITS);
    }

    fn has(&self, number: usize) -> bool {
        let word = self.words.get(number / BITS).copied().unwrap_or(0);
        word >> (number % BITS) & 1 == 1
    }

    fn number(&self, tensor: Selected) -> Option<usize> {
        let number = self.rows.number(tensor)?;
        // A run of a recording and one of a graph may have the same position.
        (self.rows.get(number)?.tensor == tensor).then_some(number)
    }

    /// The first set bit at or after a number. O(rows / 64).
    fn at_or_behind(&self, number: usize) -> Option<usize> {
        let first = number / BITS;
        let words = self.words.iter().enumerate().skip(first);
        let masked = words.map(|(at, word)| {
            let mask = if at == first {
                u64::MAX << (number % BITS)
            } else {
                u64::MAX
            };
            (at, word & mask)
        });
        let mut set = masked.filter(|(_, word)| *word != 0);
        set.next().map(|(at, word)| at * BITS + word.trailing_zeros() as usize)
    }

    /// The last set bit before a number. O(rows / 64).
    fn before(&self, number: usize) -> Option<usize> {
        let last = number / BITS;
        let words = self.words.iter().enumerate().take(last + 1).rev();
        let masked = words.map(|(at, word)| {
            let mask = if at == last {
                !(u64::MAX << (number % BITS))
            } else {
                u64::MAX
            };
            (at, word & mask)
        });
        let mut set = masked.filter(|(_, word)| *word != 0);
        set.next()
            .map(|(at, word)| at * BITS + (BITS - 1 - word.leading_zeros() as usize))
    }
}

/// Matches are in the order of their rows: runs in order, within a run by birth.
#[derive(Clone, Debug, PartialEq)]
pub struct Matches {
    pub(super) lane: usize,
    /// The lane's rows, then those of the lanes with other tensors.
    pub(super) parts: Vec<Bits>,
    pub(super) count: usize,
    pub(super) bytes: Bytes,
}

impl Matches {
    /// The lane whose rows are counted and walked through.
    pub const fn lane(&self) -> usize {
        self.lane
    }

    pub const fn len(&self) -> usize {
        self.count
    }

    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn n_rows(&self) -> usize {
        self.main().map_or(0, |bits| bits.rows.len())
    }

    /// Sum over all matches, live at the same time or not.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn main(&self) -> Option<&Bits> {
        self.parts.first()
    }

    /// Whether a tensor matches; one that the lane does not hold is looked up in other lanes. O(1) for the lane's
    /// tensors, else O(lanes).
    pub fn contains(&self, tensor: Selected) -> bool {
        let mut found = self
            .parts
            .iter()
            .filter_map(|bits| Some(bits.has(bits.number(tensor)?)));
        found.next().unwrap_or(false)
    }

    /// By the row's number in the lane. O(1).
    pub fn contains_row(&self, number: usize) -> bool {
        self.main().is_some_and(|bits| bits.has(number))
    }

    /// The next or previous match after a tensor, cyclic; without a tensor the first or the last. `None` without
    /// matches. O(rows / 64).
    pub fn neighbour(&self, tensor: Option<Selected>, is_next: bool) -> Option<Row> {
        let bits = self.main()?;
        let at = tensor.and_then(|tensor| bits.number(tensor));
        let found = if is_next {
            let from = at.map_or(0, |at| at + 1);
            bits.at_or_behind(from).or_else(|| bits.at_or_behind(0))
        } else {
            let end = bits.rows.len();
            bits.before(at.unwrap_or(end)).or_else(|| bits.before(end))
        };
        bits.rows.get(found?)
    }

    /// The matches between two rows, both included, in order. O(rows between / 64 + matches).
    pub fn between(&self, first: Selected, last: Selected) -> impl Iterator<Item = Row> + '_ {
        let bits = self.main();
        let numbers = bits.and_then(|bits| Some((bits, bits.number(first)?, bits.number(last)?)));
        let mut next = numbers.map(|(_, first, _)| first);
        std::iter::from_fn(move || {
            let (bits, _, last) = numbers?;
            let found = bits.at_or_behind(next?).filter(|found| *found <= last)?;
            next = Some(found + 1);
            bits.rows.get(found)
        })
    }

    /// The number of matches before a matching tensor. O(rows / 64).
    pub fn position(&self, tensor: Selected) -> Option<usize> {
        let bits = self.main()?;
        let number = bits.number(tensor).filter(|number| bits.has(*number))?;
        let words = bits.words.iter().take(number / BITS);
        let before: usize = words.map(|word| word.count_ones() as usize).sum();
        let last = bits.words[number / BITS] & !(u64::MAX << (number % BITS));
        Some(before + last.count_ones() as usize)
    }

    /// Row numbers of all matches, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.main().map_or(&[][..], |bits| &bits.words);
        words.iter().enumerate().flat_map(|(at, word)| {
            let ones = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
            let ones = ones.take_while(|word| *word != 0);
            ones.map(move |word| at * BITS + word.trailing_zeros() as usize)
        })
    }
}
