//! An allocation trace as a comparison: a lane per policy, each the replay of the same commands.
//!
//! ```text
//! steps      commands          tensors   requests          graphs   the trace, its pools, its static graphs
//! ```
//!
//! In: a request whose workload is a trace. Out: a [`Comparison`]. The device's memory is what the user sets, else what
//! the trace states, else the profile's. A request that is refused is told and the trace goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lanes::{LaneId, Plans};
use super::name_context::NameContext;
use super::run_lanes::{LaneParts, set_divergence, with_folds};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Lane, Remark, Request, ScratchSource, explain, remarks};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{AllocationTrace, Axis, AxisRun, GraphIdx, Run, TraceCommand, TraceName};
use highwater_options::{Lowered, OptionRow, Options, find, keys};
use highwater_plan::Strategy;
use highwater_sim::alloc::PagePoolRules;
use highwater_sim::replay::{LARGEST_DEVICE, ReplayRules};
use highwater_sim::{ArenaBehaviour, Params, StaticMemoryPolicy, TraceSession, TraceStop, simulate_trace, verify_log};

/// Most commands that are compared: every lane keeps a few hundred bytes of each.
const MOST_COMMANDS: usize = 2_000_000;

/// Options that act on a trace, beside those of cost.
const ACTING: &[&str] = &[
    keys::STATIC_MEMORY_POLICY,
    keys::ENGINE_STATIC_MEMORY_POLICY,
    keys::ENGINE_MEMORY_POOL_THRESHOLD,
    keys::POLICY_2_BEHAVIOUR,
    keys::DEVICE,
    keys::DEVICE_MEMORY,
    keys::OCCUPIED_MEMORY,
    keys::SESSION_DEVICE_ID,
];

/// Options of cost that act on a trace.
const COSTS: &[&str] = &[
    keys::MALLOC_NS,
    keys::FREE_NS,
    keys::MAP_NS,
    keys::UNMAP_NS,
    keys::RESERVE_NS,
    keys::SYNC_NS,
    keys::LAUNCH_NS,
    keys::MEMSET_BYTES_PER_SECOND,
    keys::RELOAD_BYTES_PER_SECOND,
];

/// Replays the first trace of the workload under every policy that is asked for.
pub(super) fn compare_trace(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let traces = request.workload.traces();
    let trace = &*traces[0];
    if trace.commands.len() > MOST_COMMANDS {
        return Err(AnalysisError::TraceTooLong {
            commands: trace.commands.len() as u64,
            limit: MOST_COMMANDS as u64,
        });
    }
    let mut diagnostics = Diagnostics::new();
    if let Some(second) = traces.get(1) {
        let text = format!(
            "{} traces are open and one is shown; choose another under \"show\", or with --graph NAME",
            traces.len()
        );
        diagnostics.warning(text, &second.name);
    }
    let params = params(trace, request, lowered, &mut diagnostics);
    let session = TraceSession::new(trace);
    let lanes = lanes(trace, &session, request, lowered.strategy, &params, progress)?;
    let workspaces = EstimatedWorkspaces::default();
    let axis = axis(&session);
    let names = NameContext {
        workload: &request.workload,
        axis: &axis,
        session: &session.session,
        arena_behaviour: params.arena_behaviour,
        copies: 1,
        workspaces: &workspaces,
        requests: &session.requests,
    };
    let lanes = explained(lanes, &names);
    tell_idle_options(request, trace, &mut diagnostics);
    let mut device = request.device.clone();
    device.memory_bytes = params.device_bytes.get();
    let is_cost = |key: &str| COSTS.contains(&key);
    let estimates = lowered.estimates.iter().filter(|estimate| is_cost(estimate.key));
    let mut comparison = Comparison {
        calibrations: Vec::new(),
        lowest_peak: remarks::lowest_peak(&lanes),
        equivalence: None,
        lower_bound: false,
        scratch: ScratchSource::Stated,
        workspaces,
        params,
        rates: lowered.rates,
        workload: Arc::clone(&request.workload),
        axis,
        session: session.session,
        requests: session.requests,
        device,
        device_id: lowered.device_id,
        occupied: lowered.occupied,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: estimates.copied().collect(),
        diagnostics,
    };
    let texts = comparison.lanes.iter().filter_map(|lane| comparison.refusal_text(lane));
    for text in texts.collect::<Vec<_>>() {
        comparison.diagnostics.warning(text, &trace.name);
    }
    Ok(comparison)
}

/// Parameters with the trace's own device memory and threshold where the user sets none.
fn params(trace: &AllocationTrace, request: &Request, lowered: &Lowered, diagnostics: &mut Diagnostics) -> Params {
    let mut params = lowered.params.clone();
    let options = &request.options;
    let is_users = options.is_set(keys::DEVICE_MEMORY) || options.is_set(keys::DEVICE);
    if let Some(own) = trace.device_bytes.filter(|_| !is_users) {
        params.device_bytes = own.saturating_sub(lowered.occupied).max(Bytes(1));
    }
    if params.device_bytes > LARGEST_DEVICE {
        let text = format!("a trace is replayed on a device of at most {LARGEST_DEVICE}, which is taken here");
        diagnostics.info(text, &trace.name);
        params.device_bytes = LARGEST_DEVICE;
    }
    let own = trace.threshold_gib.map(|gib| Bytes(gib.saturating_mul(1 << 30)));
    params.pool_threshold = params.pool_threshold.or(own);
    params.feature_copies = 1;
    params
}

