//! Which strategy places the static arenas of which lane.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AnalysisError, arena_problem};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationOrder, GraphIdx, ProblemEntry};
use highwater_plan::{
    AS_DUMPED, BEST, DEFAULT, PlacementProblem, PlanRequest, Planned, SEGMENT_LIMIT, SegmentRule, Strategy, find, plan,
};
use highwater_rewrite::remat::{Budget, Heuristic};
use highwater_sim::{BoundGraph, DeviceSession, Segment, StaticMemoryPolicy};

/// What a lane shows: a policy, or for a placement problem one strategy beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    /// The session under a policy.
    Policy(StaticMemoryPolicy),
    /// A placement problem, by position of the lane.
    Problem(u8),
    /// The session under one policy after a rewriting pass, by position of the lane.
    Pass(u8),
    /// A pinned configuration, by position of the pin.
    Pinned(u8),
    /// A recording of a real run, by position.
    Measured(u8),
}

/// What lanes are compared for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LaneSet {
    /// The session under every policy, after the passes that the options ask for.
    #[default]
    Policies,
    /// Name reuse: off, level 0 and level 1, under the configured policy.
    NameReuse,
    /// Runs under memory budgets, beside one without, under the configured policy.
    Remat(Vec<RematLane>),
}

/// A run under a budget as a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RematLane {
    /// What is evicted.
    pub heuristic: &'static Heuristic,
    /// The budget, as the heuristic's engine counts.
    pub budget: Budget,
}

impl RematLane {
    /// What the lane is called.
    pub fn title(&self) -> String {
        match self.budget {
            Budget::Unlimited => format!("{}, no budget", self.heuristic.label),
            Budget::Bytes(bytes) => format!("{} at {bytes}", self.heuristic.label),
            Budget::Ratio(ratio) => format!("{} at {:.1} %", self.heuristic.label, ratio * 100.0),
        }
    }
}

/// Strategies that the user chose for single lanes; others take the one for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneStrategies(BTreeMap<LaneId, &'static Strategy>);

impl LaneStrategies {
    /// The choice for a lane, where there is one.
    pub fn get(&self, lane: LaneId) -> Option<&'static Strategy> {
        self.0.get(&lane).copied()
    }

    /// Chooses for a lane; `None` takes the choice back.
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

    /// Forgets all choices.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Strategies of a problem's lanes unless the user chooses others; the second is left out where the source has no
/// plan of its own.
const PROBLEM_LANES: [&str; 5] = [BEST, AS_DUMPED, DEFAULT, "gap_first_size", "greedy_by_size"];

/// The lanes of a problem.
const N_PROBLEM_LANES: usize = 4;

/// The strategies of a problem's lanes.
pub(super) fn problem_lanes(entry: &ProblemEntry, chosen: &LaneStrategies) -> Vec<(LaneId, &'static Strategy)> {
    let defaults = PROBLEM_LANES
        .iter()
        .filter(|name| **name != AS_DUMPED || entry.recorded.is_some())
        .filter_map(|name| find(name).ok());
    (0_u8..)
        .map(LaneId::Problem)
        .zip(defaults)
        .take(N_PROBLEM_LANES)
        .map(|(lane, strategy)| (lane, chosen.get(lane).unwrap_or(strategy)))
        .collect()
}

/// Plans of static graphs, by graph.
pub type Plans = Vec<(GraphIdx, Arc<Planned>)>;

/// What to place in each static graph's arena.
#[derive(Clone, Debug)]
pub(super) struct Arena {
    pub(super) graph: GraphIdx,
    pub(super) problem: PlacementProblem,
    /// The order in which its buffers come and go.
    pub(super) order: Option<AllocationOrder>,
}

/// Places every arena by every strategy that some lane wants, each once.
pub(super) fn place_arenas(
    arenas: &[Arena],
    strategies: &[&'static Strategy],
    nodes: u64,
    progress: &Progress<'_>,
) -> Result<BTreeMap<&'static str, Plans>, AnalysisError> {
    let mut placed: BTreeMap<&'static str, Plans> = BTreeMap::new();
    for strategy in strategies {
        if placed.contains_key(strategy.name) {
            continue;
        }
        let mut plans = Plans::new();
        for arena in arenas {
            let mut request = PlanRequest::new(&arena.problem);
            request.order = arena.order.as_ref();
            request.limits.nodes = nodes;
            let planned = plan(strategy, &request, progress)?;
            plans.push((arena.graph, Arc::new(planned)));
        }
        placed.insert(strategy.name, plans);
    }
    Ok(placed)
}

/// The session with these plans for its static graphs.
///
/// Each plan is cut into its segments, or with `is_whole` is one segment.
pub(super) fn with_plans(session: &DeviceSession, plans: &Plans, is_whole: bool) -> DeviceSession {
    let mut planned = session.clone();
    let mut made: Vec<(*const BoundGraph, Arc<BoundGraph>)> = Vec::new();
    for run in &mut planned.runs {
        let Some((_, plan)) = plans.iter().find(|(graph, _)| *graph == run.graph) else {
            continue;
        };
        let before = Arc::as_ptr(&run.bound);
        if let Some((_, bound)) = made.iter().find(|(from, _)| *from == before) {
            run.bound = Arc::clone(bound);
            continue;
        }
        let mut bound = (*run.bound).clone();
        bound.plan = Some(Arc::new(plan.plan.clone()));
        bound.segments = if is_whole {
            vec![Segment {
                base: 0,
                bytes: plan.plan.footprint,
            }]
        } else {
            segments(&bound, plan)
        };
        run.bound = Arc::new(bound);
        made.push((before, Arc::clone(&run.bound)));
    }
    planned
}

/// The pieces of a plan that are placed as one each where graphs share an arena; inputs and outputs, which follow the
/// plan, are a piece of their own that the simulation adds.
fn segments(bound: &BoundGraph, planned: &Planned) -> Vec<Segment> {
    let problem = arena_problem(&bound.program, &bound.engine_sizes);
    let rule = SegmentRule {
        limit: SEGMENT_LIMIT,
        io: Bytes::ZERO,
    };
    let mut pieces = planned.segments(&problem, rule);
    pieces.pop();
    let pieces = pieces.into_iter().filter(|piece| piece.size > 0);
    pieces
        .map(|piece| Segment {
            base: piece.base,
            bytes: Bytes(piece.size),
        })
        .collect()
}
