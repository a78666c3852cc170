//! The previous and the next holders of any range of bytes at any step.
//!
//! The sweep divides the plane of steps and bytes into ranges with one last holder each. A tree over time keeps every
//! range at the highest node whose middle it covers; the ranges of a node all cover one moment, so they are disjoint
//! and sorted by offset, and a tree of extremes over all of them finds those that cover a step. "Next" is the same in
//! reversed time.
//!
//! Built in O((n + ranges) log n) with 36 bytes per range, once per direction; a query costs O(log n) at each of the
//! O(log n) nodes on its path, and O(log n) per returned holder.

use super::Rectangle;
use super::sweep::{Change, sweep};

/// A range of bytes with its previous or next holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// First byte, within the queried range.
    pub low: u64,
    /// Last byte, exclusive.
    pub high: u64,
    /// Position of the rectangle.
    pub holder: u32,
}

/// Holders of all bytes over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressHistory {
    past: Stabs,
    future: Stabs,
}

impl AddressHistory {
    pub fn new(rectangles: &[Rectangle]) -> Self {
        let turned: Vec<Rectangle> = rectangles
            .iter()
            .map(|rectangle| Rectangle {
                start: turn(rectangle.end),
                end: turn(rectangle.start),
                ..*rectangle
            })
            .collect();
        Self {
            past: Stabs::new(rectangles),
            future: Stabs::new(&turned),
        }
    }

    /// The last holders of the bytes `low..high` among those born before `step` (they may still hold them); ascending.
    /// Bytes without earlier holders are left out.
    pub fn before(&self, step: u32, (low, high): (u64, u64)) -> Vec<Holder> {
        step.checked_sub(1)
            .map_or_else(Vec::new, |last| self.past.at(last, low, high))
    }

    /// The next holders of the bytes `low..high` among those that live on `step` or later (they may hold them already);
    /// ascending. Bytes without later holders are left out.
    pub fn after(&self, step: u32, (low, high): (u64, u64)) -> Vec<Holder> {
        // A rectangle ends after `step` where its reversed start is at most this.
        let turned = turn(step).saturating_sub(1);
        self.future.at(turned, low, high)
    }
}

/// Reverses time; ends and starts are exchanged.
const fn turn(step: u32) -> u32 {
    (u32::MAX - 1).saturating_sub(step)
}

/// Ranges of bytes, each for the steps `start..end`; those that cover one step are disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stabs {
    nodes: Vec<Node>,
    ranges: Vec<Stab>,
    /// Least start and greatest end over runs of `ranges`: leaves after their parents, the root at 1.
    extremes: Vec<(u32, u32)>,
    n_leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stab {
    low: u64,
    high: u64,
    start: u32,
    end: u32,
    holder: u32,
}

/// A node of the tree over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    middle: u32,
    /// Its ranges.
    first: u32,
    end: u32,
    /// Nodes of earlier and of later ranges; `u32::MAX` where there are none.
    earlier: u32,
    later: u32,
}

const NONE: u32 = u32::MAX;

/// A node, and one of its two links.
type Link = Option<(usize, bool)>;

impl Stabs {
    fn new(rectangles: &[Rectangle]) -> Self {
        let mut ranges: Vec<Stab> = Vec::with_capacity(rectangles.len() * 2);
        sweep(rectangles, |change| {
            if let Change::Closed {
                holder,
                start,
                end,
                low,
                high,
            } = change
                && start < end
            {
                ranges.push(Stab {
                    low,
                    high,
                    start,
                    end,
                    holder,
                });
            }
        });
        let mut stabs = Self::default();
        stabs.add_nodes(ranges);
        stabs.add_extremes();
        stabs
    }

    /// Splits the ranges at the median of their starts: at most half of them are on either side, so the depth is O(log
    /// n).
    fn add_nodes(&mut self, ranges: Vec<Stab>) {
        // Ranges, and the link to their node: none, or a node and whether this is its later one.
        let mut open: Vec<(Vec<Stab>, Link)> = vec![(ranges, None)];
        while let Some((mut ranges, parent)) = open.pop() {
            if ranges.is_empty() {
                continue;
            }
            let half = ranges.len() / 2;
            let (_, median, _) = ranges.select_nth_unstable_by_key(half, |range| (range.start, range.low));
            let middle = median.start;
            let mut own: Vec<Stab> = Vec::new();
            let (mut earlier, mut later) = (Vec::new(), Vec::new());
            for range in ranges {
                if range.end <= middle {
                    earlier.push(range);
                } else if range.start > middle {
                    later.push(range);
                } else {
                    own.push(range);
                }
            }
            own.sort_unstable_by_key(|range| range.low);
            let idx = self.nodes.len();
            let number = |n: usize| u32::try_from(n).unwrap_or(NONE);
            let first = number(self.ranges.len());
            self.ranges.append(&mut own);
            self.nodes.push(Node {
                middle,
                first,
                end: number(self.ranges.len()),
                earlier: NONE,
                later: NONE,
            });
            match parent {
                Some((parent, true)) => self.nodes[parent].later = number(idx),
                Some((parent, false)) => self.nodes[parent].earlier = number(idx),
                None => {}
            }
            open.push((earlier, Some((idx, false))));
            open.push((later, Some((idx, true))));
        }
    }

    fn add_extremes(&mut self) {
        self.n_leaves = self.ranges.len().next_power_of_two();
        self.extremes = vec![(u32::MAX, 0); self.n_leaves * 2];
        for (leaf, range) in self.ranges.iter().enumerate() {
            self.extremes[self.n_leaves + leaf] = (range.start, range.end);
        }
        for idx in (1..self.n_leaves).rev() {
            let (a, b) = (self.extremes[idx * 2], self.extremes[idx * 2 + 1]);
            self.extremes[idx] = (a.0.min(b.0), a.1.max(b.1));
        }
    }

    /// Ranges that cover `step` and share bytes with `low..high`, cut to them, ascending.
    fn at(&self, step: u32, low: u64, high: u64) -> Vec<Holder> {
        let mut found = Vec::new();
        let mut node = self.nodes.first();
        while let Some(here) = node {
            let own = &self.ranges[here.first as usize..here.end as usize];
            let first = here.first as usize + own.partition_point(|range| range.high <= low);
            let end = here.first as usize + own.partition_point(|range| range.low < high);
            if first < end {
                self.report(1, 0, self.n_leaves, (first, end), step, &mut found);
            }
            let next = if step < here.middle { here.earlier } else { here.later };
            node = self.nodes.get(next as usize);
        }
        for holder in &mut found {
            (holder.low, holder.high) = (holder.low.max(low), holder.high.min(high));
        }
        found.sort_unstable();
        found
    }

    /// Those of `wanted` (positions of ranges) that cover `step`, below one node of the tree of extremes. Ranges of one
    /// node of time all cover its middle, so a run as a whole either starts too late or ends too early.
    fn report(&self, idx: usize, from: usize, to: usize, wanted: (usize, usize), step: u32, found: &mut Vec<Holder>) {
        let (start, end) = self.extremes[idx];
        if to <= wanted.0 || wanted.1 <= from || start > step || end <= step {
            return;
        }
        if to - from == 1 {
            let range = self.ranges[from];
            found.push(Holder {
                low: range.low,
                high: range.high,
                holder: range.holder,
            });
            return;
        }
        let middle = usize::midpoint(from, to);
        self.report(idx * 2, from, middle, wanted, step, found);
        self.report(idx * 2 + 1, middle, to, wanted, step, found);
    }
}
