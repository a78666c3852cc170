//! The nodes that run: those that a signature needs, apart from the ones that save, restore or initialize.
//!
//! In: a meta graph with its signatures, and the functions of the saved object. Out: the model in which the main graph is
//! what one of them needs, the others follow it, and functions that none of them calls are gone. The main one is the
//! signature `serving_default`, else the only one, else the first that trains, else the first by name; under the tag
//! `train` the training op; without signatures a function, chosen likewise. Without either the model stays whole.

use indexmap::IndexMap;

use super::copier::Copier;
use super::model::{GraphIdx, MAIN, Model, RawGraph};
use super::parse::{Parsed, Signature, TRAIN_OP};
use super::phase;
use super::saved_functions::functions;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{counted, first_of};
use highwater_model::workload::UniqueNames;

const SERVING: &str = "serving_default";
/// Names of a list in a message.
const MOST_NAMES: usize = 6;

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

/// The model of what runs, and the name of it. `of` names the meta graph where the file has several: the graph of the
/// entry has that name then, and it is the prefix of the others' names.
pub(super) fn selected(parsed: Parsed, of: Option<&str>, diagnostics: &mut Diagnostics) -> (Model, Option<String>) {
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
    let (position, why) = default_of(&model, &parsed.tags, &choices);
    let chosen = choices.all.remove(position);
    let mut names = UniqueNames::default();
    let name = names.take(of.unwrap_or(&chosen.key));
    for other in &mut choices.all {
        other.key = match of {
            Some(of) => names.take(&format!("{of}: {}", other.key)),
            None => names.take(&other.key),
        };
    }
    let message = message(&model, &chosen, why, of, &choices);
    diagnostics.info(message, &name);
    if choices.too_large > 0 {
        let what = "signatures that share most of a large graph are not listed";
        diagnostics.info(what, &counted(choices.too_large as u64, "signature"));
    }
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
    (model, Some(name))
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
    let mut copier = Copier::new(main);
    for signature in signatures {
        let Some(fetched) = signature.fetches.iter().map(position).collect() else {
            continue;
        };
        // The first choice always has room.
        match copier.copy(fetched, signature.key == SERVING) {
            Some(graph) => choices.all.push(Runnable {
                key: signature.key.clone(),
                graph,
            }),
            None => choices.too_large += 1,
        }
    }
    choices.n_signatures = choices.all.len();
    choices
}

/// The position of what runs unless another is chosen, and why where its name does not say so.
fn default_of(model: &Model, tags: &str, choices: &Choices) -> (usize, &'static str) {
    let all = match choices.n_signatures {
        0 => &choices.all[..],
        n_signatures => &choices.all[..n_signatures],
    };
    let named = |key: &str| all.iter().position(|one| one.key == key);
    if let Some(position) = named(TRAIN_OP).filter(|_| has_tag(tags, "train")) {
        return (position, ", because the meta graph has the tag \"train\"");
    }
    if let Some(position) = named(SERVING) {
        return (position, "");
    }
    if all.len() == 1 {
        return (0, "");
    }
    let trains = training(model);
    let found = all.iter().position(|one| {
        one.graph.nodes.iter().any(|node| phase::is_training(model, node))
            || calls(model, &one.graph).iter().any(|callee| trains[callee.0])
    });
    match found {
        Some(position) => (
            position,
            " (the first that trains, because there is no \"serving_default\")",
        ),
        None => (0, " (the first by name, because there is no \"serving_default\")"),
    }
}

/// Whether a meta graph with these tags has one.
pub(super) fn has_tag(tags: &str, wanted: &str) -> bool {
    tags.split(',').any(|tag| tag == wanted)
}

/// By graph: whether it trains, itself or in a function that it calls. O(nodes), for as many choices as there are.
fn training(model: &Model) -> Vec<bool> {
    let mut callers = vec![Vec::new(); model.graphs.len()];
    let mut open = Vec::new();
    for (position, graph) in model.graphs.iter().enumerate() {
        for callee in calls(model, graph) {
            callers[callee.0].push(position);
        }
        if graph.nodes.iter().any(|node| phase::is_training(model, node)) {
            open.push(position);
        }
    }
    let mut trains = vec![false; model.graphs.len()];
    while let Some(position) = open.pop() {
        if !std::mem::replace(&mut trains[position], true) {
            open.extend_from_slice(&callers[position]);
        }
    }
    trains
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

/// What runs and why, and the names by which another is chosen.
fn message(model: &Model, chosen: &Runnable, why: &str, of: Option<&str>, choices: &Choices) -> String {
    let is_signature = choices.n_signatures > 0;
    let noun = match chosen.key.as_str() {
        TRAIN_OP if is_signature => "training op",
        _ if is_signature => "signature",
        _ => "function",
    };
    let of = of.map(|of| format!("of the graph \"{of}\" ")).unwrap_or_default();
    let mut message = format!("{of}the {noun} \"{}\" is what runs{why}", chosen.key);
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
        message.push_str("; the file has no signature");
    }
    if !choices.all.is_empty() {
        let names = choices.all.iter().map(|one| format!("\"{}\"", one.key));
        message.push_str("; choose another with --graph NAME: ");
        message.push_str(&first_of(names, MOST_NAMES, ", "));
    }
    message
}
