//! Simulates and explains lanes on several threads; the result does not depend on their number or timing.

use super::arena::Plans;
use super::explain::explain;
use super::lane::{Lane, Remark};
use super::lane_set::LaneId;
use super::name_context::NameContext;
use super::oom_report::{OutOfMemoryReport, oom_report};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::threads::on_threads;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{Axis, GraphIdx};
use highwater_plan::Strategy;
use highwater_sim::fold::{Curves, curves, overhead_from, summary};
use highwater_sim::{
    BoundGraph, DeviceRun, DeviceSession, LoadedGraph, Params, Simulation, StaticMemoryPolicy, Variable, simulate,
};

/// The policy under which an arena is exactly as large as its plan.
const PLAIN_ARENA: StaticMemoryPolicy = StaticMemoryPolicy::Dynamic;

/// A session with its plans, the policy of lanes that are not named after theirs, and the parts of the lane.
pub(super) type LaneJob<'a> = (&'a DeviceSession, StaticMemoryPolicy, LaneParts);

#[derive(Debug)]
pub(super) struct LaneParts {
    pub(super) id: LaneId,
    pub(super) strategy: &'static Strategy,
    /// The plans that the strategy made.
    pub(super) plans: Plans,
}

/// The lanes, in the order of the jobs.
pub(super) fn simulate_all(
    jobs: Vec<LaneJob<'_>>,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Vec<Lane>, Cancelled> {
    progress.set("simulating", 0, 1)?;
    let cancel = progress.cancel_flag();
    let lanes = on_threads(jobs, progress, |(session, policy, parts)| {
        let policy = if let LaneId::Policy(own) = parts.id {
            own
        } else {
            policy
        };
        simulated_lane(session, parts, policy, params, &Progress::silent(cancel))
    });
    progress.set("simulating", 1, 1)?;
    lanes.into_iter().collect()
}

/// The lane of a session under a policy, not yet explained.
pub(super) fn simulated_lane(
    session: &DeviceSession,
    parts: LaneParts,
    policy: StaticMemoryPolicy,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let simulation = simulate(session, policy, params, progress)?;
    progress.check()?;
    debug_assert_eq!(
        highwater_sim::verify(&simulation, session),
        Ok(()),
        "lane {:?}",
        parts.id
    );
    let curves = curves(&simulation);
    Ok(with_folds(simulation, curves, parts, params))
}

/// The lane of arenas that are as large as their plans, on a device without limit and without costs of calls.
pub(super) fn plain_lane(
    session: &DeviceSession,
    parts: LaneParts,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let params = Params {
        device_bytes: Bytes(u64::MAX >> 1),
        feature_copies: 1,
        ..params.clone()
    };
    let mut lane = simulated_lane(session, parts, PLAIN_ARENA, &params, progress)?;
    clear_call_costs(&mut lane);
    Ok(lane)
}

/// Removes the costs of device calls, which nothing simulates here.
pub(super) fn clear_call_costs(lane: &mut Lane) {
    lane.summary.estimated_overhead = Nanos(0);
    lane.summary.overhead.clear();
}

/// Sets what a further iteration adds to the overhead of lanes on an axis, recomputation included: the less of the last two, of
/// which the last also frees what no run needs any more, and the one before it may still grow pools.
pub(super) fn set_overhead_per_iteration(lanes: &mut [Lane], axis: &Axis, params: &Params) {
    let Some(one_before) = axis.runs.last().map_or(0, |run| run.run.iteration).checked_sub(1) else {
        return;
    };
    let first_of = |iteration: u32| axis.runs.partition_point(|run| run.run.iteration < iteration);
    let (before, last) = (first_of(one_before), first_of(one_before + 1));
    let start = |run: usize| axis.runs.get(run).map_or(Step(axis.n_steps), |run| run.start);
    for lane in lanes.iter_mut().filter(|lane| !lane.ends_early()) {
        let rewrite = lane.rewrite.as_ref();
        // What ends with an iteration is on the step behind it, so it counts for the next one.
        let from = |run: usize| {
            let recomputed = rewrite.map_or(0, |rewrite| rewrite.recomputed(run).0.0);
            let calls = overhead_from(&lane.simulation, start(run), params).0;
            calls.saturating_add(recomputed)
        };
        let (both, one, rest) = (from(before), from(last), from(axis.runs.len()));
        lane.summary.overhead_per_iteration = Some(Nanos(both.saturating_sub(one).min(one.saturating_sub(rest))));
    }
}

