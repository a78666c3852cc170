//! A step function with a pyramid of extremes: exact minimum and maximum of any range of steps.
//!
//! ```text
//! level 1      [0..8)        [8..16)     each entry holds (min, max) of 8 entries below
//! level 0   0 1 2 3 4 5 6 7  8 9 ...     one value a run of steps that have it
//! ```
//!
//! The values are those of the lane's own curve, which is shared.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::sim::fold::StepBytes;
use crate::units::Bytes;

use super::viewport::View;

const FANOUT: usize = 8;

/// One value per step, with extremes of ranges in O(log steps).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    values: StepBytes,
    /// Above the values, which are level 0.
    levels: Arc<[Vec<(u64, u64)>]>,
}

impl Curve {
    /// A curve of values, one a step. O(steps).
    pub fn new(values: &[Bytes]) -> Self {
        Self::of(&values.iter().copied().collect())
    }

    /// The curve of a lane. O(runs).
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

    /// The curves of a lane of which the second may be the first in memory.
    pub(super) fn pair(one: &StepBytes, other: &StepBytes) -> (Self, Self) {
        let curve = Self::of(one);
        let other = if other.is_shared_with(one) {
            curve.clone()
        } else {
            Self::of(other)
        };
        (curve, other)
    }

    /// The value on a step; 0 behind the end.
    pub fn at(&self, step: u32) -> u64 {
        self.values.get(step as usize).map_or(0, |bytes| bytes.get())
    }

    /// Steps.
    pub fn n_steps(&self) -> usize {
        self.values.len()
    }

    /// The largest value.
    pub fn max(&self) -> u64 {
        self.extremes(0, self.values.len()).map_or(0, |(_, max)| max)
    }

    /// Exact minimum and maximum of the steps `start..end`; `None` where no step lies in it.
    pub fn extremes(&self, start: usize, end: usize) -> Option<(u64, u64)> {
        let positions = self.values.positions(start..end);
        let (mut low, mut high) = (positions.start, positions.end);
        if low >= high {
            return None;
        }
        let values = self.values.values();
        let mut sum = (u64::MAX, 0);
        while low < high && !low.is_multiple_of(FANOUT) {
            sum = merge(sum, (values[low].get(), values[low].get()));
            low += 1;
        }
        while low < high && !high.is_multiple_of(FANOUT) {
            high -= 1;
            sum = merge(sum, (values[high].get(), values[high].get()));
        }
        for level in &*self.levels {
            (low, high) = (low / FANOUT, high / FANOUT);
            while low < high && !low.is_multiple_of(FANOUT) {
                sum = merge(sum, level[low]);
                low += 1;
            }
            while low < high && !high.is_multiple_of(FANOUT) {
                high -= 1;
                sum = merge(sum, level[high]);
            }
            if low >= high {
                break;
            }
        }
        Some(sum)
    }

    /// The largest value of the steps `start..end`, and the first of them that has it; `None` where no step lies in it.
    /// O(log steps).
    pub fn highest(&self, start: usize, end: usize) -> Option<(u32, u64)> {
        let positions = self.values.positions(start..end);
        let values = self.values.values();
        let (mut low, mut high) = (positions.start, positions.end);
        // Level, position there, what it reaches, where it begins among the values.
        let mut best: Option<(usize, usize, u64, usize)> = None;
        let mut reach = 1;
        for level in 0..=self.levels.len() {
            let value = |at: usize| match level {
                0 => values[at].get(),
                _ => self.levels[level - 1][at].1,
            };
            let mut look = |at: usize| {
                let (most, first) = (value(at), at * reach);
                if best.is_none_or(|(.., known, before)| (most, Reverse(first)) > (known, Reverse(before))) {
                    best = Some((level, at, most, first));
                }
            };
            while low < high && !low.is_multiple_of(FANOUT) {
                look(low);
                low += 1;
            }
            while low < high && !high.is_multiple_of(FANOUT) {
                high -= 1;
                look(high);
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
        let mut left = edge(0);
        (1..=width)
            .map(|column| {
                let right = edge(column);
                let start = left.floor().clamp(0.0, n_steps) as usize;
                let end = right.ceil().clamp(0.0, n_steps) as usize;
                left = right;
                self.extremes(start, end).unwrap_or((0, 0))
            })
            .collect()
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
