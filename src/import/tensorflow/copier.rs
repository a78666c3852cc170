//! Copies of the parts of a main graph that its signatures need.
//!
//! In: the nodes that a signature returns. Out: a graph of them and of all that they need, in the order of the file. Work
//! and memory of all copies together are bounded by the size of the main graph: signatures may overlap.

use super::model::{Attribute, Operand, RawGraph, RawNode};

const NONE: u32 = u32::MAX;
/// The size of all copies, relative to that of the main graph.
const MOST_COPIES: usize = 8;

pub(super) struct Copier<'m> {
    main: &'m RawGraph,
    /// By node.
    sizes: Vec<usize>,
    /// By node: its position in the copy that is made; `NONE` for all between two copies.
    positions: Vec<u32>,
    left: usize,
}

impl<'m> Copier<'m> {
    pub(super) fn new(main: &'m RawGraph) -> Self {
        let sizes: Vec<usize> = main.nodes.iter().map(|node| size(main, node)).collect();
        let whole = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
        Self {
            main,
            positions: vec![NONE; sizes.len()],
            sizes,
            left: whole.saturating_mul(MOST_COPIES),
        }
    }

    /// What some nodes need; `None` where it is larger than what is left, unless it always has room.
    pub(super) fn copy(&mut self, fetched: Vec<u32>, has_room: bool) -> Option<RawGraph> {
        let most = if has_room { usize::MAX } else { self.left };
        let (kept, size) = self.needed(fetched, most);
        let graph = (size <= most).then(|| {
            for (position, new) in kept.iter().zip(0_u32..) {
                self.positions[*position as usize] = new;
            }
            self.part(&kept)
        });
        for position in kept {
            self.positions[position as usize] = NONE;
        }
        self.left = match graph {
            Some(_) => self.left.saturating_sub(size),
            // What was looked through in vain counts too, and still leaves room for smaller ones.
            None => self.left / 2,
        };
        graph
    }

    /// The needed nodes in order, and their size; once that exceeds `most`, not all of them.
    fn needed(&mut self, mut open: Vec<u32>, most: usize) -> (Vec<u32>, usize) {
        let (mut kept, mut size) = (Vec::new(), 0_usize);
        while let Some(position) = open.pop() {
            let Some(mark @ &mut NONE) = self.positions.get_mut(position as usize) else {
                continue;
            };
            *mark = 0;
            kept.push(position);
            size = size.saturating_add(self.sizes[position as usize]);
            if size > most {
                break;
            }
            let node = &self.main.nodes[position as usize];
            open.extend(self.main.operands_of(node).iter().map(|operand| operand.node));
            open.extend_from_slice(self.main.controls_of(node));
        }
        kept.sort_unstable();
        (kept, size)
    }

    /// The kept nodes. What they read is kept.
    fn part(&self, kept: &[u32]) -> RawGraph {
        let main = self.main;
        let mut graph = RawGraph::default();
        let end = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        for node in kept.iter().map(|position| &main.nodes[*position as usize]) {
            let (operands, controls) = (end(graph.operands.len()), end(graph.controls.len()));
            let (attributes, first_value) = (end(graph.attributes.len()), end(graph.dtypes.len()));
            graph
                .operands
                .extend(main.operands_of(node).iter().map(|operand| Operand {
                    node: self.positions.get(operand.node as usize).copied().unwrap_or(NONE),
                    ..*operand
                }));
            let before = main.controls_of(node).iter();
            graph
                .controls
                .extend(before.map(|before| self.positions[*before as usize]));
            graph.attributes.extend_from_slice(main.attributes_of(node));
            graph.dtypes.extend_from_slice(&main.dtypes[main.values_of(node)]);
            graph.nodes.push(RawNode {
                operands,
                operands_end: end(graph.operands.len()),
                controls,
                controls_end: end(graph.controls.len()),
                attributes,
                attributes_end: end(graph.attributes.len()),
                first_value,
                ..node.clone()
            });
        }
        graph
    }
}

/// A node with all that belongs to it, in elements.
fn size(graph: &RawGraph, node: &RawNode) -> usize {
    let elements = |(_, attribute): &(_, Attribute)| match attribute {
        Attribute::Ints(all) => all.len(),
        Attribute::Floats(all) => all.len(),
        Attribute::Types(all) => all.len(),
        Attribute::Functions(all) => all.len(),
        Attribute::Shapes(all) => all.len(),
        _ => 1,
    };
    let attributes = graph.attributes_of(node).iter().map(elements);
    let others = graph.operands_of(node).len() + graph.controls_of(node).len() + graph.values_of(node).len();
    attributes.fold(1 + others, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameIdx;

    /// `n` nodes, each of which reads the one before it `n_reads` times.
    fn chain(n: u32, n_reads: u32) -> RawGraph {
        let mut graph = RawGraph::default();
        for position in 0..n {
            let start = u32::try_from(graph.operands.len()).unwrap_or(NONE);
            let before = position.checked_sub(1).map(|node| Operand { node, port: 0 });
            graph.operands.extend((0..n_reads).filter_map(|_| before));
            graph.nodes.push(RawNode {
                name: NameIdx::EMPTY,
                kind: NameIdx::EMPTY,
                operands: start,
                operands_end: u32::try_from(graph.operands.len()).unwrap_or(NONE),
                controls: 0,
                controls_end: 0,
                attributes: 0,
                attributes_end: 0,
                first_value: 0,
                n_outputs: 0,
                at: 0,
            });
        }
        graph
    }

    #[test]
    fn copies_of_what_is_shared_have_a_limit() {
        for (n, n_reads) in [(10, 1), (2, 1000), (1000, 0), (300, 3)] {
            let main = chain(n, n_reads);
            let whole = main.nodes.len() + main.operands.len();
            let mut copier = Copier::new(&main);
            let mut sum = 0;
            for _ in 0..5000 {
                let graph = copier.copy(vec![n - 1], false);
                sum += graph.map_or(0, |graph| graph.nodes.len() + graph.operands.len());
            }
            assert!(sum > 0 && sum <= whole * MOST_COPIES, "{n} {n_reads}: {sum}");
            let serving = copier.copy(vec![n - 1, n - 1], true);
            assert_eq!(
                serving.map(|graph| graph.nodes.len()),
                Some(if n_reads == 0 { 1 } else { n as usize })
            );
        }
    }

    #[test]
    fn a_copy_numbers_its_nodes_from_zero() {
        let main = chain(5, 1);
        let mut copier = Copier::new(&main);
        for fetched in [2, 4, 2] {
            let graph = copier.copy(vec![fetched, 99], false).expect("room");
            let reads: Vec<u32> = graph.operands.iter().map(|operand| operand.node).collect();
            assert_eq!(reads, (0..fetched).collect::<Vec<u32>>());
        }
    }
}
