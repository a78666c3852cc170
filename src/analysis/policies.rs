//! The session under every policy: each lane places its arenas by its own strategy.
//!
//! In: a request whose dimensions are bound. Out: a [`Comparison`] with a lane a policy, ascending, told and with the best
//! of them named.

use std::collections::BTreeMap;

use super::lanes::{LaneId, place_arenas, with_plans};
use super::name_context::NameContext;
use super::run_lanes::{LaneJob, LaneParts, set_divergence, simulate_all, tell};
use super::session::{Variant, device_sessions};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Lane, Request, check_copies, passes, remarks, workspaces};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_options::{Lowered, policy_errors};
use highwater_plan::Strategy;
use highwater_sim::{DeviceSession, StaticMemoryPolicy};

/// The session under every policy that is wanted.
pub(super) fn compare_policies(
    request: &Request,
    running: Request,
    lowered: Lowered,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let (axis, mut variants, oddities) = device_sessions(&running, &[&lowered], progress)?;
    diagnostics.extend(&oddities);
    let Some(variant) = variants.pop() else {
        return Err(AnalysisError::NoGraph);
    };
    let session = &variant.session;
    check_copies(session, &lowered.params)?;
    let (mut lanes, sessions) = policy_lanes(request, &lowered, &variant, progress)?;
    passes::report(&lanes, &mut diagnostics);
    let workspaces = EstimatedWorkspaces::of(&running.workload, session);
    let names = NameContext {
        workload: &running.workload,
        axis: &axis,
        session,
        arena_behaviour: lowered.params.arena_behaviour,
        copies: lowered.params.feature_copies.max(1),
        workspaces: &workspaces,
        requests: &[],
    };
    let lane_sessions = lanes
        .iter()
        .map(|lane| &sessions[lane.strategy.name])
        .collect::<Vec<_>>();
    for lane in &mut lanes {
        let settings = (&request.options, &request.environment);
        lane.forbidden = policy_errors(settings, &*request.files, &request.plan, lane.policy);
    }
    tell(&mut lanes, &lane_sessions, &lowered.params, &names, progress)?;
    let mut device = request.device.clone();
    device.memory_bytes = lowered.params.device_bytes.get();
    Ok(Comparison {
        calibrations: Vec::new(),
        lowest_peak: remarks::lowest_peak(&lanes),
        equivalence: remarks::equivalence(session, &lanes),
        lower_bound: workspaces::is_lower_bound(&running.workload, &axis, progress)?,
        scratch: workspaces::scratch(&running.workload, &workspaces),
        workspaces,
        requests: Vec::new(),
        params: lowered.params,
        rates: lowered.rates,
        workload: running.workload,
        axis,
        session: variant.session,
        device,
        device_id: lowered.device_id,
        occupied: lowered.occupied,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: lowered.estimates,
        diagnostics,
    })
}

/// Sessions with their plans, by the name of the strategy.
type PlannedSessions = BTreeMap<&'static str, DeviceSession>;

/// A lane for each policy, not yet explained, with the sessions that they hold.
fn policy_lanes(
    request: &Request,
    lowered: &Lowered,
    variant: &Variant,
    progress: &Progress<'_>,
) -> Result<(Vec<Lane>, PlannedSessions), AnalysisError> {
    let wanted = wanted_lanes(request, lowered, &request.wanted_policies());
    let strategies: Vec<&'static Strategy> = wanted.iter().map(|(_, strategy)| *strategy).collect();
    let placed = place_arenas(&variant.arenas, &strategies, request.search_nodes, progress)?;
    let sessions: PlannedSessions = placed
        .iter()
        .map(|(name, plans)| (*name, with_plans(&variant.session, plans, false)))
        .collect();
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
    for lane in &mut lanes {
        lane.chosen = request.strategies.get(lane.id).is_some();
        passes::add_rewrite(lane, variant.rewrite.as_ref());
    }
    Ok((lanes, sessions))
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
