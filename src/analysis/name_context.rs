//! The names of what runs, for sentences.
//!
//! In: steps, graphs, tensors. Out: words. Of an allocation trace a step is a command with its line in the file, and a
//! tensor is a request.

use super::EstimatedWorkspaces;
use super::trace::{command_text, running_graph};
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Step;
use highwater_model::workload::{AllocationTrace, Axis, GraphIdx, TraceOwner, Workload};
use highwater_sim::{ArenaBehaviour, DeviceSession, TraceRequest};

/// The names of what runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameContext<'a> {
    pub(super) workload: &'a Workload,
    pub(super) axis: &'a Axis,
    pub(super) session: &'a DeviceSession,
    pub(super) arena_behaviour: ArenaBehaviour,
    /// Concurrent copies of every graph.
    pub(super) copies: u32,
    pub(super) workspaces: &'a EstimatedWorkspaces,
    /// Of an allocation trace.
    pub(super) requests: &'a [TraceRequest],
}

impl NameContext<'_> {
    /// The graph's name.
    pub(super) fn graph(&self, graph: GraphIdx) -> &str {
        let known = self.session.graphs.get(graph.idx());
        known.map_or("a graph", |graph| graph.name.as_str())
    }

    /// The pool of a graph; a trace's pools are called so themselves.
    pub(super) fn pool(&self, graph: GraphIdx) -> String {
        match self.trace() {
            Some(_) => self.graph(graph).to_owned(),
            None => format!("the pool of {}", self.graph(graph)),
        }
    }

    fn trace(&self) -> Option<&AllocationTrace> {
        self.workload.traces().first().map(|trace| &**trace)
    }

    /// A tensor's name, or that of estimated scratch memory; empty where it has none.
    pub(super) fn tensor(&self, graph: GraphIdx, tensor: TensorId) -> &str {
        if let (Some(trace), Some(request)) = (self.trace(), self.requests.get(tensor.idx())) {
            return trace.name(request.lifetime.name);
        }
        self.workspaces.tensor_name(self.workload, graph, tensor)
    }

    /// `step 12 (train, op conv_3)`; of a trace `step 12 (line 14: a x)`.
    pub(super) fn place(&self, step: Step) -> String {
        if let Some(trace) = self.trace() {
            return format!("step {step} ({})", command_text(trace, step));
        }
        let Some((run, op)) = self.axis.locate(step) else {
            return format!("step {step}");
        };
        let graph = self.axis.runs[run].run.graph;
        let entry = self.workload.graphs().get(graph.idx());
        let known = entry.filter(|entry| entry.graph.ops().get(op).is_some());
        let name = known.map_or("", |entry| {
            let name = entry.graph.op_name(op);
            if name.is_empty() { entry.graph.op_kind(op) } else { name }
        });
        match (self.graph(graph), name) {
            (graph, "") => format!("step {step} ({graph})"),
            (graph, op) => format!("step {step} ({graph}, op {op})"),
        }
    }

    /// The graph that runs on a step.
    pub(super) fn running(&self, step: Step) -> Option<GraphIdx> {
        if let Some(trace) = self.trace() {
            let name = running_graph(trace, step)?;
            let loads = self.requests.iter();
            let mut loads = loads.filter(|one| one.lifetime.owner == TraceOwner::Graph && one.lifetime.name == name);
            return loads.next().map(|request| request.graph);
        }
        let (run, _) = self.axis.locate(step)?;
        Some(self.axis.runs[run].run.graph)
    }
}
