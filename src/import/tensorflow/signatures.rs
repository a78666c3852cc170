//! The nodes that run: those that a signature needs, apart from the ones that save, restore or initialize.
//!
//! In: a meta graph with its signatures, and the functions of the saved object. Out: the model in which the main graph is
//! what one of them needs, the others follow it, and functions that none of them calls are gone. The main one is the
//! signature `serving_default`, else the only one, else the first that trains, else the first by name; under the tag
//! `train` the training op; without signatures a function, chosen likewise. Without either the model stays whole.

use indexmap::IndexMap;

use super::model::{GraphIdx, MAIN, Model, Operand, RawGraph, RawNode};
use super::parse::{Parsed, Signature, TRAIN_OP};
use super::phase;
use super::saved_functions::functions;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{counted, first_of};

const SERVING: &str = "serving_default";
const NONE: u32 = u32::MAX;
/// Names of a list in a message.
const MOST_NAMES: usize = 6;
/// Nodes of all parts, relative to those of the file: signatures may overlap.
const MOST_COPIES: usize = 8;

/// What runs under a name.
pub(super) struct Runnable {
    pub(super) key: String,
    pub(super) graph: RawGraph,
}

/// What a meta graph may run.
#[derive(Default)]
struct Choices {
    /// Signatures, then functions that no signature calls.
    all: Vec<Runnable>,
    n_signatures: usize,
    /// Signatures that are too large to be copied.
    too_large: usize,
}

/// The model of what runs, and the name of it.
pub(super) fn selected(parsed: Parsed, diagnostics: &mut Diagnostics) -> (Model, Option<String>) {
    let mut model = parsed.model;
    let mut choices = of_signatures(&model, &parsed.signatures);
    let is_called = called(&model, &choices.all);
    choices
        .all
        .extend(functions(&mut model, &parsed.objects, &is_called, diagnostics));
    if choices.all.is_empty() {
        return (model, None);
    }
    let is_called = called(&model, &choices.all);
    let chosen = choices.all.remove(default_of(&model, &parsed.tags, &choices));
    report(&model, &chosen, &choices, diagnostics);
    let mut graphs = vec![chosen.graph];
    for other in choices.all {
        let name = model.names.intern(&other.key);
        graphs.push(RawGraph { name, ..other.graph });
    }
    let n_runnable = graphs.len();
    let mut functions = IndexMap::with_capacity(model.functions.len());
    for (position, graph) in model.graphs.into_iter().enumerate().skip(1) {
        if is_called[position] {
            functions.entry(graph.name).or_insert(GraphIdx(graphs.len()));
            graphs.push(graph);
        }
    }
    let model = Model {
        names: model.names,
        graphs,
        n_runnable,
        functions,
    };
    (model, Some(chosen.key))
}

/// What each signature needs. Signatures whose results the graph does not have are left out.
fn of_signatures(model: &Model, signatures: &[Signature]) -> Choices {
    let main = &model.graphs[MAIN.0];
    let mut choices = Choices::default();
    if signatures.is_empty() {
        return choices;
    }
    let names = main.nodes.iter().map(|node| model.names.text(node.name)).zip(0_u32..);
    let positions: IndexMap<&str, u32> = names.collect();
    let position = |fetch: &String| {
        let name = fetch.split_once(':').map_or(fetch.as_str(), |(name, _)| name);
        positions.get(name).copied()
    };
    let mut left = main.nodes.len().saturating_mul(MOST_COPIES);
    for signature in signatures {
        let Some(fetched) = signature.fetches.iter().map(position).collect() else {
            continue;
        };
        let is_needed = needed(main, fetched);
        let n_nodes = is_needed.iter().filter(|is_needed| **is_needed).count();
        // The first choice always has room.
        if n_nodes > left && signature.key != SERVING {
            choices.too_large += 1;
            continue;
        }
        left = left.saturating_sub(n_nodes);
        choices.all.push(Runnable {
            key: signature.key.clone(),
            graph: copy(main, &is_needed),
        });
    }
    choices.n_signatures = choices.all.len();
    choices
}

/// By node: whether one of the given ones needs it.
fn needed(main: &RawGraph, mut open: Vec<u32>) -> Vec<bool> {
    let mut is_needed = vec![false; main.nodes.len()];
    while let Some(position) = open.pop() {
        let Some(is_known @ false) = is_needed.get_mut(position as usize) else {
            continue;
        };
        *is_known = true;
        let node = &main.nodes[position as usize];
        open.extend(main.operands_of(node).iter().map(|operand| operand.node));
        open.extend_from_slice(main.controls_of(node));
    }
    is_needed
}

