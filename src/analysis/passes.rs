//! Rewriting passes as lanes: the same workload under one policy, each lane with its own pass or budget and its own device
//! session on the common axis.

use std::sync::Arc;

use super::arena::{Plans, place_arenas, with_plans};
use super::comparison::Comparison;
use super::device_sessions::{check_copies, device_sessions, first_bindings};
use super::error::{AnalysisError, counted_sizes};
use super::lane::Lane;
use super::lane_set::{LaneId, RematLane};
use super::lowering::Variant;
use super::name_context::NameContext;
use super::name_reuse::{Subject, batch_of, compare_name_reuse};
use super::request::Request;
use super::rewriting::{LaneRewrite, RunRemat};
use super::run_lanes::{LaneJob, LaneParts, explain_all, set_overhead_per_iteration, simulate_all};
use super::workspaces::{self, EstimatedWorkspaces};
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

/// Compares runs under budgets with one without.
pub(super) fn compare_budgets(
    running: &Request,
    lanes: &[RematLane],
    lowered: &Lowered,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut plain = lowered.clone();
    plain.dtr.budget = None;
    let mut titles = vec!["no budget".to_owned()];
    let mut settings = vec![plain.clone()];
    let tapes = graph_tapes(running, lowered)?;
    for lane in lanes.iter().take(MAX_PASS_LANES - 1) {
        let mut of_lane = plain.clone();
        of_lane.dtr.heuristic = lane.heuristic;
        of_lane.dtr.budget = budget_of(lane, tapes.iter().map(|tape| &tape.tape), progress)?;
        titles.push(lane.title());
        settings.push(of_lane);
    }
    let settings: Vec<&Lowered> = settings.iter().collect();
    let (axis, variants, from_lowering) = device_sessions(running, &settings, progress)?;
    diagnostics.extend(&from_lowering);
    compare_variants(running, lowered, axis, variants, titles, diagnostics, progress)
}

/// A tape of each graph, with the first values of its dimensions.
///
/// # Errors
/// As [`super::compare`].
pub fn graph_tapes(request: &Request, lowered: &Lowered) -> Result<Vec<GraphTape>, AnalysisError> {
    let bindings = first_bindings(request)?;
    let graphs = request.workload.graphs().iter().zip(bindings);
    let tapes = graphs.map(|(entry, bindings)| {
        let sizes = counted_sizes(&entry.graph, &bindings)?;
        let sizes = with_precision(&entry.graph, sizes, &lowered.precision);
        let mut tape = graph_tape(&entry.graph, &sizes, lowered.rates);
        tape.tape.name.clone_from(&entry.name);
        Ok(tape)
    });
    tapes.collect()
}

/// A lane's budget in bytes. A ratio is of the largest peak that a tape reaches without a budget.
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

/// A ratio of some bytes, rounded down, at least 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "budget of the reference implementation: floor(peak * ratio)"
)]
pub fn part_of(bytes: Bytes, ratio: f64) -> Bytes {
    Bytes(((bytes.get() as f64) * ratio).floor().max(1.0) as u64)
}

/// Compares the names of the first graph as they are and reused at both levels.
pub(super) fn compare_graph_names(
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
                "{} graphs are open, one is shown; choose another under \"show\" or with --graph NAME",
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

/// Simulates a lane per variant.
pub(super) fn compare_variants(
    request: &Request,
    lowered: &Lowered,
    axis: Axis,
    variants: Vec<Variant>,
    titles: Vec<String>,
    mut diagnostics: Diagnostics,
    progress: &Progress<'_>,
) -> Result<Comparison, AnalysisError> {
    let mut planned: Vec<(DeviceSession, Plans)> = Vec::new();
    for variant in &variants {
        check_copies(&variant.session, &lowered.params)?;
        let strategies = [lowered.strategy];
        let mut placed = place_arenas(&variant.arenas, &strategies, &request.search, progress)?;
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
    let first = variants.first().map(|variant| variant.session.clone());
    let first = first.unwrap_or_default();
    for ((lane, variant), title) in lanes.iter_mut().zip(variants).zip(titles) {
        lane.title = Some(title);
        lane.session = Some(Arc::new(variant.session));
        add_rewrite(lane, variant.rewrite.as_ref());
    }
    set_overhead_per_iteration(&mut lanes, &axis, &lowered.params);
    report(&lanes, &mut diagnostics);
    let workspaces = EstimatedWorkspaces::of(&request.workload, &first);
    let names = NameContext::new(&request.workload, &axis, &first, &workspaces, &lowered.params);
    let sessions: Vec<&DeviceSession> = planned.iter().map(|(session, _)| session).collect();
    explain_all(&mut lanes, &sessions, &lowered.params, &names, progress)?;
    Ok(Comparison {
        lower_bound: workspaces::is_lower_bound(&request.workload, &axis, progress)?,
        scratch: workspaces::scratch(&request.workload, &workspaces),
        workspaces,
        estimates: lowered.estimates.clone(),
        ..Comparison::new(request, lowered, axis, first, lanes, diagnostics)
    })
}

/// Adds the changes of rewriting to a lane, and the cost of recomputation to its overhead.
pub(super) fn add_rewrite(lane: &mut Lane, rewrite: Option<&Arc<LaneRewrite>>) {
    let Some(rewrite) = rewrite else { return };
    let (time, count) = rewrite.recomputed(0);
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

/// Reports runs that do not stay within their budget or do not reach their end; equal runs once.
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
        let name = &run.tape.tape.name;
        if let Some(sentence) = over_budget(run) {
            diagnostics.warning(sentence, name);
        }
        if let Some(sentence) = early_end(run) {
            diagnostics.error(sentence, name);
        }
    }
}

/// A sentence on a peak above the budget; `None` where the run is within it, or out of memory.
fn over_budget(run: &RunRemat) -> Option<String> {
    let answer = &run.answer;
    let why = match answer.status {
        RematStatus::Ok => ", because no more tensors can be evicted; the run continues, as MegEngine does",
        RematStatus::Thrash => " before it is given up",
        RematStatus::OutOfMemory(_) => return None,
    };
    let budget = answer.budget.filter(|_| answer.is_over_budget())?;
    Some(format!(
        "{} exceeds the budget of {budget}: its peak is {}{why}",
        answer.heuristic.label, answer.peak
    ))
}

/// Why a run did not reach its end; `None` where it did.
fn early_end(run: &RunRemat) -> Option<String> {
    let label = run.answer.heuristic.label;
    let budget = run.answer.budget?;
    let op = |op: u32| run.tape.tape.ops.get(op as usize).map_or("an op", |op| &*op.name);
    match &run.answer.status {
        RematStatus::Ok => None,
        RematStatus::Thrash => Some(format!(
            "{label} thrashes under a budget of {budget}: recomputation costs {}, the program {}; raise the budget or \
             simulation.thrash_limit",
            run.answer.remat_compute, run.answer.base_compute
        )),
        RematStatus::OutOfMemory(shortage) => Some(format!(
            "{label} runs out of memory under a budget of {budget} at op {}: it requests {} while {} are live and not \
             evictable; {} are missing",
            op(shortage.op),
            shortage.requested,
            shortage.in_use,
            shortage.short
        )),
    }
}
