//! Ejection search: moves everything below a height.
//!
//! Shapes that end above the height are removed. Then, one at a time, the largest removed shape goes into the smallest
//! gap that fits; where none fits it goes where it ejects the least, and the ejected shapes are removed. *Least* weighs
//! a shape by the square root of its area, times the number of its failures to find a gap: a shape that is hard to
//! place becomes hard to eject (as in the ejection chains for vehicle routing of Nagata and Braysy, 2009). Seeded noise
//! breaks cycles. Fixed shapes are never ejected.

use super::Search;
use crate::field::Field;
use crate::gaps::{Align, Fit, Placed, Scratch, Windows, signed};
use crate::random::Random;
use highwater_model::progress::Cancelled;

/// The offset of removed shapes.
pub(super) const OUTSIDE: u64 = u64::MAX;

/// The weight of the largest shape.
const HEAVIEST: u128 = 4096;

/// The largest factor of a weight by failures.
const MAX_FAILURES: u64 = 4096;

/// The weight of a fixed shape: above that of 2^16 others together, each at most [`HEAVIEST`] x [`MAX_FAILURES`], and
/// 2^24 fixed ones do not overflow.
const FIXED: u64 = 1 << 40;

/// Noise on a cost, in parts of 1024.
const NOISE: u64 = 308;

pub(super) struct Ejection<'a> {
    field: &'a Field<'a>,
    pub(super) offsets: Vec<u64>,
    placed: Windows,
    outside: Vec<u32>,
    /// [`FIXED`] for shapes that stay where they are.
    weight: Vec<u64>,
    failures: Vec<u64>,
    random: Random,
    scratch: Conflicts,
    gaps: Scratch,
}

impl<'a> Ejection<'a> {
    /// Starts from a plan. Other seeds give other searches.
    pub(super) fn new(field: &'a Field<'a>, offsets: Vec<u64>, seed: u64) -> Self {
        let mut placed = Windows::flat(field);
        for (idx, item) in (0_u32..).zip(field.items()).filter(|(_, item)| item.n_pieces > 0) {
            debug_assert!(item.fixed.is_none_or(|fixed| fixed == offsets[idx as usize]));
            placed.add(Placed::new(field, idx, offsets[idx as usize]));
        }
        let is_pinned = |idx: u32| field.items()[idx as usize].fixed.is_some();
        Self {
            random: Random::new(seed),
            ..Self::around(field, offsets, placed, is_pinned)
        }
    }

    /// Starts from placed shapes, of which some stay where they are. All others are [`OUTSIDE`].
    pub(super) fn around(
        field: &'a Field<'a>,
        offsets: Vec<u64>,
        placed: Windows,
        is_pinned: impl Fn(u32) -> bool,
    ) -> Self {
        Self {
            field,
            weight: weights(field, is_pinned),
            failures: vec![1; offsets.len()],
            offsets,
            placed,
            outside: Vec::new(),
            random: Random::new(1),
            scratch: Conflicts::default(),
            gaps: Scratch::default(),
        }
    }

    pub(super) fn n_outside(&self) -> usize {
        self.outside.len()
    }

    /// Moves everything below a height. `false` where it gave up: nodes or patience (in placements) ended, or a shape
    /// fits nowhere. The next call continues from there.
    pub(super) fn lower_to(&mut self, height: u64, patience: u64, search: &mut Search<'_>) -> Result<bool, Cancelled> {
        for (idx, item) in (0_u32..).zip(self.field.items()) {
            let offset = self.offsets[idx as usize];
            if item.n_pieces > 0 && offset != OUTSIDE && offset + item.size > height {
                if item.fixed.is_some() {
                    return Ok(false);
                }
                self.push_out(&Placed::new(self.field, idx, offset));
            }
        }
        self.put_outside(height, patience, search)
    }

