//! The time of an op: stated by the source, else launch + max(operations / rate, bytes / bandwidth).
//!
//! The latter is an estimate. An op that only makes views (unlike one that works in place) costs nothing unless the
//! source states a time; neither does an op with unknown operations and bytes.

use highwater_model::graph::{Graph, OpId, Role, Sizes};
use highwater_model::units::Nanos;

/// Rates for estimates, both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRates {
    /// Floating point operations per second.
    pub flops_per_second: u64,
    /// Bytes read and written per second.
    pub bytes_per_second: u64,
    /// Added to every op that does work.
    pub launch: Nanos,
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The work of an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpWork {
    pub flops: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

impl OpRates {
    /// Launch plus the larger of computing and moving time; zero for no work.
    pub fn time(self, work: OpWork) -> Nanos {
        if work == OpWork::default() {
            return Nanos(0);
        }
        let nanos = self.compute_nanos(work).max(self.moving_nanos(work));
        let nanos = nanos.saturating_add(u128::from(self.launch.0));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Whether computing takes longer than moving bytes (compute-bound).
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

pub fn op_time(graph: &Graph, sizes: &Sizes, op: OpId, rates: OpRates) -> Nanos {
    graph.ops()[op]
        .time
        .unwrap_or_else(|| rates.time(op_work(graph, sizes, op)))
}

/// Scratch memory is not counted.
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

/// Whether all results are views and the op writes nothing in place.
fn makes_only_views(graph: &Graph, op: OpId) -> bool {
    let results = graph.results(op);
    let is_shared = |id: &highwater_model::graph::TensorId| graph.storages()[graph.tensors()[*id].storage].root != *id;
    !results.is_empty() && results.iter().all(is_shared) && !writes_in_place(graph.op_kind(op))
}

/// Parts of op types that write into their operands: variables of TensorFlow and GE, updates and fusions of XLA.
const WRITERS: [&str; 7] = [
    "Assign",
    "Apply",
    "Scatter",
    "InplaceUpdate",
    "dynamic-update-slice",
    "scatter",
    "fusion",
];

/// Whether ops of a type write into their operands. Sources say which tensors share memory, not why; a view moves
/// nothing, an op that works in place moves everything. PyTorch's in-place types end in an underscore
/// (`aten.relu_.default`); special methods (`__and__`) do not write.
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
