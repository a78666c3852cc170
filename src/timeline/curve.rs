//! A step function with a pyramid of extremes: exact minimum and maximum of any range of steps.
//!
//! ```text
//! level 1      [0..32)       [32..64)    each entry holds (min, max) of 32 entries below
//! level 0   0 1 2 3 4 5 6 7  8 9 ...     one value per run of equal steps
//! ```

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use highwater_model::units::Bytes;
use highwater_sim::fold::StepBytes;

use super::viewport::View;

const FANOUT: usize = 32;

/// One value per step, with extremes of ranges in O(log steps).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    values: StepBytes,
    /// Levels above the values, which are level 0.
    levels: Arc<[Vec<(u64, u64)>]>,
}

impl Curve {
    /// One value per step. O(steps).
    pub fn new(values: &[Bytes]) -> Self {
        Self::of(&values.iter().copied().collect())
    }

    /// O(runs of equal values).
    pub fn of(curve: &StepBytes) -> Self {
        let mut levels: Vec<Vec<(u64, u64)>> = Vec::new();
        let values = curve.values().chunks(FANOUT);
        let mut below: Vec<(u64, u64)> = values.filter_map(extremes_of_values).collect();
        while below.len() > 1 {
            let above = below.chunks(FANOUT).filter_map(extremes_of_pairs).collect();
            levels.push(std::mem::replace(&mut below, above));
        }
        levels.push(below);
        Self {
            values: curve.clone(),
            levels: levels.into(),
        }
    }

    /// Two curves that share memory if their values do.
    pub(super) fn pair(one: &StepBytes, other: &StepBytes) -> (Self, Self) {
        let curve = Self::of(one);
        let other = if other.is_shared_with(one) {
            curve.clone()
        } else {
            Self::of(other)
        };
        (curve, other)
    }

    pub fn is_shared_with(&self, other: &Self) -> bool {
        self.values.is_shared_with(&other.values)
    }

    /// 0 beyond the end.
    pub fn at(&self, step: u32) -> u64 {
        self.values.get(step as usize).map_or(0, |bytes| bytes.get())
    }

    pub fn n_steps(&self) -> usize {
        self.values.len()
    }

    pub fn max(&self) -> u64 {
        self.extremes(0, self.values.len()).map_or(0, |(_, max)| max)
    }

    /// Exact minimum and maximum of the steps `start..end`; `None` if the range has no step.
    pub fn extremes(&self, start: usize, end: usize) -> Option<(u64, u64)> {
        let positions = self.values.positions(start..end);
        if positions.is_empty() {
            return None;
        }
        let mut sum = (u64::MAX, 0);
        let of_value = |sum, value: &Bytes| merge(sum, (value.get(), value.get()));
        let mut ends = Ends::of(positions);
        for part in ends.outer() {
            sum = self.values.values()[part].iter().fold(sum, of_value);
        }
        for level in &*self.levels {
            if ends.inner.is_empty() {
                break;
            }
            ends = Ends::of(ends.inner.start / FANOUT..ends.inner.end / FANOUT);
            for part in ends.outer() {
                sum = level[part].iter().copied().fold(sum, merge);
            }
        }
        Some(sum)
    }

    /// The largest value of the steps `start..end`, and the first of them that has it; `None` if the range has no step.
    /// O(log steps).
    pub fn highest(&self, start: usize, end: usize) -> Option<(u32, u64)> {
        let positions = self.values.positions(start..end);
        let values = self.values.values();
        let (mut low, mut high) = (positions.start, positions.end);
        // Level, position in it, value, position of its first child at level 0.
        let mut best: Option<(usize, usize, u64, usize)> = None;
        let mut reach = 1;
        for level in 0..=self.levels.len() {
            let value = |at: usize| match level {
                0 => values[at].get(),
                _ => self.levels[level - 1][at].1,
            };
            let mut visit = |at: usize| {
                let (most, first) = (value(at), at * reach);
                if best.is_none_or(|(.., known, before)| (most, Reverse(first)) > (known, Reverse(before))) {
                    best = Some((level, at, most, first));
                }
            };
            while low < high && !low.is_multiple_of(FANOUT) {
                visit(low);
                low += 1;
            }
            while low < high && !high.is_multiple_of(FANOUT) {
                high -= 1;
                visit(high);
            }
            (low, high, reach) = (low / FANOUT, high / FANOUT, reach * FANOUT);
        }
        let (level, mut at, most, _) = best?;
        for level in (0..level).rev() {
            let children = at * FANOUT..;
            let is_it = |child: &usize| match level {
                0 => values.get(*child).is_none_or(|value| value.get() == most),
                _ => self.levels[level - 1].get(*child).is_none_or(|(_, high)| *high == most),
            };
            at = children.into_iter().find(is_it)?;
        }
        let step = self.values.first_step(at).max(start);
        Some((u32::try_from(step).unwrap_or(u32::MAX), most))
    }

