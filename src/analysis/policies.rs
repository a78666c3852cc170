//! The session under every policy: each lane places its arenas by its own strategy.

use std::collections::BTreeMap;

use super::arena::{place_arenas, with_plans};
use super::comparison::Comparison;
use super::device_sessions::{check_copies, device_sessions};
use super::error::AnalysisError;
use super::lane::{DocumentedArena, Lane};
use super::lane_set::LaneId;
use super::lowering::Variant;
use super::lowest_peak::{equivalence, lowest_peak};
use super::name_context::NameContext;
use super::passes;
use super::recommended::recommended;
use super::request::Request;
use super::run_lanes::{LaneJob, LaneParts, explain_all, set_divergence, set_overhead_per_iteration, simulate_all};
use super::workspaces::{self, EstimatedWorkspaces};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_options::{Lowered, policy_errors};
use highwater_plan::Strategy;
use highwater_sim::fold::{curves, summary};
use highwater_sim::{ArenaBehaviour, DeviceSession, Params, StaticMemoryPolicy, simulate};

/// Compares the requested policies. `running` is the request with the graphs that run and their dimensions bound.
pub(super) fn compare_policies(
    request: &Request,
    running: &Request,
    lowered: &Lowered,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let (axis, mut variants, from_lowering) = device_sessions(running, &[lowered], progress)?;
    diagnostics.extend(&from_lowering);
    let variant = variants.pop().ok_or(AnalysisError::NoGraph)?;
    let session = &variant.session;
    check_copies(session, &lowered.params)?;
    let (mut lanes, sessions) = policy_lanes(request, lowered, &variant, progress)?;
    set_overhead_per_iteration(&mut lanes, &axis, &lowered.params);
    passes::report(&lanes, &mut diagnostics);
    let workspaces = EstimatedWorkspaces::of(&running.workload, session);
    let names = NameContext::new(&running.workload, &axis, session, &workspaces, &lowered.params);
    let lane_sessions: Vec<&DeviceSession> = lanes.iter().map(|lane| &sessions[lane.strategy.name]).collect();
    for lane in &mut lanes {
        let (options, environment) = (&request.options, &request.environment);
        lane.forbidden = policy_errors(options, environment, &*request.files, &request.plan, lane.policy);
    }
    explain_all(&mut lanes, &lane_sessions, &lowered.params, &names, progress)?;
    // What holds of assumed values may be wrong of the real ones.
    let is_judged = request.assumed_dims.is_empty();
    Ok(Comparison {
        lowest_peak: lowest_peak(&lanes).filter(|_| is_judged),
        recommendations: if is_judged {
            recommended(&lanes, lowered.policy)
        } else {
            Vec::new()
        },
        equivalence: equivalence(session, &lanes).filter(|_| is_judged),
        lower_bound: workspaces::is_lower_bound(&running.workload, &axis, progress)?,
        scratch: workspaces::scratch(&running.workload, &workspaces),
        workspaces,
        estimates: lowered.estimates.clone(),
        ..Comparison::new(running, lowered, axis, variant.session, lanes, diagnostics)
    })
}

/// Sessions with their plans, by the name of the strategy.
type PlannedSessions = BTreeMap<&'static str, DeviceSession>;

/// A lane per policy, not yet explained, and the sessions by strategy.
fn policy_lanes(
    request: &Request,
    lowered: &Lowered,
    variant: &Variant,
    progress: &Progress<'_>,
) -> Result<(Vec<Lane>, PlannedSessions), AnalysisError> {
    let wanted = wanted_lanes(request, lowered, &request.wanted_policies());
    let strategies: Vec<&'static Strategy> = wanted.iter().map(|(_, strategy)| *strategy).collect();
    let placed = place_arenas(&variant.arenas, &strategies, &request.search, progress)?;
    let mut sessions = PlannedSessions::new();
    for (name, plans) in &placed {
        progress.check()?;
        sessions.insert(*name, with_plans(&variant.session, plans, false));
    }
    let jobs: Vec<LaneJob<'_>> = wanted
        .into_iter()
        .map(|(id, strategy)| {
            let plans = placed[strategy.name].clone();
            (
                &sessions[strategy.name],
                lowered.policy,
                LaneParts { id, strategy, plans },
            )
        })
        .collect();
    let mut lanes = simulate_all(jobs, &lowered.params, progress)?;
    set_divergence(&mut lanes);
    progress.check()?;
    add_documented(&mut lanes, &sessions, &lowered.params, progress)?;
    for lane in &mut lanes {
        lane.chosen = request.strategies.get(lane.id).is_some();
        passes::add_rewrite(lane, variant.rewrite.as_ref());
    }
    Ok((lanes, sessions))
}

/// Adds the documented figures of shared arenas, where several static graphs share one or memory runs out. Policy 4's arena has
/// them where no graph is dynamic.
fn add_documented(
    lanes: &mut [Lane],
    sessions: &PlannedSessions,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<(), AnalysisError> {
    if params.arena_behaviour == ArenaBehaviour::Documented {
        return Ok(());
    }
    let params = Params {
        arena_behaviour: ArenaBehaviour::Documented,
        ..params.clone()
    };
    for lane in lanes.iter_mut().filter(|lane| lane.policy.row().shares_static_arena) {
        let session = &sessions[lane.strategy.name];
        let n_static = session.graphs.iter().filter(|graph| graph.is_static).count();
        let is_whole = lane.policy == StaticMemoryPolicy::StaticExtend || n_static == session.graphs.len();
        if !is_whole || (n_static < 2 && !lane.summary.out_of_memory) {
            continue;
        }
        let simulation = simulate(session, StaticMemoryPolicy::StaticExtend, &params, progress)?;
        let figures = summary(&simulation, &curves(&simulation), &params);
        lane.documented = Some(DocumentedArena {
            peak_reserved: figures.peak_reserved,
            out_of_memory: figures.out_of_memory,
        });
    }
    Ok(())
}

/// The lanes of the policies, each with the strategy that places its arenas.
pub(super) fn wanted_lanes(
    request: &Request,
    lowered: &Lowered,
    policies: &[StaticMemoryPolicy],
) -> Vec<(LaneId, &'static Strategy)> {
    let strategy = |policy: &StaticMemoryPolicy| {
        let id = LaneId::Policy(*policy);
        let chosen = request.strategies.get(id).filter(|_| !lowered.no_reuse);
        (id, chosen.unwrap_or(lowered.strategy))
    };
    policies.iter().map(strategy).collect()
}
