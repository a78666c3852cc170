//! Which lanes a comparison has: their ids, the set that a request names, and strategies chosen for single lanes.

use std::collections::BTreeMap;

use highwater_plan::Strategy;
use highwater_rewrite::remat::{Budget, Heuristic};
use highwater_sim::StaticMemoryPolicy;

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    /// The workload under a policy.
    Policy(StaticMemoryPolicy),
    /// A placement problem under a strategy, by position of the lane.
    Problem(u8),
    /// The workload under one policy after a rewriting pass, by position of the lane.
    Pass(u8),
    /// A pinned configuration, by position of the pin.
    Pinned(u8),
    /// A recording of a real run, by position among the recordings with content.
    Measured(u16),
}

/// What the lanes of a comparison differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// The policy of the device session.
    Policies,
    /// The strategy that places a problem.
    Strategies,
    /// The rewriting pass or its budget, under one policy.
    Passes,
    /// The recording: nothing is simulated.
    Recordings,
}

/// The lanes that a request names.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LaneSet {
    /// Every policy, after the passes that the options name.
    #[default]
    Policies,
    /// Name reuse: off, level 0 and level 1, under the active policy.
    NameReuse,
    /// Runs under memory budgets and one without, under the active policy.
    Remat(Vec<RematLane>),
}

/// A run under a budget as a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RematLane {
    pub heuristic: &'static Heuristic,
    /// As the heuristic's engine counts.
    pub budget: Budget,
}

impl RematLane {
    pub fn title(&self) -> String {
        match self.budget {
            Budget::Unlimited => format!("{}, no budget", self.heuristic.label),
            Budget::Bytes(bytes) => format!("{} at {bytes}", self.heuristic.label),
            Budget::Ratio(ratio) => format!("{} at {:.1} %", self.heuristic.label, ratio * 100.0),
        }
    }
}

/// Strategies chosen for single lanes; other lanes take the one of the options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneStrategies(BTreeMap<LaneId, &'static Strategy>);

impl LaneStrategies {
    pub fn get(&self, lane: LaneId) -> Option<&'static Strategy> {
        self.0.get(&lane).copied()
    }

    /// Chooses for a lane; `None` removes the choice.
    pub fn set(&mut self, lane: LaneId, strategy: Option<&'static Strategy>) {
        match strategy {
            Some(strategy) => self.0.insert(lane, strategy),
            None => self.0.remove(&lane),
        };
    }

    /// The choices, in order of lanes.
    pub fn iter(&self) -> impl Iterator<Item = (LaneId, &'static Strategy)> + '_ {
        self.0.iter().map(|(lane, strategy)| (*lane, *strategy))
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
