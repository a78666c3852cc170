//! Declarations of variables, as found from an op of a graph.

use indexmap::IndexSet;

use super::flow::Flow;
use highwater_model::workload::{BlockProgram, BlockVariable};

/// The kind of variables that hold tensors.
pub(super) const TENSOR: &str = "LOD_TENSOR";

/// The empty name.
pub(super) const EMPTY: &str = "@EMPTY@";

/// Phase of the searching op: forward ops search their own block, gradient ops also enclosing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Forward = 0,
    Gradient = 1,
}

/// A declaration; shapes and data types are interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The declaring block.
    pub(super) block: u32,
    pub(super) shape: u32,
    pub(super) dtype: u32,
    /// Whether its first dimension is unknown.
    pub(super) is_batch: bool,
    /// The product of the absolute values of its dimensions.
    pub(super) elements: u128,
    /// Whether it takes part in reuse.
    pub(super) is_valid: bool,
}

/// Cached declaration of a name.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Not searched yet.
    Unasked,
    /// `None` where no block declares it.
    Answer(Option<Found>),
}

/// Declarations of a graph's names, each searched once.
#[derive(Debug)]
pub(super) struct Lookup<'a> {
    program: &'a BlockProgram,
    names: Vec<&'a str>,
    is_skipped: Vec<bool>,
    search: [Vec<u32>; 2],
    known: [Vec<Known>; 2],
    shapes: IndexSet<&'a [i64]>,
    dtypes: IndexSet<&'a str>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(program: &'a BlockProgram, flow: &Flow<'a>) -> Self {
        let n_names = flow.names.len();
        Self {
            program,
            names: flow.names.iter().copied().collect(),
            is_skipped: flow.is_skipped.clone(),
            search: flow.search.clone(),
            known: [vec![Known::Unasked; n_names], vec![Known::Unasked; n_names]],
            shapes: IndexSet::new(),
            dtypes: IndexSet::new(),
        }
    }

    pub(super) fn find(&mut self, name: u32, phase: Phase) -> Option<Found> {
        if let Known::Answer(found) = self.known[phase as usize][name as usize] {
            return found;
        }
        let found = self.find_uncached(name, phase);
        self.known[phase as usize][name as usize] = Known::Answer(found);
        found
    }

    /// The declaration, if it takes part in reuse.
    pub(super) fn valid(&mut self, name: u32, phase: Phase) -> Option<Found> {
        self.find(name, phase).filter(|found| found.is_valid)
    }

    pub(super) fn dims(&self, shape: u32) -> &'a [i64] {
        self.shapes.get_index(shape as usize).copied().unwrap_or(&[])
    }

    fn find_uncached(&mut self, name: u32, phase: Phase) -> Option<Found> {
        let text = self.names[name as usize];
        let program: &'a BlockProgram = self.program;
        let mut blocks = self.search[phase as usize].iter();
        let (block, variable): (u32, &'a BlockVariable) = blocks.find_map(|block| {
            let declared = program.blocks.get(*block as usize)?;
            Some((*block, declared.variables.get(text)?))
        })?;
        let shape = self.shapes.insert_full(&variable.shape).0;
        let dtype = self.dtypes.insert_full(&variable.dtype).0;
        Some(Found {
            block,
            shape: u32::try_from(shape).unwrap_or(u32::MAX),
            dtype: u32::try_from(dtype).unwrap_or(u32::MAX),
            is_batch: variable.shape.first() == Some(&-1),
            elements: elements(&variable.shape),
            is_valid: text != EMPTY && !self.is_skipped[name as usize] && is_tensor(variable),
        })
    }
}

/// Whether a variable is a tensor of known shape that does not outlive the run.
pub(super) fn is_tensor(variable: &BlockVariable) -> bool {
    !variable.is_persistable && &*variable.kind == TENSOR && !variable.shape.is_empty()
}

/// The product of absolute dimensions; saturates far above any memory.
fn elements(shape: &[i64]) -> u128 {
    if shape.contains(&0) {
        return 0;
    }
    let dims = shape.iter().map(|dim| u128::from(dim.unsigned_abs()));
    dims.fold(1, u128::saturating_mul)
}
