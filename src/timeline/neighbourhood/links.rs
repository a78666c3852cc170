//! Index of the readers and writers of each tensor of a source.

use highwater_analysis::{Comparison, OpSource};
use highwater_model::graph::{Consumers, Graph, TensorId};
use highwater_model::lists::Lists;
use highwater_model::workload::{Block, BlockProgram, GraphIdx, Slots, Tape};

use super::super::TensorKey;
use super::OpKey;
use highwater_model::graph::Id as _;

/// O(ops + operands) to build and to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Links {
    /// By graph.
    pub(in super::super) graphs: Vec<Consumers>,
    pub(super) tape: Option<Index>,
    /// By block: readers and writers of each variable.
    pub(super) blocks: Vec<(Index, Index)>,
    /// By graph, or of the tape: the tensors of each storage.
    pub(in super::super) storages: Vec<Lists<TensorId>>,
}

impl Links {
    pub(in super::super) fn new(comparison: &Comparison) -> Self {
        let of_graph = |graph: &Graph| by_storage(graph.tensors().iter().map(|tensor| tensor.storage.0));
        match comparison.ops() {
            OpSource::Graphs(entries) => Self {
                graphs: entries.iter().map(|entry| entry.graph.consumers()).collect(),
                storages: entries.iter().map(|entry| of_graph(&entry.graph)).collect(),
                ..Self::default()
            },
            OpSource::Tape(tape) => Self {
                tape: Some(Index::of_tape(tape)),
                storages: vec![by_storage(tape.tensors.iter().map(|tensor| tensor.storage))],
                ..Self::default()
            },
            OpSource::Program(program) => Self {
                blocks: of_blocks(program),
                ..Self::default()
            },
            OpSource::None => Self::default(),
        }
    }
}

/// From the storage of each tensor in order.
fn by_storage(storages: impl Iterator<Item = u32>) -> Lists<TensorId> {
    let tensors = storages.enumerate();
    let pairs: Vec<(usize, TensorId)> = tensors
        .map(|(tensor, storage)| (storage as usize, TensorId::from_idx(tensor)))
        .collect();
    let n_storages = pairs.iter().map(|(storage, _)| storage + 1).max().unwrap_or(0);
    Lists::of_pairs(n_storages, pairs.iter().copied())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index(Lists<OpKey>);

impl Index {
    /// From pairs of a tensor and an op, in order of the ops.
    fn new(n_tensors: usize, pairs: &[(usize, OpKey)]) -> Self {
        Self(Lists::of_pairs(n_tensors, pairs.iter().copied()))
    }

    fn of_tape(tape: &Tape) -> Self {
        let mut pairs = Vec::new();
        for (op, row) in (0_u32..).zip(&tape.ops) {
            let key = OpKey { graph: GraphIdx(0), op };
            let known = row.inputs.iter().map(|tensor| *tensor as usize);
            pairs.extend(
                known
                    .filter(|tensor| *tensor < tape.tensors.len())
                    .map(|tensor| (tensor, key)),
            );
        }
        Self::new(tape.tensors.len(), &pairs)
    }

    /// Ascending, without duplicates.
    pub(super) fn of(&self, tensor: TensorId) -> Vec<OpKey> {
        let mut ops = self.0.of(tensor.idx()).to_vec();
        ops.dedup();
        ops
    }
}

fn of_blocks(program: &BlockProgram) -> Vec<(Index, Index)> {
    let mut reads: Vec<Vec<(usize, OpKey)>> = vec![Vec::new(); program.blocks.len()];
    let mut writes = reads.clone();
    for (number, block) in program.blocks.iter().enumerate() {
        for (op, row) in (0_u32..).zip(&block.ops) {
            let key = OpKey {
                graph: GraphIdx::from_idx(number),
                op,
            };
            for (slots, pairs) in [(&row.inputs, &mut reads), (&row.outputs, &mut writes)] {
                for variable in variables(program, number, slots) {
                    pairs[variable.graph.idx()].push((variable.tensor.idx(), key));
                }
            }
        }
    }
    let blocks = program.blocks.iter().zip(reads.iter().zip(&writes));
    let index = |(block, (reads, writes)): (&Block, (&Vec<_>, &Vec<_>))| {
        let n_variables = block.variables.len();
        (Index::new(n_variables, reads), Index::new(n_variables, writes))
    };
    blocks.map(index).collect()
}

/// The variables that slots of a block name: its own or those of an enclosing block. Without duplicates.
pub(super) fn variables(program: &BlockProgram, block: usize, slots: &Slots) -> Vec<TensorKey> {
    let names = slots.iter().flat_map(|(_, names)| names);
    let mut found: Vec<TensorKey> = names.filter_map(|name| find(program, block, name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn find(program: &BlockProgram, block: usize, name: &str) -> Option<TensorKey> {
    let mut at = block;
    // Bounds the walk should blocks enclose each other.
    for _ in 0..program.blocks.len() {
        let block = program.blocks.get(at)?;
        if let Some(variable) = block.variables.get_index_of(name) {
            return Some(TensorKey {
                graph: GraphIdx::from_idx(at),
                tensor: TensorId::from_idx(variable),
            });
        }
        at = block.parent? as usize;
    }
    None
}
