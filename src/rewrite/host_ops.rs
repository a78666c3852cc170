//! Mixed computing: ops that run on the host, and their effect on device memory.
//!
//! ```text
//! device   Conv --a--> Relu --b-->|               |--d--> MatMul
//! host                            |PyFunc --c--> Print    (d is PyFunc's too)
//! ```
//!
//! In: a graph, its live ranges, the types of host ops. Out: for every storage, which [`Side`]s use it. A storage that
//! a host op uses is no feature memory: where device ops use it too (b, d) it is held as an input or output of the
//! device's part; otherwise (c) it is not on the device.

use super::op_types::OpTypes;
use highwater_model::graph::{Graph, IdVec, StorageId};
use highwater_model::workload::Lifetimes;

/// The sides that use a storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    pub is_on_device: bool,
    pub is_on_host: bool,
}

impl Side {
    /// Whether both sides use it.
    pub const fn crosses(self) -> bool {
        self.is_on_device && self.is_on_host
    }

    pub const fn is_host_only(self) -> bool {
        self.is_on_host && !self.is_on_device
    }
}

/// By storage.
pub type Sides = IdVec<StorageId, Side>;

/// O(ops and operands).
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

/// Feature memory without storages of host ops.
pub fn without_host(graph: &Graph, mut lifetimes: Lifetimes, sides: &Sides) -> Lifetimes {
    lifetimes
        .items
        .retain(|item| !sides[graph.tensors()[item.tensor].storage].is_on_host);
    lifetimes
}