    /// Places the removed shapes below a height; the result is that of [`Self::lower_to`].
    pub(super) fn put_outside(
        &mut self,
        height: u64,
        patience: u64,
        search: &mut Search<'_>,
    ) -> Result<bool, Cancelled> {
        for _ in 0..patience {
            if search.is_over()? {
                break;
            }
            let Some(idx) = self.next() else { return Ok(true) };
            if !self.put_in(idx, height, search) {
                self.outside.push(idx);
                break;
            }
        }
        Ok(self.outside.is_empty())
    }

    /// Takes the heaviest removed shape.
    fn next(&mut self) -> Option<u32> {
        let key = |position: &usize| {
            let idx = self.outside[*position];
            (self.weight[idx as usize], std::cmp::Reverse(idx))
        };
        let position = (0..self.outside.len()).max_by_key(key)?;
        Some(self.outside.swap_remove(position))
    }

    fn push_out(&mut self, placed: &Placed) {
        self.placed.remove(placed);
        self.offsets[placed.item as usize] = OUTSIDE;
        self.outside.push(placed.item);
    }

    /// Adds a shape: in the lowest gap, or to the removed ones where none is low enough.
    pub(super) fn put_lowest(&mut self, idx: u32, height: u64, search: &mut Search<'_>) {
        let near = self.placed.around(self.field, idx);
        search.charge(near.len());
        let gap = self.gaps.gap(self.field, idx, near, Fit::First);
        if gap.offset + self.field.items()[idx as usize].size > height {
            self.outside.push(idx);
            return;
        }
        self.offsets[idx as usize] = gap.offset;
        self.placed.add(Placed::new(self.field, idx, gap.offset));
    }

    /// Places a shape, ejecting others. `false` where it fits nowhere.
    fn put_in(&mut self, idx: u32, height: u64, search: &mut Search<'_>) -> bool {
        let item = &self.field.items()[idx as usize];
        let Some(highest) = height.checked_sub(item.size) else {
            return false;
        };
        let near = self.placed.around(self.field, idx);
        search.charge(near.len());
        self.scratch.gather(self.field, idx, near);
        let align = Align(item.alignment);
        let offset = self.scratch.gap(align, highest).or_else(|| {
            let failures = &mut self.failures[idx as usize];
            *failures = (*failures + 1).min(MAX_FAILURES);
            let weight = |other: u32| self.weight[other as usize] * self.failures[other as usize];
            // Finding the cheapest offset costs a few more reads.
            search.charge(4 * self.scratch.conflicts.len());
            self.scratch.cheapest(align, highest, weight, &mut self.random)
        });
        let Some(offset) = offset else { return false };
        let at = signed(offset);
        let pushed: Vec<u32> = self
            .scratch
            .conflicts
            .iter()
            .filter(|c| c.from < at && at < c.to)
            .map(|c| c.item)
            .collect();
        for other in pushed {
            self.push_out(&Placed::new(self.field, other, self.offsets[other as usize]));
        }
        self.offsets[idx as usize] = offset;
        self.placed.add(Placed::new(self.field, idx, offset));
        true
    }
}

/// Square roots of areas, the largest of which is [`HEAVIEST`].
fn weights(field: &Field<'_>, is_pinned: impl Fn(u32) -> bool) -> Vec<u64> {
    let root = |idx: u32| (u128::from(field.items()[idx as usize].size) * u128::from(field.life(idx))).isqrt();
    let all = || (0_u32..).zip(field.items()).map(|(idx, _)| idx);
    let largest = all().map(root).max().unwrap_or(0).max(1);
    let weight = all().map(|idx| {
        let part = u64::try_from(root(idx) * HEAVIEST / largest).unwrap_or(0);
        if is_pinned(idx) { FIXED } else { part.max(1) }
    });
    weight.collect()
}

/// A neighbour and the offsets that it excludes, both ends allowed.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    from: i64,
    to: i64,
    item: u32,
}

/// The conflicts of one shape, and reused memory.
#[derive(Debug, Default)]
struct Conflicts {
    /// By ascending `from`.
    conflicts: Vec<Conflict>,
    /// Ends and weights, ascending.
    ends: Vec<(i64, u64)>,
}

