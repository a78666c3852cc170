//! Differences between the peaks of two lanes, with the tensors, so that each can be selected.
//!
//! O(events + tensors log tensors); for the worker.

use std::collections::BTreeMap;

use super::changes::Changes;
use super::peak::LiveSet;
use super::peak_contributors::{ContributorName, PeakContributors};
use super::{Selected, peak_step};
use highwater_analysis::{Comparison, LaneId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneChanges {
    /// The baseline, and the lane compared with it.
    pub lanes: (LaneId, LaneId),
    /// Empty where one of them has no step.
    pub changes: Changes,
    /// Tensors by name; those that are gone belong to the baseline.
    tensors: BTreeMap<ContributorName, Selected>,
}

impl LaneChanges {
    /// `None` where one of the lanes does not exist.
    pub fn new(comparison: &Comparison, lanes: (LaneId, LaneId)) -> Option<Self> {
        let (before, after) = (comparison.position(lanes.0)?, comparison.position(lanes.1)?);
        let holders = |lane: usize| PeakContributors::new(comparison, lane, usize::MAX).unwrap_or_default();
        let changes = Changes::new(&holders(before), &holders(after));
        let mut tensors = BTreeMap::new();
        for lane in [after, before] {
            let Some(step) = peak_step(comparison, lane) else {
                continue;
            };
            for member in LiveSet::new(comparison, lane, step).members {
                let name = ContributorName::of_member(comparison, &member);
                tensors.entry(name).or_insert(member.tensor);
            }
        }
        Some(Self {
            lanes,
            changes,
            tensors,
        })
    }

    /// A tensor of that name; of a call site one of its blocks.
    pub fn tensor(&self, name: &ContributorName) -> Option<Selected> {
        let of_site = || {
            let site = name.site.as_ref()?;
            let mut tensors = self.tensors.iter();
            let found = tensors.find(|(known, _)| known.site.as_ref().is_some_and(|known| site.covers(known)));
            found.map(|(_, tensor)| tensor)
        };
        self.tensors.get(name).or_else(of_site).copied()
    }
}
