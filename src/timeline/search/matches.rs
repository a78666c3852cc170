//! Matches of a query in all lanes: a bit per row, counts, and the next or previous match.

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

/// Matches in the rows of one lane, or in the rows that lanes share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) lane: usize,
    pub(super) bits: Bits,
    pub(super) count: usize,
}

/// A match, with the lane that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub lane: usize,
    pub row: Row,
}

/// The matches of all lanes: in the order of lanes, then of their rows, which are runs in order, within a run by birth.
#[derive(Clone, Debug, PartialEq)]
pub struct Matches {
    /// At least one. Lanes that share their rows are one part.
    pub(super) parts: Vec<Part>,
    /// The part of the lane that is asked first.
    pub(super) main: usize,
    pub(super) bytes: Bytes,
    pub(super) largest: Option<Match>,
}

impl Matches {
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows that were tested.
    pub fn n_rows(&self) -> usize {
        self.parts.iter().map(|part| part.bits.rows.len()).sum()
    }

    /// Sum over all matches, live at the same time or not.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The first of the largest; `None` without matches.
    pub const fn largest(&self) -> Option<Match> {
        self.largest
    }

    /// The part of a tensor, and its row there. O(lanes).
    fn place(&self, tensor: Selected) -> Option<(usize, usize)> {
        let parts = self.parts.iter().enumerate();
        let mut places = parts.filter_map(|(part, of)| Some((part, of.bits.number(tensor)?)));
        places.next()
    }

    /// Whether a tensor matches. O(lanes).
    pub fn contains(&self, tensor: Selected) -> bool {
        let place = self.place(tensor);
        place.is_some_and(|(part, number)| self.parts[part].bits.has(number))
    }

    /// By the row's number in the lane that was asked first. O(1).
    pub fn contains_row(&self, number: usize) -> bool {
        self.parts[self.main].bits.has(number)
    }

    /// The next or previous match after a tensor, through all lanes and round; without a tensor the first match of the
    /// lane that was asked first, or the last one before it. `None` without matches. O(rows / 64).
    pub fn neighbour(&self, tensor: Option<Selected>, is_next: bool) -> Option<Match> {
        let n_parts = self.parts.len();
        let (first, after, before) = match tensor.and_then(|tensor| self.place(tensor)) {
            Some((part, number)) => (part, number + 1, number),
            None => (self.main, 0, 0),
        };
        // The first part is asked again at the end, from its other side.
        let mut asked = (0..=n_parts).map(|ahead| {
            let part = if is_next {
                first + ahead
            } else {
                first + n_parts - ahead
            } % n_parts;
            let Part { lane, bits, .. } = &self.parts[part];
            let found = match (is_next, ahead) {
                (true, 0) => bits.at_or_behind(after),
                (true, _) => bits.at_or_behind(0),
                (false, 0) => bits.before(before),
                (false, _) => bits.before(bits.rows.len()),
            };
            Some(Match {
                lane: *lane,
                row: bits.rows.get(found?)?,
            })
        });
        asked.find_map(|found| found)
    }

    /// The number of matches before a matching tensor. O(rows / 64).
    pub fn position(&self, tensor: Selected) -> Option<usize> {
        let (part, number) = self.place(tensor)?;
        let bits = &self.parts[part].bits;
        if !bits.has(number) {
            return None;
        }
        let of_lanes: usize = self.parts[..part].iter().map(|part| part.count).sum();
        let words = bits.words.iter().take(number / BITS);
        let before: usize = words.map(|word| word.count_ones() as usize).sum();
        let last = bits.words[number / BITS] & !(u64::MAX << (number % BITS));
        Some(of_lanes + before + last.count_ones() as usize)
    }
}
