//! The functions that nodes run, and how arguments and results map to inputs and outputs of the node.
//!
//! In: a model. Out: [`Callees`] of a node; the table of uses of all graphs. A node of kind `PartitionedCall` and its kin names
//! its function in `f`, `While` in `body` and `cond`, `If` in `then_branch` and `else_branch`, `Case` in `branches`; a node
//! may also be of the function's own kind. Any other attribute that names a function of the library is a call of which
//! nothing more is known, but for data sets, which run on the host. Graphs are numbered as in the model: the main one is 0.

use super::model::{GraphIdx, MAIN, Model, RawGraph, RawNode};
use crate::names::NameIdx;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, IdVec, OpId, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse, UseKind, ops_to_steps};

#[derive(Debug)]
pub(super) struct Callees {
    pub(super) graphs: Vec<GraphIdx>,
    /// The number of the node's inputs in front of the function's.
    pub(super) skipped: usize,
    pub(super) kind: UseKind,
    /// Whether the node's other inputs and outputs are theirs, one by one.
    pub(super) is_mapped: bool,
}

/// How an op runs functions by name, and the number of its inputs in front of the functions'; `None` for all others.
pub(super) fn use_of(kind: &str) -> Option<(UseKind, usize)> {
    Some(match kind {
        "PartitionedCall" | "StatefulPartitionedCall" | "TPUPartitionedCall" => (UseKind::Call, 0),
        "RemoteCall" => (UseKind::Call, 1),
        "While" | "StatelessWhile" | "_While" => (UseKind::Loop, 0),
        "If" | "StatelessIf" | "_If" | "Case" | "StatelessCase" => (UseKind::Branch, 1),
        _ => return None,
    })
}

pub(super) fn callees(model: &Model, graph: &RawGraph, node: &RawNode) -> Callees {
    let kind = model.kind(node);
    let (how, skipped) = use_of(kind).unwrap_or((UseKind::Call, 0));
    let named = |keys: &[&str]| {
        let named = keys.iter().filter_map(|key| model.function(graph, node, key));
        named.collect()
    };
    let (graphs, is_mapped) = match (use_of(kind), model.functions.get(&node.kind)) {
        (Some(_), _) if kind.ends_with("Case") => (functions(model, graph, node), true),
        (Some((UseKind::Call, _)), _) => (named(&["f"]), true),
        (Some((UseKind::Loop, _)), _) => (named(&["body", "cond"]), true),
        (Some((UseKind::Branch, _)), _) => (named(&["then_branch", "else_branch"]), true),
        (None, Some(function)) => (vec![*function], true),
        (None, None) if kind.contains("Dataset") => (Vec::new(), true),
        (None, None) => (functions(model, graph, node), false),
    };
    Callees {
        graphs,
        skipped,
        kind: how,
        is_mapped,
    }
}

fn functions(model: &Model, graph: &RawGraph, node: &RawNode) -> Vec<GraphIdx> {
    let names = graph
        .attributes_of(node)
        .iter()
        .flat_map(|(_, attribute)| attribute.functions());
    names.filter_map(|name| model.functions.get(name).copied()).collect()
}

/// Reports functions that the file does not hold: their nodes stay single ops.
pub(super) fn report_missing(model: &Model, diagnostics: &mut Diagnostics) {
    let of_graph = |graph| -> Vec<NameIdx> {
        let graph: &RawGraph = graph;
        let nodes = graph.nodes.iter().filter(|node| !model.kind(node).contains("Dataset"));
        let attributes = nodes.flat_map(|node| graph.attributes_of(node));
        let named = attributes.flat_map(|(_, attribute)| attribute.functions());
        named
            .filter(|name| !model.functions.contains_key(*name))
            .copied()
            .collect()
    };
    for name in model.graphs.iter().flat_map(of_graph) {
        diagnostics.warning(
            "a node runs a function that the file does not hold: what it computes and holds is not known",
            model.names.text(name),
        );
    }
}

/// Uses of bodies in one graph, whose ops are numbered by file position. A value is the tensor of its number, and a node
/// behind the arguments the op of its position.
pub(super) fn uses(model: &Model, idx: GraphIdx, progress: &Progress<'_>) -> Result<Vec<BodyUse>, Cancelled> {
    let graph = &model.graphs[idx.0];
    let mut uses = Vec::new();
    for (position, node) in graph.nodes.iter().skip(graph.n_args as usize).enumerate() {
        if position % 1024 == 0 {
            progress.check()?;
        }
        let callees = callees(model, graph, node);
        for callee in callees.graphs.iter().filter(|callee| **callee != MAIN) {
            let is_call = callees.is_mapped && callees.kind == UseKind::Call;
            uses.push(BodyUse {
                graph: number(idx),
                op: OpId::from_idx(position),
                body: number(*callee),
                kind: callees.kind,
                map: is_call
                    .then(|| map(model, graph, node, *callee, callees.skipped))
                    .flatten(),
            });
        }
    }
    Ok(uses)
}

/// The mapping of a call; `None` where a result of the function is defined nowhere.
fn map(model: &Model, graph: &RawGraph, node: &RawNode, callee: GraphIdx, skipped: usize) -> Option<BodyMap> {
    let body = &model.graphs[callee.0];
    let arguments = body.nodes.iter().take(body.n_args as usize);
    let operands = graph.operands_of(node).iter().skip(skipped);
    let inputs = arguments.zip(operands).filter_map(|(argument, operand)| {
        let input = body.values_of(argument).next()?;
        Some((TensorId::from_idx(input), TensorId::from_idx(graph.value(*operand)?)))
    });
    let mut results = Vec::with_capacity(body.results.len());
    for (value, result) in graph.values_of(node).zip(&body.results) {
        results.push((TensorId::from_idx(value), TensorId::from_idx(body.value(*result)?)));
    }
    Some(BodyMap {
        inputs: inputs.collect(),
        results,
    })
}

/// The uses of a graph that was built, by step.
pub(super) fn stepped(mut uses: Vec<BodyUse>, steps: &IdVec<OpId, OpId>) -> Vec<BodyUse> {
    ops_to_steps(&mut uses, steps);
    uses
}

fn number(idx: GraphIdx) -> u32 {
    u32::try_from(idx.0).unwrap_or(u32::MAX)
}
