//! The time axis: how wide each step is drawn when steps are as wide as their time.
//!
//! ```text
//! steps    0   1 2           3 4          values, ranges and views stay in steps
//! times    0   4 6          18 18         nanoseconds from the start of the first step to the start of each
//! places   |----|--|-------------|-|      time plus an equal share of a twentieth of the axis for every step
//! ```
//!
//! In: the time at every border between steps. Out: conversions between steps, places and times. Invariants: places
//! ascend strictly, so that a step without time has a width and can be pointed at; place and step are inverse to each
//! other. Not here: the source of the times (`durations`, `wall`).

mod axes;
mod borders;
mod durations;
mod wall;

use serde::{Deserialize, Serialize};

pub use axes::Axes;
use borders::Borders;
use highwater_model::workload::Recording;
use std::sync::Arc;
pub use wall::WallRun;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    #[default]
    Order,
    /// Duration of ops: measured where the source states it, else estimated.
    Estimated,
    /// Recorded time of events, or of the ops of a measured run aligned to its graph.
    Wall,
}

impl AxisKind {
    /// In the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Order, Self::Estimated, Self::Wall];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "program order",
            Self::Estimated => "estimated time",
            Self::Wall => "wall time",
        }
    }

    /// For narrow places.
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Estimated => "est. time",
            Self::Wall => "wall time",
        }
    }

    /// Prefix of a time on this axis.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Order | Self::Wall => "",
            Self::Estimated => "est. ",
        }
    }

    /// Hyphens count as spaces; the first word suffices.
    pub fn find(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace('-', " ");
        let is_named = |kind: &Self| kind.name() == name || kind.name().split(' ').next() == Some(name.as_str());
        Self::ALL.into_iter().find(is_named)
    }
}

/// All steps together share one part in `SHARED` of the axis evenly, whatever their time.
const SHARED: u64 = 20;
/// Limit of the table that finds a step by its place.
const MOST_BUCKETS: usize = 1 << 18;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeAxis {
    /// Nanoseconds from the start of the first step to the start of each, and to the end of the last; never descending.
    times: Borders,
    /// Nanoseconds added to the width of every step; at least 1.
    share: u64,
    /// The step at the start of each of so many equal parts of the axis, and the last step.
    buckets: Box<[u32]>,
    n_timeless: u32,
    /// Steps with a time stated by the source.
    n_stated: u32,
}

#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
impl TimeAxis {
    /// `times` has one entry more than there are steps. `None` where there is no step or no time passes. Descending
    /// times are raised to the largest before them. O(steps).
    pub fn new(mut times: Vec<u64>, n_stated: u32) -> Option<Self> {
        let first = *times.first()?;
        let mut last = 0;
        for time in &mut times {
            last = time.saturating_sub(first).max(last);
            *time = last;
        }
        Self::of_borders(Borders::Listed(times.into()), n_stated)
    }

    /// The times of a recording's events, the last of which takes none. `None` as in [`Self::new`]. O(steps).
    pub(super) fn of_events(recording: &Arc<Recording>) -> Option<Self> {
        let n_stated = u32::try_from(recording.times.len()).unwrap_or(u32::MAX);
        Self::of_borders(Borders::of_events(recording), n_stated)
    }

    fn of_borders(times: Borders, n_stated: u32) -> Option<Self> {
        let n_steps = u64::try_from(times.len().checked_sub(1)?).ok()?;
        let last = times.last();
        if n_steps == 0 || last == 0 || u32::try_from(n_steps).is_err() {
            return None;
        }
        let timeless = (1..times.len())
            .filter(|idx| times.at(*idx) == times.at(*idx - 1))
            .count();
        let mut axis = Self {
            share: (last / (SHARED - 1) / n_steps).max(1),
            times,
            buckets: Box::default(),
            n_timeless: u32::try_from(timeless).unwrap_or(u32::MAX),
            n_stated,
        };
        axis.buckets = axis.bucketed();
        Some(axis)
    }

    /// `None` where there is no step or none takes time. O(steps).
    pub fn of_durations(durations: impl IntoIterator<Item = u64>, n_stated: u32) -> Option<Self> {
        let mut sum = 0_u64;
        let ends = durations.into_iter().map(|duration| {
            sum = sum.saturating_add(duration);
            sum
        });
        let times = std::iter::once(0).chain(ends).collect();
        Self::new(times, n_stated)
    }

