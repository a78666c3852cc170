//! Goals, and how they order points.
//!
//! Ties are broken by the figure of the goal, then the other one of overhead and peak, then the number of axes that
//! differ from the active configuration, then the number of the point.

use super::{Space, SweepPoint};

/// Points qualify only if they run to their end on their device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The least estimated overhead; then the lowest peak.
    LeastSlowdown,
    /// The lowest peak reserved; then the least overhead.
    LowestPeak,
    /// The largest value of an axis, by its position; then the least overhead, then the lowest peak.
    Largest(usize),
}

/// A goal that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("goal {text}: {why}")]
pub struct GoalError {
    text: String,
    why: String,
}

/// The rank of a point; smaller is better.
pub(super) type Rank = [u64; 5];

impl Goal {
    /// Reads `least-slowdown`, `lowest-peak` or `largest:AXIS`.
    ///
    /// # Errors
    /// [`GoalError`] with the known goals.
    pub fn parse(text: &str, space: &Space) -> Result<Self, GoalError> {
        let fail = |why: String| GoalError {
            text: text.to_owned(),
            why,
        };
        match text.trim() {
            "least-slowdown" => return Ok(Self::LeastSlowdown),
            "lowest-peak" => return Ok(Self::LowestPeak),
            _ => {}
        }
        let Some(name) = text.trim().strip_prefix("largest:").map(str::trim) else {
            return Err(fail("write least-slowdown, lowest-peak or largest:AXIS".to_owned()));
        };
        let numbered: Vec<usize> = (0..space.axes().len())
            .filter(|axis| has_numbers(space, *axis))
            .collect();
        let found = space.find_axis(name).filter(|axis| numbered.contains(axis));
        found.map(Self::Largest).ok_or_else(|| {
            let names: Vec<&str> = numbered.iter().map(|axis| space.axes()[*axis].name()).collect();
            fail(match &names[..] {
                [] => format!("no axis is of amounts; add one, such as --axis {name}=8..128x2"),
                names => format!("no axis \"{name}\" is of amounts; axes that are: {}", names.join(", ")),
            })
        })
    }

    /// The text that [`Self::parse`] reads.
    pub fn name(self, space: &Space) -> String {
        match self {
            Self::LeastSlowdown => "least-slowdown".to_owned(),
            Self::LowestPeak => "lowest-peak".to_owned(),
            Self::Largest(axis) => format!("largest:{}", space.axes().get(axis).map_or("", |axis| axis.name())),
        }
    }

    /// The rank of a point; `None` where it does not qualify.
    pub(super) fn rank(self, space: &Space, point: &SweepPoint) -> Option<Rank> {
        let figures = point.fitting()?;
        let (peak, overhead) = (figures.peak_reserved.get(), figures.overhead.0);
        let last = (space.n_changes(point.idx) as u64, point.idx);
        let (first, second, third) = match self {
            Self::LeastSlowdown => (0, overhead, peak),
            Self::LowestPeak => (0, peak, overhead),
            Self::Largest(axis) => {
                let value = space.values(point.idx).get(axis).and_then(|value| value.as_int())?;
                (u64::MAX - value.cast_unsigned(), overhead, peak)
            }
        };
        Some([first, second, third, last.0, last.1])
    }
}

/// Whether an axis has non-negative numbers alone.
fn has_numbers(space: &Space, axis: usize) -> bool {
    let is_number = |value: &highwater_options::Value| value.as_int().is_some_and(|number| number >= 0);
    let axis = &space.axes()[axis];
    axis.is_quantity() && axis.values.iter().all(is_number)
}
