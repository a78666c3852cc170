//! The texts of a tensor that a query searches.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::pattern::Patterns;
use super::syntax::Condition;
use crate::Selected;
use crate::grouping::{full_scope, producer};
use highwater_analysis::{Comparison, OpSource};
use highwater_model::graph::{Graph, Id as _, StorageId, TensorId};
use highwater_model::workload::{GraphIdx, Recording, StackIdx};

/// The name of a tensor, else a label with its number.
pub fn shown_name(comparison: &Comparison, tensor: Selected) -> Cow<'_, str> {
    let name = comparison.tensor_name(tensor.graph, tensor.tensor);
    if name.is_empty() {
        Cow::Owned(format!("tensor {}", tensor.tensor.0))
    } else {
        Cow::Borrowed(name)
    }
}

/// The name of the producing op; empty where there is none.
pub(crate) fn op_name(comparison: &Comparison, tensor: Selected) -> &str {
    match comparison.study_of_graph(tensor.graph).ops(&comparison.workload) {
        OpSource::Graphs(entries) => {
            let entry = entries.get(tensor.graph.idx());
            let op = entry.and_then(|entry| producer(&entry.graph, tensor.tensor));
            op.zip(entry).map_or("", |(op, entry)| entry.graph.op_name(op))
        }
        OpSource::Tape(tape) => {
            let known = tape.tensors.get(tensor.tensor.idx());
            let op = known.and_then(|known| tape.ops.get(known.op as usize));
            op.map_or("", |op| &op.name)
        }
        OpSource::Program(_) | OpSource::None => "",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Names of the tensor and its op, and the call stack.
    Anywhere,
    Name,
    /// The path before the name, and the call stack.
    Scope,
    /// The call site.
    At,
    /// The lines of the call stack.
    Stack,
}

impl Place {
    /// `None` for conditions that are evaluated by group.
    pub(super) const fn of(condition: Condition) -> Option<Self> {
        match condition {
            Condition::Name => Some(Self::Name),
            Condition::Scope => Some(Self::Scope),
            Condition::At => Some(Self::At),
            Condition::Stack => Some(Self::Stack),
            Condition::Op
            | Condition::DType
            | Condition::Stream
            | Condition::Pool
            | Condition::File
            | Condition::Annotation
            | Condition::Compile
            | Condition::Metadata
            | Condition::Address
            | Condition::Role
            | Condition::Phase
            | Condition::Size
            | Condition::Life
            | Condition::Live
            | Condition::Run
            | Condition::Lane => None,
        }
    }
}

/// A test of texts that evaluates every tensor of a graph and every call stack once.
pub(super) struct TextTest<'a> {
    patterns: &'a Patterns,
    place: Place,
    /// By graph, by tensor.
    tensors: Vec<Vec<Known>>,
    recordings: BTreeMap<GraphIdx, OfRecording>,
    views: BTreeMap<GraphIdx, Views>,
}

/// Cached results of a recording.
#[derive(Default)]
struct OfRecording {
    frames: Vec<Known>,
    stacks: Vec<Known>,
}

/// The tensors of a graph that lie in the memory of another, sorted by storage.
struct Views(Vec<(StorageId, TensorId)>);

impl Views {
    /// O(tensors log tensors).
    fn new(graph: &Graph) -> Self {
        let ids = (0..graph.tensors().len()).map(TensorId::from_idx);
        let views = ids.map(|id| (graph.tensors()[id].storage, id));
        let mut views: Vec<_> = views
            .filter(|(storage, id)| graph.storages()[*storage].root != *id)
            .collect();
        views.sort_unstable();
        Self(views)
    }

    fn of(&self, storage: StorageId) -> impl Iterator<Item = TensorId> + '_ {
        let low = self.0.partition_point(|(known, _)| *known < storage);
        let of_it = self.0[low..].iter().take_while(move |(known, _)| *known == storage);
        of_it.map(|(_, id)| *id)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    Fits,
    FitsNot,
}

/// The cached result at a position, or that of `find`.
fn recall(known: &mut Vec<Known>, position: usize, find: impl FnOnce() -> bool) -> bool {
    if known.len() <= position {
        known.resize((position + 1).next_power_of_two(), Known::Nothing);
    }
    let known = &mut known[position];
    if *known == Known::Nothing {
        *known = if find() { Known::Fits } else { Known::FitsNot };
    }
    *known == Known::Fits
}

