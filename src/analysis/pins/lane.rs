//! The comparison of a pin alone as a lane of another comparison: every step (of events, live ranges, runs,
//! recomputations) is moved to the common axis. Figures stay exactly those of the pin's own comparison.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::steps::StepMap;
use crate::comparison::Comparison;
use crate::configuration::Configuration;
use crate::explain::explain;
use crate::lane::{Lane, Remark};
use crate::lane_set::LaneId;
use crate::pin::{Pin, PinnedLane, lane_id};
use crate::request::Request;
use crate::rewriting::{LaneRewrite, RunRemat, onto_steps};
use crate::run_lanes::divergence;
use crate::workspaces::EstimatedWorkspaces;
use highwater_model::graph::Graph;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Step;
use highwater_model::workload::Axis;
use highwater_options::{Finding, check_scheduled};
use highwater_sim::fold::curves;
use highwater_sim::{BoundGraph, DeviceRun, DeviceSession, Event, Simulation, StaticMemoryPolicy, Subject, SubjectRow};

/// Appends the lane of a pin; a clause where it cannot be aligned.
pub(super) fn place(
    comparison: &mut Comparison,
    own: Comparison,
    position: usize,
    pin: &Pin,
    request: &Request,
    progress: &Progress<'_>,
) -> Result<Result<(), String>, Cancelled> {
    if let Some(why) = why_not_comparable(comparison, &own) {
        return Ok(Err(why));
    }
    let map = if comparison.axis.runs.is_empty() || own.axis == comparison.axis {
        StepMap::same(&own.axis)
    } else {
        StepMap::new(&own.axis, &comparison.axis, progress)?
    };
    let wanted = LaneId::Policy(own.active_policy);
    let Some(number) = own.lanes.iter().position(|lane| lane.id == wanted) else {
        return Ok(Err("its policy has no lane".to_owned()));
    };
    let session = Arc::new(moved_session(own.session_of(number), comparison, &map));
    let evicts = own.lanes[number].rewrite.is_some();
    let own_session = evicts.then(|| Arc::new(own.session_of(number).clone()));
    let mut own = own;
    let lane = own.lanes.swap_remove(number);
    let mut lane = moved_lane(lane, comparison, &own.axis, &session, &map);
    lane.id = lane_id(position);
    lane.title = Some(pin.name.clone());
    comparison
        .workspaces
        .extend(EstimatedWorkspaces::of(&comparison.workload, &session));
    explain_lane(&mut lane, comparison, &own, &session, &map);
    lane.session = Some(session);
    lane.pinned = Some(Arc::new(PinnedLane {
        configuration: pin.configuration.clone(),
        device: own.device,
        occupied: own.occupied,
        params: own.params,
        rates: own.rates,
        lower_bound: own.lower_bound,
        scratch: own.scratch,
        estimates: own.estimates,
        findings: findings(pin, request),
        diagnostics: own.diagnostics,
        axis: own.axis,
        runs: map.own,
        fit: map.fit,
        own_session,
    }));
    comparison.lanes.push(lane);
    Ok(Ok(()))
}

/// Why both cannot share an axis: other graphs or ops run.
fn why_not_comparable(comparison: &Comparison, own: &Comparison) -> Option<String> {
    let (common, other) = (comparison.workload.graphs(), own.workload.graphs());
    for (entry, pinned) in common.iter().zip(other) {
        if !is_alike(&entry.graph, &pinned.graph) {
            return Some(format!(
                "it runs other ops of {} ({} instead of {}), so steps cannot be compared; use the same graph_run_mode \
                 in both, or apply the pin",
                entry.name,
                pinned.graph.ops().len(),
                entry.graph.ops().len()
            ));
        }
    }
    if common.len() != other.len() || comparison.requests.len() != own.requests.len() {
        return Some("it runs other graphs than the active configuration".to_owned());
    }
    None
}

