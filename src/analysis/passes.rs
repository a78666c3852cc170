//! Rewriting passes as lanes: the same session under one policy, each lane with another pass or budget.
//!
//! In: a request with a [`LaneSet`], or a tape. Out: a [`Comparison`] whose lanes have sessions of their own on one axis.

use std::sync::Arc;

use super::lanes::{LaneId, LaneSet, RematLane, place_arenas, with_plans};
use super::name_context::NameContext;
use super::name_reuse::{Subject, compare_name_reuse};
use super::rewriting::{LaneRewrite, RunRemat};
use super::run_lanes::{LaneJob, LaneParts, simulate_all, tell};
use super::session::{Variant, device_sessions, first_bindings};
use super::{AnalysisError, Comparison, EstimatedWorkspaces, Lane, Request, check_copies, workspaces};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{Axis, Tape};
use highwater_options::Lowered;
use highwater_rewrite::name_reuse::block_program;
use highwater_rewrite::remat::{Budget, GraphTape, RematStatus, graph_tape, unlimited_peak};
use highwater_rewrite::with_precision;
use highwater_sim::DeviceSession;
use highwater_sim::fold::{Cause, Overhead};

/// Most lanes of a comparison of passes.
pub const MAX_PASS_LANES: usize = 8;

/// A lane to make: what it is called and under which settings.
type Wanted = (String, Lowered);

/// Compares the lanes of a set of passes.
pub(super) fn compare_passes(
    running: &Request,
    lowered: &Lowered,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    if running.lanes == LaneSet::NameReuse {
        return compare_graph_names(running, lowered, diagnostics, progress);
    }
    let wanted = wanted(running, lowered, progress)?;
    let settings: Vec<&Lowered> = wanted.iter().map(|(_, lowered)| lowered).collect();
    let (axis, variants, oddities) = device_sessions(running, &settings, progress)?;
    diagnostics.extend(&oddities);
    let titles = wanted.iter().map(|(title, _)| title.clone()).collect();
    compare_variants(running, lowered, axis, variants, titles, diagnostics, progress)
}

/// The lanes of the request.
fn wanted(request: &Request, lowered: &Lowered, progress: &Progress<'_>) -> Result<Vec<Wanted>, AnalysisError> {
    let mut plain = lowered.clone();
    plain.dtr.budget = None;
    let mut wanted = vec![("no budget".to_owned(), plain.clone())];
    if let LaneSet::Remat(lanes) = &request.lanes {
        let tapes = graph_tapes(request, lowered)?;
        for lane in lanes.iter().take(MAX_PASS_LANES - 1) {
            let mut settings = plain.clone();
            settings.dtr.heuristic = lane.heuristic;
            settings.dtr.budget = budget_of(lane, tapes.iter().map(|tape| &tape.tape), progress)?;
            wanted.push((lane.title(), settings));
        }
    }
    Ok(wanted)
}

/// A tape of each graph, with the values that its dimensions take first.
///
/// # Errors
/// As [`super::compare`].
pub fn graph_tapes(request: &Request, lowered: &Lowered) -> Result<Vec<GraphTape>, AnalysisError> {
    let bindings = first_bindings(request)?;
    let graphs = request.workload.graphs().iter().zip(bindings);
    let tapes = graphs.map(|(entry, bindings)| {
        let sizes = with_precision(&entry.graph, entry.graph.sizes(&bindings), &lowered.precision);
        let mut tape = graph_tape(&entry.graph, &sizes, lowered.rates);
        tape.tape.name.clone_from(&entry.name);
        tape
    });
    Ok(tapes.collect())
}

/// A lane's budget in bytes: a part is one of the largest peak that any tape reaches without a budget.
pub(super) fn budget_of<'a>(
    lane: &RematLane,
    tapes: impl Iterator<Item = &'a Tape>,
    progress: &Progress<'_>,
) -> Result<Option<Bytes>, AnalysisError> {
    match lane.budget {
        Budget::Unlimited => Ok(None),
        Budget::Bytes(bytes) => Ok(Some(bytes)),
        Budget::Ratio(ratio) => {
            let mut largest = Bytes::ZERO;
            for tape in tapes {
                largest = largest.max(unlimited_peak(tape, lane.heuristic, progress)?);
            }
            Ok(Some(part_of(largest, ratio)))
        }
    }
}

