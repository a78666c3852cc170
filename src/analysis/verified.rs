//! Verification of a comparison: every plan and every simulation, by checks that know nothing of how they were made.
//!
//! In: a comparison. Out: how many plans and simulations hold, or the first [`LaneDefect`]. Checked are, per lane: its
//! plans against the live ranges that they place (`plan::verify`), its event log against its session (`sim::verify`),
//! and its figures: peaks are the maxima of the curves, and the parts of the reserved bytes add up to them. An
//! [`Audit`] does the same to simulations of which figures alone remain. Not here: what a recording states about a real
//! run.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::arena::arena_problem;
use super::comparison::Comparison;
use super::lane::Lane;
use super::lane_set::LaneKind;
use super::study::study_of;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_plan::{Buffer, PlacementProblem, Plan, verify_with};
use highwater_sim::fold::StepBytes;
use highwater_sim::{BoundGraph, DeviceSession, verify, verify_log, verify_recorded_log};

/// What was verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub simulations: usize,
    pub plans: usize,
}

impl Verified {
    fn add(&mut self, other: Self) {
        self.simulations += other.simulations;
        self.plans += other.plans;
    }
}

/// What verification found: how much holds, or the first defect.
pub type Verification = Result<Verified, LaneDefect>;

/// Verifies simulations as they are made, on any thread.
#[derive(Debug)]
pub struct Audit(Mutex<Verification>);

impl Default for Audit {
    fn default() -> Self {
        Self(Mutex::new(Ok(Verified::default())))
    }
}

impl Audit {
    /// What was found so far.
    ///
    /// # Errors
    /// The first defect.
    pub fn verification(&self) -> Verification {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts what holds; the first defect stays.
    pub fn add(&self, found: Verification) {
        let mut verdict = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (&mut *verdict, found) {
            (Ok(sum), Ok(found)) => sum.add(found),
            (Ok(_), defect) => *verdict = defect,
            (Err(_), _) => {}
        }
    }

    /// Verifies a lane of graphs with the session that its plans place.
    pub(super) fn check(&self, lane: &Lane, session: &DeviceSession, progress: &Progress<'_>) -> Result<(), Cancelled> {
        let placed = placed(lane, session, None);
        let found = verified(lane, &placed, Some(session), progress)?;
        self.add(found.map_err(|defect| LaneDefect {
            lane: format!("policy {}", lane.policy.number()),
            defect,
        }));
        Ok(())
    }
}

/// A plan, simulation or figure that contradicts itself: a fault in highwater.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneDefect {
    /// The title of the lane.
    pub lane: String,
    /// What is wrong, in a sentence.
    pub defect: String,
}

impl fmt::Display for LaneDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lane, defect } = self;
        write!(f, "{lane}: {defect}; this is a fault in highwater, please report it")
    }
}

impl Comparison {
    /// Verifies every lane but those of real runs. O(events log blocks + buffers log buffers), without groups.
    ///
    /// # Errors
    /// [`Cancelled`]; within, the first defect.
    pub fn verify(&self, progress: &Progress<'_>) -> Result<Verification, Cancelled> {
        let mut verified = Verified::default();
        for (position, lane) in self.lanes.iter().enumerate() {
            progress.set("verifying", position as u64, self.lanes.len() as u64)?;
            if lane.is_measured() && self.simulation(lane.id).is_none() {
                continue;
            }
            match self.verify_lane(position, lane, progress)? {
                Ok(of_lane) => verified.add(of_lane),
                Err(defect) => {
                    let lane = self.lane_title(lane.id);
                    return Ok(Err(LaneDefect { lane, defect }));
                }
            }
        }
        Ok(Ok(verified))
    }