/// Whether the ids of one graph mean the same in the other. O(ops + tensors).
fn is_alike(one: &Arc<Graph>, other: &Arc<Graph>) -> bool {
    if Arc::ptr_eq(one, other) {
        return true;
    }
    let n_alike = one.ops().len() == other.ops().len() && one.tensors().len() == other.tensors().len();
    n_alike
        && one.ops().ids().all(|op| one.op_name(op) == other.op_name(op))
        && one
            .tensors()
            .ids()
            .all(|tensor| one.tensor_name(tensor) == other.tensor_name(tensor))
}

fn moved_lane(lane: Lane, comparison: &Comparison, own: &Axis, session: &DeviceSession, map: &StepMap) -> Lane {
    let is_same = map.steps.len() == comparison.axis.n_steps as usize + 1
        && !map.fit.shares_steps
        && map.runs.iter().zip(0..).all(|(run, number)| *run == number);
    let mut lane = Lane {
        rewrite: lane
            .rewrite
            .as_deref()
            .map(|rewrite| Arc::new(moved_rewrite(rewrite, own, session, map))),
        shares_steps: map.fit.shares_steps,
        ..lane
    };
    if !is_same {
        move_simulation(&mut lane.simulation, comparison.axis.n_steps, map);
        lane.curves = curves(&lane.simulation);
        let moved = |step: &mut Option<Step>| {
            if let Some(step) = step {
                *step = Step(map.at(step.0));
            }
        };
        moved(&mut lane.summary.peak_reserved_step);
        moved(&mut lane.summary.peak_live_step);
        if let Some(report) = &mut lane.out_of_memory_report {
            report.step = Step(map.at(report.step.0));
        }
    }
    let reference = comparison.lane(StaticMemoryPolicy::Dynamic);
    lane.first_divergence = reference.and_then(|reference| divergence(&lane, reference));
    lane
}

fn move_simulation(simulation: &mut Simulation, n_steps: u32, map: &StepMap) {
    let events = simulation.events.iter().map(|event| Event {
        step: Step(map.at(event.step.0)),
        ..event
    });
    simulation.events = events.collect();
    let subjects = simulation.subjects.iter().map(|row| SubjectRow {
        subject: moved_subject(row.subject, map),
        ..row
    });
    simulation.subjects = subjects.collect();
    if let Some(failed) = &mut simulation.out_of_memory {
        failed.step = Step(map.at(failed.step.0));
        failed.subject = moved_subject(failed.subject, map);
    }
    simulation.n_steps = n_steps;
}

fn moved_subject(subject: Subject, map: &StepMap) -> Subject {
    match subject {
        Subject::Tensor { run, tensor, copy } => Subject::Tensor {
            run: map.runs.get(run as usize).copied().unwrap_or(run),
            tensor,
            copy,
        },
        other => other,
    }
}

/// Moved graphs, by the graph and the steps of a run within its place.
type Laid = BTreeMap<(*const BoundGraph, Vec<u32>), Arc<BoundGraph>>;

/// The session with its runs moved; a run of the common axis that it lacks holds nothing.
fn moved_session(session: &DeviceSession, comparison: &Comparison, map: &StepMap) -> DeviceSession {
    let nothing = Arc::new(BoundGraph::default());
    let mut laid = Laid::new();
    let mut runs = Vec::with_capacity(map.own.len());
    for (number, own) in map.own.iter().enumerate() {
        let place = comparison.axis.runs.get(number);
        let own = own.and_then(|own| session.runs.get(own as usize));
        match (own, place) {
            (Some(run), _) => runs.push(moved_run(
                run,
                place.map(|place| (place.start, place.n_steps)),
                map,
                &mut laid,
            )),
            (None, Some(place)) => runs.push(DeviceRun {
                graph: place.run.graph,
                bound: Arc::clone(&nothing),
                start: place.start,
                n_steps: place.n_steps,
            }),
            (None, None) => {}
        }
    }
    if map.own.is_empty() {
        runs.clone_from(&session.runs);
    }
    // Load changes and groups refer to runs by position, so they are kept only where every run keeps its position.
    let is_in_place =
        map.own.iter().zip(0_u32..).all(|(own, number)| *own == Some(number)) && runs.len() == session.runs.len();
    let mut moved = DeviceSession {
        runs,
        n_steps: comparison.axis.n_steps.max(comparison.session.n_steps),
        ..session.clone()
    };
    if !is_in_place {
        moved.changes.clear();
        moved.groups.clear();
    }
    moved
}

