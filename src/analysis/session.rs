//! From a workload and a schedule to what the device has to hold, run by run.
//!
//! Rules: a graph is static when its dimensions have one value over the whole schedule, unless all graphs are made
//! dynamic; equal runs share one [`BoundGraph`]; a variable with equal name and bytes is one variable of the session.
//! The rewrites apply in their order: precision, host ops, estimated workspaces, atomic clean.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;

use super::lanes::Arena;
use super::lowering::{GraphLowering, LoweredGraph};
use super::rewriting::{Executed, LaneRewrite, Layout};
use super::{AnalysisError, Request};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Id as _, Role, Sizes};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Axis, AxisRun, GraphIdx, Program, Run, Schedule};
use highwater_options::Lowered;
use highwater_plan::{Buffer, PlacementProblem};
use highwater_sim::{DeviceSession, LoadedGraph, Variable};

/// Most steps of a schedule with several runs: every lane keeps a few hundred bytes a step.
const MAX_STEPS: u32 = 4_000_000;

/// Variables of a loop that runs on the device, in the session's own variables: each is one 64-bit integer.
/// Source: the TensorFlow adapter, which makes them for `iterations_per_loop`.
pub const LOOP_VARIABLES: [&str; 4] = [
    "npu_runconfig/iterations_per_loop",
    "npu_runconfig/loop_cond",
    "npu_runconfig/zero",
    "npu_runconfig/one",
];

/// What is simulated of runs at the same time, and what is not.
const CONCURRENT: &str = "graphs of a concurrent group hold their arenas, weights, inputs and outputs together from the \
     group's first step to its last (policies 0 and 3; 2 and 4 forbid it, and are simulated one graph after another); their \
     ops stand one graph after another, so that peak live, and what pools of dynamic graphs do when memory is short, are \
     those of that order: lower bounds";

/// Alignment of tensors in an arena.
const ARENA_ALIGNMENT: u64 = 512;

/// Bytes that the engine asks for to hold a tensor of `bytes`: a multiple of 32 with at least 32 spare.
/// Source: the engine's rule for tensor sizes (n = 0 gives 32, 256 gives 288).
pub fn engine_size(bytes: Bytes) -> Bytes {
    Bytes(bytes.get().saturating_add(63) / 32 * 32)
}

/// Bytes that a tensor of feature memory takes: a multiple of the rounding that the user set, else the engine's.
pub(super) fn rounded(bytes: Bytes, rounding: Option<Bytes>) -> Bytes {
    rounding.map_or_else(|| engine_size(bytes), |rounding| bytes.align_up(rounding.get().max(1)))
}

/// A session under some settings, before its arenas are placed.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) session: DeviceSession,
    pub(super) arenas: Vec<Arena>,
    pub(super) rewrite: Option<Arc<LaneRewrite>>,
}

/// The axis, the session under each of the settings, and what was odd on the way (with the first).
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

/// How a run's graph is made under settings.
pub(super) type MakeRun<'a> =
    &'a dyn Fn(&mut GraphLowering<'_>, &Run, bool) -> Result<Arc<LoweredGraph>, AnalysisError>;

/// The same with a way to make the graphs of runs, each once, for callers that know some already.
pub(super) fn device_sessions_by(
    request: &Request,
    settings: &[&Lowered],
    of_run: MakeRun<'_>,
    progress: &Progress<'_>,
) -> Result<(Axis, Vec<Variant>, Diagnostics), AnalysisError> {
    let mut schedule = schedule(request)?;
    let mut axis = axis(request, std::mem::take(&mut schedule.runs))?;
    let Some(first) = settings.first() else {
        return Ok((axis, Vec::new(), Diagnostics::new()));
    };
    let statics = static_graphs(request, first, &axis);
    let mut makers: Vec<GraphLowering<'_>> = settings
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
        for lowering in &mut makers {
            let key = (run.run.graph, run.run.bindings.clone());
            if !lowering.made.contains_key(&key) {
                let made = of_run(lowering, &run.run, statics[run.run.graph.idx()])?;
                lowering.made.insert(key, made);
            }
        }
    }
    let layouts = layouts(request, &makers);
    lay_out(&mut axis, &layouts)?;
    let variants = (0..makers.len()).map(|variant| {
        let lowering = &makers[variant];
        let mut session = empty_session(request, lowering.lowered, &axis, &statics);
        session.changes.clone_from(&schedule.changes);
        session.groups.clone_from(&schedule.groups);
        lowering.variant(session, &axis, &layouts, variant)
    });
    let variants = variants.collect();
    let mut diagnostics = Diagnostics::new();
    if let Some(lowering) = makers.first() {
        diagnostics.extend(&lowering.diagnostics);
    }
    if !schedule.groups.is_empty() {
        diagnostics.info(CONCURRENT.to_owned(), "schedule");
    }
    Ok((axis, variants, diagnostics))
}

