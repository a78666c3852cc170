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

/// What an op does, from which its time is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpWork {
    /// Floating point operations.
    pub flops: u64,
    /// Bytes that it reads and writes.
    pub bytes: u64,
}

impl OpRates {
    /// The estimated time of some work: the larger of what computing and what moving bytes takes.
    pub fn time(self, work: OpWork) -> Nanos {
        let nanos = self.compute_nanos(work).max(self.moving_nanos(work));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Whether computing takes longer than moving bytes.
    pub fn is_compute_bound(self, work: OpWork) -> bool {
        self.compute_nanos(work) > self.moving_nanos(work)
    }

    fn compute_nanos(self, work: OpWork) -> u128 {
        u128::from(work.flops) * NANOS_PER_SECOND / u128::from(self.flops_per_second.max(1))
    }

    fn moving_nanos(self, work: OpWork) -> u128 {
        u128::from(work.bytes) * NANOS_PER_SECOND / u128::from(self.bytes_per_second.max(1))
    }
}

/// The cost of an op under some sizes.
pub fn op_time(graph: &Graph, sizes: &Sizes, op: OpId, rates: OpRates) -> Nanos {
    graph.ops()[op]
        .time
        .unwrap_or_else(|| rates.time(op_work(graph, sizes, op)))
}

/// What an op does under some sizes. Scratch memory is not counted.
pub fn op_work(graph: &Graph, sizes: &Sizes, op: OpId) -> OpWork {
    let bytes = if makes_only_views(graph, op) {
        0
    } else {
        let tensors = graph.operands(op).iter().chain(graph.results(op));
        let tensors = tensors.filter(|id| graph.tensors()[**id].role != Role::Workspace);
        let bytes = tensors.map(|id| sizes.tensor(*id).unwrap_or(0));
        bytes.fold(0_u64, u64::saturating_add)
    };
    OpWork {
        flops: graph.ops()[op].flops,
        bytes,
    }
}

/// Whether no result has memory of its own.
fn makes_only_views(graph: &Graph, op: OpId) -> bool {
    let results = graph.results(op);
    let is_view = |id: &crate::graph::TensorId| graph.storages()[graph.tensors()[*id].storage].root != *id;
    !results.is_empty() && results.iter().all(is_view)
}
