//! Content of a compiler's dump beyond its graph: a plan, and compile options.

use std::sync::Arc;

use super::names::Names;
use super::problem::ProblemEntry;
use crate::graph::{Id as _, TensorId};
use crate::units::Bytes;

/// Offsets that a dump states for tensors of its graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedOffsets {
    /// By position of the tensor; `None` where the dump states none.
    pub offsets: Vec<Option<u64>>,
    /// By position of the tensor: the bytes that the engine asks for. Where the source states them, the plan has all scratch
    /// memory, and inputs and outputs of the graph are behind the arena. Empty for other sources.
    pub sizes: Vec<Option<u64>>,
    /// The planner, in a few words.
    pub maker: String,
}

impl DumpedOffsets {
    /// The stated bytes of the place of a tensor.
    pub fn size(&self, tensor: TensorId) -> Option<Bytes> {
        self.sizes.get(tensor.idx()).copied().flatten().map(Bytes)
    }
}

/// An option recorded in a dump.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DumpedOption {
    /// In the dump's notation.
    pub key: String,
    pub value: String,
    /// The first op with it; empty where it belongs to the graph.
    pub op: String,
    /// Number of ops with it.
    pub count: u64,
}

/// Content of a dump beyond its graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// By tensor of the main graph.
    pub offsets: Option<DumpedOffsets>,
    /// The compiler's arenas, with their own live ranges and recorded plans.
    pub arenas: Vec<Arc<ProblemEntry>>,
    /// Sorted by key and value.
    pub options: Vec<DumpedOption>,
    /// The id of the graph in a log of its run.
    pub log_graph: Option<u64>,
    /// The stream of each op of the main graph by position; empty where there is one.
    pub streams: Vec<u32>,
    /// Further facts, name and value, in the dump's words: sizes of segments, versions.
    pub facts: Vec<(String, String)>,
    /// Number of tensors in the file, where that is more than the ops compute; bodies then list all tensors too.
    pub tensors: Option<u64>,
    /// Divisor of offsets and sizes in the arena of the runtime that the format is for, where that is always the same.
    pub alignment: Option<u64>,
    /// The compiler's own peak of live bytes, inputs included, and the step of its schedule.
    pub peak_live: Option<(Bytes, u64)>,
    /// Whether outputs have their memory before the run starts, as an executable of XLA does.
    pub outputs_from_start: bool,
    /// Names of tensors that the dump marks as cleared before use, for lists.
    pub atomic: Names,
}
