//! Diagnostics of a model: missing rules, contradictions, types without a size, external data.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{GraphIdx, Model, RawDim, RawGraph, RawNode, RawType};
use super::shape::{Fact, Inferred};
use crate::element_types::ONNX;
use crate::names::NameIdx;
use highwater_model::diagnostics::{Diagnostics, Severity};

/// Nodes that are listed one by one.
const MAX_LISTED: usize = 20;

const COMPOSITE: &[&str] = &[
    "Optional",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
];

pub(super) fn report(model: &Model, inferred: &Inferred, diagnostics: &mut Diagnostics) {
    for (kind, (op, count)) in &inferred.without_rule {
        diagnostics.op_without_shape_rule(kind, op, *count);
    }
    for (kind, (op, count, reason)) in &inferred.without_size {
        diagnostics.counted(
            Severity::Info,
            format!("sizes of outputs of {kind} stay unknown: {reason}"),
            op,
            *count,
        );
    }
    let name = |name: NameIdx| model.names.text(name);
    for (code, (example, count)) in &model.counts.unknown_types {
        diagnostics.counted(
            Severity::Warning,
            format!("element type {code} is not known here; tensors of it have no size, and count 0 bytes"),
            name(*example),
            *count,
        );
    }
    let (example, count) = model.counts.external;
    diagnostics.counted(
        Severity::Info,
        "the data of a tensor are in another file, which is not opened; its size comes from its type and dimensions",
        name(example),
        count,
    );
    let (example, count) = model.counts.sparse;
    diagnostics.counted(
        Severity::Info,
        "a tensor is stored sparse; it counts the bytes of its full shape",
        name(example),
        count,
    );
    conflicts(model, inferred, diagnostics);
    other_types(model, inferred, diagnostics);
    contradictions(model, inferred, diagnostics);
    stated_twice(model, diagnostics);
    functions(model, inferred, diagnostics);
    if inferred.sym.is_exhausted() {
        diagnostics.warning(
            "shapes were given up on, because the file describes more of them than any real model",
            "",
        );
    }
    let mut composites: (String, u64) = (String::new(), 0);
    for position in 0..model.graphs.len() {
        let found = composite(model, GraphIdx(position));
        if let (0, Some(first)) = (composites.1, found.first()) {
            composites.0.clone_from(first);
        }
        composites.1 += found.len() as u64;
    }
    diagnostics.counted(
        Severity::Warning,
        "a value is a sequence, an optional or a map, not a tensor: it counts 0 bytes, whatever it holds",
        &composites.0,
        composites.1,
    );
}

/// Reports calls of functions beyond the limit, and attributes that no call gives.
fn functions(model: &Model, inferred: &Inferred, diagnostics: &mut Diagnostics) {
    let name = |function: GraphIdx| model.names.text(model.graphs[function.0].name);
    inferred.layout.report(name, diagnostics);
    let (example, count) = &inferred.unbound;
    diagnostics.counted(
        Severity::Info,
        "an attribute in a function refers to one that neither the call nor the function gives: its op runs without it",
        example,
        *count,
    );
}

/// Names of a graph's values that are no tensors, as far as the file states them.
pub(super) fn composite(model: &Model, idx: GraphIdx) -> BTreeSet<String> {
    let graph = &model.graphs[idx.0];
    let declared = graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs);
    let declared = declared
        .filter(|value| value.ty.composite.is_some())
        .map(|value| value.name);
    let nodes = graph
        .nodes
        .iter()
        .filter(|node| model.domain(node).is_empty() && COMPOSITE.contains(&model.names.text(node.kind)));
    let made = nodes.flat_map(|node| graph.outputs_of(node)).copied();
    let names = declared.chain(made).filter(|name| !name.is_empty());
    names.map(|name| model.names.text(name).to_owned()).collect()
}

/// Reports nodes that cannot run: the first of them, and how many there are.
fn conflicts(model: &Model, inferred: &Inferred, diagnostics: &mut Diagnostics) {
    for ((graph, position), conflict) in inferred.conflicts.iter().take(MAX_LISTED) {
        let raw = &model.graphs[graph.0];
        let node = &raw.nodes[*position as usize];
        let kind = model.names.text(node.kind);
        diagnostics.warning(
            format!("{kind} cannot run, two sizes contradict each other: {}", conflict.what),
            &format!("{}: {}", place_of(model, raw, node), conflict.shapes),
        );
    }
    let more = inferred.conflicts.len().saturating_sub(MAX_LISTED);
    diagnostics.counted(
        Severity::Warning,
        "a further op cannot run, because two sizes contradict each other",
        "",
        more as u64,
    );
}

/// The name of a node, else of its first result.
fn place_of(model: &Model, graph: &RawGraph, node: &RawNode) -> String {
    let result = graph.outputs_of(node).first().copied().unwrap_or(NameIdx::EMPTY);
    let name = if node.name.is_empty() { result } else { node.name };
    format!("\"{}\"", model.names.text(name))
}

