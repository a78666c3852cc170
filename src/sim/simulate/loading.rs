//! Loading and unloading of graphs, and the room check.

use super::{Loading, Machine, Stop};
use crate::alloc::{DynamicMemory as _, Order, PoolKey};
use crate::event::EventKind;
use crate::placement::ArenaRequest;
use crate::recorder::NO_REGION;
use crate::residents::staging_bytes;
use highwater_model::graph::Id as _;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;

impl<'a> Machine<'a> {
    /// Loads a static graph: weights, then its arena, then the buffers of its inputs.
    pub(super) fn load_static(&mut self, request: &ArenaRequest<'a>) -> Result<(), Stop> {
        let graph = request.graph;
        let staging = staging_bytes(request.bound, self.params);
        self.make_room(request, staging);
        self.memory.log.set_subject(self.residents.subject(graph));
        if self.graphs[graph.idx()].loading == Loading::Unloaded {
            self.residents.record_reload(graph, NO_REGION, &mut self.memory);
        }
        self.residents.load_weights(graph, &mut self.memory)?;
        self.statics.load(request, &mut self.memory)?;
        self.memory.log.set_subject(self.residents.subject(graph));
        self.residents.hold_io(graph, staging, &mut self.memory)?;
        let state = &mut self.graphs[graph.idx()];
        (state.loading, state.bound) = (Loading::Loaded, Some(request.bound));
        Ok(())
    }

    /// Loads a dynamic graph: its weights; its pool is created at its first run.
    pub(super) fn load_dynamic(&mut self, graph: GraphIdx) -> Result<(), Stop> {
        if self.graphs[graph.idx()].loading == Loading::Unloaded {
            self.residents.record_reload(graph, NO_REGION, &mut self.memory);
        }
        self.residents.load_weights(graph, &mut self.memory)?;
        self.graphs[graph.idx()].loading = Loading::Loaded;
        Ok(())
    }

    /// Unloads other static graphs, in graph order, until a graph fits. One 32nd of the device is kept free. The need
    /// grows when a graph that shared its weights is unloaded.
    fn make_room(&mut self, request: &ArenaRequest<'a>, staging: Bytes) {
        let graph = request.graph;
        for other in 0..self.graphs.len() {
            let need = self.statics.missing(request) + staging + self.residents.missing_weights(graph);
            let capacity = self.memory.capacity().get();
            let usable = u64::try_from(u128::from(capacity) * 31 / 32).unwrap_or(capacity);
            let have = self.memory.available() - Bytes(capacity - usable);
            if need <= have {
                return;
            }
            let state = self.graphs[other];
            let other = GraphIdx::from_idx(other);
            let loaded = state
                .bound
                .filter(|_| state.loading == Loading::Loaded && other != graph && !state.is_held);
            if let Some(bound) = loaded {
                self.evict(&self.request(other, bound));
            }
        }
    }

    fn evict(&mut self, request: &ArenaRequest<'a>) {
        let graph = request.graph;
        self.memory.log.set_subject(self.residents.subject(graph));
        let region = self.statics.region(graph).unwrap_or(NO_REGION);
        self.memory.log.record(EventKind::Unload, region, 0, Bytes::ZERO);
        self.unload(graph, Some(request));
    }

    /// Unloads a graph: a static one with its arena, a dynamic one with its pool.
    pub(super) fn unload(&mut self, graph: GraphIdx, request: Option<&ArenaRequest<'a>>) {
        self.memory.log.set_subject(self.residents.subject(graph));
        if let Some(request) = request {
            self.statics.unload(request, &mut self.memory);
        } else if self.graphs[graph.idx()].has_pool {
            let state = &mut self.graphs[graph.idx()];
            (state.has_pool, state.pool_before) = (false, self.pools.figures(Some(PoolKey(graph.0))));
            self.pools
                .manage(Order::Destroy(PoolKey(graph.0)), &mut self.memory.device);
            self.memory.settle();
        }
        self.residents.unload(graph, &mut self.memory);
        self.graphs[graph.idx()].loading = Loading::Unloaded;
    }
}
