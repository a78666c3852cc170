//! Residents: variables, weights, inputs and outputs.
//!
//! ```text
//! session     |variables....................................|      one block, before the first run
//! graph A     |weights...............|      |weights (reload)|     from load to unload, exact bytes
//! run         |io||io||io|                                         of dynamic graphs; static ones place theirs with the plan
//! ```
//!
//! In: graphs and runs. Out: driver events. Invariants: a weights block lives as long as a loaded graph uses a weight
//! in it; a graph holds at most one block of inputs and outputs. Where weights are shared, a weight that an earlier
//! loaded graph holds (equal name and bytes) is not allocated again.

use std::collections::BTreeMap;

use super::alloc::Shortage;
use super::device::DeviceMemory;
use super::event::{EventKind, RegionId, RegionKind, Subject, SubjectId};
use super::params::{Params, VariablePages};
use super::policies::StaticMemoryPolicy;
use super::session::{BoundGraph, DeviceSession, Variable};
use highwater_model::graph::Id as _;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;

/// Residents of one graph.
#[derive(Debug)]
struct Held {
    subject: SubjectId,
    /// Positions of the weights blocks that it uses.
    weights: Vec<usize>,
    io: Option<(RegionId, Bytes)>,
}

#[derive(Debug)]
struct WeightsBlock {
    region: RegionId,
    bytes: Bytes,
    users: u32,
}

/// Residents of a session.
#[derive(Debug)]
pub(super) struct Residents<'a> {
    session: &'a DeviceSession,
    shares_weights: bool,
    graphs: Vec<Held>,
    blocks: Vec<WeightsBlock>,
    /// The block of each weight, where weights are shared.
    holders: BTreeMap<&'a Variable, usize>,
}

impl<'a> Residents<'a> {
    /// Every graph gets a subject.
    pub(super) fn new(session: &'a DeviceSession, shares_weights: bool, memory: &mut DeviceMemory) -> Self {
        let graphs = (0..session.graphs.len())
            .map(|idx| Held {
                subject: memory
                    .log
                    .set_new_subject(Subject::Graph(GraphIdx::from_idx(idx)), Bytes::ZERO),
                weights: Vec::new(),
                io: None,
            })
            .collect();
        Self {
            session,
            shares_weights,
            graphs,
            blocks: Vec::new(),
            holders: BTreeMap::new(),
        }
    }

    pub(super) fn subject(&self, graph: GraphIdx) -> SubjectId {
        self.graphs[graph.idx()].subject
    }

    /// Bytes of weights that loading a graph would add.
    pub(super) fn missing_weights(&self, graph: GraphIdx) -> Bytes {
        self.session.graphs[graph.idx()]
            .weights
            .iter()
            .filter(|weight| !self.holders.contains_key(weight))
            .map(|weight| weight.bytes)
            .sum()
    }

