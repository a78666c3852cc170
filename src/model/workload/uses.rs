//! Uses of bodies by ops: calls, branches and loops, as stated by the file.
//!
//! In: uses recorded by importers. Out: an order of the graphs, callees first. Graphs of an entry are numbered: 0 is
//! the entry's own, n its body n - 1. Invariant: [`CallOrder`] terminates for recursive uses.

use std::collections::BTreeMap;

use super::GraphEntry;
use crate::graph::{Graph, Id as _, IdVec, OpId, TensorId};

/// How an op runs a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseKind {
    /// Once, whenever the op runs.
    Call,
    /// Perhaps: one of several, or none.
    Branch,
    /// Any number of times: a loop's body or its condition.
    Loop,
}

/// The corresponding tensors of a body and the surrounding graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyMap {
    /// (the body's input, the op's operand).
    pub inputs: Vec<(TensorId, TensorId)>,
    /// (the op's result, the body's tensor).
    pub results: Vec<(TensorId, TensorId)>,
}

/// An op that runs a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyUse {
    /// The number of the graph with the op.
    pub graph: u32,
    pub op: OpId,
    /// The number of the graph that it runs; never 0.
    pub body: u32,
    pub kind: UseKind,
    /// Corresponding operands and results, where the file states them.
    pub map: Option<BodyMap>,
}

/// Graphs of an entry, callees first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOrder {
    /// Numbers of graphs, callees before callers; every graph once.
    pub order: Vec<u32>,
    /// By position among the uses: whether the use closes a cycle, such as a recursive call.
    pub is_circular: Vec<bool>,
}

impl GraphEntry {
    /// The graph of a number.
    pub fn graph_by_number(&self, number: u32) -> Option<&Graph> {
        match number.checked_sub(1) {
            None => Some(&self.graph),
            Some(body) => self.bodies.get(body as usize).map(AsRef::as_ref),
        }
    }

    /// Positions of the uses by graph.
    pub fn uses_by_graph(&self) -> BTreeMap<u32, Vec<usize>> {
        let mut by_graph: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (position, one) in self.uses.iter().enumerate() {
            by_graph.entry(one.graph).or_default().push(position);
        }
        by_graph
    }

    /// By number: whether the entry's graph runs it, directly or indirectly; true for itself. O(graphs + uses).
    pub fn graphs_run(&self) -> Vec<bool> {
        let by_graph = self.uses_by_graph();
        let mut is_run = vec![false; self.bodies.len() + 1];
        is_run[0] = true;
        let mut open = vec![0_u32];
        while let Some(number) = open.pop() {
            for position in by_graph.get(&number).into_iter().flatten() {
                let body = self.uses[*position].body;
                if let Some(flag @ false) = is_run.get_mut(body as usize) {
                    *flag = true;
                    open.push(body);
                }
            }
        }
        is_run
    }

    /// Uses of unknown graphs count as circular. O(graphs + uses), no recursion.
    pub fn call_order(&self) -> CallOrder {
        let n_graphs = self.bodies.len() + 1;
        let by_graph = self.uses_by_graph();
        let mut found = CallOrder {
            order: Vec::with_capacity(n_graphs),
            is_circular: vec![false; self.uses.len()],
        };
        let mut walk = Walk {
            states: vec![State::New; n_graphs],
            open: Vec::new(),
        };
        for start in 0..n_graphs {
            walk.enter(start);
            while let Some((graph, next)) = walk.open.last_mut() {
                let number = u32::try_from(*graph).unwrap_or(u32::MAX);
                let uses = by_graph.get(&number).map_or(&[][..], Vec::as_slice);
                let Some(position) = uses.get(*next).copied() else {
                    walk.states[*graph] = State::Done;
                    found.order.push(number);
                    walk.open.pop();
                    continue;
                };
                *next += 1;
                let body = self.uses[position].body as usize;
                match walk.states.get(body) {
                    Some(State::New) if body > 0 => walk.enter(body),
                    Some(State::Done) if body > 0 => {}
                    _ => found.is_circular[position] = true,
                }
            }
        }
        found
    }
}

/// State of a graph in the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// A walk from callers to callees.
struct Walk {
    states: Vec<State>,
    /// Graphs on the path, with the next use of each.
    open: Vec<(usize, usize)>,
}

impl Walk {
    fn enter(&mut self, graph: usize) {
        if self.states[graph] == State::New {
            self.states[graph] = State::Open;
            self.open.push((graph, 0));
        }
    }
}

/// Converts the uses of one graph from file positions of ops to steps.
pub fn ops_to_steps(uses: &mut [BodyUse], steps: &IdVec<OpId, OpId>) {
    for one in uses {
        one.op = steps.get(one.op).copied().unwrap_or(OpId::from_idx(0));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::GraphBuilder;

    fn entry(n_bodies: usize, uses: &[(u32, u32)]) -> GraphEntry {
        let graph = |name: String| Arc::new(GraphBuilder::new(&name).finish().expect("an empty graph"));
        let mut entry = GraphEntry::new("main".to_owned(), graph("main".to_owned()));
        entry.bodies = (1..=n_bodies).map(|number| graph(number.to_string())).collect();
        entry.uses = uses
            .iter()
            .map(|(graph, body)| BodyUse {
                graph: *graph,
                op: OpId(0),
                body: *body,
                kind: UseKind::Call,
                map: None,
            })
            .collect();
        entry
    }

    #[test]
    fn callees_come_first_and_circles_are_marked() {
        for (n_bodies, uses, order, circular) in [
            (0, &[][..], &[0][..], &[][..]),
            (2, &[(0, 2), (2, 1)], &[1, 2, 0], &[false, false]),
            (1, &[(0, 1), (1, 1)], &[1, 0], &[false, true]),
            (2, &[(0, 1), (1, 2), (2, 1)], &[2, 1, 0], &[false, false, true]),
            (1, &[(0, 7), (1, 0)], &[0, 1], &[true, true]),
            (3, &[(0, 1), (0, 1), (3, 2)], &[1, 0, 2, 3], &[false, false, false]),
        ] {
            let found = entry(n_bodies, uses).call_order();
            assert_eq!(
                (found.order.as_slice(), found.is_circular.as_slice()),
                (order, circular)
            );
        }
    }
}