    pub fn n_steps(&self) -> usize {
        self.times.len() - 1
    }

    pub const fn n_timeless(&self) -> u32 {
        self.n_timeless
    }

    pub const fn n_stated(&self) -> u32 {
        self.n_stated
    }

    /// Nanoseconds.
    pub fn total(&self) -> u64 {
        self.times.last()
    }

    /// Nanoseconds from the start of the first step to the start of `step`; beyond the end the total. O(1).
    pub fn time_at(&self, step: u32) -> u64 {
        self.times.at(step as usize)
    }

    /// Time passes evenly within a step. O(1).
    pub fn time(&self, step: f64) -> f64 {
        let (idx, part) = self.split(step);
        let (start, end) = (self.times.at(idx), self.times.at(idx + 1));
        start as f64 + part.clamp(0.0, 1.0) * (end - start) as f64
    }

    /// The step in which a time is reached; of several at one time the last. O(log steps).
    pub fn step_at_time(&self, time: f64) -> f64 {
        let behind = self.times.partition_point(|known| known as f64 <= time);
        let idx = behind.saturating_sub(1).min(self.n_steps() - 1);
        let (start, end) = (self.times.at(idx) as f64, self.times.at(idx + 1) as f64);
        let part = if end > start {
            (time - start) / (end - start)
        } else {
            0.0
        };
        idx_f64(idx) + part.clamp(0.0, 1.0)
    }

    /// Where the start of a step is drawn, in nanoseconds including the shares of the steps before it. O(1).
    #[inline]
    pub(super) fn place_at(&self, step: u32) -> f64 {
        self.border((step as usize).min(self.n_steps()))
    }

    /// In floats, because times near 2^64 and their shares add up to more; exact below 2^53.
    #[inline]
    fn border(&self, idx: usize) -> f64 {
        self.times.at(idx) as f64 + idx as f64 * self.share as f64
    }

    /// Where a step is drawn; outside the axis steps have the mean width. O(1).
    pub(super) fn place(&self, step: f64) -> f64 {
        let (idx, part) = self.split(step);
        let (start, end) = (self.border(idx), self.border(idx + 1));
        if step < 0.0 {
            step * self.mean()
        } else if part > 1.0 {
            end + (part - 1.0) * self.mean()
        } else {
            start + part * (end - start)
        }
    }

    /// The step drawn at a place. O(1) where steps are about equally wide, O(log steps) at worst.
    pub(super) fn step(&self, place: f64) -> f64 {
        let n_steps = self.n_steps();
        let whole = self.border(n_steps);
        if place < 0.0 {
            return place / self.mean();
        }
        if place >= whole {
            return idx_f64(n_steps) + (place - whole) / self.mean();
        }
        let idx = self.find(place, whole);
        let (start, end) = (self.border(idx), self.border(idx + 1));
        idx_f64(idx) + (place - start) / (end - start)
    }

    /// Lower bound of the width of a step.
    pub(super) fn least(&self) -> f64 {
        self.share as f64
    }

    fn mean(&self) -> f64 {
        let n_steps = self.n_steps();
        self.border(n_steps) / idx_f64(n_steps)
    }

    /// The step at a place before the end.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of buckets"
    )]
    fn find(&self, place: f64, whole: f64) -> usize {
        let n_buckets = self.buckets.len() - 1;
        let bucket = ((place / whole * idx_f64(n_buckets)) as usize).min(n_buckets - 1);
        // Rounding may put a place into the neighbouring bucket.
        let mut low = self.buckets[bucket.saturating_sub(1)] as usize;
        let mut high = self.buckets[(bucket + 2).min(n_buckets)] as usize + 1;
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.border(middle) <= place {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn bucketed(&self) -> Box<[u32]> {
        let n_steps = self.n_steps();
        let n_buckets = n_steps.min(MOST_BUCKETS);
        let part = self.border(n_steps) / idx_f64(n_buckets);
        let mut step = 0_usize;
        let starts = (0..=n_buckets).map(|bucket| {
            let place = part * idx_f64(bucket);
            while step + 1 < n_steps && self.border(step + 1) <= place {
                step += 1;
            }
            u32::try_from(step).unwrap_or(u32::MAX)
        });
        starts.collect()
    }

    /// The step that contains a fractional one, and the position in it; below 0 or above 1 outside the axis.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the steps before the cast"
    )]
    fn split(&self, step: f64) -> (usize, f64) {
        let last = self.n_steps() - 1;
        let idx = step.floor().clamp(0.0, idx_f64(last)) as usize;
        (idx, step - idx_f64(idx))
    }
}

