//! Gaps: free bytes below live ones.
//!
//! ```text
//! offset      +------+
//!   |   ......|live  |   headroom: free above all live bytes
//!   |   +-----+------+
//!   |   |live | gap  |   gap: free, below live bytes (while its extent stays the same)
//!   |   |     +------+
//!   |   |     |live  |
//!   +---+-----+------+--> step
//! ```
//!
//! In: rectangles that share an address space. Out: gaps, each for the steps on which exactly these bytes are one
//! maximal free range below the highest live byte. A birth or a death changes at most two free ranges, so there are at
//! most two gaps per event: O(n log n) time, O(n) memory. Overlapping rectangles are replaced by their union. Live
//! rectangles are a set of ranked addresses, so a birth or a death reads a few words.

use super::ranks::{RankSet, Ranks, by_step};
use super::reuse::{Rectangle, disjoint};

/// Which free bytes count as gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArenaGapRule {
    /// Below the highest live byte: for an arena, which is filled from the bottom.
    #[default]
    BelowTop,
    /// Between the lowest and the highest live byte: for a pool, which is filled from either side.
    Between,
}

/// A free range of constant extent below live bytes. Half-open in steps and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArenaGap {
    pub start: u32,
    pub end: u32,
    pub offset: u64,
    pub bytes: u64,
}

/// By start, then offset. O(n log n).
pub fn arena_gaps(rectangles: &[Rectangle], rule: ArenaGapRule) -> Vec<ArenaGap> {
    Sweep::run(rectangles, rule)
        .or_else(|| Sweep::run(&disjoint(rectangles), rule))
        .unwrap_or_default()
}

/// The bottom of the arena as lower neighbour, and the headroom as upper one.
const NONE: u32 = u32::MAX;

/// A free range between two live rectangles, identified by its lower neighbour.
#[derive(Clone, Copy)]
struct EndedRange {
    lower: u32,
    upper: u32,
    since: u32,
}

struct Sweep<'a> {
    rectangles: &'a [Rectangle],
    rule: ArenaGapRule,
    ranks: Ranks,
    /// First bytes of live rectangles.
    live: RankSet,
    /// By rank of its first byte: the live rectangle.
    at: Vec<u32>,
    /// The step since which the free range above a live rectangle is unchanged; the last entry is for the bottom.
    since: Vec<u32>,
    /// Ranges that ended on the current step.
    ended: Vec<EndedRange>,
    gaps: Vec<ArenaGap>,
}

impl<'a> Sweep<'a> {
    fn run(rectangles: &'a [Rectangle], rule: ArenaGapRule) -> Option<Vec<ArenaGap>> {
        let ranks = Ranks::new(rectangles);
        let mut sweep = Self {
            rectangles,
            rule,
            live: RankSet::new(ranks.values.len()),
            at: vec![NONE; ranks.values.len()],
            since: vec![0; rectangles.len() + 1],
            ranks,
            ended: Vec::new(),
            gaps: Vec::new(),
        };
        let mut births = by_step(rectangles, |rectangle| rectangle.start).into_iter().peekable();
        let mut deaths = by_step(rectangles, |rectangle| rectangle.end).into_iter().peekable();
        // Deaths come first on a step, since ranges are half-open; the last step has deaths alone.
        while let Some((death, _)) = deaths.peek() {
            let step = births.peek().map_or(*death, |(birth, _)| *birth.min(death));
            while let Some((_, idx)) = deaths.next_if(|(death, _)| *death == step) {
                sweep.end(idx, step);
            }
            while let Some((_, idx)) = births.next_if(|(birth, _)| *birth == step) {
                sweep.start(idx, step)?;
            }
            sweep.settle(step);
        }
        sweep.gaps.sort_unstable();
        Some(sweep.gaps)
    }

    /// `None` if a live rectangle has some of the bytes.
    fn start(&mut self, idx: u32, step: u32) -> Option<()> {
        let (lower, upper) = self.neighbours(idx);
        let rectangle = &self.rectangles[idx as usize];
        if self.top(lower) > rectangle.offset || rectangle.top() > self.base(upper) {
            return None;
        }
        self.cease(lower, upper);
        self.enter(idx, true);
        self.begin(idx, step);
        self.begin(lower, step);
        Some(())
    }

    fn end(&mut self, idx: u32, step: u32) {
        let (lower, upper) = self.neighbours(idx);
        self.cease(lower, idx);
        self.cease(idx, upper);
        self.enter(idx, false);
        self.begin(lower, step);
    }

    /// The nearest live rectangles below and above, without the rectangle itself.
    fn neighbours(&self, idx: u32) -> (u32, u32) {
        let rank = self.ranks.of[idx as usize].0;
        let lower = rank.checked_sub(1).and_then(|below| self.live.at_or_below(below));
        // One that begins at the same byte overlaps; it is found above and rejected.
        let found = self.live.at_or_above(rank);
        let upper = match found {
            Some(at) if self.at[at as usize] == idx => self.live.at_or_above(rank + 1),
            other => other,
        };
        let named = |at: Option<u32>| at.map_or(NONE, |at| self.at[at as usize]);
        (named(lower), named(upper))
    }

    fn enter(&mut self, idx: u32, is_live: bool) {
        let rank = self.ranks.of[idx as usize].0;
        if is_live {
            self.live.insert(rank);
            self.at[rank as usize] = idx;
        } else {
            self.live.remove(rank);
        }
    }

    fn top(&self, lower: u32) -> u64 {
        self.rectangles.get(lower as usize).map_or(0, Rectangle::top)
    }

    fn base(&self, upper: u32) -> u64 {
        let upper = self.rectangles.get(upper as usize);
        upper.map_or(u64::MAX, |rectangle| rectangle.offset)
    }

    fn since(&mut self, lower: u32) -> &mut u32 {
        let last = self.since.len() - 1;
        &mut self.since[(lower as usize).min(last)]
    }

    fn begin(&mut self, lower: u32, step: u32) {
        *self.since(lower) = step;
    }

    /// Ends the range between two neighbours.
    fn cease(&mut self, lower: u32, upper: u32) {
        let is_gap = upper != NONE && (lower != NONE || self.rule == ArenaGapRule::BelowTop);
        if is_gap && self.top(lower) < self.base(upper) {
            let since = *self.since(lower);
            self.ended.push(EndedRange { lower, upper, since });
        }
    }

    /// Ends the step: a range that ended and reappeared unchanged continues, the others become gaps.
    fn settle(&mut self, step: u32) {
        let mut ended = std::mem::take(&mut self.ended);
        for range in ended.drain(..) {
            // A range that began on this step has no extent in time.
            if range.since == step {
                continue;
            }
            let (low, high) = (self.top(range.lower), self.base(range.upper));
            // The rectangle that now begins at the end of the range, if the range is entirely free.
            let end = self.ranks.of[range.upper as usize].0;
            let lower = end.checked_sub(1).and_then(|below| self.live.at_or_below(below));
            let lower = lower.map_or(NONE, |at| self.at[at as usize]);
            let is_same = self.live.at_or_above(end) == Some(end) && self.top(lower) == low;
            if is_same && (lower == NONE) == (range.lower == NONE) {
                self.begin(lower, range.since);
            } else {
                self.gaps.push(ArenaGap {
                    start: range.since,
                    end: step,
                    offset: low,
                    bytes: high - low,
                });
            }
        }
        self.ended = ended;
    }
}
