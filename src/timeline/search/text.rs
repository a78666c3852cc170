//! The texts of a tensor that words are looked for in.

use std::borrow::Cow;

use super::pattern::Patterns;
use super::syntax::Condition;
use crate::analysis::Comparison;
use crate::graph::{Id as _, OpId, TensorId};
use crate::rewrite::op_of_workspace;
use crate::timeline::Selected;
use crate::timeline::grouping::full_scope;
use crate::workload::{GraphIdx, Recording, StackIdx};

/// What a tensor is called: its name; where it has none, its number.
pub(in crate::timeline) fn shown_name(comparison: &Comparison, tensor: Selected) -> Cow<'_, str> {
    let name = comparison.tensor_name(tensor.graph, tensor.tensor);
    if name.is_empty() {
        Cow::Owned(format!("tensor {}", tensor.tensor.0))
    } else {
        Cow::Borrowed(name)
    }
}

/// The op of a graph that computes a tensor.
fn producer(comparison: &Comparison, graph: GraphIdx, tensor: TensorId) -> Option<OpId> {
    let entry = comparison.workload.graphs().get(graph.idx())?;
    match entry.graph.tensors().get(tensor) {
        Some(known) => known.producer,
        None => op_of_workspace(&entry.graph, tensor),
    }
}

/// The name of the op that computes a tensor; empty where there is none.
pub(in crate::timeline) fn op_name(comparison: &Comparison, tensor: Selected) -> &str {
    if let Some(tape) = comparison.workload.tapes().first() {
        let known = tape.tensors.get(tensor.tensor.idx());
        let op = known.and_then(|known| tape.ops.get(known.op as usize));
        return op.map_or("", |op| &op.name);
    }
    let op = producer(comparison, tensor.graph, tensor.tensor);
    let entry = comparison.workload.graphs().get(tensor.graph.idx());
    op.zip(entry).map_or("", |(op, entry)| entry.graph.op_name(op))
}

/// Where a test of texts looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Names of the tensor and its op, and the calling stack.
    Anywhere,
    /// The tensor's name.
    Name,
    /// The path before it, and the calling stack.
    Scope,
}

impl Place {
    /// Where a condition looks; `None` for those that are answered by group.
    pub(super) const fn of(condition: Condition) -> Option<Self> {
        match condition {
            Condition::Name => Some(Self::Name),
            Condition::Scope => Some(Self::Scope),
            _ => None,
        }
    }
}

/// A test of texts with what it has found so far: of every tensor of a graph once, of every stack once.
pub(super) struct TextTest<'a> {
    patterns: &'a Patterns,
    place: Place,
    /// By graph, by tensor.
    tensors: Vec<Vec<Known>>,
    stacks: Vec<Known>,
}

/// What is known of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    Fits,
    FitsNot,
}

/// What is known at a position, or what is found out now.
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
            stacks: Vec::new(),
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
            Place::Name => return patterns.are_in(&shown_name(comparison, tensor)),
            Place::Scope => patterns.are_in(full_scope(comparison, (tensor.graph, tensor.tensor))),
            Place::Anywhere => {
                patterns.are_in(&shown_name(comparison, tensor)) || patterns.are_in(op_name(comparison, tensor))
            }
        };
        is_in_names || self.is_in_stack(comparison, tensor)
    }

    /// Whether a line of a recorded block's stack fits.
    fn is_in_stack(&mut self, comparison: &Comparison, tensor: Selected) -> bool {
        let Some((recording, block)) = comparison.recorded_block(tensor.graph, tensor.tensor) else {
            return false;
        };
        let Some(stack) = block.stack.map(StackIdx::idx) else {
            return false;
        };
        let patterns = self.patterns;
        let find = || frames_fit(patterns, recording, stack);
        // Several recordings share one list of what is known: they are told apart by their graph.
        if comparison.workload.recordings().len() > 1 {
            return find();
        }
        recall(&mut self.stacks, stack, find)
    }
}

fn frames_fit(patterns: &Patterns, recording: &Recording, stack: usize) -> bool {
    let frames = recording.stacks.get(stack).map_or(&[][..], |stack| &**stack);
    let mut frames = frames.iter().filter_map(|frame| recording.frames.get(*frame as usize));
    frames.any(|frame| patterns.are_in(recording.text(frame.function)) || patterns.are_in(recording.text(frame.file)))
}