/// How a trace is replayed under a policy with these parameters.
fn rules(trace: &AllocationTrace, policy: StaticMemoryPolicy, params: &Params) -> ReplayRules {
    let threshold = PagePoolRules::of_device(params.device_bytes, params.pool_threshold, false).threshold;
    ReplayRules {
        is_documented: params.arena_behaviour == ArenaBehaviour::Documented
            && policy == StaticMemoryPolicy::StaticExtend,
        threshold,
        ..ReplayRules::new(trace, policy, Some(params.device_bytes))
    }
}

/// The lanes, each on a thread of its own.
fn lanes(
    trace: &AllocationTrace,
    session: &TraceSession,
    request: &Request,
    strategy: &'static Strategy,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Vec<Lane>, AnalysisError> {
    progress.set("replaying", 0, 1)?;
    let cancel = progress.cancel_flag();
    let one = |policy: StaticMemoryPolicy| -> Result<Lane, TraceStop> {
        let rules = rules(trace, policy, params);
        let (simulation, refusals) = simulate_trace(trace, session, &rules, &Progress::silent(cancel))?;
        debug_assert_eq!(verify_log(&simulation), Ok(()), "policy {}", policy.number());
        let lane = with_folds(
            simulation,
            LaneParts {
                id: LaneId::Policy(policy),
                strategy,
                plans: Plans::new(),
            },
            params,
        );
        Ok(Lane { refusals, ..lane })
    };
    let one = &one;
    let lanes: Vec<Result<Lane, TraceStop>> = std::thread::scope(|scope| {
        let policies = request.wanted_policies().into_iter();
        let handles: Vec<_> = policies.map(|policy| scope.spawn(move || one(policy))).collect();
        let joined = handles.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|lane| lane.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    progress.set("replaying", 1, 1)?;
    let mut lanes = lanes.into_iter().collect::<Result<Vec<Lane>, TraceStop>>()?;
    set_divergence(&mut lanes);
    Ok(lanes)
}

/// The lanes with where their peaks come from, and what they refuse.
fn explained(mut lanes: Vec<Lane>, names: &NameContext<'_>) -> Vec<Lane> {
    let position = lanes.iter().position(|lane| lane.policy == StaticMemoryPolicy::Dynamic);
    let explain_one = |lane: &Lane| {
        let reference = position.map(|position| &lanes[position]);
        let reference = reference.filter(|reference| reference.policy != lane.policy);
        let mut remarks: Vec<Remark> = lane
            .refusals
            .iter()
            .map(|refusals| Remark {
                text: format!(
                    "{} of the requests {} refused for want of memory, the first at {}; the trace goes on without.",
                    refusals.count,
                    if refusals.count == 1 { "is" } else { "are" },
                    names.place(refusals.first)
                ),
                step: Some(refusals.first),
            })
            .collect();
        remarks.extend(explain::explain(lane, reference, names));
        remarks
    };
    let told: Vec<Vec<Remark>> = lanes.iter().map(explain_one).collect();
    for (lane, told) in lanes.iter_mut().zip(told) {
        lane.explanation = told;
    }
    lanes
}

fn axis(session: &TraceSession) -> Axis {
    let n_steps = session.session.n_steps;
    Axis {
        n_steps,
        runs: vec![AxisRun {
            slots: None,
            start: Step(0),
            n_steps,
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: BTreeMap::new(),
            },
        }],
    }
}

/// Says once which settings change a comparison of graphs and not that of a trace.
fn tell_idle_options(request: &Request, trace: &AllocationTrace, diagnostics: &mut Diagnostics) {
    let mut idle = idle_options(&request.options);
    if request.plan.iterations > 1 {
        idle.push("iterations");
    }
    if !request.plan.dims.is_empty() {
        idle.push("values of dimensions");
    }
    if !idle.is_empty() {
        let text = format!(
            "without effect on a trace, which states every request itself: {}",
            idle.join(", ")
        );
        diagnostics.info(text, &trace.name);
    }
}

fn idle_options(options: &Options) -> Vec<&'static str> {
    let set = options.overrides().map(|(key, _)| key);
    set.filter(|key| !ACTING.contains(key) && !COSTS.contains(key))
        .filter(|key| find(key).is_some_and(OptionRow::affects_memory))
        .collect()
}

/// A command of a trace, such as `line 14: a x`.
pub(super) fn command_text(trace: &AllocationTrace, step: Step) -> String {
    let Some(command) = trace.commands.get(step.idx()) else {
        return "the end".to_owned();
    };
    let line = trace.lines.get(step.idx()).copied().unwrap_or(0);
    format!("line {line}: {}", trace.command_text(*command))
}

/// The static graph that runs at a step: what is executed there, else what began last and goes on. O(commands).
pub(super) fn running_graph(trace: &AllocationTrace, step: Step) -> Option<TraceName> {
    let mut running: Vec<TraceName> = Vec::new();
    for command in trace.commands.iter().take(step.idx() + 1) {
        match *command {
            TraceCommand::Begin(graph) => running.push(graph),
            TraceCommand::Finish(graph) | TraceCommand::Unload(graph) => running.retain(|other| *other != graph),
            _ => {}
        }
    }
    match trace.commands.get(step.idx()) {
        Some(TraceCommand::Execute(graph)) => Some(*graph),
        _ => running.last().copied(),
    }
}
