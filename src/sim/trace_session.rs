//! An allocation trace as a session: one run of all its commands, with its pools and static graphs.
//!
//! ```text
//! graphs   [0] the trace itself   [1] pool 0   [2] graph A   [3] pool 7 ...     in the order of first appearance
//! run 0    the trace: one step per command; tensor N is request N
//! ```
//!
//! In: an [`AllocationTrace`]. Out: a [`TraceSession`]. Invariants: requests are in the order of
//! [`AllocationTrace::lifetimes`]; pools and graphs that no command creates are not listed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::session::{BoundGraph, DeviceRun, DeviceSession, LoadedGraph};
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::Step;
use highwater_model::workload::{
    AllocationTrace, GraphIdx, Lifetime, Lifetimes, Program, TraceCommand, TraceLifetime, TraceName, TraceOwner,
};

/// The index of the trace itself among the session's graphs.
pub(super) const THE_TRACE: GraphIdx = GraphIdx(0);

/// One request, and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    pub lifetime: TraceLifetime,
    /// The pool or static graph among the session's graphs; the trace itself for other requests.
    pub graph: GraphIdx,
}

/// A trace as a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSession {
    /// The trace, its pools and its static graphs, and one run.
    pub session: DeviceSession,
    /// By number of their tensor.
    pub requests: Vec<TraceRequest>,
    pools: BTreeMap<u32, GraphIdx>,
    graphs: BTreeMap<TraceName, GraphIdx>,
}

impl TraceSession {
    /// O(commands log names).
    pub fn new(trace: &AllocationTrace) -> Self {
        let mut made = Self::default();
        made.add_graph(trace.name.clone());
        let mut current = 0;
        let mut owners = Vec::new();
        for command in &trace.commands {
            match *command {
                TraceCommand::Use(pool) => {
                    current = pool;
                    made.add_pool(pool);
                }
                TraceCommand::Allocate { .. } | TraceCommand::Synchronize | TraceCommand::Recycle => {
                    made.add_pool(current);
                }
                TraceCommand::Load { graph, .. } => made.add_static(trace, graph),
                TraceCommand::Free { .. }
                | TraceCommand::RecycleDevice
                | TraceCommand::Destroy(_)
                | TraceCommand::EndIteration(_)
                | TraceCommand::Execute(_)
                | TraceCommand::Begin(_)
                | TraceCommand::Finish(_)
                | TraceCommand::Unload(_)
                | TraceCommand::Weights { .. }
                | TraceCommand::FreeWeights { .. }
                | TraceCommand::Fixed { .. }
                | TraceCommand::Unfixed(_) => {}
            }
            owners.push(current);
        }
        let lifetimes = trace.lifetimes();
        let request = |lifetime: &TraceLifetime| TraceRequest {
            graph: made.owner(lifetime, &owners),
            lifetime: *lifetime,
        };
        made.requests = lifetimes.iter().map(request).collect();
        made.add_run(trace);
        made
    }

    /// The graph of a pool number.
    pub fn pool(&self, pool: u32) -> Option<GraphIdx> {
        self.pools.get(&pool).copied()
    }

    /// The graph of a static graph's name.
    pub fn static_graph(&self, name: TraceName) -> Option<GraphIdx> {
        self.graphs.get(&name).copied()
    }

    /// Pools by number.
    pub fn pools(&self) -> impl Iterator<Item = (u32, GraphIdx)> + '_ {
        self.pools.iter().map(|(pool, graph)| (*pool, *graph))
    }

    fn owner(&self, lifetime: &TraceLifetime, pools: &[u32]) -> GraphIdx {
        let owner = match lifetime.owner {
            TraceOwner::Block => pools.get(lifetime.birth.idx()).and_then(|pool| self.pool(*pool)),
            TraceOwner::Graph | TraceOwner::Weights | TraceOwner::Fixed => self.static_graph(lifetime.name),
        };
        owner.unwrap_or(THE_TRACE)
    }

    fn add_graph(&mut self, name: String) -> GraphIdx {
        let idx = GraphIdx::from_idx(self.session.graphs.len());
        self.session.graphs.push(LoadedGraph {
            name,
            is_static: false,
            has_collectives: false,
            weights: Vec::new(),
        });
        idx
    }

    fn add_pool(&mut self, pool: u32) {
        if !self.pools.contains_key(&pool) {
            let idx = self.add_graph(format!("pool {pool}"));
            self.pools.insert(pool, idx);
        }
    }

    fn add_static(&mut self, trace: &AllocationTrace, graph: TraceName) {
        if !self.graphs.contains_key(&graph) {
            let idx = self.add_graph(format!("graph {}", trace.name(graph)));
            self.graphs.insert(graph, idx);
        }
    }

    fn add_run(&mut self, trace: &AllocationTrace) {
        let n_steps = u32::try_from(trace.commands.len()).unwrap_or(u32::MAX);
        let items = (0_u32..).zip(&self.requests).map(|(tensor, request)| Lifetime {
            birth: request.lifetime.birth,
            end: request.lifetime.end,
            bytes: request.lifetime.bytes,
            tensor: TensorId(tensor),
        });
        let items: Vec<Lifetime> = items.collect();
        let engine_sizes = items.iter().map(|item| item.bytes).collect();
        self.session.n_steps = n_steps;
        self.session.runs = vec![DeviceRun {
            graph: THE_TRACE,
            bound: Arc::new(BoundGraph {
                program: Program {
                    lifetimes: Lifetimes { n_steps, items },
                    separate: Vec::new(),
                },
                engine_sizes,
                ..BoundGraph::default()
            }),
            start: Step(0),
            n_steps,
        }];
    }
}
