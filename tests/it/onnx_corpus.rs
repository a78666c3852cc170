//! The ONNX importer on the shared corpus, where it is at hand, and the figures that all its tests compare.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it those tests print "skipped".

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use highwater::graph::{Bindings, Graph, Role};
use highwater::import::{Imported, Input, import};
use highwater::liveness::{View, lifetimes};
use highwater::progress::{Cancel, Progress};
use highwater::workload::Source;
use serde_json::Value;

pub(crate) fn read(bytes: &[u8]) -> Result<Imported, String> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("test.onnx", bytes).map_err(|error| error.to_string())?;
    import(&mut input, &Progress::silent(&cancel)).map_err(|error| error.to_string())
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

fn json(path: &Path) -> Option<Value> {
    let packed = path.with_file_name(format!("{}.gz", path.file_name()?.to_str()?));
    let text = std::fs::read(path).ok().or_else(|| {
        let mut text = Vec::new();
        let file = std::fs::File::open(packed).ok()?;
        flate2::read::GzDecoder::new(file).read_to_end(&mut text).ok()?;
        Some(text)
    })?;
    serde_json::from_slice(&text).ok()
}

fn compare(
    name: &str,
    found: &Figures,
    expected: &Value,
    extra: (Option<&Value>, Option<&Value>),
    faults: &mut Vec<String>,
) {
    let is_bound = expected["n_unknown_shape"].as_u64() != Some(0);
    let mut check = |what: &str, ours: u64, theirs: &Value, may_exceed: bool| {
        let Some(theirs) = theirs.as_u64() else { return };
        if ours != theirs && !(may_exceed && ours > theirs) {
            faults.push(format!("{name}: {what} {ours}, expected {theirs}"));
        }
    };
    check("ops", found.ops, &expected["n_nodes"], false);
    check("tensors", found.tensors, &expected["n_node_outputs"], false);
    check("weights", found.weights, &expected["weight_bytes"], is_bound);
    check("inputs", found.inputs, &expected["input_bytes"], false);
    check(
        "activations",
        found.activations,
        &expected["activation_bytes"],
        is_bound,
    );
    check("peak", found.peak, &expected["peak"]["peak_live_bytes"], is_bound);
    if !is_bound {
        check(
            "step",
            found.peak_step.unwrap_or(0),
            &expected["peak"]["peak_step"],
            false,
        );
    }
    if let Some(curve) = extra.1.and_then(Value::as_array) {
        for (step, live) in curve.iter().enumerate() {
            check(&format!("live at {step}"), found.curve[step], live, is_bound);
        }
    }
    for (tensor, row) in extra.0.and_then(Value::as_object).into_iter().flatten() {
        let ours = found.bytes.get(tensor).copied().flatten();
        let theirs = row["bytes"].as_u64();
        if theirs.is_some() && ours != theirs {
            faults.push(format!("{name}: {tensor} takes {ours:?}, expected {row}"));
        }
    }
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
    for folder in ["onnx_light", "onnx_torch", "onnx_edge"] {
        let folder = made.join(folder);
        let Some(expected) = json(&folder.join("expected.json")) else {
            continue;
        };
        let shapes = json(&folder.join("expected_shapes.json"));
        let curves = json(&folder.join("expected_live_curves.json"));
        for (name, row) in expected.as_object().expect("an object of files") {
            let Ok(content) = std::fs::read(folder.join(name)) else {
                continue;
            };
            n_files += 1;
            let bindings: Bindings = row["bind"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(symbol, size)| Some((symbol.clone(), size.as_u64()?)))
                .collect();
            match read(&content) {
                Ok(imported) => {
                    let found = figures(main_graph(&imported), &bindings);
                    let extra = (
                        shapes.as_ref().map(|shapes| &shapes[name]),
                        curves.as_ref().map(|curves| &curves[name]),
                    );
                    compare(name, &found, row, extra, &mut faults);
                    eprintln!("{name}: {} unknown, oracle {}", found.unknown, row["n_unknown_shape"]);
                }
                Err(error) => faults.push(format!("{name}: {error}")),
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