    pub(super) fn load_weights(&mut self, graph: GraphIdx, memory: &mut DeviceMemory) -> Result<(), Shortage> {
        let bytes = self.missing_weights(graph);
        let weights = &self.session.graphs[graph.idx()].weights;
        let mut used: Vec<usize> = weights
            .iter()
            .filter_map(|weight| self.holders.get(weight).copied())
            .collect();
        if bytes > Bytes::ZERO {
            let region = memory.malloc(RegionKind::Weights, Some(graph), bytes)?;
            let block = self.blocks.len();
            self.blocks.push(WeightsBlock {
                region,
                bytes,
                users: 0,
            });
            used.push(block);
            if self.shares_weights {
                for weight in weights {
                    self.holders.entry(weight).or_insert(block);
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        for block in &used {
            self.blocks[*block].users += 1;
        }
        self.graphs[graph.idx()].weights = used;
        Ok(())
    }

    /// Frees a graph's inputs and outputs, and the weights that no other loaded graph uses. Returns the bytes.
    pub(super) fn unload(&mut self, graph: GraphIdx, memory: &mut DeviceMemory) -> Bytes {
        let mut freed = self.free_io(graph, memory);
        for block in std::mem::take(&mut self.graphs[graph.idx()].weights) {
            let state = &mut self.blocks[block];
            state.users -= 1;
            if state.users == 0 {
                memory.free(state.region);
                freed += state.bytes;
                self.holders.retain(|_, holder| *holder != block);
            }
        }
        freed
    }

    /// Holds `bytes` of inputs and outputs; keeps a block of exactly that size.
    pub(super) fn hold_io(&mut self, graph: GraphIdx, bytes: Bytes, memory: &mut DeviceMemory) -> Result<(), Shortage> {
        if self.graphs[graph.idx()].io.is_some_and(|(_, held)| held == bytes) {
            return Ok(());
        }
        self.free_io(graph, memory);
        if bytes > Bytes::ZERO {
            let region = memory.malloc(RegionKind::InputOutput, Some(graph), bytes)?;
            self.graphs[graph.idx()].io = Some((region, bytes));
        }
        Ok(())
    }

    /// Returns the freed bytes.
    pub(super) fn free_io(&mut self, graph: GraphIdx, memory: &mut DeviceMemory) -> Bytes {
        match self.graphs[graph.idx()].io.take() {
            Some((region, bytes)) => {
                memory.free(region);
                bytes
            }
            None => Bytes::ZERO,
        }
    }

    pub(super) fn record_reload(&self, graph: GraphIdx, region: RegionId, memory: &mut DeviceMemory) {
        memory
            .log
            .record(EventKind::Reload, region, 0, self.missing_weights(graph));
    }
}

/// Bytes of the session's variables: each aligned to 512, plus 1024; the sum in whole pages where they are in pages.
/// They are allocated first.
pub(super) fn variables_bytes(session: &DeviceSession, policy: StaticMemoryPolicy, params: &Params) -> Bytes {
    let bytes: Bytes = session
        .variables
        .iter()
        .map(|variable| variable.bytes.align_up(512) + Bytes(1024))
        .sum();
    let huge = bytes.align_up(Bytes::gib(1).get());
    match params.variable_pages {
        VariablePages::Exact => bytes,
        VariablePages::OfPolicy if policy.row().expands_pools => bytes.align_up(Bytes::mib(8).get()),
        VariablePages::OfPolicy => bytes.align_up(Bytes::mib(2).get()),
        VariablePages::HugeFirst if huge > params.device_bytes => bytes.align_up(Bytes::mib(2).get()),
        VariablePages::Huge | VariablePages::HugeFirst => huge,
    }
}

/// Bytes of a run's inputs and outputs: each padded by the engine's rule for tensors (to 32, plus 32), then aligned to
/// 512.
pub(super) fn io_bytes(bound: &BoundGraph, params: &Params) -> Bytes {
    if params.io_by_caller {
        return Bytes::ZERO;
    }
    bound
        .io
        .iter()
        .map(|tensor| (tensor.bytes.align_up(32) + Bytes(32)).align_up(512))
        .sum()
}

/// Bytes of the buffers for gathered inputs up to the threshold; a single such input is copied directly.
pub(super) fn staging_bytes(bound: &BoundGraph, params: &Params) -> Bytes {
    if params.io_by_caller {
        return Bytes::ZERO;
    }
    let is_small = |bytes: Bytes| bytes > Bytes::ZERO && bytes <= params.input_fusion_size;
    let small = || {
        bound
            .io
            .iter()
            .filter(|tensor| tensor.is_input && is_small(tensor.bytes))
    };
    if small().count() < 2 {
        return Bytes::ZERO;
    }
    let buffer: Bytes = small().map(|tensor| tensor.bytes).sum();
    Bytes(
        buffer
            .align_up(512)
            .get()
            .saturating_mul(u64::from(params.staging_buffers)),
    )
}

/// For each run, the inputs and outputs of its graph's next run.
pub(super) fn next_io(session: &DeviceSession, params: &Params) -> Vec<Option<Bytes>> {
    let mut upcoming = vec![None; session.graphs.len()];
    let mut list: Vec<Option<Bytes>> = session
        .runs
        .iter()
        .rev()
        .map(|run| upcoming[run.graph.idx()].replace(copies_of(io_bytes(&run.bound, params), params)))
        .collect();
    list.reverse();
    list
}

/// Bytes of all concurrent copies of a graph.
fn copies_of(bytes: Bytes, params: &Params) -> Bytes {
    let copies = params.feature_copies.clamp(1, u32::from(u16::MAX));
    (0..copies).map(|_| bytes).sum()
}
