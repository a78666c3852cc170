//! The order in which a graph's nodes are visited: producers before consumers.
//!
//! The file's order where it is one already, else found by walking back from each node. What flows back into a loop
//! (`NextIteration` -> `Merge`) does not count; other cycles stay in file order, with unknown facts where they
//! close. Linear in nodes and inputs.

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
    let n_nodes = u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    let before = |position: u32, turn: usize| -> Option<Option<u32>> {
        let node = &graph.nodes[position as usize];
        let operand = graph.operands_of(node).get(turn)?;
        let Some(producer) = graph.producer(*operand) else {
            return Some(None);
        };
        let closes_loop = is_merge(model.kind(node)) && is_back(model.kind(producer));
        Some((!closes_loop).then_some(operand.node))
    };
    let all_before = |position: u32| (0..).map_while(move |turn| before(position, turn)).flatten();
    if (0..n_nodes).all(|position| all_before(position).all(|other| other < position)) {
        return (0..n_nodes).collect();
    }
    let mut order = Vec::with_capacity(graph.nodes.len());
    let mut was_seen = vec![false; graph.nodes.len()];
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for start in 0..n_nodes {
        if std::mem::replace(&mut was_seen[start as usize], true) {
            continue;
        }
        stack.push((start, 0));
        while let Some((position, turn)) = stack.last_mut() {
            let (at, next) = (*position, *turn);
            *turn += 1;
            match before(at, next) {
                Some(Some(other)) if !was_seen[other as usize] => {
                    was_seen[other as usize] = true;
                    stack.push((other, 0));
                }
                Some(_) => {}
                None => {
                    order.push(at);
                    stack.pop();
                }
            }
        }
    }
    order
}
