//! A configuration that a recommendation names, with the comparison that its sentences are counted from.

use crate::comparison::Comparison;
use crate::lane::Lane;
use crate::name_context::NameContext;
use crate::sweep::{Chosen, PointFigures};
use highwater_model::units::Step;

/// A recommended, rejected or base configuration as a lane.
pub(in crate::sweep) struct ChosenLane {
    pub(in crate::sweep) chosen: Chosen,
    pub(in crate::sweep) comparison: Comparison,
}

impl ChosenLane {
    pub(super) fn lane(&self) -> Option<&Lane> {
        self.comparison.simulated_lanes().next()
    }

    pub(super) fn policy(&self) -> u8 {
        self.chosen.point.policy.number()
    }

    pub(super) fn figures(&self) -> &PointFigures {
        self.chosen.figures()
    }

    pub(super) fn peak_step(&self) -> Step {
        let step = self.lane().and_then(|lane| lane.summary.peak_reserved_step);
        step.unwrap_or(Step(0))
    }

    pub(super) fn names(&self) -> NameContext<'_> {
        self.comparison.names(&self.comparison.session, &self.comparison.params)
    }
}
