//! Counts, bytes and peaks of a workload, by the counting rules of the command line.

use std::sync::Arc;

use super::error::{AnalysisError, counted_sizes};
use super::recorded_failures::{DeviceTotal, RecordedFailures, Replayed};
use super::recording_figures::{LifetimeFigures, RecordingFigures, contradiction, lifetime_entries, recording_figures};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{Bindings, Graph, Role, Sizes, TensorId};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    AllocationTrace, BlockProgram, Dumped, DumpedOption, GraphEntry, Lifetimes, LoggedProcess, ProblemEntry, Source,
    Workload,
};
use highwater_plan::peak_live;
use highwater_rewrite::name_reuse::program_figures;
use highwater_rewrite::{control_flow_workspace, with_control_flow_workspaces};

/// The stage that progress shows.
const STAGE: &str = "counting";

/// The dimension that gives the batch of a program of blocks.
const BATCH: &str = "batch";

/// Figures of one graph. Byte fields are `None` where they depend on unbound symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFigures {
    pub name: String,
    pub ops: u64,
    /// Results of its ops.
    pub tensors: u64,
    /// Weights, constants, parameters and buffers.
    pub weights: Bytes,
    /// Optimizer state.
    pub state: Bytes,
    pub inputs: Option<Bytes>,
    /// Computed results, each with separate memory.
    pub activations: Option<Bytes>,
    /// Without sharing of memory; of an executable of a compiler the compiler's own peak where its dump states it, else as it
    /// shares memory, with what loops and branches hold.
    pub naive_peak: Option<(Bytes, Option<Step>)>,
    /// As the program's own rules have it, where `naive_peak` is the compiler's.
    pub modelled_peak: Option<(Bytes, Option<Step>)>,
    /// Where views and in-place results share memory.
    pub aliased_peak: Option<(Bytes, Option<Step>)>,
    /// Names of symbolic dimensions.
    pub symbols: Vec<String>,
    /// Activations of unknown shape.
    pub unknown_shapes: u64,
    /// Inputs of unknown shape.
    pub unknown_inputs: u64,
}

/// The figures of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// In order, each graph followed by the bodies of its control flow.
    pub graphs: Vec<GraphFigures>,
    /// Live ranges without a graph.
    pub lifetimes: Vec<LifetimeFigures>,
    pub recordings: Vec<RecordingFigures>,
    /// By recording: its failed requests, and the device's memory where a file states it.
    pub failures: Vec<(RecordedFailures, Option<DeviceTotal>)>,
    /// Of logs of CANN, what they tell of each process.
    pub processes: Vec<Arc<LoggedProcess>>,
    /// Dumps, by position in `graphs`.
    pub dumps: Vec<(usize, DumpFigures)>,
    /// What the figures leave out.
    pub diagnostics: Diagnostics,
}

/// What a dump states besides its graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpFigures {
    /// Tensors with a dumped offset, without workspaces.
    pub offsets: u64,
    /// The largest end of a computed tensor; inputs and weights lie elsewhere, or behind.
    pub extent: Bytes,
    /// The planner; empty where there is none.
    pub maker: String,
    pub options: Vec<DumpedOption>,
    pub facts: Vec<(String, String)>,
}

/// O(graph).
pub fn inspect(workload: &Workload, bindings: &Bindings) -> Inspection {
    let cancel = Cancel::new();
    // The flag is not shared, so nothing is cancelled.
    inspect_with(workload, bindings, &Progress::silent(&cancel)).unwrap_or_default()
}