fn moved_run(run: &DeviceRun, place: Option<(Step, u32)>, map: &StepMap, laid: &mut Laid) -> DeviceRun {
    let first = map.at(run.start.0);
    let end = map.at(run.start.0 + run.n_steps).max(first + 1);
    let (start, n_steps) = place.unwrap_or((Step(first), end - first));
    let inside: Vec<u32> = inside(run, start, n_steps, map);
    let is_same = inside.iter().zip(0..).all(|(step, own)| *step == own);
    let bound = if is_same {
        Arc::clone(&run.bound)
    } else {
        let key = (Arc::as_ptr(&run.bound), inside);
        let made = laid.entry(key).or_insert_with_key(|(_, inside)| {
            let mut bound = onto_steps((*run.bound).clone(), Some(inside));
            for item in &mut bound.program.lifetimes.items {
                item.end = item.end.max(Step(item.birth.0 + 1));
            }
            Arc::new(bound)
        });
        Arc::clone(made)
    };
    DeviceRun {
        graph: run.graph,
        bound,
        start,
        n_steps,
    }
}

/// By own step of a run and for its end: the step, counted from the begin of the place.
fn inside(run: &DeviceRun, start: Step, n_steps: u32, map: &StepMap) -> Vec<u32> {
    let own = (0..run.n_steps).map(|step| map.at(run.start.0 + step).saturating_sub(start.0));
    own.chain([n_steps]).collect()
}

/// Recomputations, by the positions of the moved runs.
fn moved_rewrite(rewrite: &LaneRewrite, axis: &Axis, session: &DeviceSession, map: &StepMap) -> LaneRewrite {
    let mut known: Vec<(*const RunRemat, Vec<u32>, Arc<RunRemat>)> = Vec::new();
    let remat = map.own.iter().zip(&session.runs).map(|(own, run)| {
        let own = (*own)? as usize;
        let remat = rewrite.remat.get(own)?.as_ref()?;
        let begin = axis.runs.get(own)?.start.0;
        let steps: Vec<u32> = remat
            .steps
            .iter()
            .enumerate()
            .map(|(slot, step)| {
                let is_end = slot + 1 == remat.steps.len();
                let moved = map.at(begin + step).saturating_sub(run.start.0);
                if is_end { run.n_steps } else { moved }
            })
            .collect();
        let found = known
            .iter()
            .find(|(from, at, _)| *from == Arc::as_ptr(remat) && *at == steps);
        if let Some((_, _, made)) = found {
            return Some(Arc::clone(made));
        }
        let made = Arc::new(RunRemat {
            steps: steps.as_slice().into(),
            ..RunRemat::clone(remat)
        });
        known.push((Arc::as_ptr(remat), steps, Arc::clone(&made)));
        Some(made)
    });
    LaneRewrite {
        remat: remat.collect(),
        names: rewrite.names.clone(),
    }
}

/// Explains the lane in steps of the common axis: how it is aligned, where its peak comes from, where it ends.
fn explain_lane(lane: &mut Lane, comparison: &Comparison, own: &Comparison, session: &DeviceSession, map: &StepMap) {
    let names = comparison.names(session, &own.params);
    if let Some(report) = &mut lane.out_of_memory_report {
        report.place = names.place(report.step);
    }
    let fit = map.fit.sentences().into_iter();
    let fit = fit.map(|text| Remark { text, step: None });
    let mut remarks = explain(lane, None, &names);
    let behind = remarks.len().min(1);
    remarks.splice(behind..behind, fit);
    lane.explanation = remarks;
}

/// Findings of the rules about a pin.
fn findings(pin: &Pin, request: &Request) -> Vec<Finding> {
    let Configuration {
        options,
        environment,
        plan,
    } = &pin.configuration;
    check_scheduled(options, environment, &*request.files, plan)
}
