//! One graph under one binding, lowered by all passes, with steps as executed slots.
//!
//! The rewrites apply in this order: precision, host ops, rematerialization or name reuse, estimated workspaces, atomic
//! clean. A recomputed op has its scratch memory and its clears each time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::allocation_order::entry_order;
use super::arena::{Arena, arena_problem, rounded, stated_size};
use super::dumped::logged_plan;
use super::error::{AnalysisError, counted_sizes};
use super::request::Request;
use super::rewriting::{LaneRewrite, Layout, RunRemat, TapeRun, onto_steps};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Id as _, IdVec, Role, Sizes, TensorId};
use highwater_model::liveness::{View, feature_lifetimes, lifetimes};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{
    AllocationOrder, Axis, GraphEntry, GraphIdx, Lifetime, Lifetimes, Program, RecordedPlan, Run, SlotOp,
};
use highwater_options::{Lowered, idle_dtr_options};
use highwater_rewrite::name_reuse::{ReuseQuestion, ReuseReport, block_program, merged_storage, reuse_report};
use highwater_rewrite::remat::{graph_tape, rewritten_lifetimes};
use highwater_rewrite::{
    AtomicClean, Sides, atomic_clean, clears, control_flow_workspace, host_split, with_control_flow_workspaces,
    with_precision, with_workspaces, without_host,
};
use highwater_sim::{BoundGraph, Clear, DeviceRun, DeviceSession, IoTensor};

pub(super) type RunKey = (GraphIdx, Bindings);

/// A device session under some settings, before its arenas are placed.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) session: DeviceSession,
    pub(super) arenas: Vec<Arena>,
    pub(super) rewrite: Option<Arc<LaneRewrite>>,
}

#[derive(Debug)]
pub(super) struct LoweredGraph {
    bound: BoundGraph,
    order: Option<AllocationOrder>,
    /// The plan of a log.
    recorded: Option<RecordedPlan>,
    is_static: bool,
    /// The run under the eviction threshold, where one is set.
    remat: Option<TapeRun>,
}

impl LoweredGraph {
    /// The executed ops; `None` where each op is executed once.
    pub(super) fn executed(&self) -> Option<Vec<SlotOp>> {
        self.remat.as_ref()?.executed()
    }
}

/// A graph of a run, and what all rewrites need to know of it.
#[derive(Clone, Copy)]
struct Subject<'a> {
    entry: &'a GraphEntry,
    sizes: &'a Sizes,
    bindings: &'a Bindings,
    /// Where some ops run on the host.
    split: Option<&'a Sides>,
    is_static: bool,
}

pub(super) struct GraphLowering<'a> {
    pub(super) request: &'a Request,
    pub(super) lowered: &'a Lowered,
    pub(super) diagnostics: Diagnostics,
    pub(super) made: BTreeMap<RunKey, Arc<LoweredGraph>>,
}

