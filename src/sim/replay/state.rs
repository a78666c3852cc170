//! State of a replay between two commands: the device, the allocators and the owners of memory.
//!
//! In: commands in order. Out: the [`Outcome`] of each, kept until the next. Invariant: held memory is known by name,
//! so that nothing is freed twice and no allocator sees a contradictory command.

use std::collections::BTreeMap;

use super::super::ArenaBehaviour;
use super::super::alloc::{
    Address, ArenaSegment, DriverRules, DynamicMemory, FixedMemory, GrantId, LegacyBins, Order, PagePoolRules,
    PagePools, PoolKey, SimulatedDevice, StaticGraph, StaticMemory, static_memory,
};
use super::{Answer, Finish, Outcome, ReplayRules, RunStatus};
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationTrace, TraceCommand, TraceName};

/// A block of a pool; gone if its pool was destroyed since.
#[derive(Clone, Copy, Debug)]
struct Block {
    pool: u32,
    generation: u32,
    grant: GrantId,
    bytes: u64,
}

/// A pool by its number.
#[derive(Clone, Copy, Debug, Default)]
struct PoolState {
    /// Number of times it was destroyed.
    generation: u32,
    /// Requested bytes not yet freed.
    live: u64,
}

/// A static graph by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GraphState {
    #[default]
    Absent,
    Loaded(u64),
    Running(u64),
}

/// The dynamic allocator.
#[derive(Debug)]
enum Dynamic {
    Pools(PagePools),
    Legacy(LegacyBins),
}

impl Dynamic {
    fn memory(&mut self) -> &mut dyn DynamicMemory {
        match self {
            Self::Pools(pools) => pools,
            Self::Legacy(bins) => bins,
        }
    }
}

#[derive(Debug)]
pub(super) struct State {
    device: SimulatedDevice,
    dynamic: Dynamic,
    statics: Box<dyn StaticMemory>,
    fixed: FixedMemory,
    blocks: Vec<Option<Block>>,
    weights: Vec<Option<(Address, Bytes)>>,
    graphs: Vec<GraphState>,
    pools: BTreeMap<u32, PoolState>,
    current: u32,
    /// The pool concerned by the last command.
    command_pool: u32,
    outcome: Outcome,
    live: u64,
    peak_live: u64,
}

impl State {
    pub(super) fn new(n_names: usize, rules: &ReplayRules, has_notes: bool) -> Self {
        let row = rules.policy.row();
        Self {
            device: SimulatedDevice::new(DriverRules {
                capacity: rules.device_bytes,
                can_reserve: rules.can_reserve,
                has_notes,
            }),
            dynamic: if rules.is_legacy {
                Dynamic::Legacy(LegacyBins::new())
            } else {
                Dynamic::Pools(PagePools::new(PagePoolRules {
                    threshold: rules.threshold,
                    expands: row.expands_pools,
                }))
            },
            statics: static_memory(
                rules.policy,
                if rules.is_documented {
                    ArenaBehaviour::Documented
                } else {
                    ArenaBehaviour::Engine
                },
            ),
            fixed: if row.expands_pools {
                FixedMemory::of_shared_pages()
            } else {
                FixedMemory::of_small_pages()
            },
            blocks: vec![None; n_names],
            weights: vec![None; n_names],
            graphs: vec![GraphState::Absent; n_names],
            pools: BTreeMap::new(),
            current: 0,
            command_pool: 0,
            outcome: Outcome::Done,
            live: 0,
            peak_live: 0,
        }
    }

    pub(super) fn device(&self) -> &SimulatedDevice {
        &self.device
    }

    pub(super) fn statics(&self) -> &dyn StaticMemory {
        &*self.statics
    }

    pub(super) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    pub(super) fn peak_live(&self) -> Bytes {
        Bytes(self.peak_live)
    }