#[expect(clippy::cast_precision_loss, reason = "steps are below 2^32")]
const fn idx_f64(idx: usize) -> f64 {
    idx as f64
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "small whole numbers")]
mod tests {
    use proptest::prelude::*;

    use super::{AxisKind, TimeAxis};

    #[test]
    fn times_near_the_largest_number_are_drawn() {
        for durations in [vec![u64::MAX, 0], vec![1 << 62; 8], vec![1, u64::MAX - 1, 5, 0]] {
            let axis = TimeAxis::of_durations(durations.iter().copied(), 0).expect("time passes");
            let places: Vec<f64> = (0..=durations.len()).map(|step| axis.place(step as f64)).collect();
            assert!(places.is_sorted() && places[0] == 0.0, "{places:?}");
        }
    }

    proptest! {
        #[test]
        fn places_and_steps_are_inverse_and_ascend(
            durations in prop::collection::vec(prop_oneof![Just(0_u64), 1_u64..50, 1_000_u64..5_000_000], 1..200),
            steps in prop::collection::vec(-0.2..1.2_f64, 2..40),
        ) {
            let n_steps = durations.len() as f64;
            let sum: u64 = durations.iter().sum();
            let Some(axis) = TimeAxis::of_durations(durations.iter().copied(), 0) else {
                prop_assert_eq!(sum, 0);
                return Ok(());
            };
            prop_assert_eq!((axis.total(), axis.n_steps()), (sum, durations.len()));
            let mut steps: Vec<f64> = steps.iter().map(|part| part * n_steps).collect();
            steps.extend((0..=durations.len()).map(|step| step as f64));
            steps.sort_by(f64::total_cmp);
            let mut before = f64::NEG_INFINITY;
            for step in steps {
                let place = axis.place(step);
                prop_assert!(place >= before, "{place} after {before}");
                before = place;
                let back = axis.step(place);
                prop_assert!((back - step).abs() < 1e-6, "{step} is drawn at {place}, where {back} is");
            }
            // Every step has a width; a naive sum gives its start.
            let mut time = 0;
            for (step, duration) in (0_u32..).zip(&durations) {
                prop_assert_eq!(axis.time_at(step), time);
                prop_assert!(axis.place_at(step + 1) - axis.place_at(step) >= axis.least());
                prop_assert!((axis.place_at(step) - axis.place(f64::from(step))).abs() < 1e-6);
                let middle = axis.place(f64::from(step) + 0.5);
                prop_assert_eq!(axis.step(middle).floor(), f64::from(step), "the middle of a step lies in it");
                if *duration > 0 {
                    let half = time as f64 + *duration as f64 / 2.0;
                    prop_assert!((axis.time(f64::from(step) + 0.5) - half).abs() < 1e-6);
                    prop_assert!((axis.step_at_time(half) - f64::from(step) - 0.5).abs() < 1e-6);
                }
                time += duration;
            }
        }
    }

    #[test]
    fn steps_share_a_twentieth_evenly() {
        let axis = TimeAxis::of_durations([0, 950, 0, 0], 1).expect("time passes");
        let places: Vec<f64> = (0..=4).map(|step| axis.place_at(step)).collect();
        assert_eq!(places, [0.0, 12.0, 974.0, 986.0, 998.0]);
        assert_eq!((axis.n_timeless(), axis.n_stated()), (3, 1));
        assert!(TimeAxis::of_durations([0, 0], 0).is_none(), "no time passes");
        assert!(TimeAxis::new(vec![7], 0).is_none(), "no step");
        let held = TimeAxis::new(vec![5, 9, 8, 10], 0).expect("time passes");
        assert_eq!((held.time_at(1), held.time_at(2), held.time_at(3)), (4, 4, 5));
    }

    #[test]
    fn kinds_are_found_by_name() {
        for (text, kind) in [
            ("program order", Some(AxisKind::Order)),
            ("program", Some(AxisKind::Order)),
            ("estimated-time", Some(AxisKind::Estimated)),
            ("Wall", Some(AxisKind::Wall)),
            ("time", None),
            ("", None),
        ] {
            assert_eq!(AxisKind::find(text), kind, "{text}");
        }
    }
}
