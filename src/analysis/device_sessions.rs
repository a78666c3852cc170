//! From a workload and a schedule to device sessions, run by run.
//!
//! Rules: a graph is static when its dimensions have one value over the whole schedule, unless all graphs are made
//! dynamic; equal runs share one [`BoundGraph`]; a variable with equal name and bytes is one variable of the session.
//! The rewrites apply in their order: precision, host ops, estimated workspaces, atomic clean.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;

use super::error::AnalysisError;
use super::lowering::{GraphLowering, LoweredGraph, RunKey, Variant};
use super::request::Request;
use super::rewriting::Layout;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Id as _, Role, Sizes};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Axis, AxisRun, GraphIdx, Run, Schedule, SlotOp};
use highwater_options::Lowered;
use highwater_sim::{DeviceSession, LoadedGraph, Params, Variable};

/// Most steps of a schedule with several runs: every lane keeps a few hundred bytes a step.
const MAX_STEPS: u32 = 4_000_000;

/// Most tensors, copies included, that concurrent graphs may have in sum: about a gibibyte of events in four lanes.
const MAX_COPIED_TENSORS: u64 = 2_000_000;

/// Variables of a loop that runs on the device, in the session's own variables: each is one 64-bit integer.
/// Source: the TensorFlow adapter, which makes them for `iterations_per_loop`.
pub const LOOP_VARIABLES: [&str; 4] = [
    "npu_runconfig/iterations_per_loop",
    "npu_runconfig/loop_cond",
    "npu_runconfig/zero",
    "npu_runconfig/one",
];

/// How concurrent runs are simulated.
const CONCURRENT: &str = "graphs of a concurrent group hold their arenas, weights, inputs and outputs from the \
                          group's first step to its last (policies 0 and 3; policies 2 and 4 forbid concurrency and \
                          run the graphs in sequence); ops are simulated graph by graph, so peak live and the \
                          recycling of dynamic pools are lower bounds";

/// The axis, the session under each of the settings, and the diagnostics of the first.
pub(super) fn device_sessions(
    request: &Request,
    settings: &[&Lowered],
    progress: &Progress<'_>,
) -> Result<(Axis, Vec<Variant>, Diagnostics), AnalysisError> {
    let make = |lowering: &mut GraphLowering<'_>, run: &Run, is_static: bool| {
        Ok(Arc::new(lowering.make(run, is_static, progress)?))
    };
    device_sessions_by(request, settings, &make, progress)
}

/// Lowers the graph of a run.
pub(super) type LowerRun<'a> =
    &'a dyn Fn(&mut GraphLowering<'_>, &Run, bool) -> Result<Arc<LoweredGraph>, AnalysisError>;

/// As [`device_sessions`], with a function that lowers the graphs of runs, for callers that cache them.
pub(super) fn device_sessions_by(
    request: &Request,
    settings: &[&Lowered],
    lower_run: LowerRun<'_>,
    progress: &Progress<'_>,
) -> Result<(Axis, Vec<Variant>, Diagnostics), AnalysisError> {
    let mut schedule = schedule(request)?;
    let mut axis = axis(request, std::mem::take(&mut schedule.runs))?;
    let Some(first) = settings.first() else {
        return Ok((axis, Vec::new(), Diagnostics::new()));
    };
    let statics = static_graphs(request, first, &axis);
    let mut lowerings: Vec<GraphLowering<'_>> = settings
        .iter()
        .map(|lowered| GraphLowering {
            request,
            lowered,
            diagnostics: Diagnostics::new(),
            made: BTreeMap::new(),
        })
        .collect();
    let n_runs = axis.runs.len() as u64;
    for (done, run) in (0_u64..).zip(&axis.runs) {
        progress.set("planning", done, n_runs)?;
        for lowering in &mut lowerings {
            let key = (run.run.graph, run.run.bindings.clone());
            if !lowering.made.contains_key(&key) {
                let made = lower_run(lowering, &run.run, statics[run.run.graph.idx()])?;
                lowering.made.insert(key, made);
            }
        }
    }
    progress.check()?;
    let layouts = layouts(request, &lowerings);
    lay_out(&mut axis, &layouts)?;
    let variants = (0..lowerings.len()).map(|variant| {
        let lowering = &lowerings[variant];
        let mut session = empty_session(request, lowering.lowered, &axis, &statics);
        session.changes.clone_from(&schedule.changes);
        session.groups.clone_from(&schedule.groups);
        lowering.variant(session, &axis, &layouts, variant, progress)
    });
    let variants = variants.collect::<Result<_, _>>()?;
    let mut diagnostics = Diagnostics::new();
    if let Some(lowering) = lowerings.first() {
        diagnostics.extend(&lowering.diagnostics);
    }
    if !schedule.groups.is_empty() {
        diagnostics.info(CONCURRENT.to_owned(), "schedule");
    }
    Ok((axis, variants, diagnostics))
}