    /// Executes a command; its calls stay in the driver's log until the next.
    pub(super) fn execute(&mut self, trace: &AllocationTrace, command: TraceCommand) {
        self.device.driver.clear_calls();
        self.command_pool = self.current;
        self.outcome = match command {
            TraceCommand::Use(pool) => {
                self.current = pool;
                self.command_pool = pool;
                self.pools.entry(pool).or_default();
                self.manage(Order::Create(PoolKey(pool)))
            }
            TraceCommand::Allocate { id, bytes } => self.allocate(id, bytes),
            TraceCommand::Free { id } => self.free(id),
            TraceCommand::Synchronize => self.manage(Order::Synchronize(PoolKey(self.current))),
            TraceCommand::Recycle => self.manage(Order::Recycle(PoolKey(self.current))),
            TraceCommand::RecycleDevice => self.manage(Order::RecycleDevice),
            TraceCommand::Destroy(pool) => self.destroy(pool),
            TraceCommand::EndIteration(_) => Outcome::Done,
            TraceCommand::Load { graph, first, count } => {
                self.load(graph, trace.load_segments(first, count), trace.load_bytes(first, count))
            }
            TraceCommand::Execute(graph) => self.execute_graph(graph),
            TraceCommand::Begin(graph) => self.begin(graph),
            TraceCommand::Finish(graph) => self.end_run(graph),
            TraceCommand::Unload(graph) => self.unload(graph),
            TraceCommand::Weights { id, bytes } => self.place_weights(id, bytes),
            TraceCommand::FreeWeights { id } => self.free_weights(id),
            TraceCommand::Fixed { graph, bytes } => self.request_fixed(graph, bytes),
            TraceCommand::Unfixed(graph) => self.withdraw_fixed(graph),
        };
    }