impl GraphLowering<'_> {
    /// Lowers a run's graph.
    pub(super) fn make(
        &mut self,
        run: &Run,
        is_static: bool,
        progress: &Progress<'_>,
    ) -> Result<LoweredGraph, AnalysisError> {
        let entry = &self.request.workload.graphs()[run.graph.idx()];
        let graph = &*entry.graph;
        // Each step is linear in the graph; a million ops take up to 0.1 s.
        let sizes = counted_sizes(graph, &run.bindings)?;
        progress.check()?;
        self.note_unknown_shapes(graph, &sizes);
        let split = match &self.lowered.host_ops {
            Some(host_ops) if host_ops.occur_in(graph) => Some(host_split(graph, host_ops)),
            _ => None,
        };
        // Tensors that cross the border of the device keep their width, like inputs and outputs of the graph.
        let io = io_tensors(graph, &sizes, split.as_ref());
        progress.check()?;
        let sizes = with_precision(graph, sizes, &self.lowered.precision);
        progress.check()?;
        let remat = self.remat(graph, &sizes, progress)?;
        if remat.is_some() {
            for sentence in idle_dtr_options(&self.request.options, self.lowered.dtr.heuristic) {
                self.diagnostics.warning(sentence, "");
            }
        }
        let rewritten = remat.as_ref().filter(|run| !run.is_unchanged());
        if rewritten.is_some() && self.lowered.reuses_names {
            self.diagnostics.warning(
                "memory_optimize has no effect together with dtr.eviction_threshold: names are not reused with \
                 recomputation"
                    .to_owned(),
                graph.name(),
            );
        }
        let subject = Subject {
            entry,
            sizes: &sizes,
            bindings: &run.bindings,
            split: split.as_ref(),
            is_static,
        };
        let program = self.program(subject, rewritten, progress)?;
        progress.check()?;
        let engine_sizes: Vec<Bytes> = program
            .lifetimes
            .items
            .iter()
            .map(|item| self.engine_size(entry, item))
            .collect();
        // The order of ops does not apply to ops that are executed several times.
        progress.check()?;
        let order = (is_static && rewritten.is_none()).then(|| entry_order(entry, &program, &io));
        let recorded = order.as_ref().and_then(|_| logged_plan(entry, &program));
        progress.check()?;
        let mut clears = self.clears(subject);
        if let Some(run) = rewritten {
            clears = repeated_clears(&clears, run, self.clean_policy(is_static));
        }
        let bound = BoundGraph {
            program,
            engine_sizes,
            plan: None,
            segments: Vec::new(),
            io,
            clears,
            recorded: None,
        };
        Ok(LoweredGraph {
            bound,
            order,
            recorded,
            is_static,
            remat,
        })
    }

    /// Bytes that the engine asks for: as the source states them for a tensor whose width is unchanged, else by rule.
    fn engine_size(&self, entry: &GraphEntry, item: &Lifetime) -> Bytes {
        let rounding = self.lowered.tensor_rounding;
        let stated = stated_size(entry, item).filter(|_| rounding.is_none());
        stated.unwrap_or_else(|| rounded(item.bytes, rounding))
    }

    /// The graph's run under the eviction threshold, where one is set.
    fn remat(&self, graph: &Graph, sizes: &Sizes, progress: &Progress<'_>) -> Result<Option<TapeRun>, Cancelled> {
        if self.lowered.dtr.budget.is_none() {
            return Ok(None);
        }
        let tape = graph_tape(graph, sizes, self.lowered.rates);
        TapeRun::new(Arc::new(tape), &self.lowered.dtr, progress).map(Some)
    }

    /// The session with the live ranges of every run on the common steps.
    pub(super) fn variant(
        &self,
        mut session: DeviceSession,
        axis: &Axis,
        layouts: &BTreeMap<RunKey, Layout>,
        variant: usize,
        progress: &Progress<'_>,
    ) -> Result<Variant, Cancelled> {
        let mut laid: BTreeMap<RunKey, (Arc<BoundGraph>, Option<Arc<RunRemat>>)> = BTreeMap::new();
        let mut arenas = Vec::new();
        let mut rewrite = LaneRewrite::default();
        for run in &axis.runs {
            progress.check()?;
            let key = (run.run.graph, run.run.bindings.clone());
            let (bound, remat) = laid.entry(key).or_insert_with_key(|key| {
                let made = &self.made[key];
                let steps = layouts[key].steps[variant].clone();
                let bound = onto_steps(made.bound.clone(), steps.as_deref());
                if made.is_static {
                    arenas.push(Arena {
                        graph: key.0,
                        problem: arena_problem(&bound.program, &bound.engine_sizes),
                        order: made.order.clone(),
                        recorded: made.recorded.clone(),
                    });
                }
                let remat = made.remat.as_ref();
                let remat = remat.map(|run| Arc::new(run.on_steps(steps, self.lowered.dtr.thrash_limit)));
                (Arc::new(bound), remat)
            });
            rewrite.remat.push(remat.clone());
            session.runs.push(DeviceRun {
                graph: run.run.graph,
                bound: Arc::clone(bound),
                start: run.start,
                n_steps: run.n_steps,
            });
        }
        let is_rewritten = rewrite.remat.iter().any(Option::is_some);
        Ok(Variant {
            session,
            arenas,
            rewrite: is_rewritten.then(|| Arc::new(rewrite)),
        })
    }

    /// Feature memory after all rewrites; `rewritten` is the run that evicts or recomputes something.
    fn program(
        &mut self,
        subject: Subject<'_>,
        rewritten: Option<&TapeRun>,
        progress: &Progress<'_>,
    ) -> Result<Program, AnalysisError> {
        let Subject {
            entry, sizes, bindings, ..
        } = subject;
        let graph = &*entry.graph;
        let mut lifetimes = feature_lifetimes(graph, sizes);
        progress.check()?;
        if let Some(split) = subject.split {
            lifetimes = without_host(graph, lifetimes, split);
        }
        if self.lowered.reuses_names && rewritten.is_none() {
            lifetimes = self.with_names_reused(graph, sizes, bindings, lifetimes, progress)?;
        }
        let host_ops = self.lowered.host_ops.as_ref();
        if let Some(table) = &self.lowered.workspaces {
            lifetimes = with_workspaces(graph, sizes, lifetimes, table, host_ops);
        }
        progress.check()?;
        let scratch = control_flow_workspace(entry, bindings, progress)?;
        lifetimes = with_control_flow_workspaces(graph, lifetimes, &scratch, host_ops);
        progress.check()?;
        if let Some(run) = rewritten {
            lifetimes = rewritten_lifetimes(&lifetimes, graph, &run.tape, &run.answer, &run.sequence);
        }
        Ok(atomic_clean(
            lifetimes.into(),
            graph,
            self.clean_policy(subject.is_static),
        ))
    }

    /// Feature memory by name: variables that share a name share a slot, which is held from its first to its last use.
    /// As in fluid, a view is a separate variable. Storages that hold feature memory on the device take part; scratch
    /// memory stays.
    fn with_names_reused(
        &mut self,
        graph: &Graph,
        sizes: &Sizes,
        bindings: &Bindings,
        given: Lifetimes,
        progress: &Progress<'_>,
    ) -> Result<Lifetimes, AnalysisError> {
        let converted = block_program(graph, bindings);
        let question = ReuseQuestion {
            program: &converted.program,
            request: &self.lowered.name_reuse,
            fetched: &converted.fetched,
            batch: 1,
        };
        let report = reuse_report(&question, progress)?;
        report_names(graph.name(), &report, &mut self.diagnostics);
        if graph.tensors().len() > graph.storages().len() {
            self.diagnostics.info(
                "with variable reuse every view has separate memory, as in fluid; peaks may rise".to_owned(),
                graph.name(),
            );
        }
        let slot_of = merged_storage(graph, &converted, &report.reuse);
        let mut is_held = vec![false; graph.tensors().len()];
        let (scratch, held): (Vec<Lifetime>, Vec<Lifetime>) = given.items.into_iter().partition(|item| {
            let known = graph.tensors().get(item.tensor);
            known.is_none_or(|known| known.role == Role::Workspace)
        });
        for item in held {
            is_held[item.tensor.idx()] = true;
        }
        let root = |tensor: TensorId| graph.storages()[graph.tensors()[tensor].storage].root;
        let mut slots: BTreeMap<TensorId, Lifetime> = BTreeMap::new();
        for mut item in lifetimes(graph, sizes, View::Naive).items {
            let storage = graph.tensors()[item.tensor].storage;
            if !is_held[root(item.tensor).idx()] {
                continue;
            }
            // Earlier passes may have changed the width of the storage.
            let whole = Bytes(sizes.storage(storage));
            item.bytes = if root(item.tensor) == item.tensor {
                whole
            } else {
                item.bytes.min(whole)
            };
            let slot = slots.entry(slot_of[item.tensor.idx()]).or_insert(item);
            slot.end = slot.end.max(item.end);
            slot.bytes = slot.bytes.max(item.bytes);
        }
        let mut items: Vec<Lifetime> = slots.into_values().chain(scratch).collect();
        items.sort_unstable_by_key(|item| (item.birth, item.tensor));
        Ok(Lifetimes {
            n_steps: given.n_steps,
            items,
        })
    }

    /// Dynamic graphs are always cleared op by op.
    fn clean_policy(&self, is_static: bool) -> AtomicClean {
        if self.lowered.atomic_clean_separate || !is_static {
            AtomicClean::Separate
        } else {
            AtomicClean::Collective
        }
    }

    fn clears(&self, subject: Subject<'_>) -> Vec<Clear> {
        let host = self.lowered.host_ops.as_ref().zip(subject.split);
        let policy = self.clean_policy(subject.is_static);
        let clears = clears(&subject.entry.graph, subject.sizes, policy, host);
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

const MAX_REPORTED: usize = 5;

/// Reports what name reuse breaks and what may break. After an exception of the original the renames before it remain.
pub(super) fn report_names(origin: &str, report: &ReuseReport, diagnostics: &mut Diagnostics) {
    if let Some(exception) = &report.reuse.exception {
        diagnostics.error(
            format!("memory_optimize: Paddle raises {exception}; renames made before it apply"),
            origin,
        );
    }
    for finding in report.findings.iter().take(MAX_REPORTED) {
        diagnostics.error(format!("memory_optimize corrupts values: {}", finding.message), origin);
    }
    let more = report.findings.len().saturating_sub(MAX_REPORTED);
    if more > 0 {
        diagnostics.error(format!("memory_optimize corrupts values in {more} more places"), origin);
    }
    for hazard in report.hazards.iter().take(MAX_REPORTED) {
        diagnostics.warning(hazard.message.clone(), origin);
    }
}

/// Repeats the clears of recomputed ops, unless all memory is cleared at the start.
fn repeated_clears(clears: &[Clear], run: &TapeRun, policy: AtomicClean) -> Vec<Clear> {
    let mut repeated = Vec::new();
    for (slot, executed) in (0_u32..).zip(&run.sequence.slots) {
        let Some(op) = run.tape.ops[executed.op as usize] else {
            continue;
        };
        if executed.is_recomputed && policy == AtomicClean::Collective {
            continue;
        }
        let first = clears.partition_point(|clear| clear.step.0 < op.0);
        let of_op = clears[first..].iter().take_while(|clear| clear.step.0 == op.0);
        repeated.extend(of_op.map(|clear| Clear {
            step: Step(slot),
            bytes: clear.bytes,
        }));
    }
    repeated
}

/// Graph inputs, roots of computed graph outputs, and tensors that cross between device and host.
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
