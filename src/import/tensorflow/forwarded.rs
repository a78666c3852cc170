//! Variables that a graph only passes to functions: their use in the functions shows that they are variables, and how
//! large.
//!
//! In: a model and inferred facts. Out: by graph and node, facts of handles from outside. Functions call
//! functions, so facts of an argument are carried to its callers until nothing changes, at most [`MAX_ROUNDS`] times.

use std::collections::BTreeMap;

use super::calls::callees;
use super::model::{GraphIdx, Model, RawGraph};
use super::phase;
use super::shape::Facts;
use super::variable_bytes;
use super::variables::{Variables, is_handle, variable};
use highwater_model::progress::{Cancelled, Progress};

const MAX_ROUNDS: usize = 40;

/// By graph and node: handles that are variables, with their bytes where these are known.
#[derive(Debug, Default)]
pub(super) struct ForwardedVariables {
    known: BTreeMap<(usize, u32), Option<u64>>,
}

/// A handle of a caller and the argument that it becomes.
struct Edge {
    caller: (usize, u32),
    callee: (usize, u32),
}

impl ForwardedVariables {
    pub(super) fn of(model: &Model, facts: &Facts, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let mut found = Self::default();
        let mut edges = Vec::new();
        for (position, graph) in model.graphs.iter().enumerate() {
            progress.check()?;
            if model.graphs.len() > 1 {
                edges_of(model, position, graph, &mut edges);
            }
        }
        if edges.is_empty() {
            return Ok(found);
        }
        for (position, graph) in model.graphs.iter().enumerate().skip(1) {
            progress.check()?;
            let variables = Variables::of(model, graph, &phase::of(model, graph));
            let bytes = variable_bytes::of(model, graph, GraphIdx(position), &variables, facts);
            for argument in (0..graph.n_args).filter(|argument| variables.is_variable(*argument as usize)) {
                found.known.insert((position, argument), bytes.get(&argument).copied());
            }
        }
        for _ in 0..MAX_ROUNDS {
            progress.check()?;
            let mut is_changed = false;
            for edge in &edges {
                let Some(bytes) = found.known.get(&edge.callee).copied() else {
                    continue;
                };
                let known = found.known.get(&edge.caller).copied();
                if known.is_none_or(|known| known.is_none() && bytes.is_some()) {
                    found.known.insert(edge.caller, bytes);
                    is_changed = true;
                }
            }
            if !is_changed {
                break;
            }
        }
        Ok(found)
    }

    /// Nodes of a graph that functions use as variables, with their bytes.
    pub(super) fn of_graph(&self, graph: GraphIdx) -> impl Iterator<Item = (u32, Option<u64>)> + '_ {
        let range = self.known.range((graph.0, 0)..=(graph.0, u32::MAX));
        range.map(|((_, node), bytes)| (*node, *bytes))
    }
}

/// Handles that the calls of a graph read.
fn edges_of(model: &Model, position: usize, graph: &RawGraph, edges: &mut Vec<Edge>) {
    for node in &graph.nodes {
        let callees = callees(model, graph, node);
        if callees.graphs.is_empty() || !callees.is_mapped {
            continue;
        }
        for (argument, operand) in (0_u32..).zip(graph.operands_of(node).iter().skip(callees.skipped)) {
            let Some(handle) = variable(model, graph, *operand) else {
                continue;
            };
            let is_outer = matches!(model.kind(&graph.nodes[handle as usize]), "Placeholder" | "_Arg");
            if is_outer && is_handle(graph, &graph.nodes[handle as usize]) {
                edges.extend(callees.graphs.iter().map(|callee| Edge {
                    caller: (position, handle),
                    callee: (callee.0, argument),
                }));
            }
        }
    }
}