    /// The last command with all figures.
    pub(super) fn answer(&mut self, index: u32, command: TraceCommand) -> Answer<'_> {
        let pool = PoolKey(self.command_pool);
        let mut outcome = std::mem::replace(&mut self.outcome, Outcome::Done);
        let (pool_figures, device_pool, legacy) = match &self.dynamic {
            Dynamic::Pools(pools) => (pools.figures(Some(pool)), pools.figures(None), None),
            Dynamic::Legacy(bins) => (None, None, Some(bins.legacy_figures())),
        };
        if let Outcome::Allocated(grant, slots) = &mut outcome
            && grant.is_stitched
        {
            *slots = self.dynamic.memory().stitched_slots(pool, grant.id);
        }
        Answer {
            index,
            command,
            outcome,
            calls: self.device.driver.calls(),
            in_use: self.device.driver.in_use(),
            pages: self.device.page_bytes_held(),
            pool,
            pool_figures,
            device_pool,
            arena: self.statics.figures(),
            legacy,
            fixed: self.fixed.size(),
        }
    }

    /// Figures of all pools and of the driver.
    pub(super) fn finish(&self) -> Finish {
        let mut pools = Vec::new();
        let mut device_pool = None;
        if let Dynamic::Pools(memory) = &self.dynamic {
            let keys = self.pools.keys().map(|pool| PoolKey(*pool));
            pools.extend(keys.filter_map(|key| Some((key, memory.figures(Some(key))?))));
            device_pool = memory.figures(None);
        }
        Finish {
            pools,
            device_pool,
            peak: self.device.driver.peak(),
            in_use: self.device.driver.in_use(),
            calls: *self.device.driver.counts(),
        }
    }

    fn manage(&mut self, order: Order) -> Outcome {
        self.dynamic.memory().manage(order, &mut self.device);
        Outcome::Done
    }

    fn allocate(&mut self, id: TraceName, bytes: Bytes) -> Outcome {
        if self.live_block(id).is_some() {
            return Outcome::Skipped;
        }
        let pool = self.current;
        let granted = self.dynamic.memory().allocate(PoolKey(pool), bytes, &mut self.device);
        let Ok(grant) = granted else {
            return Outcome::NotAllocated;
        };
        let state = self.pools.entry(pool).or_default();
        state.live = state.live.saturating_add(bytes.get());
        self.blocks[id.0 as usize] = Some(Block {
            pool,
            generation: state.generation,
            grant: grant.id,
            bytes: bytes.get(),
        });
        self.hold(bytes.get());
        Outcome::Allocated(grant, Vec::new())
    }

    fn free(&mut self, id: TraceName) -> Outcome {
        let Some(block) = self.live_block(id) else {
            return Outcome::Skipped;
        };
        self.blocks[id.0 as usize] = None;
        if let Some(state) = self.pools.get_mut(&block.pool) {
            state.live = state.live.saturating_sub(block.bytes);
        }
        self.command_pool = block.pool;
        let memory = self.dynamic.memory();
        memory.free(PoolKey(block.pool), block.grant, &mut self.device);
        self.release(block.bytes);
        Outcome::Done
    }

    fn live_block(&self, id: TraceName) -> Option<Block> {
        let block = self.blocks[id.0 as usize]?;
        let pool = self.pools.get(&block.pool)?;
        (pool.generation == block.generation).then_some(block)
    }

    /// Ends a pool and its blocks.
    fn destroy(&mut self, pool: u32) -> Outcome {
        self.manage(Order::Destroy(PoolKey(pool)));
        if let Some(state) = self.pools.get_mut(&pool) {
            let live = std::mem::take(&mut state.live);
            state.generation = state.generation.wrapping_add(1);
            self.release(live);
        }
        Outcome::Done
    }

    fn load(&mut self, graph: TraceName, segments: &[ArenaSegment], bytes: Bytes) -> Outcome {
        let slot = graph.0 as usize;
        if self.graphs[slot] != GraphState::Absent {
            return Outcome::Skipped;
        }
        match self.statics.load(StaticGraph(graph.0), segments, &mut self.device) {
            Ok(loaded) => {
                self.graphs[slot] = GraphState::Loaded(bytes.get());
                Outcome::Loaded(loaded)
            }
            Err(_) => Outcome::NotLoaded(self.statics.placed_before_failure()),
        }
    }

    fn begin(&mut self, graph: TraceName) -> Outcome {
        let GraphState::Loaded(bytes) = self.graphs[graph.0 as usize] else {
            return Outcome::Skipped;
        };
        let begun = self.statics.begin(StaticGraph(graph.0), &mut self.device);
        if begun.is_ok() {
            self.graphs[graph.0 as usize] = GraphState::Running(bytes);
            self.hold(bytes);
        }
        Outcome::Ran {
            status: RunStatus(begun),
            calls_before: self.device.driver.calls().len(),
            in_use: self.device.driver.in_use(),
        }
    }

    fn end_run(&mut self, graph: TraceName) -> Outcome {
        let GraphState::Running(bytes) = self.graphs[graph.0 as usize] else {
            return Outcome::Skipped;
        };
        self.statics.finish(StaticGraph(graph.0), &mut self.device);
        self.graphs[graph.0 as usize] = GraphState::Loaded(bytes);
        self.release(bytes);
        Outcome::Done
    }

    fn execute_graph(&mut self, graph: TraceName) -> Outcome {
        let outcome = self.begin(graph);
        // A graph that already runs continues.
        if matches!(outcome, Outcome::Ran { status, .. } if status.0.is_ok()) {
            self.end_run(graph);
        }
        outcome
    }

    /// Unloads a graph; a running one ends its run first.
    fn unload(&mut self, graph: TraceName) -> Outcome {
        if self.graphs[graph.0 as usize] == GraphState::Absent {
            return Outcome::Skipped;
        }
        self.end_run(graph);
        self.statics.unload(StaticGraph(graph.0), &mut self.device);
        self.graphs[graph.0 as usize] = GraphState::Absent;
        Outcome::Done
    }

    fn place_weights(&mut self, id: TraceName, bytes: Bytes) -> Outcome {
        if self.weights[id.0 as usize].is_some() {
            return Outcome::Skipped;
        }
        match self.device.driver.malloc(bytes) {
            Ok(at) => {
                self.weights[id.0 as usize] = Some((at, bytes));
                self.hold(bytes.get());
                Outcome::Placed(Some(at))
            }
            Err(_) => Outcome::NotPlaced,
        }
    }

    fn free_weights(&mut self, id: TraceName) -> Outcome {
        let Some((at, bytes)) = self.weights[id.0 as usize].take() else {
            return Outcome::Skipped;
        };
        self.device.driver.free(at, bytes);
        self.release(bytes.get());
        Outcome::Done
    }

    fn request_fixed(&mut self, graph: TraceName, bytes: Bytes) -> Outcome {
        let before = self.fixed.size();
        let placed = self.fixed.request(StaticGraph(graph.0), bytes, &mut self.device);
        self.hold_fixed(before);
        placed.map_or(Outcome::NotPlaced, Outcome::Placed)
    }

    fn withdraw_fixed(&mut self, graph: TraceName) -> Outcome {
        if !self.fixed.has_user(StaticGraph(graph.0)) {
            return Outcome::Skipped;
        }
        let before = self.fixed.size();
        self.fixed.withdraw(StaticGraph(graph.0), &mut self.device);
        self.hold_fixed(before);
        Outcome::Done
    }

    fn hold_fixed(&mut self, before: Bytes) {
        self.release(before.get());
        self.hold(self.fixed.size().get());
    }

    /// Held bytes come from the device, except those of running graphs, so the sum stays far below 2^64.
    fn hold(&mut self, bytes: u64) {
        self.live = self.live.saturating_add(bytes);
        self.peak_live = self.peak_live.max(self.live);
    }

    fn release(&mut self, bytes: u64) {
        self.live = self.live.saturating_sub(bytes);
    }
}