    fn verify_lane(
        &self,
        position: usize,
        lane: &Lane,
        progress: &Progress<'_>,
    ) -> Result<Result<Verified, String>, Cancelled> {
        // A pin that evicts has a log on the steps of the other lanes, which may be fewer than those of its plans.
        let own = lane.pinned.as_ref().and_then(|pinned| pinned.own_session.as_deref());
        let session = own.unwrap_or_else(|| self.session_of(position));
        let is_problem = self.lane_kind() == LaneKind::Strategies;
        let entry = is_problem.then(|| study_of(&self.workload).stated_problem(&self.workload));
        let stated = entry.flatten().map(|entry| &entry.problem);
        let placed = placed(lane, session, stated);
        let is_log_alone = own.is_some() || lane.is_measured() || self.trace().is_some();
        let session = (!is_log_alone).then(|| self.lane_session(position));
        verified(lane, &placed, session.as_ref(), progress)
    }
}

/// What the plans of a lane place: the stated problem, else that of the session's run.
fn placed<'a>(
    lane: &'a Lane,
    session: &DeviceSession,
    stated: Option<&PlacementProblem>,
) -> Vec<(PlacementProblem, &'a Plan)> {
    let problem_of = |graph: GraphIdx, is_given: bool| {
        if let Some(problem) = stated {
            return Some(problem.clone());
        }
        let run = session.runs.iter().find(|run| run.graph == graph)?;
        let BoundGraph {
            program, engine_sizes, ..
        } = &*run.bound;
        if !is_given {
            return Some(arena_problem(program, engine_sizes));
        }
        // No strategy of the engine: the pass that made it rounds and aligns by other rules.
        let items = program.lifetimes.items.iter();
        let exact = items.map(|item| Buffer::unplaced(item.birth, item.end, item.bytes, 1));
        Some(PlacementProblem::of(exact))
    };
    let placed = lane.plans.iter().filter_map(|(graph, planned)| {
        let problem = problem_of(*graph, planned.strategy.is_empty())?;
        Some((problem, &planned.plan))
    });
    placed.collect()
}

/// Whether plans, log and figures of a lane hold; without a session its log alone.
fn verified(
    lane: &Lane,
    placed: &[(PlacementProblem, &Plan)],
    session: Option<&DeviceSession>,
    progress: &Progress<'_>,
) -> Result<Result<Verified, String>, Cancelled> {
    for (problem, plan) in placed {
        if let Err(defect) = verify_with(problem, plan, progress)? {
            return Ok(Err(defect.to_string()));
        }
    }
    let checked = match session {
        Some(session) => verify(&lane.simulation, session),
        None if lane.is_measured() => verify_recorded_log(&lane.simulation),
        None => verify_log(&lane.simulation),
    };
    let figures = || wrong_figure(lane).map_or(Ok(()), Err);
    let checked = checked.map_err(|defect| defect.to_string()).and_then(|()| figures());
    Ok(checked.map(|()| Verified {
        simulations: 1,
        plans: placed.len(),
    }))
}

/// A figure of the summary that its curve or its parts contradict.
fn wrong_figure(lane: &Lane) -> Option<String> {
    let (summary, curves) = (&lane.summary, &lane.curves);
    let highest = |curve: &StepBytes| curve.iter().max().copied().unwrap_or_default();
    let parts = [
        summary.reserved.features,
        summary.reserved.weights,
        summary.reserved.variables,
        summary.reserved.io,
    ];
    let sum = parts.iter().fold(Bytes::ZERO, |sum, part| sum + *part);
    let figures = [
        (
            "peak reserved",
            summary.peak_reserved,
            highest(&curves.reserved),
            "its curve reaches",
        ),
        (
            "peak live",
            summary.peak_live,
            highest(&curves.live),
            "its curve reaches",
        ),
        ("peak reserved", summary.peak_reserved, sum, "its parts add up to"),
    ];
    let wrong = figures.into_iter().find(|(_, stated, counted, _)| stated != counted)?;
    let (figure, stated, counted, words) = wrong;
    Some(format!(
        "{figure} is {}, but {words} {}",
        stated.exact(),
        counted.exact()
    ))
}
