//! Diagnostics of a model: missing rules, contradictions, types without a size, external data.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{GraphIdx, Model, RawDim, RawType};
use super::shape::{Fact, Infer};
use crate::element_types::ONNX;
use crate::names::NameIdx;
use highwater_model::diagnostics::{Diagnostics, Severity};

const COMPOSITE: &[&str] = &[
    "Optional",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
];

pub(super) fn report(model: &Model, infer: &Infer<'_>, diagnostics: &mut Diagnostics) {
    for (kind, (op, count)) in &infer.without_rule {
        diagnostics.op_without_shape_rule(kind, op, *count);
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
    contradictions(model, infer, diagnostics);
    stated_twice(model, diagnostics);
    if infer.sym.is_exhausted() {
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
        "a value is a sequence, an optional or a map, not a tensor: the file does not say how much it holds, and it counts \
         0 bytes",
        &composites.0,
        composites.1,
    );
}

/// Names of a graph's values that are no tensors, as far as the file states them.
pub(super) fn composite(model: &Model, idx: GraphIdx) -> BTreeSet<String> {
    let graph = &model.graphs[idx.0];
    let declared = graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs);
    let declared = declared.filter(|value| value.ty.is_composite).map(|value| value.name);
    let nodes = graph
        .nodes
        .iter()
        .filter(|node| model.domain(node).is_empty() && COMPOSITE.contains(&model.names.text(node.kind)));
    let made = nodes.flat_map(|node| graph.outputs_of(node)).copied();
    let names = declared.chain(made).filter(|name| !name.is_empty());
    names.map(|name| model.names.text(name).to_owned()).collect()
}

/// Reports stated shapes or types that contradict the computed ones: their number, and an example.
fn contradictions(model: &Model, infer: &Infer<'_>, diagnostics: &mut Diagnostics) {
    let Some(((graph, name), computed)) = infer.contradictions.first_key_value() else {
        return;
    };
    let raw = &model.graphs[graph.0];
    let mut listed = raw.inputs.iter().chain(&raw.value_infos).chain(&raw.outputs);
    let stated = listed.rfind(|value| value.name == *name).map(|value| &value.ty);
    let place = format!(
        "\"{}\": stated {}, computed {}",
        model.names.text(*name),
        stated.map_or_else(String::new, |ty| stated_text(model, ty)),
        computed_text(infer, computed)
    );
    diagnostics.counted(
        Severity::Warning,
        "a type or shape that the file states is not the one that its op computes; the computed one counts, because stated \
         shapes stay behind when a model is edited",
        &place,
        infer.contradictions.len() as u64,
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

fn computed_text(infer: &Infer<'_>, fact: &Fact) -> String {
    let dims = fact.shape.map(|shape| infer.sym.dims(shape));
    format!("{} {}", fact.dtype.name(), infer.sym.text(dims))
}
