//! The ONNX importer on small models written by hand, good and odd.

use highwater_model::graph::Bindings;
use highwater_model::workload::Source;

use crate::made::{bytes, number, told};
use crate::onnx_corpus::{figures, main_graph, read};

pub(crate) fn node(kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
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

pub(crate) fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let mut out = bytes(1, name.as_bytes());
    for value in values {
        out.extend(number(8, *value));
    }
    out.extend(number(20, 7));
    out
}

pub(crate) fn body(name: &str, graph: &[u8]) -> Vec<u8> {
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

/// A value of an element type; dimensions are written as messages.
fn value_of(field: u64, name: &str, code: i64, dims: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let shape: Vec<u8> = dims.into_iter().flat_map(|dim| bytes(1, &dim)).collect();
    let tensor = [number(1, code), bytes(2, &shape)].concat();
    let kind = bytes(2, &bytes(1, &tensor));
    bytes(field, &[bytes(1, name.as_bytes()), kind].concat())
}

/// Floats, with sizes or names of dimensions.
pub(crate) fn value(field: u64, name: &str, dims: &[&str]) -> Vec<u8> {
    let dim = |dim: &&str| {
        let size = dim.parse::<i64>();
        size.map_or_else(|_| bytes(2, dim.as_bytes()), |size| number(1, size))
    };
    value_of(field, name, 1, dims.iter().map(dim))
}

fn typed(field: u64, name: &str, code: i64, dims: &[i64]) -> Vec<u8> {
    value_of(field, name, code, dims.iter().map(|size| number(1, *size)))
}

pub(crate) fn model(parts: &[Vec<u8>]) -> Vec<u8> {
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
        value(11, "x", &["", "seq + 1", "4"]),
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
    assert!(told(&sorted, "sorted").is_some());
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

// ---- notices ----

#[test]
fn stated_shapes_that_cannot_be_are_told_with_both() {
    let imported = read(&model(&[
        node("Relu", &["x"], &["y"], &[]),
        node("Unheard", &["y"], &["z"], &[]),
        value(11, "x", &["2", "3"]),
        value(13, "y", &["2", "4"]),
        value(13, "z", &["7"]),
        value(12, "z", &["8"]),
    ]))
    .expect("a model");
    let (place, count) = told(&imported, "the computed one counts").expect("a contradiction");
    assert_eq!(
        (place.as_str(), count),
        ("\"y\": stated float32 [2, 4], computed float32 [2, 3]", 1)
    );
    let (place, _) = told(&imported, "two types or shapes").expect("a contradiction");
    assert_eq!(place, "\"z\": float32 [7] as a value, float32 [8] as an output");
    let found = figures(main_graph(&imported), &Bindings::new());
    assert_eq!((found.bytes["y"], found.bytes["z"]), (Some(24), Some(32)));
}

#[test]
fn types_without_a_size_are_told() {
    let sequence = bytes(4, &bytes(1, &bytes(1, &number(1, 1))));
    let external = [
        number(1, 1000),
        number(2, 1),
        bytes(8, b"w"),
        number(14, 1),
        bytes(13, &[bytes(1, b"location"), bytes(2, b"/etc/passwd")].concat()),
    ]
    .concat();
    let imported = read(&model(&[
        node("Identity", &["x"], &["y"], &[]),
        node("SequenceAt", &["s", "i"], &["e"], &[]),
        node("SequenceConstruct", &["x"], &["t"], &[]),
        bytes(5, &external),
        typed(11, "x", 99, &[2]),
        typed(11, "text", 8, &[2]),
        typed(11, "i", 7, &[]),
        bytes(11, &[bytes(1, b"s"), bytes(2, &sequence)].concat()),
        typed(12, "y", 99, &[2]),
    ]))
    .expect("a model");
    assert_eq!(told(&imported, "element type 99"), Some(("x".to_owned(), 2)));
    assert_eq!(told(&imported, "strings"), Some(("text".to_owned(), 1)));
    assert_eq!(told(&imported, "is a sequence"), Some(("s".to_owned(), 2)));
    assert_eq!(told(&imported, "another file"), Some(("w".to_owned(), 1)));
    assert_eq!(told(&imported, "of an input or a weight"), Some(("x".to_owned(), 1)));
    assert_eq!(figures(main_graph(&imported), &Bindings::new()).weights, 4000);
}

/// Every element type that the format defines has its width; packed ones round up to whole bytes.
#[test]
fn every_element_type_has_its_width() {
    let bits = [
        32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6,
    ];
    let values: Vec<Vec<u8>> = (1..)
        .zip(bits)
        .map(|(code, _)| typed(11, &format!("v{code}"), code, &[3]))
        .collect();
    let imported = read(&model(&values)).expect("a model");
    let found = figures(main_graph(&imported), &Bindings::new());
    for (code, bits) in (1..).zip(bits) {
        let width: u64 = bits;
        assert_eq!(
            found.bytes[&format!("v{code}")],
            Some((3 * width).div_ceil(8)),
            "type {code}"
        );
    }
}

#[test]
fn a_dimension_of_0_is_empty_and_only_a_missing_one_is_unnamed() {
    let read_with = |dim: Vec<u8>| {
        let parts = [
            node("Relu", &["x"], &["y"], &[]),
            value_of(11, "x", 1, [dim, number(1, 3)]),
            value(12, "y", &[]),
        ];
        read(&model(&parts)).expect("a model")
    };
    // A number in front of or behind an empty name counts.
    for dim in [
        number(1, 0),
        [number(1, 0), bytes(2, b"")].concat(),
        [bytes(2, b""), number(1, 0)].concat(),
    ] {
        let imported = read_with(dim);
        let graph = main_graph(&imported);
        assert_eq!(graph.symbols(), Vec::<String>::new());
        let found = figures(graph, &Bindings::new());
        assert_eq!((found.inputs, found.activations, found.unknown), (0, 0, 0));
    }
    for dim in [Vec::new(), bytes(2, b""), number(1, -1)] {
        assert_eq!(main_graph(&read_with(dim)).symbols(), ["batch"]);
    }
}

#[test]
fn classical_models_have_shapes() {
    let of = |name: &str, value: &[u8]| [bytes(1, name.as_bytes()), value.to_vec()].concat();
    let classic = |kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]| {
        let node = node(kind, inputs, outputs, attributes);
        let content = [&node[2..], &bytes(7, b"ai.onnx.ml")].concat();
        bytes(1, &content)
    };
    let labels: Vec<u8> = (0..3).flat_map(|label| number(8, label)).collect();
    let imported = read(&model(&[
        classic("Scaler", &["x"], &["scaled"], &[]),
        classic(
            "TreeEnsembleClassifier",
            &["scaled"],
            &["label", "scores"],
            &[of("classlabels_int64s", &[labels, number(20, 7)].concat())],
        ),
        classic("ZipMap", &["scores"], &["maps"], &[]),
        value(11, "x", &["n", "8"]),
        typed(12, "label", 7, &[]),
    ]))
    .expect("a model");
    let found = figures(main_graph(&imported), &Bindings::from([("n".to_owned(), 5)]));
    // Scaled features and scores are floats, labels numbers of 8 bytes.
    assert_eq!(found.activations, 5 * 8 * 4 + 5 * 8 + 5 * 3 * 4);
    assert_eq!(told(&imported, "rule"), None);
}
