//! What an op costs: the time that the source states, else a fixed time of its launch and the larger of its operations over
//! the device's rate and its bytes over the device's bandwidth.
//!
//! The second is an estimate. An op that only makes views (not: one that works in place) launches and moves nothing, and costs nothing unless the source
//! says so; so does one of which neither operations nor bytes are known.

use highwater_model::graph::{Graph, OpId, Role, Sizes};
use highwater_model::units::Nanos;

/// What estimates times: rates, both at least 1, and what every op takes besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRates {
    /// Floating point operations a second.
    pub flops_per_second: u64,
    /// Bytes that are read and written a second.
    pub bytes_per_second: u64,
    /// What an op that does anything takes besides, whatever it does.
    pub launch: Nanos,
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
    /// The estimated time of some work: the launch, and the larger of what computing and what moving bytes takes; none
    /// for no work.
    pub fn time(self, work: OpWork) -> Nanos {
        if work == OpWork::default() {
            return Nanos(0);
        }
        let nanos = self.compute_nanos(work).max(self.moving_nanos(work));
        let nanos = nanos.saturating_add(u128::from(self.launch.0));
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

/// Whether no result has memory of its own, and nothing is written where they lie.
fn makes_only_views(graph: &Graph, op: OpId) -> bool {
    let results = graph.results(op);
    let is_shared = |id: &highwater_model::graph::TensorId| graph.storages()[graph.tensors()[*id].storage].root != *id;
    !results.is_empty() && results.iter().all(is_shared) && !writes_in_place(graph.op_kind(op))
}

/// Parts of op types that write into memory which they are given: TensorFlow's and GE's variables, XLA's updates and fusions.
const WRITERS: [&str; 7] = [
    "Assign",
    "Apply",
    "Scatter",
    "InplaceUpdate",
    "dynamic-update-slice",
    "scatter",
    "fusion",
];

/// Whether ops of a type write into memory that they are given. Sources say which tensors share memory, not why; a view moves
/// nothing, an op that works in place moves all. PyTorch's types of the latter end in an underscore (`aten.relu_.default`);
/// special methods (`__and__`) do not write.
fn writes_in_place(kind: &str) -> bool {
    let is_marked = |part: &str| part.len() > 1 && part.ends_with('_') && !part.ends_with("__");
    kind.split('.').any(is_marked) || WRITERS.iter().any(|part| kind.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_in_place_is_told_from_views() {
        let cases = [
            ("aten.relu_.default", true),
            ("aten._foreach_add_.List", true),
            ("add_", true),
            ("AssignAddVariableOp", true),
            ("ResourceApplyGradientDescent", true),
            ("dynamic-update-slice", true),
            ("aten.view.default", false),
            ("aten.__and__.Tensor", false),
            ("aten.transpose.int", false),
            ("Reshape", false),
            ("bitcast", false),
            ("_", false),
        ];
        for (kind, is_in_place) in cases {
            assert_eq!(writes_in_place(kind), is_in_place, "{kind}");
        }
    }
}