/// As [`inspect`], with progress.
///
/// # Errors
/// [`AnalysisError::TooManyBytes`], [`AnalysisError::Cancelled`].
pub fn inspect_with(
    workload: &Workload,
    bindings: &Bindings,
    progress: &Progress<'_>,
) -> Result<Inspection, AnalysisError> {
    let mut inspection = Inspection::default();
    let Inspection {
        lifetimes, diagnostics, ..
    } = &mut inspection;
    match &workload.source {
        Source::Graphs(entries) => inspect_graphs(entries, bindings, &mut inspection, progress)?,
        Source::Problems(entries) => lifetimes.extend(entries.iter().map(|entry| problem_figures(entry))),
        Source::Traces(entries) => lifetimes.extend(entries.iter().map(|trace| trace_figures(trace))),
        Source::Lifetimes(entries) => {
            lifetimes.extend(
                entries
                    .iter()
                    .map(|(name, lifetimes)| lifetime_figures(name, lifetimes)),
            );
        }
        Source::Tapes(entries) => {
            lifetimes.extend(
                entries
                    .iter()
                    .map(|tape| lifetime_figures(&tape.name, &tape.lifetimes())),
            );
        }
        Source::Recordings(_) => {}
        Source::Blocks(programs) => {
            lifetimes.extend(
                programs
                    .iter()
                    .map(|program| block_figures(program, bindings, diagnostics)),
            );
        }
    }
    let recordings = workload.recordings();
    let replayed = Replayed::unasked(recordings.iter().map(|one| &**one));
    for (position, recording) in recordings.iter().enumerate() {
        progress.set(STAGE, position as u64, recordings.len() as u64)?;
        inspection.lifetimes.extend(lifetime_entries(recording));
        inspection.recordings.push(recording_figures(recording));
        let all = recordings.iter().map(|one| &**one);
        let total = RecordedFailures::device_total(recording, all, None);
        let failures = RecordedFailures::new(recording, replayed, progress)?;
        inspection.failures.push((failures, total));
        inspection.processes.extend(recording.process.clone());
        if let Some(message) = contradiction(recording) {
            inspection.diagnostics.warning(message, &recording.name);
        }
    }
    Ok(inspection)
}

/// Graphs, the bodies of their control flow, and their dumps.
fn inspect_graphs(
    entries: &[GraphEntry],
    bindings: &Bindings,
    inspection: &mut Inspection,
    progress: &Progress<'_>,
) -> Result<(), AnalysisError> {
    for (done, entry) in entries.iter().enumerate() {
        progress.set(STAGE, done as u64, entries.len() as u64)?;
        let position = inspection.graphs.len();
        for (idx, graph) in std::iter::once(&entry.graph).chain(&entry.bodies).enumerate() {
            let name = if idx == 0 { &entry.name } else { graph.name() };
            let figures = figures(name, graph, bindings, &mut inspection.diagnostics, progress)?;
            inspection.graphs.push(figures);
        }
        if let Some(dumped) = entry.dumped.as_ref().filter(|dumped| dumped.outputs_from_start) {
            executable_peak(entry, dumped, bindings, &mut inspection.graphs[position], progress)?;
        }
        if let Some(dumped) = &entry.dumped {
            let arenas = dumped.arenas.iter().map(|arena| problem_figures(arena));
            inspection.lifetimes.extend(arenas);
            if let Some(listed) = dumped.tensors {
                // Bodies are counted like their main graph.
                for (figures, body) in inspection.graphs[position + 1..].iter_mut().zip(&entry.bodies) {
                    figures.tensors = body.tensors().len() as u64;
                }
                inspection.graphs[position].tensors = listed;
            }
            inspection.dumps.push((position, dump_figures(entry, dumped, bindings)));
        }
    }
    Ok(())
}

/// The peak of an executable: its memory is shared by the compiler's rules, so that figures without sharing mean nothing.
fn executable_peak(
    entry: &GraphEntry,
    dumped: &Dumped,
    bindings: &Bindings,
    figures: &mut GraphFigures,
    progress: &Progress<'_>,
) -> Result<(), AnalysisError> {
    let graph = &entry.graph;
    let sizes = counted_sizes(graph, bindings)?;
    let scratch = control_flow_workspace(entry, bindings, progress)?;
    let held = with_control_flow_workspaces(graph, lifetimes(graph, &sizes, View::Aliased), &scratch, None);
    let modelled = figures.naive_peak.is_some().then(|| held.peak());
    figures.naive_peak = modelled;
    if let Some((bytes, step)) = dumped.peak_live {
        figures.modelled_peak = modelled;
        figures.naive_peak = Some((bytes, u32::try_from(step).ok().map(Step)));
    }
    Ok(())
}

