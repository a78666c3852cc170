//! Measured times and scratch memory of a graph's ops.
//!
//! In: a graph, a recording with measured ops. Out: the measurements by op. Ops are matched by name, else by type
//! and order; of an op that ran
//! several times the mean time and the largest scratch memory count.

use std::collections::BTreeMap;

use super::op_matching::{MatchedBy, match_ops};
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
    let matched = match_ops(graph, recording);
    let mut sums: BTreeMap<OpId, (u64, u64, u64)> = BTreeMap::new();
    let mut learned = LearnedOps::default();
    for (op, id) in recording.ops.iter().zip(&matched.ops) {
        let Some(id) = *id else {
            // A trace of types lists the ops within ops, too.
            learned.unmatched += u64::from(matched.by == MatchedBy::Names);
            continue;
        };
        let sum = sums.entry(id).or_default();
        sum.0 = sum.0.saturating_add(op.time.0);
        sum.1 += 1;
        sum.2 = sum.2.max(op.scratch.get());
    }
    for (op, (time, count, scratch)) in sums {
        learned.scratch += Bytes(scratch);
        learned.ops.push(MeasuredOp {
            op,
            time: (time > 0).then(|| Nanos(time / count.max(1))),
            scratch,
        });
    }
    learned
}