/// Reports stated element types that contradict the computed ones, by op and both types.
fn other_types(model: &Model, inferred: &Inferred, diagnostics: &mut Diagnostics) {
    let graphs: BTreeSet<GraphIdx> = inferred.other_types.keys().map(|(graph, _)| *graph).collect();
    for graph in graphs {
        let raw = &model.graphs[graph.0];
        let outputs = raw
            .nodes
            .iter()
            .flat_map(|node| raw.outputs_of(node).iter().map(move |name| (*name, node)));
        let producers: BTreeMap<NameIdx, &RawNode> = outputs.collect();
        for name in raw
            .inputs
            .iter()
            .map(|value| value.name)
            .chain(producers.keys().copied())
        {
            let Some(computed) = inferred.other_types.get(&(graph, name)) else {
                continue;
            };
            let stated = inferred.fact(model, graph, name).map_or("?", |fact| fact.dtype.name());
            let text = model.names.text(name);
            let (source, place) = match producers.get(&name) {
                Some(node) => (
                    model.names.text(node.kind),
                    format!("{}, output \"{text}\"", place_of(model, raw, node)),
                ),
                None => ("the surrounding graph", format!("\"{text}\"")),
            };
            diagnostics.warning(
                format!(
                    "{source} gives {}, but the file states {stated}: the stated element type counts, because onnxruntime \
                     refuses a model in which the two differ",
                    computed.name()
                ),
                &place,
            );
        }
    }
}

/// Reports stated shapes that contradict the computed ones: their number, and an example.
fn contradictions(model: &Model, inferred: &Inferred, diagnostics: &mut Diagnostics) {
    let Some(((graph, name), computed)) = inferred.contradictions.first_key_value() else {
        return;
    };
    let raw = &model.graphs[graph.0];
    let mut listed = raw.inputs.iter().chain(&raw.value_infos).chain(&raw.outputs);
    let stated = listed.rfind(|value| value.name == *name).map(|value| &value.ty);
    let place = format!(
        "\"{}\": stated {}, computed {}",
        model.names.text(*name),
        stated.map_or_else(String::new, |ty| stated_text(model, ty)),
        computed_text(inferred, computed)
    );
    diagnostics.counted(
        Severity::Warning,
        "a shape that the file states is not the one that its op computes; the computed one counts, because stated shapes \
         stay behind when a model is edited",
        &place,
        inferred.contradictions.len() as u64,
    );
}

/// Values of which the file states two shapes that cannot both be.
fn stated_twice(model: &Model, diagnostics: &mut Diagnostics) {
    for graph in &model.graphs {
        let outputs: BTreeMap<NameIdx, &RawType> = graph.outputs.iter().map(|value| (value.name, &value.ty)).collect();
        for value in &graph.value_infos {
            let other = outputs.get(&value.name);
            if let Some(output) = other.filter(|output| !may_agree(&value.ty, output)) {
                let place = format!(
                    "\"{}\": {} as a value, {} as an output",
                    model.names.text(value.name),
                    stated_text(model, &value.ty),
                    stated_text(model, output)
                );
                diagnostics.warning(
                    "the file states two types or shapes of one value; that of the graph's outputs counts where none is \
                     computed, because callers rely on it",
                    &place,
                );
            }
        }
    }
}

fn may_agree(one: &RawType, other: &RawType) -> bool {
    let is_same_type = one.code == 0 || other.code == 0 || one.code == other.code;
    let (Some(one), Some(other)) = (&one.dims, &other.dims) else {
        return is_same_type;
    };
    let may_be_same = |(one, other): (&RawDim, &RawDim)| match (one, other) {
        (RawDim::Value(one), RawDim::Value(other)) => *one < 0 || *other < 0 || one == other,
        _ => true,
    };
    is_same_type && one.len() == other.len() && one.iter().zip(&**other).all(may_be_same)
}

fn stated_text(model: &Model, ty: &RawType) -> String {
    let dim = |dim: &RawDim| match dim {
        RawDim::Value(size) if *size >= 0 => size.to_string(),
        RawDim::Text(name) => model.names.text(*name).to_owned(),
        RawDim::Value(_) | RawDim::Unnamed => "?".to_owned(),
    };
    let dims = ty.dims.as_deref().map_or_else(
        || "of unknown rank".to_owned(),
        |dims| format!("[{}]", dims.iter().map(dim).collect::<Vec<String>>().join(", ")),
    );
    format!("{} {dims}", ONNX.of_code(ty.code).name())
}

fn computed_text(inferred: &Inferred, fact: &Fact) -> String {
    let dims = fact.shape.map(|shape| inferred.sym.dims(shape));
    format!("{} {}", fact.dtype.name(), inferred.sym.text(dims))
}
