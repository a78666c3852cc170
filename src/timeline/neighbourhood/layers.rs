//! Layers and places of nodes: every edge leads to a later layer, and few edges cross.
//!
//! A node's layer comes after all its predecessors; a node without any goes right before its first successor. An edge
//! that crosses layers gets a place in each. Then the nodes of every layer are sorted by the mean place of their
//! neighbours, forth and back, and the order with the fewest crossings wins, the first of equals. O(rounds x (edges log
//! edges)) for the few nodes that are drawn.

use petgraph::algo::{has_path_connecting, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

/// The content of a place in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// By position.
    Node(usize),
    /// An edge that passes, by position.
    Bend(usize),
}

const ROUNDS: usize = 6;

/// Edges that would close a cycle are ignored.
pub(super) fn layers(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<Slot>> {
    let mut graph = DiGraph::<usize, usize>::new();
    let nodes: Vec<NodeIndex> = (0..n_nodes).map(|node| graph.add_node(node)).collect();
    for (number, (from, to)) in edges.iter().enumerate() {
        if !has_path_connecting(&graph, nodes[*to], nodes[*from], None) {
            graph.add_edge(nodes[*from], nodes[*to], number);
        }
    }
    let layer = layer_of(&graph);
    let n_layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut layers: Vec<Vec<Slot>> = vec![Vec::new(); n_layers];
    for (node, layer) in layer.iter().enumerate() {
        layers[*layer].push(Slot::Node(node));
    }
    // By pair of adjacent layers: edges between their slots.
    let mut joins: Vec<Vec<(Slot, Slot)>> = vec![Vec::new(); n_layers.saturating_sub(1)];
    for edge in graph.edge_references() {
        let (from, to) = (edge.source().index(), edge.target().index());
        let mut last = Slot::Node(from);
        for between in layer[from] + 1..layer[to] {
            let bend = Slot::Bend(*edge.weight());
            layers[between].push(bend);
            joins[between - 1].push((last, bend));
            last = bend;
        }
        joins[layer[to] - 1].push((last, Slot::Node(to)));
    }
    ordered(layers, &joins)
}

fn layer_of(graph: &DiGraph<usize, usize>) -> Vec<usize> {
    use petgraph::Direction::{Incoming, Outgoing};
    let mut layer = vec![0; graph.node_count()];
    // The graph is acyclic: edges that close a cycle were not added.
    let order = toposort(graph, None).unwrap_or_default();
    for node in &order {
        let before = graph.neighbors_directed(*node, Incoming);
        layer[node.index()] = before.map(|from| layer[from.index()] + 1).max().unwrap_or(0);
    }
    for node in &order {
        let is_first = graph.neighbors_directed(*node, Incoming).next().is_none();
        let behind = graph.neighbors_directed(*node, Outgoing);
        if let (true, Some(next)) = (is_first, behind.map(|to| layer[to.index()]).min()) {
            layer[node.index()] = next - 1;
        }
    }
    layer
}

fn ordered(mut layers: Vec<Vec<Slot>>, joins: &[Vec<(Slot, Slot)>]) -> Vec<Vec<Slot>> {
    let mut best = layers.clone();
    let mut fewest = crossings(&best, joins);
    for round in 0..ROUNDS * 2 {
        if fewest == 0 {
            break;
        }
        let is_forth = round % 2 == 0;
        for step in 0..joins.len() {
            let join = if is_forth { step } else { joins.len() - 1 - step };
            let (fixed, moved) = if is_forth { (join, join + 1) } else { (join + 1, join) };
            let pairs = joins[join]
                .iter()
                .map(|(a, b)| if is_forth { (*a, *b) } else { (*b, *a) });
            let pairs: Vec<(Slot, Slot)> = pairs.collect();
            let known = layers[fixed].clone();
            sort_by_mean(&mut layers[moved], &known, &pairs);
        }
        let now = crossings(&layers, joins);
        if now < fewest {
            fewest = now;
            best.clone_from(&layers);
        }
    }
    best
}

/// Sorts a layer by the mean place of each slot's neighbours in `fixed`; a slot without any keeps its place.
fn sort_by_mean(layer: &mut [Slot], fixed: &[Slot], pairs: &[(Slot, Slot)]) {
    let mean = |(place, slot): (usize, Slot)| {
        let joined = pairs.iter().filter(|(_, to)| *to == slot);
        let places = joined.filter_map(|(from, _)| fixed.iter().position(|known| known == from));
        let (sum, count) = places.fold((0, 0), |(sum, count), place| (sum + place, count + 1));
        // A mean as a fraction; fractions are compared by cross-multiplication.
        if count == 0 { (place, 1) } else { (sum, count) }
    };
    let mut keyed: Vec<((usize, usize), Slot)> = layer
        .iter()
        .copied()
        .enumerate()
        .map(|(place, slot)| (mean((place, slot)), slot))
        .collect();
    keyed.sort_by(|((a, n), _), ((b, m), _)| (a * m).cmp(&(b * n)));
    for (place, (_, slot)) in layer.iter_mut().zip(keyed) {
        *place = slot;
    }
}

pub(super) fn crossings(layers: &[Vec<Slot>], joins: &[Vec<(Slot, Slot)>]) -> usize {
    let of_pair = |(join, pairs): (usize, &Vec<(Slot, Slot)>)| {
        let place = |layer: &[Slot], slot: Slot| layer.iter().position(|known| *known == slot);
        let ends: Vec<(Option<usize>, Option<usize>)> = pairs
            .iter()
            .map(|(from, to)| (place(&layers[join], *from), place(&layers[join + 1], *to)))
            .collect();
        let cross = |(at, a): (usize, &(Option<usize>, Option<usize>))| {
            let others = ends[at + 1..].iter();
            others
                .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                .count()
        };
        ends.iter().enumerate().map(cross).sum::<usize>()
    };
    joins.iter().enumerate().map(of_pair).sum()
}

#[cfg(test)]
mod tests {
    use super::{Slot, layers};
    use proptest::prelude::*;

    fn layer_of(layers: &[Vec<Slot>], node: usize) -> usize {
        layers
            .iter()
            .position(|layer| layer.contains(&Slot::Node(node)))
            .expect("every node has a layer")
    }

    #[test]
    fn edges_stay_straight_and_long_ones_have_places() {
        // 0 and 1 lead to 2, which leads to 3; 1 leads to 3 too.
        let known = layers(4, &[(0, 2), (1, 2), (1, 3), (2, 3)]);
        let node = Slot::Node;
        assert_eq!(
            known,
            [vec![node(0), node(1)], vec![node(2), Slot::Bend(2)], vec![node(3)]]
        );
        // Crossed edges are uncrossed.
        let known = layers(4, &[(0, 3), (1, 2)]);
        assert_eq!(known, [vec![node(0), node(1)], vec![node(3), node(2)]]);
        // A node without predecessors goes right before its successor.
        let known = layers(4, &[(0, 1), (1, 2), (3, 2)]);
        assert_eq!(layer_of(&known, 3), 1);
        // A cycle terminates.
        assert_eq!(layers(2, &[(0, 1), (1, 0)]), [vec![node(0)], vec![node(1)]]);
        assert!(layers(0, &[]).is_empty());
    }

    proptest! {
        #[test]
        fn every_edge_leads_to_a_later_layer_and_every_node_has_one_place(
            pairs in proptest::collection::vec((0_usize..12, 0_usize..12), 0..30)
        ) {
            let mut edges: Vec<(usize, usize)> = pairs.into_iter().filter(|(a, b)| a < b).collect();
            edges.sort_unstable();
            edges.dedup();
            let known = layers(12, &edges);
            for node in 0..12 {
                let count = known.iter().flatten().filter(|slot| **slot == Slot::Node(node)).count();
                prop_assert_eq!(count, 1);
            }
            for (number, (from, to)) in edges.iter().enumerate() {
                let (from, to) = (layer_of(&known, *from), layer_of(&known, *to));
                prop_assert!(from < to);
                let bends = known.iter().flatten().filter(|slot| **slot == Slot::Bend(number)).count();
                prop_assert_eq!(bends, to - from - 1);
            }
        }
    }
}
