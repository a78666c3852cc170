//! The difference of two lanes, step by step, with exact extremes of any range.
//!
//! In: two lanes of one comparison. Out: signed curves on the common axis, stored as unsigned curves with an offset so
//! that the extremes of [`Curve`] apply. O(steps).

use highwater_analysis::{Lane, LaneId};
use highwater_model::units::{Bytes, Step};
use highwater_sim::fold::StepBytes;

use super::curve::Curve;
use super::viewport::View;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedCurve {
    lifted: Curve,
    /// The stored value of a difference of 0; larger than any negative difference, so every stored value is above 0.
    zero: u64,
    extremes: Option<Extremes>,
}

/// Each with the first step that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    pub low: (i64, Step),
    pub high: (i64, Step),
}

impl SignedCurve {
    /// First minus second; a missing step counts as 0.
    fn new(first: &StepBytes, second: &StepBytes) -> Self {
        let most = second.iter().map(|bytes| bytes.get()).max().unwrap_or(0);
        let zero = most.saturating_add(1);
        let n_steps = first.len().max(second.len());
        let filled = |curve: &StepBytes| {
            let rest = std::iter::repeat_n(Bytes::ZERO, n_steps - curve.len());
            curve.iter().copied().chain(rest).collect::<Vec<Bytes>>()
        };
        let pairs = filled(first).into_iter().zip(filled(second));
        let values: Vec<Bytes> = pairs
            .map(|(one, other)| Bytes(one.get().saturating_add(zero - other.get())))
            .collect();
        let mut curve = Self {
            lifted: Curve::new(&values),
            zero,
            extremes: None,
        };
        let steps = (0_u32..)
            .map(Step)
            .zip(values.iter().map(|value| curve.lowered(value.get())));
        curve.extremes = steps.fold(None, |known: Option<Extremes>, (step, value)| {
            let mut extremes = known.unwrap_or(Extremes {
                low: (value, step),
                high: (value, step),
            });
            if value < extremes.low.0 {
                extremes.low = (value, step);
            }
            if value > extremes.high.0 {
                extremes.high = (value, step);
            }
            Some(extremes)
        });
        curve
    }

    fn lowered(&self, value: u64) -> i64 {
        let difference = i128::from(value) - i128::from(self.zero);
        i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
    }

    /// 0 beyond the end.
    pub fn at(&self, step: u32) -> i64 {
        if (step as usize) < self.lifted.n_steps() {
            self.lowered(self.lifted.at(step))
        } else {
            0
        }
    }

    /// `None` without steps.
    pub const fn extremes(&self) -> Option<Extremes> {
        self.extremes
    }

    /// Exact minimum and maximum of the steps of each pixel column; zeros without steps. O(width log steps).
    pub fn columns<'v>(&self, view: impl Into<View<'v>>, width: u32) -> Vec<(i64, i64)> {
        let columns = self.lifted.columns(view, width).into_iter();
        columns
            .map(|column| match column {
                // Stored values are above 0, so this column has no steps.
                (0, 0) => (0, 0),
                (low, high) => (self.lowered(low), self.lowered(high)),
            })
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneDifference {
    pub lanes: (LaneId, LaneId),
    /// Bytes taken from the device.
    pub reserved: SignedCurve,
    pub live: SignedCurve,
}

impl LaneDifference {
    /// O(steps).
    pub fn new(first: &Lane, second: &Lane) -> Self {
        Self {
            lanes: (first.id, second.id),
            reserved: SignedCurve::new(&first.curves.reserved, &second.curves.reserved),
            live: SignedCurve::new(&first.curves.live, &second.curves.live),
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers"
)]
mod tests {
    use proptest::prelude::*;

    use super::super::viewport::Viewport;
    use super::{Bytes, SignedCurve, StepBytes, View};

    fn curve(values: &[u64]) -> StepBytes {
        values.iter().map(|value| Bytes(*value)).collect()
    }

    proptest! {
        #[test]
        fn columns_are_the_true_extremes_of_the_difference(
            first in prop::collection::vec(0_u64..500, 0..70),
            second in prop::collection::vec(0_u64..500, 0..70),
            (t0, steps) in (-5.0..60.0, 0.5..90.0),
            width in 1_u32..40,
        ) {
            let difference = SignedCurve::new(&curve(&first), &curve(&second));
            let n_steps = first.len().max(second.len());
            let value = |values: &[u64], step: usize| i64::try_from(values.get(step).copied().unwrap_or(0)).expect("small");
            let at = |step: usize| value(&first, step) - value(&second, step);
            let viewport = Viewport { t0, t1: t0 + steps, a0: 0.0, a1: 1.0 };
            let edge = |column: u32| View::from(viewport).step_from_x(f64::from(column), f64::from(width));
            for (column, known) in (0..width).zip(difference.columns(viewport, width)) {
                let low = edge(column).floor().clamp(0.0, n_steps as f64) as usize;
                let high = edge(column + 1).ceil().clamp(0.0, n_steps as f64) as usize;
                let values = || (low..high).map(at);
                prop_assert_eq!(known, (values().min().unwrap_or(0), values().max().unwrap_or(0)));
            }
            let all = || (0..n_steps).map(at);
            let extremes = difference.extremes();
            prop_assert_eq!(extremes.map(|known| known.low.0), all().min());
            prop_assert_eq!(extremes.map(|known| known.high.0), all().max());
            if let Some(extremes) = extremes {
                prop_assert_eq!(all().position(|value| value == extremes.high.0), Some(extremes.high.1.idx()));
                prop_assert_eq!(all().position(|value| value == extremes.low.0), Some(extremes.low.1.idx()));
            }
            prop_assert_eq!(difference.at(u32::try_from(n_steps).expect("few")), 0);
        }
    }
}
