//! Simulates, compares and explains lanes, each on a thread of its own; the answer does not depend on their timing.

use super::lanes::{LaneId, Plans};
use super::name_context::NameContext;
use super::shortage::OutOfMemoryReport;
use super::{Lane, Remark, explain, problem, shortage};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Step;
use highwater_plan::Strategy;
use highwater_sim::fold::{curves, summary};
use highwater_sim::{DeviceSession, Params, Simulation, StaticMemoryPolicy, simulate};

/// A session with its plans, the policy of lanes that are not named after theirs, and what the lane is called and made of.
pub(super) type LaneJob<'a> = (&'a DeviceSession, StaticMemoryPolicy, LaneParts);

/// What a lane is called and made of.
#[derive(Debug)]
pub(super) struct LaneParts {
    pub(super) id: LaneId,
    pub(super) strategy: &'static Strategy,
    /// The plans that the strategy made.
    pub(super) plans: Plans,
}

/// The lanes in order; each is computed by a thread of its own.
pub(super) fn simulate_all(
    jobs: Vec<LaneJob<'_>>,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Vec<Lane>, Cancelled> {
    progress.set("simulating", 0, 1)?;
    let cancel = progress.cancel_flag();
    let lanes: Vec<Result<Lane, Cancelled>> = std::thread::scope(|scope| {
        let handles: Vec<_> = jobs
            .into_iter()
            .map(|(session, policy, parts)| {
                let settings = (problem::policy_of(parts.id, policy), params);
                scope.spawn(move || lane_of(session, parts, settings, &Progress::silent(cancel)))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    progress.set("simulating", 1, 1)?;
    lanes.into_iter().collect()
}

pub(super) fn lane_of(
    session: &DeviceSession,
    parts: LaneParts,
    (policy, params): (StaticMemoryPolicy, &Params),
    progress: &Progress<'_>,
) -> Result<Lane, Cancelled> {
    let simulation = simulate(session, policy, params, progress)?;
    debug_assert_eq!(
        highwater_sim::verify(&simulation, session),
        Ok(()),
        "lane {:?}",
        parts.id
    );
    Ok(with_folds(simulation, parts, params))
}

/// A lane of a log, not yet explained.
pub(super) fn with_folds(simulation: Simulation, parts: LaneParts, params: &Params) -> Lane {
    let LaneParts { id, strategy, plans } = parts;
    let curves = curves(&simulation);
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
        pinned: None,
    }
}

/// What is told of a lane.
type Told = Result<(Vec<Remark>, Option<OutOfMemoryReport>), Cancelled>;

/// Explains every lane, each with its session, each on a thread of its own.
pub(super) fn tell(
    lanes: &mut [Lane],
    sessions: &[&DeviceSession],
    params: &Params,
    names: &NameContext<'_>,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    progress.set("explaining", 0, 1)?;
    let cancel = progress.cancel_flag();
    let reference = lanes.iter().find(|lane| lane.policy == StaticMemoryPolicy::Dynamic);
    let tell_one = |lane: &Lane, session: &DeviceSession| -> Told {
        let progress = Progress::silent(cancel);
        let other = reference.filter(|other| other.policy != lane.policy);
        let names = NameContext { session, ..*names };
        let story = shortage::story(lane, session, params, &names, &progress)?;
        Ok((explain::explain(lane, other, &names), story))
    };
    let told: Vec<Told> = std::thread::scope(|scope| {
        let lanes = lanes.iter().zip(sessions);
        let handles: Vec<_> = lanes
            .map(|(lane, session)| scope.spawn(|| tell_one(lane, session)))
            .collect();
        let joined = handles.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|told| told.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    for (lane, told) in lanes.iter_mut().zip(told) {
        (lane.explanation, lane.out_of_memory_report) = told?;
    }
    Ok(())
}

/// The first step at which each lane reserves other bytes than policy 0.
pub(super) fn set_divergence(lanes: &mut [Lane]) {
    let Some(position) = lanes.iter().position(|lane| lane.policy == StaticMemoryPolicy::Dynamic) else {
        return;
    };
    let reference = lanes[position].curves.reserved.clone();
    for lane in lanes {
        let differs = reference
            .iter()
            .zip(lane.curves.reserved.iter())
            .position(|(a, b)| a != b);
        lane.first_divergence = differs.and_then(|step| u32::try_from(step).ok()).map(Step);
    }
}
