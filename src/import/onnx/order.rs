//! The order in which a graph's nodes can be visited: the file's, where every name is computed before its use.
//!
//! Else producers are visited before consumers, by walking back from each node. Cycles stay in file order;
//! the graph builder refuses them later. Linear in nodes and names.

use super::model::{Model, RawGraph, RawNode};
use crate::names::NameIdx;

pub(super) fn of(model: &Model, graph: &RawGraph) -> Vec<u32> {
    let n_nodes = u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    let mut producers: Vec<u32> = vec![u32::MAX; graph.locals.len()];
    for (position, node) in (0..n_nodes).zip(&graph.nodes) {
        let results = graph.outputs_of(node).iter();
        results
            .filter_map(|name| graph.locals.get(*name))
            .for_each(|number| producers[number] = position);
    }
    let producer = |name: &NameIdx| {
        let position = producers[graph.locals.get(*name)?];
        (position != u32::MAX).then_some(position)
    };
    let names = |node: &RawNode| {
        let captured = graph.bodies_of(node).flat_map(|body| &model.graphs[body.0].captures);
        graph
            .inputs_of(node)
            .iter()
            .chain(captured)
            .copied()
            .collect::<Vec<NameIdx>>()
    };
    let before = |node: &RawNode| -> Vec<u32> { names(node).iter().filter_map(producer).collect() };
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
