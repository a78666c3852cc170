//! What an op costs: the time that the source states, else the larger of its operations over the device's rate and its
//! bytes over the device's bandwidth.
//!
//! The second is an estimate. An op that only makes views moves nothing and costs nothing unless the source says so.

use crate::graph::{Graph, OpId, Role, Sizes};
use crate::units::Nanos;

/// Rates that estimate times; both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRates {
    /// Floating point operations a second.
    pub flops_per_second: u64,
    /// Bytes that are read and written a second.
    pub bytes_per_second: u64,
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The cost of an op under some sizes.
pub fn op_time(graph: &Graph, sizes: &Sizes, op: OpId, rates: OpRates) -> Nanos {
    let row = &graph.ops()[op];
    if let Some(time) = row.time {
        return time;
    }
    let bytes = if makes_only_views(graph, op) {
        0
    } else {
        let tensors = graph.operands(op).iter().chain(graph.results(op));
        let tensors = tensors.filter(|id| graph.tensors()[**id].role != Role::Workspace);
        tensors.map(|id| u128::from(sizes.tensor(*id).unwrap_or(0))).sum()
    };
    let over = |amount: u128, rate: u64| amount * NANOS_PER_SECOND / u128::from(rate.max(1));
    let nanos = over(u128::from(row.flops), rates.flops_per_second).max(over(bytes, rates.bytes_per_second));
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Whether no result has memory of its own.
fn makes_only_views(graph: &Graph, op: OpId) -> bool {
    let results = graph.results(op);
    let is_view = |id: &crate::graph::TensorId| graph.storages()[graph.tensors()[*id].storage].root != *id;
    !results.is_empty() && results.iter().all(is_view)
}
