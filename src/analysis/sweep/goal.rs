//! What is asked for, and the order in which points answer it.
//!
//! Ties are broken by a written rule, the same everywhere: the figure that is asked for, then the other of overhead and peak, then
//! how many axes differ from the configuration at hand, then the number in the space.

use super::{Space, SweepPoint};

/// What is asked for. Only points that run to their end on their device answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The least estimated overhead; then the lowest peak.
    LeastSlowdown,
    /// The lowest peak of reserved memory; then the least overhead.
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

/// The place of a point in the order of a goal; smaller is better.
pub(super) type Rank = [u64; 5];

impl Goal {
    /// Reads `least-slowdown`, `lowest-peak` or `largest:AXIS`.
    ///
    /// # Errors
    /// [`GoalError`] lists what there is.
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

    /// As [`Self::parse`] reads it.
    pub fn name(self, space: &Space) -> String {
        match self {
            Self::LeastSlowdown => "least-slowdown".to_owned(),
            Self::LowestPeak => "lowest-peak".to_owned(),
            Self::Largest(axis) => format!("largest:{}", space.axes().get(axis).map_or("", |axis| axis.name())),
        }
    }

    /// The place of a point; `None` where it does not answer the goal.
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

/// Whether an axis is of amounts, every one a number that is not negative.
fn has_numbers(space: &Space, axis: usize) -> bool {
    let is_number = |value: &highwater_options::Value| value.as_int().is_some_and(|number| number >= 0);
    let axis = &space.axes()[axis];
    axis.is_quantity() && axis.values.iter().all(is_number)
}
