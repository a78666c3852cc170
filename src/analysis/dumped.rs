//! The plan that a compiler's dump states for a graph, as a plan of the live ranges of this program. Dumps that state
//! live ranges themselves are imported as problems.

use std::sync::Arc;

use super::allocation_order::entry_order;
use super::arena::{arena_problem, engine_size, stated_size};
use highwater_model::graph::{Bindings, Graph, Role, Sizes};
use highwater_model::liveness::{View, feature_lifetimes, lifetimes};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    DumpedOffsets, GraphEntry, Lifetime, Lifetimes, Names, ProblemEntry, Program, RecordedPlan,
};
use highwater_plan::PlacementProblem;
use highwater_rewrite::{AtomicClean, atomic_clean};

/// Default divisor of offsets and sizes, in bytes.
pub const USUAL_ALIGNMENT: u64 = 512;

/// The dumped offset of each live range, which is that of a tensor or of the root of a storage.
///
/// # Errors
/// Positions of the live ranges without an offset.
pub fn dumped_plan(dumped: &DumpedOffsets, lifetimes: &Lifetimes) -> Result<RecordedPlan, Vec<usize>> {
    let mut offsets = Vec::with_capacity(lifetimes.items.len());
    let mut missing = Vec::new();
    for (position, item) in lifetimes.items.iter().enumerate() {
        match dumped.offsets.get(item.tensor.0 as usize).copied().flatten() {
            Some(offset) => offsets.push(offset),
            None => missing.push(position),
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    Ok(RecordedPlan {
        offsets,
        maker: dumped.maker.clone(),
    })
}

/// The plan of a log for the live ranges of a graph; `None` where it has no offset for one of them.
pub(super) fn logged_plan(entry: &GraphEntry, program: &Program) -> Option<RecordedPlan> {
    let offsets = entry.dumped.as_ref()?.offsets.as_ref()?;
    let is_logged = !offsets.sizes.is_empty();
    dumped_plan(offsets, &program.lifetimes).ok().filter(|_| is_logged)
}

/// The arenas of graphs whose dumps state an offset for every live range, with the positions of the graphs.
pub fn dumped_problems(entries: &[GraphEntry]) -> Vec<(usize, Arc<ProblemEntry>)> {
    let found = entries.iter().enumerate();
    let found = found.filter_map(|(graph, entry)| Some((graph, Arc::new(dumped_problem(entry)?))));
    found.collect()
}

/// The arena of a graph with its dumped plan; `None` where a live range has no offset or a shape is unknown. Inputs are
/// part of the arena where the dump states offsets for all of them: they live throughout the run.
fn dumped_problem(entry: &GraphEntry) -> Option<ProblemEntry> {
    let graph: &Graph = &entry.graph;
    let dumped = entry.dumped.as_ref()?.offsets.as_ref()?;
    let bindings = Bindings::new();
    if !graph.unbound_symbols(&bindings).is_empty() {
        return None;
    }
    let sizes = graph.sizes(&bindings);
    if graph.unknown_activations(&sizes).next().is_some() {
        return None;
    }
    if !dumped.sizes.is_empty() {
        return placed_problem(entry, dumped, &sizes);
    }
    let mut lifetimes = lifetimes(graph, &sizes, View::Aliased);
    let mut inputs = graph
        .tensors()
        .iter_ids()
        .filter(|(_, tensor)| tensor.role == Role::Input);
    if inputs.all(|(id, _)| matches!(dumped.offsets.get(id.0 as usize), Some(Some(_)))) {
        with_inputs(graph, &sizes, &mut lifetimes);
    }
    let plan = dumped_plan(dumped, &lifetimes)
        .ok()
        .filter(|plan| !plan.offsets.is_empty())?;
    let names: Vec<&str> = lifetimes
        .items
        .iter()
        .map(|item| graph.tensor_name(item.tensor))
        .collect();
    let mut problem = PlacementProblem::from_lifetimes(&lifetimes, 1);
    let alignment = common_alignment(&plan.offsets);
    for buffer in &mut problem.buffers {
        buffer.alignment = alignment;
    }
    Some(ProblemEntry {
        name: format!("{} as dumped", entry.name),
        ids: Names::unique(&names),
        problem,
        recorded: Some(plan),
        ..ProblemEntry::default()
    })
}

/// The arena as the engine plans it, where the source states the bytes of each place: without inputs and outputs of the graph.
fn placed_problem(entry: &GraphEntry, dumped: &DumpedOffsets, sizes: &Sizes) -> Option<ProblemEntry> {
    let graph = &*entry.graph;
    let program = atomic_clean(feature_lifetimes(graph, sizes).into(), graph, AtomicClean::Collective);
    let items = &program.lifetimes.items;
    let plan = dumped_plan(dumped, &program.lifetimes).ok();
    let plan = plan.filter(|plan| !plan.offsets.is_empty())?;
    let bytes: Vec<Bytes> = items
        .iter()
        .map(|item| stated_size(entry, item).unwrap_or_else(|| engine_size(item.bytes)))
        .collect();
    let names: Vec<&str> = items.iter().map(|item| graph.tensor_name(item.tensor)).collect();
    let mut problem = arena_problem(&program, &bytes);
    let alignment = common_alignment(&plan.offsets);
    for buffer in &mut problem.buffers {
        buffer.alignment = alignment;
    }
    Some(ProblemEntry {
        name: format!("{} as logged", entry.name),
        ids: Names::unique(&names),
        order: Some(entry_order(entry, &program, &[])),
        problem,
        recorded: Some(plan),
        ..ProblemEntry::default()
    })
}

/// The largest power of two up to [`USUAL_ALIGNMENT`] that divides every offset.
pub fn common_alignment(offsets: &[u64]) -> u64 {
    let bits = offsets.iter().fold(USUAL_ALIGNMENT, |bits, offset| bits | offset);
    1 << bits.trailing_zeros()
}

/// Adds the graph's inputs as buffers that live throughout the run.
pub fn with_inputs(graph: &Graph, sizes: &Sizes, lifetimes: &mut Lifetimes) {
    let inputs = graph.tensors().iter_ids();
    let inputs = inputs.filter(|(_, tensor)| tensor.role == Role::Input && lifetimes.n_steps > 0);
    let added: Vec<Lifetime> = inputs
        .map(|(id, _)| Lifetime {
            birth: Step(0),
            end: Step(lifetimes.n_steps),
            bytes: Bytes(sizes.tensor(id).unwrap_or(0)),
            tensor: id,
        })
        .collect();
    lifetimes.items.extend(added);
    lifetimes.items.sort_by_key(|item| (item.birth, item.tensor));
}