/// A graph and the values of its symbols.
pub(super) type RunKey = (GraphIdx, Bindings);

/// By graph and binding: the steps of such a run.
fn layouts(request: &Request, makers: &[GraphLowering<'_>]) -> BTreeMap<RunKey, Layout> {
    let keys = makers.first().into_iter().flat_map(|lowering| lowering.made.keys());
    keys.map(|key| {
        let variants: Vec<Option<Vec<Executed>>> =
            makers.iter().map(|lowering| lowering.made[key].executed()).collect();
        let n_ops = request.workload.graphs()[key.0.idx()].graph.ops().len();
        let n_ops = u32::try_from(n_ops).unwrap_or(u32::MAX);
        (key.clone(), Layout::new(n_ops, &variants))
    })
    .collect()
}

/// Gives every run the steps of its layout.
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

/// Whether there is a graph, and a dimension for every value.
pub(super) fn check_names(request: &Request) -> Result<(), AnalysisError> {
    if request.workload.graphs().is_empty() {
        return Err(AnalysisError::NoGraph);
    }
    let known = request.workload.symbols();
    if let Some(name) = request.plan.dims.keys().find(|name| !known.contains(name)) {
        let known = if known.is_empty() {
            "no dimension has a name".to_owned()
        } else {
            format!("known: {}", known.join(", "))
        };
        return Err(AnalysisError::UnknownSymbol {
            name: name.clone(),
            known,
        });
    }
    Ok(())
}

/// By graph: the values that its dimensions take first.
pub(super) fn first_bindings(request: &Request) -> Result<Vec<Bindings>, AnalysisError> {
    let schedule = schedule(request)?;
    let first = |(name, values): (&String, &Vec<u64>)| Some((name.clone(), *values.first()?));
    let of_graph = |idx: usize| {
        let run = schedule.runs.iter().find(|run| run.graph.idx() == idx);
        // A graph that never runs is looked at with the first values that there are.
        run.map_or_else(
            || request.plan.dims.iter().filter_map(first).collect(),
            |run| run.bindings.clone(),
        )
    };
    Ok((0..request.workload.graphs().len()).map(of_graph).collect())
}

/// The runs, with every symbol of every graph bound.
fn schedule(request: &Request) -> Result<Schedule, AnalysisError> {
    let graphs = request.workload.scheduled_graphs();
    let unbound = request.plan.unbound(&graphs);
    if !unbound.is_empty() {
        return Err(AnalysisError::Unbound { symbols: unbound });
    }
    Ok(request.plan.schedule_of(&graphs)?)
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

/// By graph: whether all its runs have equal bindings, where graphs may be static at all.
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

/// Whether some op talks to other devices.
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

/// Variables of all graphs, each once, in the order of first appearance; those of the loop behind.
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

/// Lifetimes with the engine's sizes, rounded to the arena's alignment.
pub fn arena_problem(program: &Program, engine_sizes: &[Bytes]) -> PlacementProblem {
    let buffers = program
        .lifetimes
        .items
        .iter()
        .zip(engine_sizes)
        .map(|(item, size)| Buffer {
            lower: item.birth,
            upper: item.end,
            size: size.align_up(ARENA_ALIGNMENT),
            alignment: ARENA_ALIGNMENT,
            offset: None,
        });
    PlacementProblem::of(buffers)
}
