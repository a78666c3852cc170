//! The order in which a graph's nodes are visited: producers before consumers.
//!
//! What flows back into a loop (`NextIteration` -> `Merge`) does not count; other cycles stay in file order, with unknown
//! facts where they close.

use crate::shape::order::producers_first;
use crate::tensorflow::model::{Model, RawGraph};

/// Whether an op brings a loop's values back to its start.
pub(super) fn is_back(kind: &str) -> bool {
    matches!(kind, "NextIteration" | "RefNextIteration")
}

/// Whether an op is where values of two ways meet.
pub(super) fn is_merge(kind: &str) -> bool {
    matches!(kind, "Merge" | "RefMerge")
}

pub(super) fn of(model: &Model, graph: &RawGraph) -> Vec<u32> {
    producers_first(graph.nodes.len(), |position| {
        let node = &graph.nodes[position as usize];
        graph.operands_of(node).iter().filter_map(move |operand| {
            let producer = graph.producer(*operand)?;
            let closes_loop = is_merge(model.kind(node)) && is_back(model.kind(producer));
            (!closes_loop).then_some(operand.node)
        })
    })
}
