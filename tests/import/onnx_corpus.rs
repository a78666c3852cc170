//! The ONNX importer on the shared corpus, where that is available, and the figures that all its tests compare.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it those tests print "skipped".

use std::collections::BTreeMap;
use std::path::PathBuf;

use highwater_import::Imported;
use highwater_model::graph::{Bindings, DType, Graph, Role, Sizes, Tensor};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Lifetime, Lifetimes, Source};
use serde_json::Value;

use crate::corpus::{json, known_alone};
use crate::oracle::Oracle;
use crate::support::{self, files, name};

pub(crate) fn read(bytes: &[u8]) -> Result<Imported, String> {
    support::read("test.onnx", bytes).map_err(|error| error.to_string())
}

pub(crate) fn main_graph(imported: &Imported) -> &Graph {
    match &imported.source {
        Source::Graphs(graphs) => &graphs[0].graph,
        _ => panic!("a model has a graph"),
    }
}

/// The figures of the counting rules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) ops: u64,
    pub(crate) tensors: u64,
    pub(crate) weights: u64,
    pub(crate) inputs: u64,
    pub(crate) activations: u64,
    pub(crate) peak: u64,
    pub(crate) peak_step: Option<u64>,
    pub(crate) unknown: u64,
    pub(crate) curve: Vec<u64>,
    pub(crate) bytes: BTreeMap<String, Option<u64>>,
}

pub(crate) fn figures(graph: &Graph, bindings: &Bindings) -> Figures {
    let sizes = graph.sizes(bindings);
    let mut found = Figures {
        ops: graph.ops().len() as u64,
        ..Figures::default()
    };
    for (id, tensor) in graph.tensors().iter_ids() {
        let bytes = sizes.tensor(id);
        found.tensors += u64::from(tensor.producer.is_some());
        let total = match tensor.role {
            Role::Input => &mut found.inputs,
            Role::Activation => &mut found.activations,
            _ => &mut found.weights,
        };
        *total = total.saturating_add(bytes.unwrap_or(0));
        found.bytes.insert(graph.tensor_name(id).to_owned(), bytes);
    }
    found.unknown = graph.unknown_activations(&sizes).count() as u64;
    let mut change = vec![0_i128; graph.ops().len() + 1];
    for item in lifetimes(graph, &sizes, View::Naive).items {
        change[item.birth.0 as usize] += i128::from(item.bytes.0);
        change[item.end.0 as usize] -= i128::from(item.bytes.0);
    }
    let mut live = 0;
    for (step, delta) in change.iter().enumerate().take(graph.ops().len()) {
        live += delta;
        // Damaged models may need more bytes than 64 bits count.
        let now = u64::try_from(live).unwrap_or(u64::MAX);
        found.curve.push(now);
        if found.peak_step.is_none() || now > found.peak {
            (found.peak, found.peak_step) = (now, Some(step as u64));
        }
    }
    found
}

/// The figures of a graph in which constants that nodes compute count as activations.
fn with_constants(graph: &Graph, bindings: &Bindings) -> Lifetimes {
    let sizes = graph.sizes(bindings);
    let readers = graph.consumers();
    let n_steps = graph.ops().len() as u32;
    let mut items = Vec::new();
    for (id, tensor) in graph.tensors().iter_ids() {
        let Some(producer) = tensor.producer else { continue };
        let last = readers.of(id).iter().map(|op| op.0).max().unwrap_or(producer.0);
        let end = if tensor.is_output { n_steps } else { last + 1 };
        items.push(Lifetime {
            birth: Step(producer.0),
            end: Step(end),
            bytes: Bytes(sizes.tensor(id).unwrap_or(0)),
            tensor: id,
        });
    }
    Lifetimes { items, n_steps }
}

