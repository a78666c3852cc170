//! The phase of a training step of each node.
//!
//! The rule, for graphs that compute gradients or apply them:
//!
//! * A *gradient op* has a part `gradients` or `gradient_tape` in its name, or is of a kind that computes gradients
//!   (`Conv2DBackpropInput`, `BiasAddGrad`). Gradient ops are backward, and so is what lies between two of them.
//! * *Optimizer*: ops that apply gradients (`ApplyMomentum`, `ResourceApplyAdam`), other ops that depend on a gradient
//!   (an assignment and a read of what it assigned, a clipped gradient; a sum of gradients alone is backward still), what
//!   only such ops read, and assignments and groups that wait for such ops.
//! * *Forward*: the rest.
//!
//! In all other graphs no phase is known. Linear in nodes and edges.

use super::model::{Model, RawGraph, RawNode};
use highwater_model::graph::Phase;
use highwater_model::lists::Lists;

/// Whether an op of this kind passes values to the next iteration of a loop: their readers run before it.
pub(super) fn is_next_iteration(kind: &str) -> bool {
    matches!(kind, "NextIteration" | "RefNextIteration")
}

/// Whether an op of this kind writes a variable, its first input.
pub(super) fn is_update(kind: &str) -> bool {
    is_apply(kind)
        || kind.starts_with("Assign")
        || kind.starts_with("ResourceScatter")
        || matches!(
            kind,
            "ScatterAdd"
                | "ScatterSub"
                | "ScatterUpdate"
                | "ScatterMul"
                | "ScatterDiv"
                | "ScatterMin"
                | "ScatterMax"
                | "ScatterNdAdd"
                | "ScatterNdSub"
                | "ScatterNdUpdate"
        )
}

/// Whether an op of this kind applies a gradient to a variable.
pub(super) fn is_apply(kind: &str) -> bool {
    let kind = kind.strip_prefix("Resource").unwrap_or(kind);
    let kind = kind.strip_prefix("Sparse").unwrap_or(kind);
    kind.strip_prefix("Apply").is_some_and(|rest| !rest.is_empty())
}

