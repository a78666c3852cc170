//! What a compiler's dump says of a graph beyond the graph itself: its plan, and the options it was made with.

use std::sync::Arc;

use super::names::Names;
use super::problem::ProblemEntry;

/// Offsets that a dump states for tensors of its graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedOffsets {
    /// By position of the tensor; `None` where the dump states none.
    pub offsets: Vec<Option<u64>>,
    /// Who made the plan, in a few words.
    pub maker: String,
}

/// An option whose value a dump carries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DumpedOption {
    /// The key as the dump writes it.
    pub key: String,
    /// The value as text.
    pub value: String,
    /// The first op that carries it; empty where it belongs to the graph.
    pub op: String,
    /// On how many ops it stands.
    pub count: u64,
}

/// What a dump says of a graph beyond the graph itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// Where tensors stand, by tensor of the main graph.
    pub offsets: Option<DumpedOffsets>,
    /// Arenas as the compiler saw them, with live ranges of its own; each carries its recorded plan.
    pub arenas: Vec<Arc<ProblemEntry>>,
    /// Options, sorted by key and value.
    pub options: Vec<DumpedOption>,
    /// The stream of each op of the main graph by position; empty where there is one.
    pub streams: Vec<u32>,
    /// Further facts, name and value, as the dump states them: sizes of segments, versions.
    pub facts: Vec<(String, String)>,
    /// How many tensors the file lists, where that is more than the ops compute; of bodies then all tensors are listed too.
    pub tensors: Option<u64>,
    /// Names of tensors that the dump marks as cleared before use, for lists.
    pub atomic: Names,
}