/// A part of some bytes, rounded down, at least 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a budget as the original works it out: floor(peak * ratio)"
)]
pub fn part_of(bytes: Bytes, ratio: f64) -> Bytes {
    Bytes(((bytes.get() as f64) * ratio).floor().max(1.0) as u64)
}

/// The names of a graph: as they are, and reused at both levels.
fn compare_graph_names(
    request: &Request,
    lowered: &Lowered,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let graphs = request.workload.graphs();
    let Some(entry) = graphs.first() else {
        return Err(AnalysisError::NoGraph);
    };
    if let Some(second) = graphs.get(1) {
        diagnostics.warning(
            format!(
                "{} graphs are open and the names of one are shown; choose another under \"show\", or with --graph NAME",
                graphs.len()
            ),
            &second.name,
        );
    }
    let bindings = first_bindings(request)?.into_iter().next().unwrap_or_default();
    let mut converted = block_program(&entry.graph, &bindings);
    converted.program.name.clone_from(&entry.name);
    let subject = Subject {
        program: Arc::new(converted.program),
        tensors: Some(converted.tensor_of),
        fetched: converted.fetched,
        batch: batch_of(request),
    };
    compare_name_reuse(request, lowered, &subject, diagnostics, progress)
}

/// A program of blocks as lanes: names as they are, and reused at both levels.
pub(super) fn compare_program(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let programs = request.workload.programs();
    let Some(program) = programs.first() else {
        return Err(AnalysisError::NoGraph);
    };
    let mut diagnostics = Diagnostics::new();
    if let Some(second) = programs.get(1) {
        diagnostics.warning(
            format!(
                "{} programs are open and one is shown; choose another under \"show\", or with --graph NAME",
                programs.len()
            ),
            &second.name,
        );
    }
    let subject = Subject {
        program: Arc::clone(program),
        tensors: None,
        fetched: Vec::new(),
        batch: batch_of(request),
    };
    compare_name_reuse(request, lowered, &subject, diagnostics, progress)
}

/// What a dimension -1 is: the first value of `batch`, 1 unless given.
fn batch_of(request: &Request) -> u64 {
    let values = request.plan.dims.get(BATCH);
    values.and_then(|values| values.first().copied()).unwrap_or(1)
}

/// The name of the dimension that programs leave open.
const BATCH: &str = "batch";

