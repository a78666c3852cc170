//! A placement problem as a comparison: a lane per strategy, each one arena that is as large as its plan.
//!
//! A buffer with gaps is several live ranges of one buffer; a group is drawn as the memory that it holds, under the
//! name of its first member.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lanes::{LaneId, Plans, problem_lanes};
use super::run_lanes::{LaneParts, lane_of};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Lane, Request, ScratchSource};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::TensorId;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Axis, AxisRun, GraphIdx, Lifetime, Lifetimes, ProblemEntry, Program, Run, Shapes};
use highwater_options::Lowered;
use highwater_plan::{PlacementProblem, Plan, PlanRequest, Planned, Strategy, plan, verify_with};
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, LoadedGraph, Params, StaticMemoryPolicy};

/// Runs every lane's strategy over the first problem of the workload.
pub(super) fn compare_problem(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let problems = request.workload.problems();
    let entry = &problems[0];
    let mut diagnostics = Diagnostics::new();
    if let Some(second) = problems.get(1) {
        let count = problems.len();
        let text =
            format!("{count} problems are open and one is shown; choose another under \"show\", or with --graph NAME");
        diagnostics.warning(text, &second.name);
    }
    let shapes = Shapes::new(&entry.problem);
    let session = session_of(entry, &shapes);
    let mut lanes: Vec<Lane> = Vec::new();
    for (id, strategy) in problem_lanes(entry, &request.strategies) {
        let same = lanes.iter().find(|lane| lane.strategy == strategy);
        let is_checked = same.is_some();
        let planned = match same {
            Some(lane) => Arc::clone(&lane.plans[0].1),
            None => Arc::new(planned(entry, strategy, request.search_nodes, progress)?),
        };
        let defect = if is_checked {
            None
        } else {
            verify_with(&entry.problem, &planned.plan, progress)?.err()
        };
        if let Some(defect) = defect {
            diagnostics.warning(
                format!("the plan of the source is no valid plan and is not drawn: {defect}"),
                &entry.name,
            );
            continue;
        }
        let plans: Plans = vec![(GraphIdx(0), Arc::clone(&planned))];
        let session = with_plan(&session, &planned.plan);
        let params = Params {
            device_bytes: Bytes(u64::MAX >> 1),
            feature_copies: 1,
            ..lowered.params.clone()
        };
        let mut lane = lane_of(
            &session,
            LaneParts { id, strategy, plans },
            (PLAIN_ARENA, &params),
            progress,
        )?;
        // Nothing of a device is asked: neither calls nor the time they cost.
        lane.summary.estimated_overhead = highwater_model::units::Nanos(0);
        lane.summary.overhead.clear();
        lane.chosen = request.strategies.get(id).is_some();
        lanes.push(lane);
    }
    let mut device = request.device.clone();
    device.memory_bytes = entry.capacity.unwrap_or(lowered.params.device_bytes).get();
    Ok(Comparison {
        calibrations: Vec::new(),
        lowest_peak: None,
        equivalence: None,
        lower_bound: false,
        scratch: ScratchSource::Stated,
        workspaces: EstimatedWorkspaces::default(),
        requests: Vec::new(),
        params: lowered.params.clone(),
        rates: lowered.rates,
        workload: Arc::clone(&request.workload),
        axis: axis_of(&session),
        session,
        device,
        device_id: lowered.device_id,
        occupied: Bytes::ZERO,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: Vec::new(),
        diagnostics,
    })
}

/// A strategy that the source has no offsets for falls back to none: the error is the answer.
fn planned(
    entry: &ProblemEntry,
    strategy: &'static Strategy,
    nodes: u64,
    progress: &Progress<'_>,
) -> Result<Planned, AnalysisError> {
    let mut request = PlanRequest {
        recorded: entry.recorded.as_ref(),
        order: entry.order.as_ref(),
        ..PlanRequest::new(&entry.problem)
    };
    request.limits.nodes = nodes;
    Ok(plan(strategy, &request, progress)?)
}