    /// The first step and the most bytes of each of `n_parts` equal parts of an axis, or of each step where it has fewer.
    /// O(parts log steps).
    pub fn parts(&self, n_steps: u32, n_parts: u32) -> Vec<(usize, u64)> {
        let n_parts = n_parts.clamp(1, n_steps.max(1));
        let border = |part: u32| {
            let step = u64::from(part) * u64::from(n_steps) / u64::from(n_parts);
            usize::try_from(step).unwrap_or(usize::MAX)
        };
        let most = |part: u32| {
            self.extremes(border(part), border(part + 1))
                .map_or(0, |(_, most)| most)
        };
        (0..n_parts).map(|part| (border(part), most(part))).collect()
    }

    /// Exact minimum and maximum of the steps that each of `width` pixel columns touches; zeros where none does.
    /// O(width log steps).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the steps before the cast"
    )]
    pub fn columns<'v>(&self, view: impl Into<View<'v>>, width: u32) -> Vec<(u64, u64)> {
        let view = view.into();
        let n_steps = f64::from(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        let edge = |column: u32| view.step_from_x(f64::from(column), f64::from(width));
        // Steps are not negative, so a cast rounds down.
        let first = |at: f64| at.clamp(0.0, n_steps) as usize;
        let last = |at: f64| {
            let below = at.clamp(0.0, n_steps) as u32;
            below as usize + usize::from(f64::from(below) < at.min(n_steps))
        };
        let mut left = edge(0);
        // Curves of reserved bytes are mostly constant.
        let all = self.extremes(first(left), last(edge(width)));
        if let Some((low, high)) = all.filter(|(low, high)| low == high)
            && left >= 0.0
            && edge(width) <= n_steps
        {
            return vec![(low, high); width as usize];
        }
        (1..=width)
            .map(|column| {
                let right = edge(column);
                let (start, end) = (first(left), last(right));
                left = right;
                self.extremes(start, end).unwrap_or((0, 0))
            })
            .collect()
    }
}

/// A range of entries, and the part of it that whole entries of the next level cover.
struct Ends {
    all: Range<usize>,
    inner: Range<usize>,
}

impl Ends {
    fn of(all: Range<usize>) -> Self {
        let start = all.start.next_multiple_of(FANOUT);
        let end = all.end / FANOUT * FANOUT;
        let inner = if start < end { start..end } else { all.end..all.end };
        Self { all, inner }
    }

    /// The entries outside `inner`.
    const fn outer(&self) -> [Range<usize>; 2] {
        [self.all.start..self.inner.start, self.inner.end..self.all.end]
    }
}

fn merge(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.min(b.0), a.1.max(b.1))
}

fn extremes_of_values(values: &[Bytes]) -> Option<(u64, u64)> {
    values.iter().map(|value| (value.get(), value.get())).reduce(merge)
}

fn extremes_of_pairs(pairs: &[(u64, u64)]) -> Option<(u64, u64)> {
    pairs.iter().copied().reduce(merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_maximum() {
        let curve = Curve::new(&[1, 5, 2, 2, 9, 0, 3].map(Bytes));
        let steps = [(0, 1), (1, 5), (2, 2), (3, 2), (4, 9), (5, 0), (6, 3)];
        for (n_parts, wanted) in [
            (1, &[(0, 9)][..]),
            (2, &[(0, 5), (3, 9)]),
            (3, &[(0, 5), (2, 2), (4, 9)]),
            (7, &steps),
            (100, &steps),
        ] {
            assert_eq!(curve.parts(7, n_parts), wanted, "{n_parts}");
        }
    }
}
