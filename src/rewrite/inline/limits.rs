//! How much may be copied: calls within calls double with every level.
//!
//! In: what a graph costs. Out: whether it still fits. Names count too: every op and tensor of a body gets that of its
//! caller before its own.

use super::site::MAX_OWN_NAME;
use highwater_model::graph::{Graph, TensorId};

/// Most ops that are copied in sum, over all graphs of an entry.
pub const MAX_OPS: u64 = 4_000_000;

/// Most tensors and operands that are copied in sum.
const MAX_ITEMS: u64 = 32_000_000;

/// Most bytes of names that are copied in sum.
const MAX_NAME_BYTES: u64 = 512 << 20;

/// Of bodies that are only called, which nothing but a look at one of them alone needs any more: most that is kept with their
/// own calls in place.
const KEPT: Budget = Budget {
    ops: 1 << 18,
    items: 1 << 21,
    name_bytes: 16 << 20,
};

/// What a copy of a graph takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    ops: u64,
    tensors: u64,
    operands: u64,
    /// Of ops and tensors.
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
    /// Of some tensors alone.
    pub(super) fn of_tensors(graph: &Graph, tensors: &[TensorId]) -> Self {
        let names = tensors.iter().map(|tensor| graph.tensor_name(*tensor));
        Self {
            tensors: tensors.len() as u64,
            name_bytes: names.map(|name| name.len().min(MAX_OWN_NAME) as u64).sum(),
            ..Self::default()
        }
    }
}

/// What may still be copied.
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

    /// For what is kept though nothing needs it any more.
    pub(super) const fn kept() -> Self {
        KEPT
    }

    /// Takes what a copy needs, with names that have so many bytes more; `false` where that is too much.
    pub(super) fn take(&mut self, cost: &Cost, prefix: usize) -> bool {
        // One byte and a letter of three for what joins the names.
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
