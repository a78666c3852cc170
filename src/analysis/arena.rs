//! Static arenas: the placement problem of each static graph, its plans, and the session with plans in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::AnalysisError;
use super::plan_search::PlanSearch;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationOrder, GraphEntry, GraphIdx, Lifetime, Program, RecordedPlan};
use highwater_plan::{
    Buffer, Effort, PlacementProblem, Plan, PlanRequest, Planned, SEGMENT_LIMIT, SegmentRule, Strategy,
    default_strategy, plan, verify_with,
};
use highwater_sim::{BoundGraph, DeviceSession, Segment};

/// Alignment of tensors in an arena.
const ARENA_ALIGNMENT: u64 = 512;

/// Bytes that the engine asks for to hold a tensor of `bytes`: a multiple of 32 with at least 32 spare.
/// Source: the engine's rule for tensor sizes (n = 0 gives 32, 256 gives 288).
pub fn engine_size(bytes: Bytes) -> Bytes {
    Bytes(bytes.get().saturating_add(63) / 32 * 32)
}

/// Bytes that the source states for the place of a tensor whose width is unchanged.
pub(super) fn stated_size(entry: &GraphEntry, item: &Lifetime) -> Option<Bytes> {
    let size = entry.dumped.as_ref()?.offsets.as_ref()?.size(item.tensor)?;
    let is_unchanged = entry.graph.stated_tensor_bytes(item.tensor) == Some(item.bytes.get());
    Some(size).filter(|_| is_unchanged)
}

/// Bytes that a tensor of feature memory takes: a multiple of the rounding that the user set, else the engine's.
pub(super) fn rounded(bytes: Bytes, rounding: Option<Bytes>) -> Bytes {
    rounding.map_or_else(|| engine_size(bytes), |rounding| bytes.align_up(rounding.get().max(1)))
}

/// The placement problem of a static graph: its live ranges with the engine's sizes, aligned to 512 bytes.
pub fn arena_problem(program: &Program, engine_sizes: &[Bytes]) -> PlacementProblem {
    let items = program.lifetimes.items.iter();
    let buffers = items.zip(engine_sizes);
    PlacementProblem::of(buffers.map(|(item, size)| Buffer::unplaced(item.birth, item.end, *size, ARENA_ALIGNMENT)))
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
    /// The plan of a log.
    pub(super) recorded: Option<RecordedPlan>,
}

impl Arena {
    /// A recorded plan is taken where there is a valid one; other arenas are placed by the default strategy.
    fn place(
        &self,
        strategy: &'static Strategy,
        search: &PlanSearch,
        progress: &Progress<'_>,
    ) -> Result<Planned, AnalysisError> {
        let mut request = PlanRequest::new(&self.problem);
        request.order = self.order.as_ref();
        request.recorded = self.recorded.as_ref();
        request.limits.nodes = search.nodes;
        if strategy.effort != Effort::Recorded {
            return Ok(search.place(strategy, &request, progress)?);
        }
        if self.recorded.is_some() {
            let planned = plan(strategy, &request, progress)?;
            if verify_with(&self.problem, &planned.plan, progress)?.is_ok() {
                return Ok(planned);
            }
        }
        Ok(plan(default_strategy(), &request, progress)?)
    }
}

/// Places every arena by each strategy once.
pub(super) fn place_arenas(
    arenas: &[Arena],
    strategies: &[&'static Strategy],
    search: &PlanSearch,
    progress: &Progress<'_>,
) -> Result<BTreeMap<&'static str, Plans>, AnalysisError> {
    let mut placed: BTreeMap<&'static str, Plans> = BTreeMap::new();
    for strategy in strategies {
        if placed.contains_key(strategy.name) {
            continue;
        }
        let mut plans = Plans::new();
        for arena in arenas {
            let planned = arena.place(strategy, search, progress)?;
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

/// The segments of a plan, each placed as a whole where graphs share an arena; the simulation adds the segment of inputs
/// and outputs behind them.
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

/// A plan that no strategy made.
pub(super) fn given_plan(plan: Plan) -> Planned {
    Planned {
        strategy: "",
        plan,
        lower_bound: Bytes::ZERO,
        proved_bound: Bytes::ZERO,
        n_fixed: 0,
        nodes: 0,
        tried: Vec::new(),
        regions: Vec::new(),
        is_unfinished: false,
    }
}
