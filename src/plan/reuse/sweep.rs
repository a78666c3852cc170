//! The sweep over births that tracks the holder or last holder of each byte.
//!
//! In: rectangles. Out: a call for every change, in order of the rectangles' births (then positions) and ascending
//! offsets. Between births all bytes held so far are divided into ranges with one last holder each: the one that ends
//! last, the later of equal ones. A rectangle that ends no later than a live holder does not replace it.
//!
//! Ranges are members of a set of ranked addresses, with a parallel array of holders; bytes never held are a range
//! without holder. O(n log n) for the ranks, then a few words per change.

use super::Rectangle;
use crate::ranks::{RankSet, Ranks, by_step};

/// The change of one range of bytes by a birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// `later` takes the bytes that `earlier` held and freed.
    Taken {
        /// Rectangles by position.
        earlier: u32,
        later: u32,
        /// Half-open.
        low: u64,
        high: u64,
    },
    /// From `start` to `end` (births) the last holder of these bytes was `holder`; `u32::MAX` has no end.
    Closed {
        holder: u32,
        start: u32,
        end: u32,
        low: u64,
        high: u64,
    },
}

const NONE: u32 = u32::MAX;

/// Calls `emit` with every change.
pub(super) fn sweep(rectangles: &[Rectangle], emit: impl FnMut(Change)) {
    let order = by_step(rectangles, |rectangle| rectangle.start);
    let ranks = Ranks::new(rectangles);
    let n_ranks = ranks.values.len();
    let mut ranges = Ranges {
        rectangles,
        starts: RankSet::new(n_ranks),
        held: vec![(NONE, 0); n_ranks],
        ranks,
        emit,
    };
    if n_ranks > 0 {
        ranges.starts.insert(0);
    }
    for (_, later) in order {
        ranges.take(later);
    }
    ranges.finish();
}

struct Ranges<'a, F> {
    rectangles: &'a [Rectangle],
    ranks: Ranks,
    /// Starts of ranges; each extends to the next.
    starts: RankSet,
    /// By the rank of a range's start: its last holder, and the birth since which that holds.
    held: Vec<(u32, u32)>,
    emit: F,
}

impl<F: FnMut(Change)> Ranges<'_, F> {
    /// Starts a range at a rank.
    fn split(&mut self, rank: u32) {
        if let Some(before) = self.starts.at_or_below(rank)
            && before < rank
        {
            self.held[rank as usize] = self.held[before as usize];
            self.starts.insert(rank);
        }
    }

    /// Gives a rectangle its bytes, except those of live holders that outlive it.
    fn take(&mut self, later: u32) {
        let (low, high) = self.ranks.of[later as usize];
        let Rectangle { start: born, end, .. } = self.rectangles[later as usize];
        self.split(low);
        self.split(high);
        let mut at = low;
        // Whether the range below belongs to the rectangle, so that the next one joins it.
        let mut is_joined = false;
        while at < high {
            let next = self.starts.at_or_above(at + 1).unwrap_or(high).min(high);
            let (holder, since) = self.held[at as usize];
            let held_until = self
                .rectangles
                .get(holder as usize)
                .map_or(0, |rectangle| rectangle.end);
            if held_until > born && held_until > end {
                is_joined = false;
                at = next;
                continue;
            }
            if holder != NONE {
                let (low, high) = (self.ranks.values[at as usize], self.ranks.values[next as usize]);
                if held_until <= born {
                    (self.emit)(Change::Taken {
                        earlier: holder,
                        later,
                        low,
                        high,
                    });
                }
                (self.emit)(Change::Closed {
                    holder,
                    start: since,
                    end: born,
                    low,
                    high,
                });
            }
            if is_joined {
                self.starts.remove(at);
            } else {
                self.held[at as usize] = (later, born);
            }
            is_joined = true;
            at = next;
        }
    }

    /// Emits the final holders.
    fn finish(&mut self) {
        let mut at = self.starts.at_or_above(0);
        while let Some(from) = at {
            at = self.starts.at_or_above(from + 1);
            let (holder, start) = self.held[from as usize];
            if let Some(to) = at
                && holder != NONE
            {
                (self.emit)(Change::Closed {
                    holder,
                    start,
                    end: u32::MAX,
                    low: self.ranks.values[from as usize],
                    high: self.ranks.values[to as usize],
                });
            }
        }
    }
}
