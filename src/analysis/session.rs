//! From a workload and a schedule to what the device has to hold, run by run.
//!
//! Rules: a graph is static when its dimensions have one value over the whole schedule, unless all graphs are made
//! dynamic; equal runs share one [`BoundGraph`]; a variable with equal name and bytes is one variable of the session.
//! The rewrites apply in their order: precision, host ops, estimated workspaces, atomic clean.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;

use super::allocation_order::arena_order;
use super::lanes::Arena;
use super::{AnalysisError, Request};
use crate::diagnostics::Diagnostics;
use crate::graph::{Bindings, Graph, Id as _, IdVec, Role, Sizes};
use crate::liveness::feature_lifetimes;
use crate::options::Lowered;
use crate::plan::{Buffer, Problem};
use crate::progress::Progress;
use crate::rewrite::{
    AtomicClean, Sides, atomic_clean, clears, host_split, with_precision, with_workspaces, without_host,
};
use crate::sim::{BoundGraph, Clear, DeviceRun, DeviceSession, IoTensor, LoadedGraph, Variable};
use crate::units::{Bytes, Step};
use crate::workload::{Axis, AxisRun, GraphIdx, Program, Run, Schedule};

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

/// Alignment of tensors in an arena.
const ARENA_ALIGNMENT: u64 = 512;

/// Bytes that the engine asks for to hold a tensor of `bytes`: a multiple of 32 with at least 32 spare.
/// Source: the engine's rule for tensor sizes (n = 0 gives 32, 256 gives 288).
pub fn engine_size(bytes: Bytes) -> Bytes {
    Bytes(bytes.get().saturating_add(63) / 32 * 32)
}

