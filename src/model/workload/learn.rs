//! Measured times and scratch memory of a graph's ops.
//!
//! In: a graph, a recording with measured ops. Out: the measurements by op. Ops are matched by name; of an op that ran
//! several times the mean time and the largest scratch memory count.

use std::collections::BTreeMap;

use super::recording::Recording;
use crate::graph::{Graph, MeasuredOp, OpId};
use crate::units::{Bytes, Nanos};

/// Measurements of a graph's ops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedOps {
    /// By op of the graph.
    pub ops: Vec<MeasuredOp>,
    /// Measured ops without a counterpart.
    pub unmatched: u64,
    /// Sum of scratch memory.
    pub scratch: Bytes,
}

/// O(n log n).
pub fn learn_ops(graph: &Graph, recording: &Recording) -> LearnedOps {
    let mut by_name: BTreeMap<&str, OpId> = BTreeMap::new();
    for op in graph.ops().ids() {
        let name = graph.op_name(op);
        if !name.is_empty() {
            by_name.entry(name).or_insert(op);
        }
    }
    let mut sums: BTreeMap<OpId, (u64, u64, u64)> = BTreeMap::new();
    let mut learned = LearnedOps::default();
    for op in &recording.ops {
        let Some(id) = by_name.get(recording.text(op.name)) else {
            learned.unmatched += 1;
            continue;
        };
        let sum = sums.entry(*id).or_default();
        sum.0 = sum.0.saturating_add(op.time.0);
        sum.1 += 1;
        sum.2 = sum.2.max(op.scratch.get());
    }
    for (op, (time, count, scratch)) in sums {
        learned.scratch += Bytes(scratch);
        learned.ops.push(MeasuredOp {
            op,
            time: Some(Nanos(time / count.max(1))),
            scratch,
        });
    }
    learned
}
