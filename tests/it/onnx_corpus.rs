//! The ONNX importer: small models written by hand, seeded damage, and the shared corpus where it is at hand.
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

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("test.onnx", bytes).map_err(|error| error.to_string())?;
    import(&mut input, &Progress::silent(&cancel)).map_err(|error| error.to_string())
}

fn main_graph(imported: &Imported) -> &Graph {
    match &imported.source {
        Source::Graphs(graphs) => &graphs[0].graph,
        _ => panic!("a model has a graph"),
    }
}

/// The figures of the counting rules.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    ops: u64,
    tensors: u64,
    weights: u64,
    inputs: u64,
    activations: u64,
    peak: u64,
    peak_step: Option<u64>,
    unknown: u64,
    curve: Vec<u64>,
    bytes: BTreeMap<String, Option<u64>>,
}

fn figures(graph: &Graph, bindings: &Bindings) -> Figures {
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

// ---- models written by hand ----

fn varint(mut value: u64, out: &mut Vec<u8>) {
    loop {
        let low = value.to_le_bytes()[0];
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

fn number(field: u64, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value.cast_unsigned(), &mut out);
    out
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

fn node(kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for name in inputs {
        out.extend(bytes(1, name.as_bytes()));
    }
    for name in outputs {
        out.extend(bytes(2, name.as_bytes()));
    }
    out.extend(bytes(4, kind.as_bytes()));
    for attribute in attributes {
        out.extend(bytes(5, attribute));
    }
    bytes(1, &out)
}

fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let mut out = bytes(1, name.as_bytes());
    for value in values {
        out.extend(number(8, *value));
    }
    out.extend(number(20, 7));
    out
}

fn body(name: &str, graph: &[u8]) -> Vec<u8> {
    [bytes(1, name.as_bytes()), bytes(6, graph), number(20, 5)].concat()
}

fn initializer(name: &str, code: i64, dims: &[i64], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for dim in dims {
        out.extend(number(1, *dim));
    }
    out.extend(number(2, code));
    out.extend(bytes(8, name.as_bytes()));
    out.extend(bytes(9, data));
    bytes(5, &out)
}

fn value(field: u64, name: &str, dims: &[&str]) -> Vec<u8> {
    let mut shape = Vec::new();
    for dim in dims {
        let dim = dim
            .parse::<i64>()
            .map_or_else(|_| bytes(2, dim.as_bytes()), |size| number(1, size));
        shape.extend(bytes(1, &dim));
    }
    let tensor = [number(1, 1), bytes(2, &shape)].concat();
    bytes(
        field,
        &[bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat(),
    )
}

fn model(parts: &[Vec<u8>]) -> Vec<u8> {
    [number(1, 8), bytes(8, &number(2, 17)), bytes(7, &parts.concat())].concat()
}

fn small_model() -> Vec<u8> {
    let shape: Vec<u8> = [-1_i64, 6].iter().flat_map(|size| size.to_le_bytes()).collect();
    let branch = |kind: &str| [node(kind, &["r"], &["b"], &[]), value(12, "b", &["?"])].concat();
    model(&[
        node("MatMul", &["x", "w"], &["m"], &[]),
        node("Reshape", &["m", "s"], &["r"], &[]),
        node("Transpose", &["w"], &["wt"], &[ints("perm", &[1, 0])]),
        node("ReduceMean", &["r"], &["mean"], &[ints("axes", &[-1])]),
        node(
            "Cast",
            &["mean"],
            &["flag"],
            &[[bytes(1, b"to"), number(3, 9), number(20, 2)].concat()],
        ),
        node(
            "If",
            &["flag"],
            &["y"],
            &[
                body("then_branch", &branch("Relu")),
                body("else_branch", &branch("Tanh")),
            ],
        ),
        bytes(2, b"small"),
        initializer("w", 1, &[4, 6], &[]),
        initializer("s", 7, &[2], &shape),
        value(11, "x", &["0", "seq + 1", "4"]),
        value(12, "y", &["?", "6"]),
    ])
}

#[test]
fn a_small_model_is_counted() {
    let imported = read(&small_model()).expect("a model");
    let graph = main_graph(&imported);
    assert_eq!(graph.symbols(), ["batch", "seq"]);
    let bindings = Bindings::from([("batch".to_owned(), 2), ("seq".to_owned(), 4)]);
    let found = figures(graph, &bindings);
    // m and r: 2*5*6 floats; mean: 10 floats; flag: 10 truth values; y like r.
    assert_eq!((found.ops, found.tensors, found.unknown), (6, 6, 0));
    assert_eq!((found.weights, found.inputs), (96 + 16 + 96, 2 * 5 * 4 * 4));
    assert_eq!(found.activations, 3 * 240 + 40 + 10);
    // r lives until the branches have read it.
    assert_eq!(found.curve, [240, 480, 240, 280, 290, 490]);
    assert_eq!((found.peak, found.peak_step), (490, Some(5)));
    let Source::Graphs(graphs) = &imported.source else {
        panic!("graphs")
    };
    assert_eq!(graphs[0].bodies.len(), 2);
}

#[test]
fn unsorted_files_are_sorted_and_cycles_refused() {
    let ends = [value(11, "x", &["3"]), value(12, "c", &["3"])].concat();
    let sorted = read(&model(&[
        node("Relu", &["b"], &["c"], &[]),
        node("Relu", &["x"], &["b"], &[]),
        ends.clone(),
    ]))
    .expect("a model");
    assert_eq!(main_graph(&sorted).reordered_ops(), 2);
    assert!(
        sorted
            .diagnostics
            .entries()
            .iter()
            .any(|entry| entry.message.contains("sorted"))
    );
    let circle = read(&model(&[
        node("Relu", &["c"], &["b"], &[]),
        node("Relu", &["b"], &["c"], &[]),
        ends,
    ]));
    assert!(circle.expect_err("a circle").contains("circle"));
}

#[test]
fn cut_off_models_name_the_byte() {
    let whole = small_model();
    for len in 30..whole.len() {
        let error = read(&whole[..len]).expect_err("cut off");
        assert!(error.contains(&format!("byte {len}")), "{len}: {error}");
    }
}

#[test]
fn dense_files_are_refused_and_names_without_definition_reported() {
    let empty = read(&model(&[bytes(1, &[]).repeat(1000)])).expect_err("empty nodes");
    assert!(empty.contains("byte") && empty.contains("operator type"), "{empty}");
    let missing = read(&model(&[node("Relu", &["nowhere"], &["y"], &[])])).expect("a model");
    assert!(
        missing
            .diagnostics
            .entries()
            .iter()
            .any(|entry| entry.place == "nowhere")
    );
}

#[test]
fn damaged_models_never_panic() {
    let whole = small_model();
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut answers, mut errors) = (0, 0);
    for _ in 0..6000 {
        let mut damaged = whole.clone();
        for _ in 0..=next() % 4 {
            let at = usize::try_from(next() % damaged.len() as u64).expect("a position");
            match next() % 4 {
                0 => damaged[at] = next().to_le_bytes()[0],
                1 => damaged[at] ^= 1 << (next() % 8),
                2 => damaged.insert(at, next().to_le_bytes()[0]),
                _ => {
                    damaged.remove(at);
                }
            }
        }
        match read(&damaged) {
            Ok(imported) => {
                figures(
                    main_graph(&imported),
                    &Bindings::from([("batch".to_owned(), 3), ("seq".to_owned(), 5)]),
                );
                answers += 1;
            }
            Err(error) => {
                assert!(!error.is_empty());
                errors += 1;
            }
        }
    }
    assert!(answers > 100 && errors > 100, "{answers} answers, {errors} errors");
}

// ---- the corpus ----

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
