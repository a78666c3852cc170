//! Input of the simulation: graphs with their bound live ranges and plans, in running order.
//!
//! `analysis` lowers a workload to it; the simulation reads nothing else, so it never sees an op.

use std::ops::Range;
use std::sync::Arc;

use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, Lifetime, LoadChange, Program, Recording};
use highwater_plan::Plan;

use super::recorded_log::EventSteps;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSession {
    /// A graph is loaded at its first run and stays loaded, unless a change says otherwise.
    pub graphs: Vec<LoadedGraph>,
    /// In order; each starts where the previous one ends.
    pub runs: Vec<DeviceRun>,
    /// Loads and unloads between runs, ascending by position.
    pub changes: Vec<LoadChange>,
    /// Concurrent runs, by position; ascending, disjoint.
    pub groups: Vec<Range<u32>>,
    /// Each once, allocated before the first run.
    pub variables: Vec<Variable>,
    /// Total steps.
    pub n_steps: u32,
}

impl DeviceSession {
    /// `None` for an unknown graph.
    pub fn graph_name(&self, graph: GraphIdx) -> Option<&str> {
        self.graphs.get(graph.idx()).map(|graph| graph.name.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedGraph {
    /// The name shown to users.
    pub name: String,
    /// Whether every dimension has one value over the whole schedule and graphs may be static: then it has one
    /// [`BoundGraph`] with a plan, placed at load. Otherwise it allocates op by op.
    pub is_static: bool,
    /// A graph with collective ops is not unloaded to make room.
    pub has_collectives: bool,
    /// Frozen weights, by name and exact bytes: held from load to unload, under every policy.
    pub weights: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable {
    pub name: Arc<str>,
    /// Exact.
    pub bytes: Bytes,
}

/// A graph under one binding of its symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundGraph {
    /// Live ranges of feature memory (no inputs, no graph outputs), steps relative to the run.
    pub program: Program,
    /// Sizes that the engine requests, in the order of the lifetimes: the exact bytes padded by its rule for tensors.
    pub engine_sizes: Vec<Bytes>,
    /// The static plan of the lifetimes with the engine's sizes (512-byte aligned); for static graphs.
    pub plan: Option<Arc<Plan>>,
    /// Pieces of the plan that are placed separately where graphs share an arena, ascending; together they are the
    /// plan's footprint.
    pub segments: Vec<Segment>,
    /// Graph inputs and outputs: the zero-copy segment.
    pub io: Vec<IoTensor>,
    /// Clears of memory that ops accumulate into, by step of the run; each is a launch.
    pub clears: Vec<Clear>,
    /// Of a recording: its blocks are the live ranges, and `program` has none.
    pub recorded: Option<RecordedRanges>,
}

impl BoundGraph {
    pub fn n_lifetimes(&self) -> usize {
        match &self.recorded {
            Some(recorded) => recorded.recording.blocks.len(),
            None => self.program.lifetimes.items.len(),
        }
    }

    /// A live range by its position; `None` beyond the last.
    pub fn lifetime(&self, position: usize) -> Option<Lifetime> {
        match &self.recorded {
            Some(recorded) => recorded.lifetime(position),
            None => self.program.lifetimes.items.get(position).copied(),
        }
    }

    pub fn lifetimes(&self) -> impl Iterator<Item = Lifetime> + Clone + '_ {
        (0..self.n_lifetimes()).filter_map(|position| self.lifetime(position))
    }
}

/// The blocks of a recording as live ranges, read from the blocks themselves: tensor `n` is block `n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRanges {
    pub recording: Arc<Recording>,
    pub steps: EventSteps,
    pub n_steps: u32,
}

impl RecordedRanges {
    fn lifetime(&self, position: usize) -> Option<Lifetime> {
        let block = self.recording.blocks.get(position)?;
        let at = |step: Step| self.steps.get(step).unwrap_or(self.n_steps);
        let birth = at(block.birth);
        Some(Lifetime {
            birth: Step(birth),
            end: Step(at(block.end).max(birth + 1)),
            bytes: block.bytes,
            tensor: TensorId::from_idx(position),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clear {
    /// Relative to the run.
    pub step: Step,
    pub bytes: Bytes,
}

/// A piece of a static plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the plan.
    pub base: u64,
    pub bytes: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoTensor {
    pub tensor: TensorId,
    /// Exact.
    pub bytes: Bytes,
    /// Whether the user feeds it, so that it comes from the host.
    pub is_input: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRun {
    pub graph: GraphIdx,
    /// Live ranges under this run's bindings (shared between equal runs).
    pub bound: Arc<BoundGraph>,
    /// First step on the common axis.
    pub start: Step,
    pub n_steps: u32,
}