fn problem_figures(entry: &ProblemEntry) -> LifetimeFigures {
    LifetimeFigures {
        name: entry.name.clone(),
        count: entry.problem.buffers.len() as u64,
        peak: peak_live(&entry.problem).0,
        total: entry.problem.buffers.iter().map(|buffer| buffer.size).sum(),
    }
}

/// Offsets count the bytes of their tensors by shape.
fn dump_figures(entry: &GraphEntry, dumped: &Dumped, bindings: &Bindings) -> DumpFigures {
    let sizes = entry.graph.sizes(bindings);
    let mut figures = DumpFigures {
        options: dumped.options.clone(),
        facts: dumped.facts.clone(),
        ..DumpFigures::default()
    };
    if let Some(plan) = &dumped.offsets {
        figures.maker.clone_from(&plan.maker);
        let placed = entry.graph.tensors().ids().zip(&plan.offsets);
        for (tensor, offset) in placed.filter_map(|(tensor, offset)| Some((tensor, (*offset)?))) {
            let role = entry.graph.tensors()[tensor].role;
            figures.offsets += u64::from(role != Role::Workspace);
            if matches!(role, Role::Activation | Role::Workspace) {
                let end = offset.saturating_add(sizes.tensor(tensor).unwrap_or(0));
                figures.extent = figures.extent.max(Bytes(end));
            }
        }
    }
    figures
}

fn lifetime_figures(name: &str, lifetimes: &Lifetimes) -> LifetimeFigures {
    LifetimeFigures {
        name: name.to_owned(),
        count: lifetimes.items.len() as u64,
        peak: lifetimes.peak().0,
        total: lifetimes.total(),
    }
}

/// Counts tensor variables that do not outlive a run.
fn block_figures(program: &BlockProgram, bindings: &Bindings, diagnostics: &mut Diagnostics) -> LifetimeFigures {
    let batch = bindings.get(BATCH).copied();
    let figures = program_figures(program, batch.unwrap_or(1));
    if figures.has_batch && batch.is_none() {
        diagnostics.info(
            "dimension -1 (the batch) counts as 1; set it with --dim batch=VALUE".to_owned(),
            &program.name,
        );
    }
    if figures.unknown_types > 0 {
        diagnostics.counted(
            Severity::Warning,
            "a variable has a data type of unknown width and counts 0 bytes".to_owned(),
            &program.name,
            figures.unknown_types,
        );
    }
    LifetimeFigures {
        name: program.name.clone(),
        count: figures.variables,
        peak: figures.peak,
        total: figures.bytes,
    }
}

fn trace_figures(trace: &AllocationTrace) -> LifetimeFigures {
    let lifetimes = trace.lifetimes();
    LifetimeFigures {
        name: trace.name.clone(),
        count: lifetimes.len() as u64,
        peak: trace.peak_live(),
        total: lifetimes.iter().map(|one| one.bytes).sum(),
    }
}

