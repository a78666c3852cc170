//! What the device has to hold: graphs with their bound live ranges and plans, in running order.
//!
//! `analysis` makes it from a workload; the simulation reads nothing else, so it never sees an op.

use std::ops::Range;
use std::sync::Arc;

use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, LoadChange, Program};
use highwater_plan::Plan;

/// A session: everything that is loaded and run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSession {
    /// The graphs; a graph is loaded at its first run and stays loaded, unless a change says otherwise.
    pub graphs: Vec<LoadedGraph>,
    /// The runs in order; each starts where the one before ends.
    pub runs: Vec<DeviceRun>,
    /// Graphs that are loaded or unloaded between runs, ascending by place.
    pub changes: Vec<LoadChange>,
    /// Runs that happen at the same time, by position; ascending, none overlaps another.
    pub groups: Vec<Range<u32>>,
    /// Variables of the session, each once, allocated before the first run.
    pub variables: Vec<Variable>,
    /// Steps in sum.
    pub n_steps: u32,
}

/// What a graph holds while it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedGraph {
    /// The name shown to users.
    pub name: String,
    /// Whether every dimension has one value over the whole schedule and graphs may be static: then it has one
    /// [`BoundGraph`] with a plan, placed at load. Otherwise it allocates op by op.
    pub is_static: bool,
    /// Whether it has collective ops: such a graph is not unloaded to make room.
    pub has_collectives: bool,
    /// Frozen weights, by name and exact bytes: held from load to unload, under every policy.
    pub weights: Vec<Variable>,
}

/// A named resident tensor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its exact bytes.
    pub bytes: Bytes,
}

/// A graph under one binding of its symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundGraph {
    /// Live ranges of feature memory (no inputs, no graph outputs), steps relative to the run.
    pub program: Program,
    /// Sizes as the engine asks for them, in the order of the lifetimes: the exact bytes padded by its
    /// rule for tensors.
    pub engine_sizes: Vec<Bytes>,
    /// The static plan of the lifetimes with the engine's sizes (512-byte aligned); for static graphs.
    pub plan: Option<Arc<Plan>>,
    /// The pieces of the plan that are placed as one each where graphs share an arena, ascending; together they are
    /// the plan's footprint.
    pub segments: Vec<Segment>,
    /// Graph inputs and outputs: the zero-copy segment.
    pub io: Vec<IoTensor>,
    /// What is cleared before ops add to it, by step of the run; each is a launch.
    pub clears: Vec<Clear>,
}

/// One clear of memory that ops add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clear {
    /// When, relative to the run.
    pub step: Step,
    /// How much.
    pub bytes: Bytes,
}

/// A piece of a static plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the plan.
    pub base: u64,
    /// Bytes.
    pub bytes: Bytes,
}

/// A graph input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoTensor {
    /// The tensor.
    pub tensor: TensorId,
    /// Its exact bytes.
    pub bytes: Bytes,
    /// Whether the user feeds it, so that it comes from the host.
    pub is_input: bool,
}

/// One execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRun {
    /// Which graph.
    pub graph: GraphIdx,
    /// Its live ranges under this run's bindings (shared between equal runs).
    pub bound: Arc<BoundGraph>,
    /// First step on the common axis.
    pub start: Step,
    /// Number of steps.
    pub n_steps: u32,
}