/// The pieces of a problem as the live ranges of one static graph that holds nothing else.
fn session_of(entry: &ProblemEntry, shapes: &Shapes) -> DeviceSession {
    let items = pieces(shapes).map(|(buffer, piece)| Lifetime {
        birth: Step(piece.lower),
        end: Step(piece.upper),
        bytes: Bytes(piece.size),
        tensor: TensorId(buffer),
    });
    let mut items: Vec<Lifetime> = items.collect();
    items.sort_unstable();
    let n_steps = entry
        .problem
        .buffers
        .iter()
        .map(|buffer| buffer.upper.0)
        .max()
        .unwrap_or(0);
    let engine_sizes = items.iter().map(|item| item.bytes).collect();
    let bound = BoundGraph {
        program: Program {
            lifetimes: Lifetimes { n_steps, items },
            separate: Vec::new(),
        },
        engine_sizes,
        plan: None,
        segments: Vec::new(),
        io: Vec::new(),
        clears: Vec::new(),
    };
    DeviceSession {
        graphs: vec![LoadedGraph {
            name: entry.name.clone(),
            is_static: true,
            has_collectives: false,
            weights: Vec::new(),
        }],
        runs: vec![DeviceRun {
            graph: GraphIdx(0),
            bound: Arc::new(bound),
            start: Step(0),
            n_steps,
        }],
        n_steps,
        ..DeviceSession::default()
    }
}

/// Each piece with its shape's first buffer.
fn pieces(shapes: &Shapes) -> impl Iterator<Item = (u32, highwater_model::workload::Piece)> + '_ {
    let mut first = vec![u32::MAX; shapes.items.len()];
    for (buffer, item) in (0_u32..).zip(&shapes.item_of) {
        let slot = &mut first[*item as usize];
        *slot = (*slot).min(buffer);
    }
    (0_u32..)
        .zip(first)
        .flat_map(|(item, buffer)| shapes.pieces_of(item).iter().map(move |piece| (buffer, *piece)))
}

/// The session with the offsets of a plan.
fn with_plan(session: &DeviceSession, plan: &Plan) -> DeviceSession {
    let run = &session.runs[0];
    let items = &run.bound.program.lifetimes.items;
    let offsets = items.iter().map(|item| plan.offsets[item.tensor.0 as usize]).collect();
    let of_pieces = PlacementProblem::of(items.iter().map(|item| highwater_plan::Buffer {
        lower: item.birth,
        upper: item.end,
        size: item.bytes,
        alignment: 1,
        offset: None,
    }));
    let plans: Plans = vec![(
        GraphIdx(0),
        Arc::new(Planned {
            strategy: "",
            plan: Plan::new(&of_pieces, offsets),
            lower_bound: Bytes::ZERO,
            proved_bound: Bytes::ZERO,
            nodes: 0,
            tried: Vec::new(),
            regions: Vec::new(),
        }),
    )];
    super::lanes::with_plans(session, &plans, true)
}

fn axis_of(session: &DeviceSession) -> Axis {
    Axis {
        n_steps: session.n_steps,
        runs: vec![AxisRun {
            slots: None,
            start: Step(0),
            n_steps: session.n_steps,
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: BTreeMap::new(),
            },
        }],
    }
}

/// The policy under which an arena is exactly as large as its plan.
pub(super) const PLAIN_ARENA: StaticMemoryPolicy = StaticMemoryPolicy::Dynamic;

/// The policy that a lane is simulated under; `configured` is that of rewriting passes.
pub(super) const fn policy_of(lane: LaneId, configured: StaticMemoryPolicy) -> StaticMemoryPolicy {
    match lane {
        LaneId::Pass(_) => configured,
        LaneId::Policy(policy) => policy,
        LaneId::Problem(_) | LaneId::Pinned(_) | LaneId::Measured(_) => PLAIN_ARENA,
    }
}
