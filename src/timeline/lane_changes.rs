//! What the peak of a lane holds otherwise than that of another, with the tensors themselves, so that each can be selected.
//!
//! In: two lanes. Out: [`LaneChanges`]. O(events + tensors log tensors); for the worker.

use std::collections::BTreeMap;

use super::changes::Changes;
use super::peak::{LiveSet, tensor_label};
use super::peak_contributors::{ContributorName, PeakContributors};
use super::{Selected, peak_step};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::graph::Id as _;

/// What the peak of a lane holds otherwise than that of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneChanges {
    /// The lane that is compared with, and the lane.
    pub lanes: (LaneId, LaneId),
    /// What differs; nothing where one of them has no step.
    pub changes: Changes,
    /// Tensors of these names; what is gone is of the lane that is compared with.
    tensors: BTreeMap<ContributorName, Selected>,
}

impl LaneChanges {
    /// From one lane to another, by id; `None` where one of them is not there.
    pub fn new(comparison: &Comparison, lanes: (LaneId, LaneId)) -> Option<Self> {
        let position = |id: LaneId| comparison.lanes.iter().position(|lane| lane.id == id);
        let (before, after) = (position(lanes.0)?, position(lanes.1)?);
        let holders = |lane: usize| PeakContributors::new(comparison, lane, usize::MAX).unwrap_or_default();
        let changes = Changes::new(&holders(before), &holders(after));
        let mut tensors = BTreeMap::new();
        for lane in [after, before] {
            let Some(step) = peak_step(comparison, lane) else {
                continue;
            };
            for member in LiveSet::new(comparison, lane, step).members {
                let graph = comparison.session.graphs.get(member.tensor.graph.idx());
                let name = ContributorName {
                    graph: graph.map_or_else(String::new, |graph| graph.name.clone()),
                    name: tensor_label(comparison, member.tensor).into_owned(),
                };
                tensors.entry(name).or_insert(member.tensor);
            }
        }
        Some(Self {
            lanes,
            changes,
            tensors,
        })
    }

    /// The tensor of a name, the largest of several.
    pub fn tensor(&self, name: &ContributorName) -> Option<Selected> {
        self.tensors.get(name).copied()
    }
}
