//! Limits of copying: nested calls can double with every level.
//!
//! In: the cost of a graph. Out: whether it fits. Names count, because every op and tensor of a body gets its caller's
//! name as prefix.

use super::site::MAX_OWN_NAME;
use highwater_model::graph::{Graph, TensorId};

/// Over all graphs of an entry.
pub const MAX_OPS: u64 = 4_000_000;

/// Tensors and operands.
const MAX_ITEMS: u64 = 32_000_000;

/// Bytes of names.
const MAX_NAME_BYTES: u64 = 512 << 20;

/// Budget for inlined versions of bodies that are only called: only viewing such a body alone needs them.
const KEPT: Budget = Budget {
    ops: 1 << 18,
    items: 1 << 21,
    name_bytes: 16 << 20,
};

/// Cost of copying a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    ops: u64,
    tensors: u64,
    operands: u64,
    name_bytes: u64,
}

impl Cost {
    /// O(operands + names).
    pub(super) fn of(graph: &Graph) -> Self {
        let bytes = |name: &str| name.len().min(MAX_OWN_NAME) as u64;
        let of_ops: u64 = graph.ops().ids().map(|op| bytes(graph.op_name(op))).sum();
        let tensors = graph.tensors().ids();
        let of_tensors: u64 = tensors.map(|tensor| bytes(graph.tensor_name(tensor))).sum();
        Self {
            ops: graph.ops().len() as u64,
            tensors: graph.tensors().len() as u64,
            operands: graph.ops().ids().map(|op| graph.operands(op).len() as u64).sum(),
            name_bytes: of_ops + of_tensors,
        }
    }
}

impl Cost {
    /// Cost of single tensors.
    pub(super) fn of_tensors(graph: &Graph, tensors: &[TensorId]) -> Self {
        let names = tensors.iter().map(|tensor| graph.tensor_name(*tensor));
        Self {
            tensors: tensors.len() as u64,
            name_bytes: names.map(|name| name.len().min(MAX_OWN_NAME) as u64).sum(),
            ..Self::default()
        }
    }
}

/// Remaining budget.
#[derive(Debug)]
pub(super) struct Budget {
    ops: u64,
    items: u64,
    name_bytes: u64,
}

impl Budget {
    pub(super) const fn new(max_ops: u64) -> Self {
        Self {
            ops: max_ops,
            items: MAX_ITEMS,
            name_bytes: MAX_NAME_BYTES,
        }
    }

    /// See [`KEPT`].
    pub(super) const fn kept() -> Self {
        KEPT
    }

    /// Spends the cost of a copy whose names get `prefix` more bytes; `false` where it does not fit.
    pub(super) fn take(&mut self, cost: &Cost, prefix: usize) -> bool {
        // A separator and up to three digits join the names.
        let longer = (cost.ops + cost.tensors).saturating_mul(prefix as u64 + 4);
        let name_bytes = cost.name_bytes.saturating_add(longer);
        let items = cost.operands + cost.tensors;
        let fits = cost.ops <= self.ops && items <= self.items && name_bytes <= self.name_bytes;
        if fits {
            self.ops -= cost.ops;
            self.items -= items;
            self.name_bytes -= name_bytes;
        }
        fits
    }
}
