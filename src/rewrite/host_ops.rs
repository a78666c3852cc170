//! Mixed computing: ops that stay on the host, and what that does to device memory.
//!
//! ```text
//! device   Conv --a--> Relu --b-->|               |--d--> MatMul
//! host                            |PyFunc --c--> Print    (d is PyFunc's too)
//! ```
//!
//! In: a graph, its live ranges, the op types that stay. Out: for every storage, on which [`Side`]s it is used. A
//! storage that a host op touches is no feature memory: where device ops touch it too (b, d) it crosses and is held
//! as an input or output of the device's part; where none does (c) the device never sees it.

use super::op_types::OpTypes;
use highwater_model::graph::{Graph, IdVec, StorageId};
use highwater_model::workload::Lifetimes;

/// Who touches a storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Some op on the device makes or reads it.
    pub is_on_device: bool,
    /// Some op on the host makes or reads it.
    pub is_on_host: bool,
}

impl Side {
    /// Whether it is carried between the two.
    pub const fn crosses(self) -> bool {
        self.is_on_device && self.is_on_host
    }

    /// Whether the device never sees it.
    pub const fn is_host_only(self) -> bool {
        self.is_on_host && !self.is_on_device
    }
}

/// By storage: its side.
pub type Sides = IdVec<StorageId, Side>;

/// The sides of every storage. Linear in ops and operands.
pub fn host_split(graph: &Graph, host_ops: &OpTypes) -> Sides {
    let mut sides: Sides = graph.storages().iter().map(|_| Side::default()).collect();
    for op in graph.ops().ids() {
        let is_host = host_ops.contains(graph.op_kind(op));
        for tensor in graph.results(op).iter().chain(graph.operands(op)) {
            let side = &mut sides[graph.tensors()[*tensor].storage];
            side.is_on_host |= is_host;
            side.is_on_device |= !is_host;
        }
    }
    sides
}

/// Feature memory without what host ops touch.
pub fn without_host(graph: &Graph, mut lifetimes: Lifetimes, sides: &Sides) -> Lifetimes {
    lifetimes
        .items
        .retain(|item| !sides[graph.tensors()[item.tensor].storage].is_on_host);
    lifetimes
}
