//! The names of what runs, for sentences: of steps, graphs, pools, tensors and regions.
//!
//! In an allocation trace a step is a command with its line in the file, and a tensor is a request.

use super::workspaces::EstimatedWorkspaces;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Step;
use highwater_model::workload::{AllocationTrace, Axis, GraphIdx, TraceOwner, Workload};
use highwater_sim::{ArenaBehaviour, DeviceSession, Params, RegionKind, TraceRequest};

#[derive(Clone, Copy, Debug)]
pub(super) struct NameContext<'a> {
    pub(super) workload: &'a Workload,
    pub(super) axis: &'a Axis,
    pub(super) session: &'a DeviceSession,
    pub(super) arena_behaviour: ArenaBehaviour,
    /// Concurrent copies of every graph.
    pub(super) copies: u32,
    pub(super) workspaces: &'a EstimatedWorkspaces,
    /// The trace that runs, with its requests by tensor; `None` where graphs run.
    pub(super) trace: Option<(&'a AllocationTrace, &'a [TraceRequest])>,
}

impl<'a> NameContext<'a> {
    /// The names of graphs on an axis.
    pub(super) fn new(
        workload: &'a Workload,
        axis: &'a Axis,
        session: &'a DeviceSession,
        workspaces: &'a EstimatedWorkspaces,
        params: &Params,
    ) -> Self {
        Self {
            workload,
            axis,
            session,
            arena_behaviour: params.arena_behaviour,
            copies: params.feature_copies.max(1),
            workspaces,
            trace: None,
        }
    }

    pub(super) fn graph(&self, graph: GraphIdx) -> &str {
        let known = self.session.graphs.get(graph.idx());
        known.map_or("a graph", |graph| graph.name.as_str())
    }

    /// The pool of a graph. A trace names its pools itself.
    pub(super) fn pool(&self, graph: GraphIdx) -> String {
        match self.trace {
            Some(_) => self.graph(graph).to_owned(),
            None => format!("the pool of {}", self.graph(graph)),
        }
    }

    /// A tensor's name, or that of an estimated workspace; empty where it has none.
    pub(super) fn tensor(&self, graph: GraphIdx, tensor: TensorId) -> &str {
        if let Some((trace, requests)) = self.trace
            && let Some(request) = requests.get(tensor.idx())
        {
            return trace.name(request.lifetime.name);
        }
        self.workspaces.tensor_name(self.workload, graph, tensor)
    }

    /// `step 12 (train, op conv_3)`; of a trace `step 12 (line 14: a x)`.
    pub(super) fn place(&self, step: Step) -> String {
        if let Some((trace, _)) = self.trace {
            return format!("step {step} ({})", trace.step_text(step));
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
        if let Some((trace, requests)) = self.trace {
            let name = trace.running_graph(step)?;
            let is_load = |one: &&TraceRequest| one.lifetime.owner == TraceOwner::Graph && one.lifetime.name == name;
            return requests.iter().find(is_load).map(|request| request.graph);
        }
        let (run, _) = self.axis.locate(step)?;
        Some(self.axis.runs[run].run.graph)
    }

    /// A region, such as `the arena of train`.
    pub(super) fn region(&self, kind: RegionKind, graph: Option<GraphIdx>) -> String {
        let what = match kind {
            RegionKind::Variables => "the variables",
            RegionKind::Weights => "the weights",
            RegionKind::InputOutput => "inputs and outputs",
            RegionKind::Arena if graph.is_none() => "the shared arena",
            RegionKind::Arena => "the arena",
            RegionKind::PoolBlock => "the device's pool",
            RegionKind::PagedRange => "the range of the pool",
            RegionKind::Stitched => "a stitched range of the pool",
            RegionKind::FixedFeatures => "fixed feature memory",
            RegionKind::Segment => "a segment",
            RegionKind::ExpandableSegment => "an expandable segment",
            RegionKind::Unplaced => "blocks without a known address",
        };
        match (kind, graph) {
            (RegionKind::PagedRange, Some(graph)) => format!("the range of {}", self.pool(graph)),
            (RegionKind::Stitched, Some(graph)) => format!("a stitched range of {}", self.pool(graph)),
            (_, Some(graph)) => format!("{what} of {}", self.graph(graph)),
            (_, None) => what.to_owned(),
        }
    }
}