/// A session of one static graph that runs once.
pub(super) fn one_graph_session(name: &str, weights: Vec<Variable>, bound: BoundGraph, n_steps: u32) -> DeviceSession {
    DeviceSession {
        graphs: vec![LoadedGraph {
            name: name.to_owned(),
            is_static: true,
            has_collectives: false,
            weights,
        }],
        runs: vec![DeviceRun {
            graph: GraphIdx(0),
            bound: bound.into(),
            start: Step(0),
            n_steps,
        }],
        n_steps,
        ..DeviceSession::default()
    }
}

/// The lane of an event log, not yet explained.
pub(super) fn with_folds(simulation: Simulation, curves: Curves, parts: LaneParts, params: &Params) -> Lane {
    let LaneParts { id, strategy, plans } = parts;
    Lane {
        id,
        policy: simulation.policy,
        title: None,
        session: None,
        rewrite: None,
        strategy,
        chosen: false,
        plans,
        shares_steps: false,
        summary: summary(&simulation, &curves, params),
        curves,
        simulation,
        first_divergence: None,
        explanation: Vec::new(),
        out_of_memory_report: None,
        refusals: None,
        forbidden: Vec::new(),
        documented: None,
        recorded: None,
        pinned: None,
    }
}

/// The lane that others are compared with in explanations.
pub(super) fn reference_lane(lanes: &[Lane]) -> Option<&Lane> {
    lanes.iter().find(|lane| lane.policy == StaticMemoryPolicy::Dynamic)
}

/// Explains every lane with its session, and reports why it ended early.
pub(super) fn explain_all(
    lanes: &mut [Lane],
    sessions: &[&DeviceSession],
    params: &Params,
    names: &NameContext<'_>,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    type Explained = Result<(Vec<Remark>, Option<OutOfMemoryReport>), Cancelled>;
    progress.set("explaining", 0, 1)?;
    let cancel = progress.cancel_flag();
    let reference = reference_lane(lanes);
    let explained = on_threads(
        lanes.iter().zip(sessions).collect(),
        progress,
        |(lane, session)| -> Explained {
            let other = reference.filter(|other| other.policy != lane.policy);
            let names = NameContext { session, ..*names };
            let report = oom_report(&lane.simulation, session, params, &names, &Progress::silent(cancel))?;
            Ok((explain(lane, other, &names), report))
        },
    );
    for (lane, explained) in lanes.iter_mut().zip(explained) {
        (lane.explanation, lane.out_of_memory_report) = explained?;
    }
    Ok(())
}

/// The first step at which a lane reserves other bytes than a reference.
pub(super) fn divergence(lane: &Lane, reference: &Lane) -> Option<Step> {
    let both = lane.curves.reserved.iter().zip(reference.curves.reserved.iter());
    let step = both.into_iter().position(|(one, other)| one != other)?;
    u32::try_from(step).ok().map(Step)
}

/// Sets the first divergence of each lane from policy 0.
pub(super) fn set_divergence(lanes: &mut [Lane]) {
    let Some(reference) = reference_lane(lanes) else {
        return;
    };
    let steps: Vec<Option<Step>> = lanes.iter().map(|lane| divergence(lane, reference)).collect();
    for (lane, step) in lanes.iter_mut().zip(steps) {
        lane.first_divergence = step;
    }
}