/// Whether a node's name has a part that only gradients have.
fn is_gradient_scope(name: &str) -> bool {
    name.split('/').any(|part| {
        let rest = part
            .strip_prefix("gradients")
            .or_else(|| part.strip_prefix("gradient_tape"));
        rest.is_some_and(|rest| {
            let digits = rest.strip_prefix('_').unwrap_or(rest);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

fn is_gradient_kind(kind: &str) -> bool {
    let is_named = kind.contains("Grad") || kind.contains("Backprop");
    is_named && !matches!(kind, "StopGradient" | "PreventGradient") && !is_apply(kind) && !kind.contains("Accumulator")
}

/// Whether a node computes gradients or applies them.
pub(super) fn is_training(model: &Model, node: &RawNode) -> bool {
    is_apply(model.kind(node)) || is_gradient_scope(model.names.text(node.name))
}

pub(super) fn of(model: &Model, graph: &RawGraph) -> Vec<Phase> {
    let n_nodes = graph.nodes.len();
    let kinds: Vec<&str> = graph.nodes.iter().map(|node| model.kind(node)).collect();
    let is_scope = |position: usize| is_gradient_scope(model.names.text(graph.nodes[position].name));
    if !graph.nodes.iter().any(|node| is_training(model, node)) {
        return vec![Phase::Unknown; n_nodes];
    }
    let is_gradient: Vec<bool> = (0..n_nodes)
        .map(|position| is_gradient_kind(kinds[position]) || is_scope(position) && !is_update(kinds[position]))
        .collect();
    let edges = data_edges(graph, &kinds);
    let readers = Lists::of_pairs(n_nodes, edges.iter().map(|(from, to)| (*from as usize, *to)));
    let sources = Lists::of_pairs(n_nodes, edges.iter().map(|(from, to)| (*to as usize, *from)));
    let depends = reach(&is_gradient, &readers, |_| true);
    let leads = reach(&is_gradient, &sources, |node| depends[node as usize]);
    let mut phases: Vec<Phase> = (0..n_nodes)
        .map(|position| match (depends[position], leads[position]) {
            _ if is_apply(kinds[position]) => Phase::Optimizer,
            (true, true) => Phase::Backward,
            (true, false) => Phase::Optimizer,
            _ => Phase::Forward,
        })
        .collect();
    sums_of_gradients(graph, &kinds, &mut phases);
    waiting_for_updates(graph, &kinds, &mut phases);
    read_by_updates(&readers, &sources, &mut phases);
    phases
}

/// Edges from producers to readers. A read of a variable that waits for an assignment to it reads the assigned value.
fn data_edges(graph: &RawGraph, kinds: &[&str]) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity(graph.operands.len());
    for (node, number) in graph.nodes.iter().zip(0_u32..) {
        let operands = graph.operands_of(node);
        let known = operands.iter().filter(|operand| graph.producer(**operand).is_some());
        edges.extend(known.map(|operand| (operand.node, number)));
        if kinds[number as usize] != "ReadVariableOp" {
            continue;
        }
        for before in graph.controls_of(node) {
            let written = graph.operands_of(&graph.nodes[*before as usize]).first();
            if is_update(kinds[*before as usize]) && written.is_some() && written == operands.first() {
                edges.push((*before, number));
            }
        }
    }
    edges
}

/// Nodes reachable from the marked ones through nodes that `may` be entered, with the marked ones.
fn reach(marked: &[bool], edges: &Lists<u32>, may: impl Fn(u32) -> bool) -> Vec<bool> {
    let mut seen = marked.to_vec();
    let mut open: Vec<u32> = (0_u32..)
        .zip(marked)
        .filter(|(_, is_marked)| **is_marked)
        .map(|(node, _)| node)
        .collect();
    while let Some(node) = open.pop() {
        for next in edges.of(node as usize) {
            if !seen[*next as usize] && may(*next) {
                seen[*next as usize] = true;
                open.push(*next);
            }
        }
    }
    seen
}

/// The last sum of the gradients of a variable that several ops read.
fn sums_of_gradients(graph: &RawGraph, kinds: &[&str], phases: &mut [Phase]) {
    for (position, node) in graph.nodes.iter().enumerate() {
        let mut operands = graph.operands_of(node).iter();
        let is_sum = kinds[position] == "AddN" && phases[position] == Phase::Optimizer;
        if is_sum && operands.all(|operand| phases.get(operand.node as usize) == Some(&Phase::Backward)) {
            phases[position] = Phase::Backward;
        }
    }
}

/// Assignments and groups that wait for an op of the optimizer.
fn waiting_for_updates(graph: &RawGraph, kinds: &[&str], phases: &mut [Phase]) {
    let controls = graph.nodes.iter().zip(0_u32..).flat_map(|(node, number)| {
        let controls = graph.controls_of(node).iter();
        controls.map(move |before| (*before as usize, number))
    });
    let waiting = Lists::of_pairs(graph.nodes.len(), controls);
    let mut open: Vec<u32> = (0_u32..)
        .zip(phases.iter())
        .filter(|(_, phase)| **phase == Phase::Optimizer)
        .map(|(node, _)| node)
        .collect();
    while let Some(node) = open.pop() {
        for next in waiting.of(node as usize) {
            let position = *next as usize;
            let is_group = graph.operands_of(&graph.nodes[position]).is_empty() && kinds[position] == "NoOp";
            if phases[position] == Phase::Forward && (is_group || is_update(kinds[position])) {
                phases[position] = Phase::Optimizer;
                open.push(*next);
            }
        }
    }
}

/// Nodes that only ops of the optimizer read: learning rates, momenta.
fn read_by_updates(readers: &Lists<u32>, sources: &Lists<u32>, phases: &mut [Phase]) {
    let mut others: Vec<usize> = Vec::with_capacity(phases.len());
    for node in (0_u32..).take(phases.len()) {
        let found = readers.of(node as usize).iter();
        others.push(
            found
                .filter(|reader| phases[**reader as usize] != Phase::Optimizer)
                .count(),
        );
    }
    let is_only = |node: u32, others: &[usize], phases: &[Phase]| {
        phases[node as usize] == Phase::Forward && others[node as usize] == 0 && !readers.of(node as usize).is_empty()
    };
    let mut open: Vec<u32> = (0_u32..)
        .take(phases.len())
        .filter(|node| is_only(*node, &others, phases))
        .collect();
    while let Some(node) = open.pop() {
        if phases[node as usize] == Phase::Optimizer {
            continue;
        }
        phases[node as usize] = Phase::Optimizer;
        for source in sources.of(node as usize) {
            others[*source as usize] = others[*source as usize].saturating_sub(1);
            if is_only(*source, &others, phases) {
                open.push(*source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_names_tell_gradients_and_updates() {
        for kind in [
            "ApplyAdam",
            "ResourceApplyMomentum",
            "ResourceSparseApplyAdagrad",
            "SparseApplyFtrl",
        ] {
            assert!(is_apply(kind) && is_update(kind) && !is_gradient_kind(kind), "{kind}");
        }
        assert!(!is_apply("Apply") && is_update("AssignSubVariableOp") && !is_update("ScatterNd"));
        for kind in [
            "ReluGrad",
            "Conv2DBackpropFilter",
            "FusedBatchNormGradV3",
            "BroadcastGradientArgs",
        ] {
            assert!(is_gradient_kind(kind), "{kind}");
        }
        assert!(!is_gradient_kind("StopGradient"));
        assert!(is_gradient_scope("gradients/a/b") && is_gradient_scope("training/gradients_1/x"));
        assert!(is_gradient_scope("gradient_tape/x") && !is_gradient_scope("gradients_of_x/y"));
    }
}