fn same_io(oracle: &mut Oracle<'_>, graph: &Graph, bindings: &Bindings) {
    let sizes = graph.sizes(bindings);
    for (key, is_wanted) in [
        (
            "graph_inputs",
            (|tensor| tensor.role == Role::Input) as fn(&Tensor) -> bool,
        ),
        ("graph_outputs", |tensor| tensor.is_output),
    ] {
        for row in oracle.get(key).as_array().into_iter().flatten() {
            let name = row["name"].as_str().unwrap_or_default();
            let found = graph.tensors().ids().find(|id| graph.tensor_name(*id) == name);
            let Some(id) = found.filter(|id| is_wanted(&graph.tensors()[*id])) else {
                oracle.fault(&format!("{name} is not among the {key}"));
                continue;
            };
            let dtype = graph.tensors()[id].dtype;
            let dims = row["shape"]
                .as_array()
                .map(|dims| dims.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
            if let Some(Some(dims)) = dims {
                let bytes = dtype.bytes(dims.iter().product());
                if dtype != DType::Unknown && sizes.tensor(id) != Some(bytes) {
                    oracle.fault(&format!("{name} takes {:?}, expected {row}", sizes.tensor(id)));
                }
            }
        }
    }
}

fn same_counts(oracle: &mut Oracle<'_>, graph: &Graph, sizes: &Sizes, knows_all: bool) {
    let count = |role, is_computed: bool| {
        let tensors = graph.tensors().iter_ids();
        let wanted = tensors.filter(|(_, tensor)| tensor.producer.is_some() == is_computed && tensor.role == role);
        wanted.fold((0, 0), |(count, bytes), (id, _)| {
            (count + 1, bytes + sizes.tensor(id).unwrap_or(0))
        })
    };
    let (constants, bytes) = count(Role::Weight, true);
    oracle.same("n_const_outputs", constants);
    oracle.same_or_more("const_output_bytes", bytes, !knows_all);
    oracle.same("n_activations", count(Role::Activation, true).0);
    let (stored, bytes) = count(Role::Weight, false);
    oracle.same("n_initializers", stored);
    oracle.same("initializer_bytes", bytes);
}

/// The live bytes of every step, and the bytes of every tensor.
fn same_tables(
    oracle: &mut Oracle<'_>,
    found: &Figures,
    live: &Lifetimes,
    shapes: Option<&Value>,
    curve: Option<&Value>,
) {
    let curve = curve.and_then(Value::as_array).into_iter().flatten().enumerate();
    for (step, theirs) in curve {
        let at = |item: &&Lifetime| item.birth.0 as usize <= step && step < item.end.0 as usize;
        let ours: u64 = live.items.iter().filter(at).map(|item| item.bytes.get()).sum();
        if theirs.as_u64() != Some(ours) {
            oracle.fault(&format!("{ours} bytes live at {step}, expected {theirs}"));
        }
    }
    for (tensor, row) in shapes.and_then(Value::as_object).into_iter().flatten() {
        let ours = found.bytes.get(tensor).copied().flatten();
        let theirs = row["bytes"].as_u64();
        if theirs.is_some() && ours != theirs {
            oracle.fault(&format!("{tensor} takes {ours:?}, expected {row}"));
        }
    }
}

fn compare(
    (name, file): (&str, &[u8]),
    (graph, bindings): (&Graph, &Bindings),
    expected: &Value,
    (shapes, curve): (Option<&Value>, Option<&Value>),
) -> Vec<String> {
    let found = figures(graph, bindings);
    let sizes = graph.sizes(bindings);
    let mut oracle = Oracle::new(name, expected);
    let mut knows_all = oracle.get("n_unknown_shape").as_u64() == Some(0);
    oracle.holds(
        "n_unknown_shape",
        |theirs| theirs.as_u64().is_some_and(|theirs| found.unknown <= theirs),
        &format!("{} unknown", found.unknown),
    );
    oracle.same("file_bytes", file.len() as u64);
    oracle.same("n_nodes", found.ops);
    oracle.same_kinds("op_types", graph);
    oracle.same("n_node_outputs", found.tensors);
    oracle.same_or_more("weight_bytes", found.weights, !knows_all);
    oracle.same_or_more("activation_bytes", found.activations, !knows_all);
    same_counts(&mut oracle, graph, &sizes, knows_all);
    // Symbols that the oracle gave no value: by the rules of counting there is no peak then, and nothing to compare.
    let is_bound = graph.unbound_symbols(bindings).is_empty();
    if is_bound {
        oracle.same("input_bytes", found.inputs);
    } else {
        oracle.left_out("input_bytes");
        eprintln!("{name}: {:?} have no value", graph.unbound_symbols(bindings));
    }
    same_io(&mut oracle, graph, bindings);
    let mut live = lifetimes(graph, &sizes, View::Naive);
    if let Some(shapes) = shapes {
        // Of what the oracle does not know no byte is counted: then all figures are comparable.
        live = known_alone(&live, |id| !shapes[graph.tensor_name(id)]["bytes"].is_null());
        knows_all = true;
    }
    oracle.same_peak("peak", graph, &live, knows_all && is_bound);
    if shapes.is_none() && knows_all && is_bound {
        let (peak, step) = with_constants(graph, bindings).peak();
        oracle.same("peak_counting_const_node_outputs.peak_live_bytes", peak.get());
        oracle.same(
            "peak_counting_const_node_outputs.peak_step",
            step.map_or(0, |step| u64::from(step.0)),
        );
        oracle.left_out("peak_counting_const_node_outputs.peak_node");
    } else {
        oracle.left_out("peak_counting_const_node_outputs");
    }
    // The file's description, and words; keys that some folders have.
    for key in ["sha256", "n_node_outputs_with_stored_shape", "n_symbolic_input_dims"] {
        if expected.get(key).is_some() {
            oracle.left_out(key);
        }
    }
    for key in [
        "ir_version",
        "opset",
        "producer",
        "n_value_info_stored",
        "bind",
        "shape_source",
        "unknown_examples",
    ] {
        oracle.left_out(key);
    }
    same_tables(&mut oracle, &found, &live, shapes, curve);
    oracle.faults()
}

fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("HIGHWATER_SHARED")?;
    let made = PathBuf::from(shared).join("corpus/made");
    made.is_dir().then_some(made)
}

#[test]
fn corpus_figures_are_the_oracles() {
    let Some(made) = corpus() else {
        eprintln!("skipped");
        return;
    };
    let mut faults = Vec::new();
    let mut n_files = 0;
    for folder in ["onnx_light", "onnx_torch", "onnx_edge"].map(|folder| made.join(folder)) {
        if !folder.is_dir() {
            continue;
        }
        let expected = json(&folder.join("expected.json")).expect("the oracle's figures");
        let shapes = json(&folder.join("expected_shapes.json"));
        let curves = json(&folder.join("expected_live_curves.json"));
        for path in files(&folder, ".onnx") {
            let file = name(&path);
            let content = std::fs::read(&path).expect("the file is there");
            let row = &expected[&file];
            n_files += 1;
            let bindings: Bindings = row["bind"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(symbol, size)| Some((symbol.clone(), size.as_u64()?)))
                .collect();
            match read(&content) {
                Ok(imported) => {
                    let extra = (
                        shapes.as_ref().map(|shapes| &shapes[&file]),
                        curves.as_ref().map(|curves| &curves[&file]),
                    );
                    let graph = (main_graph(&imported), &bindings);
                    faults.extend(compare((&file, &content), graph, row, extra));
                }
                Err(error) => faults.push(format!("{file}: {error}")),
            }
        }
    }
    eprintln!("{n_files} files");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults[..faults.len().min(60)].join("\n")
    );
}
