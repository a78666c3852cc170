//! A configuration that a recommendation names, with the answer that its sentences are counted from.

use crate::name_context::NameContext;
use crate::sweep::{Chosen, PointFigures};
use crate::{Comparison, Lane};
use highwater_model::units::Step;

/// A configuration that is named, as a lane.
pub(in crate::sweep) struct Story {
    pub(in crate::sweep) chosen: Chosen,
    pub(in crate::sweep) comparison: Comparison,
}

impl Story {
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
        let Comparison {
            workload,
            axis,
            session,
            params,
            workspaces,
            requests,
            ..
        } = &self.comparison;
        NameContext {
            workload,
            axis,
            session,
            arena_behaviour: params.arena_behaviour,
            copies: params.feature_copies.max(1),
            workspaces,
            requests,
        }
    }
}
