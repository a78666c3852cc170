//! How far the live bytes of aligned runs are apart.

use highwater_model::units::Step;

/// Live bytes of one run less those of another, at a step of the common axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunDifference {
    pub bytes: i128,
    pub step: Step,
}

/// How far the live bytes of a run are from those of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunDifferences {
    /// The position of the run; the first has position 0.
    pub lane: usize,
    /// The first step with the least difference.
    pub least: RunDifference,
    /// The first step with the largest one.
    pub greatest: RunDifference,
}

impl RunDifferences {
    /// The one that is further from zero.
    pub fn furthest(&self) -> RunDifference {
        let [least, greatest] = [self.least, self.greatest].map(|one| one.bytes.unsigned_abs());
        if greatest >= least { self.greatest } else { self.least }
    }
}