/// The position of what runs unless another is chosen.
fn default_of(model: &Model, tags: &str, choices: &Choices) -> usize {
    let all = match choices.n_signatures {
        0 => &choices.all[..],
        n_signatures => &choices.all[..n_signatures],
    };
    let named = |key: &str| all.iter().position(|one| one.key == key);
    let trains = |one: &Runnable| {
        let is_called = called(model, std::slice::from_ref(one));
        let functions = model.graphs.iter().zip(&is_called);
        let functions = functions.filter(|(_, is_called)| **is_called);
        let graphs = std::iter::once(&one.graph).chain(functions.map(|(graph, _)| graph));
        graphs
            .flat_map(|graph| &graph.nodes)
            .any(|node| phase::is_training(model, node))
    };
    let training_op = || named(TRAIN_OP).filter(|_| tags.split(',').any(|tag| tag == "train"));
    let found = training_op().or_else(|| named(SERVING));
    found.or_else(|| all.iter().position(trains)).unwrap_or(0)
}

/// The functions that the nodes of a graph name.
fn calls(model: &Model, graph: &RawGraph) -> Vec<GraphIdx> {
    let attributes = graph.nodes.iter().flat_map(|node| graph.attributes_of(node));
    let named = attributes.flat_map(|(_, attribute)| attribute.functions());
    let named = named.copied().chain(graph.nodes.iter().map(|node| node.kind));
    named.filter_map(|name| model.functions.get(&name).copied()).collect()
}

/// By graph: whether one of the runnable ones calls it, directly or indirectly.
fn called(model: &Model, runnable: &[Runnable]) -> Vec<bool> {
    let mut is_called = vec![false; model.graphs.len()];
    let mut open: Vec<GraphIdx> = runnable.iter().flat_map(|one| calls(model, &one.graph)).collect();
    while let Some(idx) = open.pop() {
        if !std::mem::replace(&mut is_called[idx.0], true) {
            open.extend(calls(model, &model.graphs[idx.0]));
        }
    }
    is_called
}

/// The kept nodes of a graph. What they read is kept.
fn copy(main: &RawGraph, is_kept: &[bool]) -> RawGraph {
    let mut positions = vec![NONE; main.nodes.len()];
    let kept = is_kept.iter().enumerate().filter(|(_, is_kept)| **is_kept);
    for ((position, _), new) in kept.zip(0_u32..) {
        positions[position] = new;
    }
    let mut graph = RawGraph::default();
    let end = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    for (node, _) in main.nodes.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept) {
        let (operands, controls) = (end(graph.operands.len()), end(graph.controls.len()));
        let (attributes, first_value) = (end(graph.attributes.len()), end(graph.dtypes.len()));
        graph
            .operands
            .extend(main.operands_of(node).iter().map(|operand| Operand {
                node: positions.get(operand.node as usize).copied().unwrap_or(NONE),
                ..*operand
            }));
        let before = main.controls_of(node).iter();
        graph.controls.extend(before.map(|before| positions[*before as usize]));
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

/// Reports what runs, and how to choose another.
fn report(model: &Model, chosen: &Runnable, choices: &Choices, diagnostics: &mut Diagnostics) {
    let is_signature = choices.n_signatures > 0;
    let noun = if is_signature { "signature" } else { "function" };
    let mut message = format!("the {noun} \"{}\" is what runs", chosen.key);
    if is_signature {
        let left = model.graphs[MAIN.0]
            .nodes
            .len()
            .saturating_sub(chosen.graph.nodes.len()) as u64;
        if left > 0 {
            message.push_str("; ");
            message.push_str(&counted(left, "op"));
            message.push_str(" that it does not need (other signatures, saving, restoring, initializing) ");
            message.push_str(if left == 1 { "is left out" } else { "are left out" });
        }
    } else {
        message.push_str(", because the file has no signature");
    }
    if !choices.all.is_empty() {
        let names = choices.all.iter().map(|one| format!("\"{}\"", one.key));
        message.push_str("; choose another with --graph NAME: ");
        message.push_str(&first_of(names, MOST_NAMES, ", "));
    }
    diagnostics.info(message, &chosen.key);
    if choices.too_large > 0 {
        let what = "signatures that share most of a large graph are not listed";
        diagnostics.info(what, &counted(choices.too_large as u64, "signature"));
    }
}