/// By graph and binding.
fn layouts(request: &Request, lowerings: &[GraphLowering<'_>]) -> BTreeMap<RunKey, Layout> {
    let keys = lowerings.first().into_iter().flat_map(|lowering| lowering.made.keys());
    keys.map(|key| {
        let variants: Vec<Option<Vec<SlotOp>>> =
            lowerings.iter().map(|lowering| lowering.made[key].executed()).collect();
        let n_ops = request.workload.graphs()[key.0.idx()].graph.ops().len();
        let n_ops = u32::try_from(n_ops).unwrap_or(u32::MAX);
        (key.clone(), Layout::new(n_ops, &variants))
    })
    .collect()
}

/// Sets the steps of every run to those of its layout.
fn lay_out(axis: &mut Axis, layouts: &BTreeMap<RunKey, Layout>) -> Result<(), AnalysisError> {
    let mut start = 0_u32;
    let is_single = axis.runs.len() == 1;
    for run in &mut axis.runs {
        if let Some(layout) = layouts.get(&(run.run.graph, run.run.bindings.clone())) {
            run.n_steps = layout.n_steps;
            run.slots.clone_from(&layout.slots);
        }
        run.start = Step(start);
        start = start.checked_add(run.n_steps).ok_or(AnalysisError::TooManySteps)?;
        if start > MAX_STEPS && !is_single {
            return Err(AnalysisError::TooManySteps);
        }
    }
    axis.n_steps = start;
    Ok(())
}

/// A session without its runs.
fn empty_session(request: &Request, lowered: &Lowered, axis: &Axis, statics: &[bool]) -> DeviceSession {
    let mut session = DeviceSession::default();
    for (idx, entry) in request.workload.graphs().iter().enumerate() {
        let graph_idx = GraphIdx::from_idx(idx);
        let first = axis.runs.iter().find(|run| run.run.graph == graph_idx);
        let sizes = entry
            .graph
            .sizes(first.map_or(&Bindings::new(), |run| &run.run.bindings));
        session.graphs.push(LoadedGraph {
            name: entry.name.clone(),
            is_static: statics[idx],
            has_collectives: has_collectives(&entry.graph),
            weights: residents(&entry.graph, &sizes, |role| role.is_resident() && !role.is_variable()),
        });
    }
    session.variables = variables(request, lowered, axis);
    session.n_steps = axis.n_steps;
    session
}

/// By graph: the first values of its dimensions.
pub(super) fn first_bindings(request: &Request) -> Result<Vec<Bindings>, AnalysisError> {
    let schedule = schedule(request)?;
    let first = |(name, values): (&String, &Vec<u64>)| Some((name.clone(), *values.first()?));
    let of_graph = |idx: usize| {
        let run = schedule.runs.iter().find(|run| run.graph.idx() == idx);
        // A graph that never runs takes the first values of the plan.
        run.map_or_else(
            || request.plan.dims.iter().filter_map(first).collect(),
            |run| run.bindings.clone(),
        )
    };
    Ok((0..request.workload.graphs().len()).map(of_graph).collect())
}

/// The runs, with every symbol of every graph bound: as the user says, else as the source does.
fn schedule(request: &Request) -> Result<Schedule, AnalysisError> {
    let graphs = request.workload.scheduled_graphs();
    let plan = request.plan.or_stated(&request.workload.schedule);
    let unbound = plan.unbound(&graphs);
    if !unbound.is_empty() {
        return Err(AnalysisError::Unbound { symbols: unbound });
    }
    Ok(plan.schedule_of(&graphs)?)
}

fn axis(request: &Request, runs: Vec<Run>) -> Result<Axis, AnalysisError> {
    let mut axis = Axis::default();
    for run in runs {
        let n_ops = request.workload.graphs()[run.graph.idx()].graph.ops().len();
        let n_steps = u32::try_from(n_ops).map_err(|_overflow| AnalysisError::TooManySteps)?;
        let start = axis.n_steps;
        axis.n_steps = start.checked_add(n_steps).ok_or(AnalysisError::TooManySteps)?;
        if axis.n_steps > MAX_STEPS && !axis.runs.is_empty() {
            return Err(AnalysisError::TooManySteps);
        }
        axis.runs.push(AxisRun {
            start: Step(start),
            n_steps,
            run,
            slots: None,
        });
    }
    Ok(axis)
}

/// By graph: whether it is static, which needs equal bindings in all its runs.
fn static_graphs(request: &Request, lowered: &Lowered, axis: &Axis) -> Vec<bool> {
    let mut first: Vec<Option<&Bindings>> = vec![None; request.workload.graphs().len()];
    let mut is_static = vec![!lowered.all_dynamic; first.len()];
    for run in &axis.runs {
        let idx = run.run.graph.idx();
        match first[idx] {
            None => first[idx] = Some(&run.run.bindings),
            Some(bindings) => is_static[idx] &= *bindings == run.run.bindings,
        }
    }
    is_static
}

/// Whether some op communicates with other devices.
fn has_collectives(graph: &Graph) -> bool {
    graph.ops().ids().any(|op| graph.op_kind(op).starts_with("Hcom"))
}

/// Resident storages of some roles, by name and exact bytes.
fn residents(graph: &Graph, sizes: &Sizes, wanted: fn(Role) -> bool) -> Vec<Variable> {
    graph
        .storages()
        .iter_ids()
        .filter(|(_, storage)| wanted(graph.tensors()[storage.root].role))
        .map(|(id, storage)| Variable {
            name: graph.tensor_name(storage.root).into(),
            bytes: Bytes(sizes.storage(id)),
        })
        .collect()
}

/// Variables of all graphs, each once, in the order of first appearance; then those of the loop.
fn variables(request: &Request, lowered: &Lowered, axis: &Axis) -> Vec<Variable> {
    let mut variables: IndexSet<Variable> = IndexSet::new();
    for (idx, entry) in request.workload.graphs().iter().enumerate() {
        let Some(run) = axis.runs.iter().find(|run| run.run.graph.idx() == idx) else {
            continue;
        };
        let sizes = entry.graph.sizes(&run.run.bindings);
        variables.extend(residents(&entry.graph, &sizes, Role::is_variable));
    }
    let n_loop = lowered.params.loop_variables as usize;
    variables.extend(LOOP_VARIABLES.iter().take(n_loop).map(|name| Variable {
        name: (*name).into(),
        bytes: Bytes(8),
    }));
    variables.into_iter().collect()
}

/// Refuses more copies than can be simulated: every copy of every tensor has events.
pub(super) fn check_copies(session: &DeviceSession, params: &Params) -> Result<(), AnalysisError> {
    let runs = session.runs.iter();
    let tensors: u64 = runs.map(|run| run.bound.n_lifetimes() as u64).sum();
    let copies = params.feature_copies;
    let is_too_many = tensors.saturating_mul(u64::from(copies)) > MAX_COPIED_TENSORS || copies > u32::from(u16::MAX);
    if copies > 1 && is_too_many {
        return Err(AnalysisError::TooManyCopies {
            copies,
            tensors,
            limit: MAX_COPIED_TENSORS,
        });
    }
    Ok(())
}
