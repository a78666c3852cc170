//! Results that take over the memory of an operand, as `LiteRT`'s interpreter plans its arena.
//!
//! In: the operators of a subgraph and its inputs and outputs. Out: pairs of a result and the tensor whose memory it has.
//! The rule is that of `LiteRT` 2.3 (`ArenaPlanner::IdentifyInPlaceTensors`), for its own kernels without delegates: the
//! first result of certain operators has the memory of the first operand that may be shared. No input of the graph is
//! shared and no output shares. An operator that changes the bytes needs an operand of the same size, above
//! [`SMALLEST`], that nothing else refers to. Which operators do so was read of the addresses that the interpreter gives
//! to the tensors of small models, one per operator.

use highwater_model::graph::{DType, Dim, GraphBuilder, Id as _, Role, TensorId};

/// An operator: its operands that may be shared, from the first on, and whether it changes the bytes.
const RULES: &[(&str, usize, bool)] = &[
    ("ADD", 2, true),
    ("SUB", 2, true),
    ("MUL", 2, true),
    ("DIV", 2, true),
    ("SOFTMAX", 1, true),
    ("DYNAMIC_UPDATE_SLICE", 1, true),
    ("RESHAPE", 1, false),
    ("SQUEEZE", 1, false),
    ("EXPAND_DIMS", 1, false),
    ("BITCAST", 1, false),
];

/// Tensors up to this size are not changed in place.
const SMALLEST: u64 = 4;

/// An operator: its type, the tensors that it reads and those that it computes; negative where one is left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operator<'a> {
    pub(super) kind: &'a str,
    pub(super) inputs: &'a [i32],
    pub(super) outputs: &'a [i32],
}

struct Arena<'a> {
    builder: &'a GraphBuilder,
    /// By tensor: readers, and one more each for inputs, outputs and variables of the graph.
    references: Vec<u32>,
    is_end: Vec<bool>,
    /// By tensor: the tensor whose memory it has.
    owners: Vec<usize>,
}

/// Pairs of a result and the tensor whose memory it has. O(operands).
pub(super) fn shared<'a>(
    builder: &GraphBuilder,
    n_tensors: usize,
    operators: impl Iterator<Item = Operator<'a>> + Clone,
    ends: &[&[i32]],
) -> Vec<(TensorId, TensorId)> {
    let mut arena = Arena {
        builder,
        references: vec![0; n_tensors],
        is_end: vec![false; n_tensors],
        owners: (0..n_tensors).collect(),
    };
    for end in ends.iter().copied().flatten() {
        arena.refer(*end);
        if let Some(is_end) = usize::try_from(*end).ok().and_then(|end| arena.is_end.get_mut(end)) {
            *is_end = true;
        }
    }
    for input in operators.clone().flat_map(|operator| operator.inputs) {
        arena.refer(*input);
    }
    let mut pairs = Vec::new();
    for operator in operators {
        if let Some((result, owner)) = arena.place(operator) {
            arena.owners[result] = owner;
            pairs.push((TensorId::from_idx(result), TensorId::from_idx(owner)));
        }
    }
    pairs
}

impl Arena<'_> {
    fn refer(&mut self, tensor: i32) {
        if let Some(count) = usize::try_from(tensor).ok().and_then(|at| self.references.get_mut(at)) {
            *count = count.saturating_add(1);
        }
    }

    /// The first result of an operator and the tensor whose memory it takes over.
    fn place(&self, operator: Operator<'_>) -> Option<(usize, usize)> {
        let (_, n_operands, is_changed) = RULES.iter().find(|row| row.0 == operator.kind)?;
        let result = self.planned(*operator.outputs.first()?)?;
        let may_share = |operand: &i32| {
            let operand = self.planned(*operand).filter(|operand| *operand != result)?;
            let is_free = !is_changed || self.references[operand] == 1 && self.is_as_large(operand, result);
            is_free.then_some(operand)
        };
        let operand = operator.inputs.iter().take(*n_operands).find_map(may_share)?;
        let owner = self.owners[operand];
        // A view of a tensor that others read.
        (!is_changed || self.references[owner] == 1).then_some((result, owner))
    }

    /// A tensor that the arena places for some of the steps.
    fn planned(&self, tensor: i32) -> Option<usize> {
        let at = usize::try_from(tensor).ok()?;
        let is_end = *self.is_end.get(at)?;
        let role = self.builder.get(TensorId::from_idx(at)).role;
        (!is_end && role == Role::Activation).then_some(at)
    }

    /// Whether two tensors have the same number of bytes, above [`SMALLEST`].
    fn is_as_large(&self, one: usize, other: usize) -> bool {
        match (self.bytes(one), self.bytes(other)) {
            (Some(one), Some(other)) => one == other && one > SMALLEST,
            (None, None) => {
                let of = |at: usize| {
                    let tensor = self.builder.get(TensorId::from_idx(at));
                    (tensor.dtype, tensor.shape)
                };
                of(one) == of(other) && of(one).0 != DType::Unknown
            }
            _ => false,
        }
    }

    /// `None` where a size is a symbol.
    fn bytes(&self, at: usize) -> Option<u64> {
        let tensor = self.builder.get(TensorId::from_idx(at));
        let dims = self.builder.dims(tensor.shape?).iter();
        let elements = dims.copied().try_fold(1_u64, |product, dim| match dim {
            Dim::Known(size) => Some(product.saturating_mul(size)),
            _ => None,
        })?;
        (tensor.dtype != DType::Unknown).then(|| tensor.dtype.bytes(elements))
    }
}