/// Simulates each variant in a lane of its own.
pub(super) fn compare_variants(
    request: &Request,
    lowered: &Lowered,
    axis: Axis,
    variants: Vec<Variant>,
    titles: Vec<String>,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut planned: Vec<(DeviceSession, super::Plans)> = Vec::new();
    for variant in &variants {
        check_copies(&variant.session, &lowered.params)?;
        let strategies = [lowered.strategy];
        let mut placed = place_arenas(&variant.arenas, &strategies, request.search_nodes, progress)?;
        let plans = placed.remove(lowered.strategy.name).unwrap_or_default();
        planned.push((with_plans(&variant.session, &plans, false), plans));
    }
    let jobs: Vec<LaneJob<'_>> = (0_u8..)
        .zip(&planned)
        .map(|(position, (session, plans))| {
            let parts = LaneParts {
                id: LaneId::Pass(position),
                strategy: lowered.strategy,
                plans: plans.clone(),
            };
            (session, lowered.policy, parts)
        })
        .collect();
    let mut lanes = simulate_all(jobs, &lowered.params, progress)?;
    let mut first = DeviceSession::default();
    for ((lane, variant), title) in lanes.iter_mut().zip(variants).zip(titles) {
        lane.title = Some(title);
        if lane.id == LaneId::Pass(0) {
            first = variant.session.clone();
        }
        lane.session = Some(Arc::new(variant.session));
        add_rewrite(lane, variant.rewrite.as_ref());
    }
    report(&lanes, &mut diagnostics);
    let workspaces = EstimatedWorkspaces::of(&request.workload, &first);
    let names = NameContext {
        workload: &request.workload,
        axis: &axis,
        session: &first,
        arena_behaviour: lowered.params.arena_behaviour,
        copies: lowered.params.feature_copies.max(1),
        workspaces: &workspaces,
        requests: &[],
    };
    let sessions: Vec<&DeviceSession> = planned.iter().map(|(session, _)| session).collect();
    tell(&mut lanes, &sessions, &lowered.params, &names, progress)?;
    let mut device = request.device.clone();
    device.memory_bytes = lowered.params.device_bytes.get();
    Ok(Comparison {
        calibrations: Vec::new(),
        lowest_peak: None,
        equivalence: None,
        lower_bound: workspaces::is_lower_bound(&request.workload, &axis, progress)?,
        scratch: workspaces::scratch(&request.workload, &workspaces),
        workspaces,
        requests: Vec::new(),
        params: lowered.params.clone(),
        rates: lowered.rates,
        workload: Arc::clone(&request.workload),
        axis,
        session: first,
        device,
        device_id: lowered.device_id,
        occupied: lowered.occupied,
        lanes,
        pin_failures: Vec::new(),
        active_policy: lowered.policy,
        estimates: lowered.estimates.clone(),
        diagnostics,
    })
}

/// Notes in a lane what was rewritten, and counts what it costs.
pub(super) fn add_rewrite(lane: &mut Lane, rewrite: Option<&Arc<LaneRewrite>>) {
    let Some(rewrite) = rewrite else { return };
    let (time, count) = rewrite.recomputed();
    if count > 0 {
        lane.summary.estimated_overhead = lane.summary.estimated_overhead + time;
        lane.summary.overhead.push(Overhead {
            cause: Cause::Recompute,
            count,
            time,
        });
    }
    lane.rewrite = Some(Arc::clone(rewrite));
}

/// Says what a run under a budget could not do.
pub(super) fn report(lanes: &[Lane], diagnostics: &mut Diagnostics) {
    let mut seen: Vec<*const RunRemat> = Vec::new();
    for run in lanes
        .iter()
        .filter_map(|lane| lane.rewrite.as_ref())
        .flat_map(|rewrite| rewrite.remat.iter().flatten())
    {
        if seen.contains(&Arc::as_ptr(run)) {
            continue;
        }
        seen.push(Arc::as_ptr(run));
        let Some(sentence) = problem_of(run) else { continue };
        if run.answer.status == RematStatus::Ok {
            diagnostics.warning(sentence, &run.tape.tape.name);
        } else {
            diagnostics.error(sentence, &run.tape.tape.name);
        }
    }
}

/// What is wrong with a run, in a sentence; `None` where it reached its end within its budget.
fn problem_of(run: &RunRemat) -> Option<String> {
    let label = run.answer.heuristic.label;
    let budget = run.answer.budget?;
    let op = |op: u32| run.tape.tape.ops.get(op as usize).map_or("an op", |op| &*op.name);
    match &run.answer.status {
        RematStatus::Ok if run.answer.peak > budget => Some(format!(
            "{label} does not stay within the budget of {budget}: its peak is {}, because nothing more can be evicted there; \
             it goes on, as the original does",
            run.answer.peak
        )),
        RematStatus::Ok => None,
        RematStatus::Thrash => Some(format!(
            "{label} thrashes under a budget of {budget}: computing anew costs {} beside {} for the program itself; raise \
             the budget or simulation.thrash_limit",
            run.answer.remat_compute, run.answer.base_compute
        )),
        RematStatus::OutOfMemory(shortage) => Some(format!(
            "{label} runs out of memory under a budget of {budget} at op {}: it asks for {} while {} are in use and \
             nothing can be evicted; {} are short",
            op(shortage.op),
            shortage.requested,
            shortage.in_use,
            shortage.short
        )),
    }
}
