//! The sweep over births that says who holds each byte, or held it last.
//!
//! In: rectangles. Out: a call for every change, in order of the rectangles' births (then positions) and ascending
//! offsets. Between births the bytes that were ever held are cut into ranges with one last holder each: the one that
//! ends last, the later of equals. A rectangle that ends no later than a live holder leaves that holder in place.
//!
//! Ranges are members of a set of ranked addresses, each with its holder beside it; what nobody ever held is a range of
//! nobody's. O(n log n) for the ranks, then a few words for each change.

use super::Rectangle;
use crate::ranks::{RankSet, Ranks};

/// What a birth changes on one range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// `heir` takes the bytes that `donor` held and let go.
    Taken {
        /// Who held them.
        donor: u32,
        /// Who is born.
        heir: u32,
        /// First byte.
        low: u64,
        /// Last byte, exclusive.
        high: u64,
    },
    /// From `start` to `end` the last holder of these bytes was `holder`; no end for what is so ever after.
    Closed {
        /// Who.
        holder: u32,
        /// The birth that began it.
        start: u32,
        /// The birth that ended it.
        end: u32,
        /// First byte.
        low: u64,
        /// Last byte, exclusive.
        high: u64,
    },
}

const NOBODY: u32 = u32::MAX;

/// Calls `emit` with every change.
pub(super) fn sweep(rectangles: &[Rectangle], emit: impl FnMut(Change)) {
    let mut order: Vec<(u32, u32)> = (0_u32..)
        .zip(rectangles)
        .filter(|(_, rectangle)| !rectangle.is_empty())
        .map(|(idx, rectangle)| (rectangle.start, idx))
        .collect();
    if !order.is_sorted() {
        order.sort_unstable();
    }
    let ranks = Ranks::new(rectangles);
    let n_ranks = ranks.values.len();
    let mut ranges = Ranges {
        rectangles,
        starts: RankSet::new(n_ranks),
        held: vec![(NOBODY, 0); n_ranks],
        ranks,
        emit,
    };
    if n_ranks > 0 {
        ranges.starts.insert(0);
    }
    for (_, heir) in order {
        ranges.take(heir);
    }
    ranges.finish();
}

struct Ranges<'a, F> {
    rectangles: &'a [Rectangle],
    ranks: Ranks,
    /// Where ranges begin; each reaches to the next.
    starts: RankSet,
    /// By the rank of a range's begin: its last holder, and the birth since which that is so.
    held: Vec<(u32, u32)>,
    emit: F,
}

impl<F: FnMut(Change)> Ranges<'_, F> {
    /// Makes a range begin at a rank.
    fn split(&mut self, rank: u32) {
        if let Some(before) = self.starts.at_or_below(rank)
            && before < rank
        {
            self.held[rank as usize] = self.held[before as usize];
            self.starts.insert(rank);
        }
    }

    /// Gives the heir its bytes, except those of live holders that outlive it.
    fn take(&mut self, heir: u32) {
        let (low, high) = self.ranks.of[heir as usize];
        let Rectangle { start: born, end, .. } = self.rectangles[heir as usize];
        self.split(low);
        self.split(high);
        let mut at = low;
        // Whether the range below is the heir's, so that the next one joins it.
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
            if holder != NOBODY {
                let (low, high) = (self.ranks.values[at as usize], self.ranks.values[next as usize]);
                if held_until <= born {
                    (self.emit)(Change::Taken {
                        donor: holder,
                        heir,
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
                self.held[at as usize] = (heir, born);
            }
            is_joined = true;
            at = next;
        }
    }

    /// What is held last for ever.
    fn finish(&mut self) {
        let mut at = self.starts.at_or_above(0);
        while let Some(from) = at {
            at = self.starts.at_or_above(from + 1);
            let (holder, start) = self.held[from as usize];
            if let Some(to) = at
                && holder != NOBODY
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
