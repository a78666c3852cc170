//! The order in which a graph's nodes can be looked at: the file's, where every name is computed before its use.
//!
//! Else producers are visited before consumers, by walking back from each node. Cycles are left as they stand;
//! the graph builder refuses them later. Linear in nodes and names.

use indexmap::IndexMap;

use super::model::{Model, RawGraph, RawNode};
use super::names::NameIdx;

/// Positions of nodes.
pub(super) fn of(model: &Model, graph: &RawGraph) -> Vec<u32> {
    let n_nodes = u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    let mut producers: IndexMap<NameIdx, u32> = IndexMap::new();
    for (position, node) in (0..n_nodes).zip(&graph.nodes) {
        producers.extend(graph.outputs_of(node).iter().map(|name| (*name, position)));
    }
    let before = |node: &RawNode| -> Vec<u32> {
        let captured = graph.bodies_of(node).flat_map(|body| &model.graphs[body.0].captures);
        let names = graph.inputs_of(node).iter().chain(captured);
        names
            .filter(|name| !name.is_empty())
            .filter_map(|name| producers.get(name).copied())
            .collect()
    };
    let is_sorted = (0..n_nodes)
        .zip(&graph.nodes)
        .all(|(position, node)| before(node).iter().all(|other| *other < position));
    if is_sorted {
        return (0..n_nodes).collect();
    }
    let mut order = Vec::with_capacity(graph.nodes.len());
    let mut was_seen = vec![false; graph.nodes.len()];
    let mut stack: Vec<(u32, Vec<u32>)> = Vec::new();
    for start in 0..n_nodes {
        if std::mem::replace(&mut was_seen[start as usize], true) {
            continue;
        }
        stack.push((start, before(&graph.nodes[start as usize])));
        while let Some((position, waiting)) = stack.last_mut() {
            match waiting.pop() {
                Some(next) if !was_seen[next as usize] => {
                    was_seen[next as usize] = true;
                    stack.push((next, before(&graph.nodes[next as usize])));
                }
                Some(_) => {}
                None => {
                    order.push(*position);
                    stack.pop();
                }
            }
        }
    }
    order
}
