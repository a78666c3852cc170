//! Goals, and how they select a point.
//!
//! The figures of a goal of lanes are weighed as [`crate::selection`] has it: the active configuration wins among points
//! without a significant difference; then the lowest peak, the fewest axes that differ from the active configuration,
//! the smallest number.

use super::{Space, SweepPoint};
use crate::selection::{Candidate, LaneGoal, granule, select};

/// Points qualify only if they run to their end on their device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The goals by which policies are compared.
    Lane(LaneGoal),
    /// The largest value of an axis, by its position; then the least overhead.
    Largest(usize),
}

/// A goal that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("goal {text}: {why}")]
pub struct GoalError {
    text: String,
    why: String,
}

/// The rank of a point in a search; smaller is more promising.
pub(super) type Rank = [u64; 5];

impl Goal {
    /// Reads `least-overhead` (or its first name, `least-slowdown`), `lowest-peak` or `largest:AXIS`.
    ///
    /// # Errors
    /// [`GoalError`] with the known goals.
    pub fn parse(text: &str, space: &Space) -> Result<Self, GoalError> {
        let fail = |why: String| GoalError {
            text: text.to_owned(),
            why,
        };
        if let Some(goal) = LaneGoal::parse(text) {
            return Ok(Self::Lane(goal));
        }
        let Some(name) = text.trim().strip_prefix("largest:").map(str::trim) else {
            return Err(fail("expected least-overhead, lowest-peak or largest:AXIS".to_owned()));
        };
        let numbered: Vec<usize> = (0..space.axes().len())
            .filter(|axis| has_numbers(space, *axis))
            .collect();
        let found = space.find_axis(name).filter(|axis| numbered.contains(axis));
        found.map(Self::Largest).ok_or_else(|| {
            let names: Vec<&str> = numbered.iter().map(|axis| space.axes()[*axis].name()).collect();
            fail(match &names[..] {
                [] => format!("no numeric axis; add one, e.g. --axis {name}=8..128x2"),
                names => format!("no numeric axis \"{name}\"; numeric axes: {}", names.join(", ")),
            })
        })
    }

    /// The text that [`Self::parse`] reads.
    pub fn name(self, space: &Space) -> String {
        match self {
            Self::Lane(goal) => goal.name().to_owned(),
            Self::Largest(axis) => format!("largest:{}", space.axes().get(axis).map_or("", |axis| axis.name())),
        }
    }

    /// The point to take among `points`; `None` where none fits. Linear.
    pub(super) fn select<'a>(self, space: &Space, points: &[&'a SweepPoint]) -> Option<&'a SweepPoint> {
        let value = |point: &SweepPoint| match self {
            Self::Lane(_) => Some(0),
            Self::Largest(axis) => space.values(point.idx).get(axis)?.as_int(),
        };
        let fitting = points.iter().filter(|point| point.fitting().is_some());
        let fitting: Vec<(i64, &'a SweepPoint)> = fitting.filter_map(|point| Some((value(point)?, *point))).collect();
        let largest = fitting.iter().map(|(value, _)| *value).max()?;
        let left = fitting.into_iter().filter(|(value, _)| *value == largest);
        let left: Vec<&'a SweepPoint> = left.map(|(_, point)| point).collect();
        let candidates: Vec<Candidate> = left.iter().filter_map(|point| candidate(space, point)).collect();
        let goal = match self {
            Self::Lane(goal) => goal,
            Self::Largest(_) => LaneGoal::LeastOverhead,
        };
        select(goal, &candidates).map(|position| left[position])
    }

    /// The rank of a point while a space is searched; `None` where it does not qualify.
    pub(super) fn rank(self, space: &Space, point: &SweepPoint) -> Option<Rank> {
        let figures = point.fitting()?;
        let (peak, overhead) = (figures.peak_reserved.get(), figures.overhead.0);
        let last = (space.n_changes(point.idx) as u64, point.idx);
        let (first, second, third) = match self {
            Self::Lane(LaneGoal::LeastOverhead) => (0, overhead, peak),
            Self::Lane(LaneGoal::LowestPeak) => (0, peak, overhead),
            Self::Largest(axis) => {
                let value = space.values(point.idx).get(axis).and_then(|value| value.as_int())?;
                (u64::MAX - value.cast_unsigned(), overhead, peak)
            }
        };
        Some([first, second, third, last.0, last.1])
    }
}

fn candidate(space: &Space, point: &SweepPoint) -> Option<Candidate> {
    let figures = point.fitting()?;
    let n_changes = space.n_changes(point.idx) as u64;
    Some(Candidate {
        peak: figures.peak_reserved,
        overhead: figures.overhead,
        granule: granule(point.policy),
        is_active: n_changes == 0,
        order: (n_changes, point.idx),
    })
}

/// Whether an axis has non-negative numbers alone.
fn has_numbers(space: &Space, axis: usize) -> bool {
    let is_number = |value: &highwater_options::Value| value.as_int().is_some_and(|number| number >= 0);
    let axis = &space.axes()[axis];
    axis.is_quantity() && axis.values.iter().all(is_number)
}
