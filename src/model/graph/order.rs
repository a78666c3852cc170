//! Execution order: the file's where it is topological, otherwise Kahn's algorithm.
//!
//! Ties: the ready op with the smallest file position. O((ops + edges) log ops).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use crate::lists::Lists;

/// A directed edge between file positions of ops: the first runs before the second.
pub(super) type Edge = (u32, u32);

/// The order as file positions, or the positions of the ops of one cycle.
pub(super) fn execution_order(n_ops: u32, edges: &[Edge]) -> Result<Vec<u32>, Vec<u32>> {
    if edges.iter().all(|(from, to)| from < to) {
        return Ok((0..n_ops).collect());
    }
    let mut waiting_for = vec![0_u32; n_ops as usize];
    for (_, to) in edges {
        waiting_for[*to as usize] += 1;
    }
    let targets = Lists::of_pairs(n_ops as usize, edges.iter().map(|(from, to)| (*from as usize, *to)));
    let mut ready: BinaryHeap<Reverse<u32>> = (0..n_ops)
        .filter(|op| waiting_for[*op as usize] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(n_ops as usize);
    while let Some(Reverse(op)) = ready.pop() {
        order.push(op);
        for to in targets.of(op as usize) {
            let count = &mut waiting_for[*to as usize];
            *count -= 1;
            if *count == 0 {
                ready.push(Reverse(*to));
            }
        }
    }
    if order.len() == n_ops as usize {
        Ok(order)
    } else {
        Err(circle(edges))
    }
}

/// The ops of one cycle, ascending: the strongly connected component with the smallest file position.
fn circle(edges: &[Edge]) -> Vec<u32> {
    let graph = DiGraph::<(), (), u32>::from_edges(edges);
    let is_circle = |ops: &Vec<_>| ops.len() > 1 || ops.first().is_some_and(|op| graph.contains_edge(*op, *op));
    let circles = tarjan_scc(&graph).into_iter().filter(is_circle);
    let positions = circles.map(|ops| {
        let mut positions: Vec<u32> = ops.iter().filter_map(|op| u32::try_from(op.index()).ok()).collect();
        positions.sort_unstable();
        positions
    });
    positions.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topological_files_keep_their_order() {
        assert_eq!(execution_order(3, &[(0, 2), (1, 2)]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn the_smallest_ready_position_comes_first() {
        assert_eq!(execution_order(4, &[(3, 0), (1, 2)]), Ok(vec![1, 2, 3, 0]));
    }

    #[test]
    fn a_cycle_is_named() {
        assert_eq!(execution_order(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]), Err(vec![1, 2]));
        assert_eq!(execution_order(2, &[(1, 1)]), Err(vec![1]));
    }
}