impl Conflicts {
    fn gather(&mut self, field: &Field<'_>, idx: u32, near: &[Placed]) {
        let (lower, upper) = (field.lower[idx as usize], field.upper[idx as usize]);
        let size = field.items()[idx as usize].size;
        let meeting = near.iter().filter(|other| other.lower < upper && lower < other.upper);
        self.conflicts.clear();
        if field.shapes.is_plain {
            self.conflicts.extend(meeting.map(|other| Conflict {
                from: signed(other.offset) - signed(size),
                to: signed(other.end),
                item: other.item,
            }));
            return;
        }
        for other in meeting {
            let below = field.shapes.separation(idx, other.item);
            let above = field.shapes.separation(other.item, idx);
            if below > 0 && above > 0 {
                self.conflicts.push(Conflict {
                    from: signed(other.offset) - signed(below),
                    to: signed(other.offset + above),
                    item: other.item,
                });
            }
        }
        self.conflicts
            .sort_unstable_by_key(|conflict| (conflict.from, conflict.to, conflict.item));
    }

    /// The lowest offset in the smallest gap; above all neighbours where no gap fits and that is low enough.
    fn gap(&self, align: Align, highest: u64) -> Option<u64> {
        let (mut end, mut best) = (0_i64, None);
        for conflict in &self.conflicts {
            if conflict.from >= end {
                let offset = align.up(end.unsigned_abs());
                let room = conflict.from - end;
                let is_smaller = best.is_none_or(|(smallest, _)| room < smallest);
                if is_smaller && signed(offset) <= conflict.from && offset <= highest {
                    best = Some((room, offset));
                }
            }
            end = end.max(conflict.to);
        }
        let top = align.up(end.unsigned_abs());
        best.map(|(_, offset)| offset).or((top <= highest).then_some(top))
    }

    /// The offset with the least conflicting weight: at ends of neighbours or just below their starts, both aligned, at
    /// the floor or the height. The lower one on a tie; `None` where every offset conflicts with fixed shapes.
    fn cheapest(
        &mut self,
        align: Align,
        highest: u64,
        weight: impl Fn(u32) -> u64,
        random: &mut Random,
    ) -> Option<u64> {
        self.ends.clear();
        self.ends.extend(
            self.conflicts
                .iter()
                .map(|conflict| (conflict.to, weight(conflict.item))),
        );
        self.ends.sort_unstable();
        let down = |offset: i64| u64::try_from(offset).map_or(0, |offset| offset - offset % align.0);
        let mut starts = self.conflicts.iter().map(|conflict| down(conflict.from)).peekable();
        let mut ends = self.ends.iter().map(|(to, _)| align.up(to.unsigned_abs())).peekable();
        // Both lists ascend, so one walk visits all candidates in order.
        let (mut entered, mut left, mut cost) = (0, 0, 0_u64);
        let (mut best, mut candidate) = (None, Some(0_u64));
        let top = highest - highest % align.0;
        while let Some(offset) = candidate {
            let at = signed(offset);
            while let Some(conflict) = self.conflicts.get(entered).filter(|conflict| conflict.from < at) {
                cost += weight(conflict.item);
                entered += 1;
            }
            while let Some((_, weight)) = self.ends.get(left).filter(|(to, _)| *to <= at) {
                cost -= weight;
                left += 1;
            }
            let noisy = cost + cost / 1024 * random.below(NOISE) + cost % 1024 * random.below(NOISE) / 1024;
            if cost < FIXED && best.is_none_or(|(least, _)| noisy < least) {
                best = Some((noisy, offset));
            }
            while starts.next_if(|start| *start <= offset).is_some() {}
            while ends.next_if(|end| *end <= offset).is_some() {}
            let next = starts
                .peek()
                .copied()
                .unwrap_or(top)
                .min(ends.peek().copied().unwrap_or(top));
            candidate = (offset < top).then_some(next.min(top));
        }
        best.map(|(_, offset)| offset)
    }
}