/// The axis, the session, and what was odd on the way.
pub(super) fn device_session(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<(Axis, DeviceSession, Vec<Arena>, Diagnostics), AnalysisError> {
    let schedule = schedule(request)?;
    let mut maker = Maker {
        request,
        lowered,
        diagnostics: Diagnostics::new(),
        bound: BTreeMap::new(),
        arenas: Vec::new(),
    };
    let axis = axis(request, schedule)?;
    let statics = static_graphs(request, lowered, &axis);
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
    session.variables = variables(request, lowered, &axis);
    let n_runs = axis.runs.len() as u64;
    for (done, run) in (0_u64..).zip(&axis.runs) {
        progress.set("planning", done, n_runs)?;
        let bound = maker.bound_graph(&run.run, statics[run.run.graph.idx()]);
        session.runs.push(DeviceRun {
            graph: run.run.graph,
            bound,
            start: run.start,
            n_steps: run.n_steps,
        });
    }
    session.n_steps = axis.n_steps;
    Ok((axis, session, maker.arenas, maker.diagnostics))
}

/// Whether there is a graph, and a dimension for every value.
pub(super) fn check_names(request: &Request) -> Result<(), AnalysisError> {
    if request.workload.graphs().is_empty() {
        return Err(AnalysisError::NoGraph);
    }
    let known = request.workload.symbols();
    if let Some(name) = request.plan.dims.keys().find(|name| !known.contains(name)) {
        let known = if known.is_empty() {
            "all dimensions are known numbers".to_owned()
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

/// The runs, with every symbol of every graph bound.
fn schedule(request: &Request) -> Result<Schedule, AnalysisError> {
    let graphs = request.workload.graphs();
    let has_value = |name: &String| request.plan.dims.get(name).is_some_and(|values| !values.is_empty());
    let mut unbound = request.workload.symbols();
    unbound.retain(|name| !has_value(name));
    if !unbound.is_empty() {
        return Err(AnalysisError::Unbound { symbols: unbound });
    }
    let symbols: Vec<Vec<String>> = graphs.iter().map(|entry| entry.graph.symbols()).collect();
    Ok(request.plan.schedule(&symbols)?)
}

fn axis(request: &Request, schedule: Schedule) -> Result<Axis, AnalysisError> {
    let mut axis = Axis::default();
    for run in schedule.runs {
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
        let run = axis.runs.iter().find(|run| run.run.graph.idx() == idx);
        let sizes = entry.graph.sizes(run.map_or(&Bindings::new(), |run| &run.run.bindings));
        variables.extend(residents(&entry.graph, &sizes, Role::is_variable));
    }
    let n_loop = lowered.params.loop_variables as usize;
    variables.extend(LOOP_VARIABLES.iter().take(n_loop).map(|name| Variable {
        name: (*name).into(),
        bytes: Bytes(8),
    }));
    variables.into_iter().collect()
}

struct Maker<'a> {
    request: &'a Request,
    lowered: &'a Lowered,
    diagnostics: Diagnostics,
    bound: BTreeMap<(GraphIdx, Bindings), Arc<BoundGraph>>,
    arenas: Vec<Arena>,
}

impl Maker<'_> {
    fn bound_graph(&mut self, run: &Run, is_static: bool) -> Arc<BoundGraph> {
        let key = (run.graph, run.bindings.clone());
        if let Some(bound) = self.bound.get(&key) {
            return Arc::clone(bound);
        }
        let graph = &*self.request.workload.graphs()[run.graph.idx()].graph;
        let sizes = graph.sizes(&run.bindings);
        self.note_unknown_shapes(graph, &sizes);
        let split = match &self.lowered.host_ops {
            Some(host_ops) if host_ops.occur_in(graph) => Some(host_split(graph, host_ops)),
            _ => None,
        };
        // What crosses the device's border keeps its width, as the graph's own inputs and outputs do.
        let io = io_tensors(graph, &sizes, split.as_ref());
        let sizes = with_precision(graph, sizes, &self.lowered.precision);
        let program = self.program(graph, &sizes, split.as_ref(), is_static);
        let engine_sizes: Vec<Bytes> = program
            .lifetimes
            .items
            .iter()
            .map(|item| engine_size(item.bytes))
            .collect();
        if is_static {
            self.arenas.push(Arena {
                graph: run.graph,
                problem: arena_problem(&program, &engine_sizes),
                order: arena_order(graph, &program, &io),
            });
        }
        let bound = Arc::new(BoundGraph {
            program,
            engine_sizes,
            plan: None,
            segments: Vec::new(),
            io,
            clears: self.clears(graph, &sizes, split.as_ref(), is_static),
        });
        self.bound.insert(key, Arc::clone(&bound));
        bound
    }

    /// Feature memory after all rewrites.
    fn program(&self, graph: &Graph, sizes: &Sizes, split: Option<&Sides>, is_static: bool) -> Program {
        let mut lifetimes = feature_lifetimes(graph, sizes);
        if let Some(split) = split {
            lifetimes = without_host(graph, lifetimes, split);
        }
        if let Some(table) = &self.lowered.workspaces {
            lifetimes = with_workspaces(graph, sizes, lifetimes, (table, self.lowered.host_ops.as_ref()));
        }
        let program = Program {
            lifetimes,
            kept_apart: Vec::new(),
        };
        atomic_clean(program, graph, self.clean_policy(is_static))
    }

    /// Dynamic graphs are always cleared op by op.
    fn clean_policy(&self, is_static: bool) -> AtomicClean {
        if self.lowered.atomic_clean_separate || !is_static {
            AtomicClean::Separate
        } else {
            AtomicClean::Collective
        }
    }

    /// What is cleared in a run.
    fn clears(&self, graph: &Graph, sizes: &Sizes, split: Option<&Sides>, is_static: bool) -> Vec<Clear> {
        let host = self.lowered.host_ops.as_ref().zip(split);
        let clears = clears(graph, sizes, self.clean_policy(is_static), host);
        clears.into_iter().map(|(step, bytes)| Clear { step, bytes }).collect()
    }

    fn note_unknown_shapes(&mut self, graph: &Graph, sizes: &Sizes) {
        let mut unknown = graph.unknown_activations(sizes);
        if let Some(first) = unknown.next() {
            let count = 1 + unknown.count() as u64;
            self.diagnostics.unknown_shapes(graph.tensor_name(first), count);
        }
    }
}

/// Lifetimes with the engine's sizes, rounded to the arena's alignment.
pub fn arena_problem(program: &Program, engine_sizes: &[Bytes]) -> Problem {
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
    Problem::of(buffers)
}

/// Graph inputs, roots of graph outputs that are computed, and what is carried between device and host.
fn io_tensors(graph: &Graph, sizes: &Sizes, split: Option<&Sides>) -> Vec<IoTensor> {
    let mut is_io = vec![false; graph.storages().len()];
    for (_, tensor) in graph
        .tensors()
        .iter_ids()
        .filter(|(_, tensor)| tensor.role == Role::Input)
    {
        is_io[tensor.storage.idx()] = true;
    }
    for tensor in graph.outputs() {
        let storage = graph.tensors()[*tensor].storage;
        let root = graph.storages()[storage].root;
        is_io[storage.idx()] |= !graph.tensors()[root].role.is_resident();
    }
    for (id, side) in split.into_iter().flat_map(IdVec::iter_ids) {
        let root = graph.storages()[id].root;
        let is_activation = graph.tensors()[root].role == Role::Activation;
        is_io[id.idx()] |= is_activation && side.crosses();
        is_io[id.idx()] &= !side.is_host_only();
    }
    graph
        .storages()
        .iter_ids()
        .filter(|(id, _)| is_io[id.idx()])
        .map(|(id, storage)| IoTensor {
            tensor: storage.root,
            bytes: Bytes(sizes.storage(id)),
            is_input: graph.tensors()[storage.root].role == Role::Input,
        })
        .collect()
}
