//! Holes: free bytes below live ones.
//!
//! ```text
//! offset      +------+
//!   |   ......|live  |   headroom: free above everything that is live
//!   |   +-----+------+
//!   |   |live | hole |   hole: free, with something live above it (as long as its extent stays the same)
//!   |   |     +------+
//!   |   |     |live  |
//!   +---+-----+------+--> step
//! ```
//!
//! In: rectangles that share an address space. Out: holes, each for the steps on which exactly these bytes are one
//! maximal free range below the highest live byte; and their count, sum and largest, wherever one of them changes.
//! A birth or a death changes at most two free ranges, so that there are at most two holes for each of them:
//! O(n log n) time, O(n) memory, whatever the plan. Rectangles that overlap are taken as their union.

use std::collections::BTreeMap;

use super::reuse::{Rectangle, disjoint};

/// Where free bytes count as holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoleRule {
    /// Below the highest live byte: for an arena, which is filled from its bottom.
    #[default]
    BelowTop,
    /// Between the lowest and the highest live byte: for a pool, which is filled from either side.
    Between,
}

/// A free range of constant extent below live bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hole {
    /// First step, inclusive.
    pub start: u32,
    /// Last step, exclusive.
    pub end: u32,
    /// First byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The holes of a step, valid until the next entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoleSum {
    /// First step.
    pub step: u32,
    /// How many holes.
    pub count: u32,
    /// Their bytes.
    pub total: u64,
    /// Bytes of the largest.
    pub largest: u64,
    /// The end of the highest live byte: what is free above it is headroom, not a hole.
    pub top: u64,
}

/// All holes, and what they come to on every step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// By start, then offset.
    pub list: Vec<Hole>,
    /// Ascending steps, an entry wherever a figure changes; nothing before the first.
    pub sums: Vec<HoleSum>,
}

impl Holes {
    /// The holes between rectangles.
    pub fn new(rectangles: &[Rectangle], rule: HoleRule) -> Self {
        Sweep::run(rectangles, rule)
            .or_else(|| Sweep::run(&disjoint(rectangles), rule))
            .unwrap_or_default()
    }

    /// The figures of a step. O(log changes).
    pub fn at(&self, step: u32) -> HoleSum {
        let next = self.sums.partition_point(|sum| sum.step <= step);
        let before = next.checked_sub(1).and_then(|last| self.sums.get(last));
        before.copied().unwrap_or_default()
    }
}

/// A free range; `high` is `u64::MAX` for the headroom.
#[derive(Clone, Copy, Debug)]
struct Free {
    high: u64,
    since: u32,
}

struct Sweep {
    rule: HoleRule,
    free: BTreeMap<u64, Free>,
    /// Ranges that ceased on the current step, with what they were: (low, high, since).
    ceased: Vec<(u64, u64, u32)>,
    /// Holes by size.
    sizes: BTreeMap<u64, u32>,
    sum: HoleSum,
    holes: Holes,
}

impl Sweep {
    /// `None` where rectangles overlap.
    fn run(rectangles: &[Rectangle], rule: HoleRule) -> Option<Holes> {
        // Ends sort before births on one step: ranges are half-open.
        let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(rectangles.len() * 2);
        for (idx, rectangle) in (0_u32..).zip(rectangles) {
            if !rectangle.is_empty() {
                events.push((rectangle.start, true, idx));
                events.push((rectangle.end, false, idx));
            }
        }
        events.sort_unstable();
        let everything = Free {
            high: u64::MAX,
            since: 0,
        };
        let mut sweep = Self {
            rule,
            free: BTreeMap::from([(0, everything)]),
            ceased: Vec::new(),
            sizes: BTreeMap::new(),
            sum: HoleSum::default(),
            holes: Holes::default(),
        };
        for events in events.chunk_by(|a, b| a.0 == b.0) {
            let step = events[0].0;
            for (_, is_birth, idx) in events {
                let rectangle = &rectangles[*idx as usize];
                if *is_birth {
                    sweep.occupy(rectangle, step)?;
                } else {
                    sweep.release(rectangle, step);
                }
            }
            sweep.settle(step);
        }
        sweep.holes.list.sort_unstable();
        Some(sweep.holes)
    }

    fn release(&mut self, rectangle: &Rectangle, step: u32) {
        let (mut low, mut high) = (rectangle.offset, rectangle.top());
        if let Some((below, free)) = self.free.range(..low).next_back().map(|(at, free)| (*at, *free))
            && free.high == low
        {
            self.remove(below, free);
            low = below;
        }
        if let Some(free) = self.free.get(&high).copied() {
            self.remove(high, free);
            high = free.high;
        }
        self.insert(low, high, step);
    }

    fn occupy(&mut self, rectangle: &Rectangle, step: u32) -> Option<()> {
        let (low, high) = (rectangle.offset, rectangle.top());
        let (at, free) = self.free.range(..=low).next_back().map(|(at, free)| (*at, *free))?;
        if free.high < high {
            return None;
        }
        self.remove(at, free);
        if at < low {
            self.insert(at, low, step);
        }
        if high < free.high {
            self.insert(high, free.high, step);
        }
        Some(())
    }

    fn is_hole(&self, low: u64, high: u64) -> bool {
        high != u64::MAX && (low > 0 || self.rule == HoleRule::BelowTop)
    }

    fn insert(&mut self, low: u64, high: u64, since: u32) {
        self.free.insert(low, Free { high, since });
        if self.is_hole(low, high) {
            *self.sizes.entry(high - low).or_default() += 1;
            self.sum.count += 1;
            self.sum.total += high - low;
        }
    }

    fn remove(&mut self, low: u64, free: Free) {
        self.free.remove(&low);
        if !self.is_hole(low, free.high) {
            return;
        }
        self.ceased.push((low, free.high, free.since));
        let size = free.high - low;
        self.sum.count -= 1;
        self.sum.total -= size;
        if let Some(count) = self.sizes.get_mut(&size) {
            *count -= 1;
            if *count == 0 {
                self.sizes.remove(&size);
            }
        }
    }

    /// Ends the step: a range that ceased and came back as it was goes on, the others become holes.
    fn settle(&mut self, step: u32) {
        for (low, high, since) in self.ceased.drain(..) {
            // What began on this step was never seen.
            if since == step {
                continue;
            }
            match self.free.get_mut(&low) {
                Some(free) if free.high == high => free.since = since,
                _ => self.holes.list.push(Hole {
                    start: since,
                    end: step,
                    offset: low,
                    bytes: high - low,
                }),
            }
        }
        self.sum.step = step;
        self.sum.largest = self.sizes.last_key_value().map_or(0, |(size, _)| *size);
        self.sum.top = self.free.last_key_value().map_or(0, |(low, _)| *low);
        let is_news = self.holes.sums.last().is_none_or(|last| {
            let same_step = HoleSum {
                step: last.step,
                ..self.sum
            };
            *last != same_step
        });
        if is_news {
            self.holes.sums.push(self.sum);
        }
    }
}
