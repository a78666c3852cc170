//! Time along the axis: how wide a step is drawn where it stands for the time that it takes.
//!
//! ```text
//! steps    0   1 2           3 4          values, ranges and views stay in steps
//! times    0   4 6          18 18         nanoseconds from the beginning of the first step to the beginning of each
//! places   |----|--|-------------|-|      time, and besides an even share of a twentieth of the axis for every step
//! ```
//!
//! In: the time at every border between steps. Out: where a step is drawn, which step is drawn at a place, and how late it
//! is there. Invariants: places ascend strictly, so that a step without time has a width, can be pointed at and is never
//! dropped; place and step are inverse to each other. Deliberately not here: where times come from (`making`).

mod axes;
mod making;
mod wall;

use serde::{Deserialize, Serialize};

pub use axes::Axes;
pub use wall::WallRun;

/// What the axis counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisKind {
    /// Steps, one as wide as another.
    #[default]
    Order,
    /// How long ops take: measured where the source says so, else estimated.
    Estimated,
    /// When events were, as a recording has it, or when ops ran in a run beside their graph.
    Wall,
}

impl AxisKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Order, Self::Estimated, Self::Wall];

    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "program order",
            Self::Estimated => "estimated time",
            Self::Wall => "wall time",
        }
    }

    /// The name where there is little room.
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Estimated => "est. time",
            Self::Wall => "wall time",
        }
    }

    /// What stands before a time on this axis: an estimate is called one.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Order | Self::Wall => "",
            Self::Estimated => "est. ",
        }
    }

    /// The kind of a name; hyphens count as spaces, and the first word will do.
    pub fn find(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace('-', " ");
        let is_named = |kind: &Self| kind.name() == name || kind.name().split(' ').next() == Some(name.as_str());
        Self::ALL.into_iter().find(is_named)
    }
}

/// What part of the axis all steps share evenly, whatever time they take: one of so many.
const SHARED: u64 = 20;
/// Most buckets of the table that finds a step by its place.
const MOST_BUCKETS: usize = 1 << 18;

/// The time at every border between steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeAxis {
    /// Nanoseconds from the beginning of the first step to the beginning of each, and to the end of the last. Not descending.
    times: Box<[u64]>,
    /// What a step is wide beyond its time, in nanoseconds; at least 1.
    share: u64,
    /// By equal parts of the axis: the step at their beginning; and the last step.
    buckets: Box<[u32]>,
    /// Steps that take no time of their own.
    n_timeless: u32,
    /// Steps of which the source states the time.
    n_stated: u32,
}

#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
impl TimeAxis {
    /// An axis of the times at the borders of steps, of which there is one more than there are steps. `None` where there is
    /// no step or no time passes. Times that descend are held up. O(steps).
    pub fn new(mut times: Vec<u64>, n_stated: u32) -> Option<Self> {
        let first = *times.first()?;
        let mut last = 0;
        for time in &mut times {
            last = time.saturating_sub(first).max(last);
            *time = last;
        }
        let n_steps = u64::try_from(times.len() - 1).ok()?;
        if n_steps == 0 || last == 0 || u32::try_from(n_steps).is_err() {
            return None;
        }
        let timeless = times.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let mut axis = Self {
            share: (last / (SHARED - 1) / n_steps).max(1),
            times: times.into_boxed_slice(),
            buckets: Box::default(),
            n_timeless: u32::try_from(timeless).unwrap_or(u32::MAX),
            n_stated,
        };
        axis.buckets = axis.bucketed();
        Some(axis)
    }

    /// An axis of what each step takes. `None` where there is no step or none takes time. O(steps).
    pub fn of_durations(durations: impl IntoIterator<Item = u64>, n_stated: u32) -> Option<Self> {
        let mut sum = 0_u64;
        let ends = durations.into_iter().map(|duration| {
            sum = sum.saturating_add(duration);
            sum
        });
        let times = std::iter::once(0).chain(ends).collect();
        Self::new(times, n_stated)
    }

    /// Steps.
    pub fn n_steps(&self) -> usize {
        self.times.len() - 1
    }

    /// Steps that take no time of their own.
    pub const fn n_timeless(&self) -> u32 {
        self.n_timeless
    }

    /// Steps of which the source states the time.
    pub const fn n_stated(&self) -> u32 {
        self.n_stated
    }

    /// Nanoseconds in sum.
    pub fn total(&self) -> u64 {
        self.times.last().copied().unwrap_or(0)
    }

    /// Nanoseconds from the beginning of the first step to the beginning of a step; behind the end the sum. O(1).
    pub fn time_at(&self, step: u32) -> u64 {
        let known = self.times.get(step as usize).copied();
        known.unwrap_or_else(|| self.total())
    }

    /// The time within a step, which passes evenly. O(1).
    pub fn time(&self, step: f64) -> f64 {
        let (idx, part) = self.split(step);
        let (start, end) = (self.times[idx], self.times[idx + 1]);
        start as f64 + part.clamp(0.0, 1.0) * (end - start) as f64
    }

    /// The step in which a time is reached; of several at one time the last. O(log steps).
    pub fn step_at_time(&self, time: f64) -> f64 {
        let behind = self.times.partition_point(|known| *known as f64 <= time);
        let idx = behind.saturating_sub(1).min(self.n_steps() - 1);
        let (start, end) = (self.times[idx] as f64, self.times[idx + 1] as f64);
        let part = if end > start {
            (time - start) / (end - start)
        } else {
            0.0
        };
        idx_f64(idx) + part.clamp(0.0, 1.0)
    }

    /// Where the beginning of a step is drawn, in nanoseconds of the axis with the shares of the steps before. O(1).
    #[inline]
    pub(super) fn place_at(&self, step: u32) -> f64 {
        self.border((step as usize).min(self.n_steps()))
    }

    #[inline]
    fn border(&self, idx: usize) -> f64 {
        (self.times[idx] + idx as u64 * self.share) as f64
    }

    /// Where a step is drawn; before the first and behind the last as wide as they are on average. O(1).
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

    /// Which step is drawn at a place. O(1) where steps are of about one width, O(log steps) at worst.
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

    /// How wide the narrowest step is that there may be.
    pub(super) fn least(&self) -> f64 {
        self.share as f64
    }

    /// How wide steps are on average.
    fn mean(&self) -> f64 {
        let n_steps = self.n_steps();
        self.border(n_steps) / idx_f64(n_steps)
    }

    /// The step that a place lies in, which lies before the end.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of buckets"
    )]
    fn find(&self, place: f64, whole: f64) -> usize {
        let n_buckets = self.buckets.len() - 1;
        let bucket = ((place / whole * idx_f64(n_buckets)) as usize).min(n_buckets - 1);
        // Rounding may put a place just beside its bucket.
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

    /// The step that holds a fractional one, and how far in it that lies; beyond 0 and 1 outside the axis.
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
            // Every step has a width; a naive sum says where it begins.
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