/// Checks the cancel flag between its stages, each of which is linear in the graph.
fn figures(
    name: &str,
    graph: &Graph,
    bindings: &Bindings,
    diagnostics: &mut Diagnostics,
    progress: &Progress<'_>,
) -> Result<GraphFigures, AnalysisError> {
    let sizes = counted_sizes(graph, bindings)?;
    progress.check()?;
    let unbound = graph.unbound_symbols(bindings);
    for symbol in &unbound {
        diagnostics.unbound_symbol(symbol);
    }
    let is_bound = unbound.is_empty();
    let naive = lifetimes(graph, &sizes, View::Naive);
    progress.check()?;
    let aliased = lifetimes(graph, &sizes, View::Aliased);
    progress.check()?;
    if naive.total().get() == u64::MAX {
        diagnostics.warning(
            "the sizes exceed 2^64 - 1 bytes and are capped; check the shapes".to_owned(),
            name,
        );
    }
    let (unknown_shapes, unknown_inputs) = count_unknown(graph, bindings, diagnostics);
    Ok(GraphFigures {
        name: name.to_owned(),
        ops: graph.ops().len() as u64,
        tensors: count_results(graph),
        weights: sum(graph, &sizes, |role| {
            matches!(role, Role::Weight | Role::Constant | Role::Parameter | Role::Buffer)
        }),
        state: sum(graph, &sizes, |role| role == Role::OptimizerState),
        inputs: is_bound.then(|| sum(graph, &sizes, |role| role == Role::Input)),
        activations: is_bound.then(|| naive.total()),
        naive_peak: is_bound.then(|| naive.peak()),
        modelled_peak: None,
        aliased_peak: is_bound.then(|| aliased.peak()),
        unknown_shapes,
        unknown_inputs,
        symbols: graph.symbols(),
    })
}

/// The number of tensors of a graph: that of the file where it is stated, else the results of its ops without
/// workspaces. Inputs and weights are not counted. O(tensors).
pub fn tensor_count(entry: &GraphEntry) -> u64 {
    let listed = entry.dumped.as_ref().and_then(|dumped| dumped.tensors);
    listed.unwrap_or_else(|| count_results(&entry.graph))
}

fn count_results(graph: &Graph) -> u64 {
    let results = graph.tensors().iter().filter(|tensor| tensor.producer.is_some());
    results.filter(|tensor| tensor.role != Role::Workspace).count() as u64
}

/// A variable counts once, as its storage, however many tensors name it or are reads of it.
fn sum(graph: &Graph, sizes: &Sizes, wanted: impl Fn(Role) -> bool) -> Bytes {
    let tensors = graph.tensors().iter_ids().filter(|(_, tensor)| wanted(tensor.role));
    let bytes = tensors.map(|(id, tensor)| {
        if !tensor.role.is_variable() {
            sizes.tensor(id).unwrap_or(0)
        } else if graph.storages()[tensor.storage].root == id {
            sizes.storage(tensor.storage)
        } else {
            0
        }
    });
    bytes.map(Bytes).sum()
}

/// Sizes with 1 for unbound symbols: a size that is unknown even then depends on no symbol.
fn complete_sizes(graph: &Graph, bindings: &Bindings) -> Sizes {
    let mut complete = bindings.clone();
    for symbol in graph.unbound_symbols(bindings) {
        complete.insert(symbol, 1);
    }
    graph.sizes(&complete)
}

/// Reports inputs and activations of unknown shape, and counts them.
fn count_unknown(graph: &Graph, bindings: &Bindings, diagnostics: &mut Diagnostics) -> (u64, u64) {
    let sizes = complete_sizes(graph, bindings);
    let activations: Vec<TensorId> = graph.unknown_activations(&sizes).collect();
    if let Some(first) = activations.first() {
        diagnostics.unknown_shapes(graph.tensor_name(*first), activations.len() as u64);
    }
    let inputs = graph.tensors().iter_ids();
    let inputs = inputs.filter(|(id, tensor)| tensor.role == Role::Input && sizes.tensor(*id).is_none());
    let inputs: Vec<TensorId> = inputs.map(|(id, _)| id).collect();
    if let Some(first) = inputs.first() {
        let what = "the shape of an input is unknown; it counts 0 bytes, so the bytes of inputs are a lower bound";
        let (name, count) = (graph.tensor_name(*first), inputs.len() as u64);
        diagnostics.counted(Severity::Warning, what.to_owned(), name, count);
    }
    (activations.len() as u64, inputs.len() as u64)
}
