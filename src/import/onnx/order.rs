//! The order in which a graph's nodes can be visited, each after what computes the names that it and its bodies read.
//! The graph builder refuses cycles later.

use super::model::{Model, RawGraph};
use crate::names::NameIdx;
use crate::shape::order::producers_first;

pub(super) fn of(model: &Model, graph: &RawGraph) -> Vec<u32> {
    let mut producers: Vec<u32> = vec![u32::MAX; graph.locals.len()];
    for (position, node) in (0_u32..).zip(&graph.nodes) {
        let results = graph.outputs_of(node).iter();
        results
            .filter_map(|name| graph.locals.get(*name))
            .for_each(|number| producers[number] = position);
    }
    let producer = |name: &NameIdx| Some(producers[graph.locals.get(*name)?]).filter(|position| *position != u32::MAX);
    producers_first(graph.nodes.len(), |position| {
        let node = &graph.nodes[position as usize];
        let captured = graph.bodies_of(node).flat_map(|body| &model.graphs[body.0].captures);
        let before: Vec<u32> = graph
            .inputs_of(node)
            .iter()
            .chain(captured)
            .filter_map(producer)
            .collect();
        before.into_iter().rev()
    })
}