impl<'a> TextTest<'a> {
    pub(super) fn new(patterns: &'a Patterns, place: Place) -> Self {
        Self {
            patterns,
            place,
            tensors: Vec::new(),
            recordings: BTreeMap::new(),
            views: BTreeMap::new(),
        }
    }

    pub(super) fn holds(&mut self, comparison: &Comparison, tensor: Selected) -> bool {
        let graph = tensor.graph.idx();
        if self.tensors.len() <= graph {
            self.tensors.resize(graph + 1, Vec::new());
        }
        let mut tensors = std::mem::take(&mut self.tensors[graph]);
        let fits = recall(&mut tensors, tensor.tensor.idx(), || self.find(comparison, tensor));
        self.tensors[graph] = tensors;
        fits
    }

    fn find(&mut self, comparison: &Comparison, tensor: Selected) -> bool {
        let patterns = self.patterns;
        let is_in_names = match self.place {
            Place::Name => {
                return patterns.are_in(&shown_name(comparison, tensor)) || self.is_in_views(comparison, tensor);
            }
            Place::Scope => patterns.are_in(full_scope(comparison, tensor.key())),
            Place::At => patterns.are_at(&shown_name(comparison, tensor)),
            Place::Stack => false,
            Place::Anywhere => {
                patterns.are_in(&shown_name(comparison, tensor))
                    || patterns.are_in(op_name(comparison, tensor))
                    || self.is_in_views(comparison, tensor)
            }
        };
        is_in_names || self.is_in_stack(comparison, tensor)
    }

    /// Whether a tensor that shares the storage, or its op, has a matching name.
    fn is_in_views(&mut self, comparison: &Comparison, tensor: Selected) -> bool {
        let Some(entry) = comparison.workload.graphs().get(tensor.graph.idx()) else {
            return false;
        };
        let graph = &entry.graph;
        let Some(storage) = graph.tensors().get(tensor.tensor).map(|known| known.storage) else {
            return false;
        };
        let views = self.views.entry(tensor.graph).or_insert_with(|| Views::new(graph));
        let patterns = self.patterns;
        let with_ops = self.place == Place::Anywhere;
        let fits = |view: TensorId| {
            let op = graph.tensors()[view].producer.filter(|_| with_ops);
            patterns.are_in(graph.tensor_name(view)) || op.is_some_and(|op| patterns.are_in(graph.op_name(op)))
        };
        views.of(storage).any(fits)
    }

    /// Whether a frame of a recorded block's call stack matches.
    fn is_in_stack(&mut self, comparison: &Comparison, tensor: Selected) -> bool {
        let Some((recording, block)) = comparison.recorded_block(tensor.graph, tensor.tensor) else {
            return false;
        };
        let Some(stack) = block.stack else { return false };
        let (patterns, place) = (self.patterns, self.place);
        let OfRecording { frames, stacks } = self.recordings.entry(tensor.graph).or_default();
        let mut fits = |frame: u32| {
            let position = frame as usize;
            recall(frames, position, || frame_fits(patterns, place, recording, position))
        };
        recall(stacks, stack.idx(), || {
            if place == Place::At {
                return frame_of_site(recording, stack).is_some_and(fits);
            }
            let lines = recording.stacks.get(stack.idx()).map_or(&[][..], |stack| &**stack);
            lines.iter().any(|frame| fits(*frame))
        })
    }
}

/// The line that names a call stack.
fn frame_of_site(recording: &Recording, stack: StackIdx) -> Option<u32> {
    let sites = &recording.call_sites;
    sites.get(sites.of_stack(stack)?)?.frame
}

fn frame_fits(patterns: &Patterns, place: Place, recording: &Recording, frame: usize) -> bool {
    let Some(frame) = recording.frames.get(frame) else {
        return false;
    };
    let (function, file) = (recording.text(frame.function), recording.text(frame.file));
    let line = format!("{file}:{} {function}", frame.line);
    match place {
        Place::At | Place::Stack => patterns.are_at(&line),
        Place::Anywhere | Place::Name | Place::Scope => {
            patterns.are_in(function) || patterns.are_in(file) || patterns.are_line(&line)
        }
    }
}
