//! Precision modes: bytes of every tensor against widths computed here from types and ops.

use std::collections::BTreeMap;

use highwater::graph::TensorId;
use highwater::rewrite::{is_matrix_op, plain_type};

use super::{Ask, Settings};

/// Tensors as (name, op, type, elements): matrix ops and others, in every float type, and unaffected types.
const TENSORS: &[(&str, &str, &str, u64)] = &[
    ("m32", "MatMul", "float32", 1000),
    ("g16", "Gemm", "float16", 1000),
    ("c16", "Conv", "bfloat16", 3),
    ("d64", "MatMul", "float64", 10),
    ("i32", "MatMulInteger", "int32", 77),
    ("aten", "aten.convolution_backward.default", "float32", 99),
    ("back", "Conv2DBackpropInput", "float32", 5),
    ("soft", "Softmax", "float32", 1000),
    ("asoft", "aten._softmax.default", "float32", 1000),
    ("norm", "LayerNorm", "float16", 50),
    ("relu", "Relu", "float32", 7),
    ("cast", "Cast", "float16", 9),
    ("mask", "Greater", "bool", 1001),
    ("long", "ArgMax", "int64", 12),
];

/// A chain of these ops, with an input and an output of float32 that never change.
fn graph() -> String {
    let mut nodes = Vec::new();
    let mut before = "x".to_owned();
    for (name, op, dtype, elements) in TENSORS {
        nodes.push(format!(
            r#"{{"op": "{op}", "inputs": ["{before}"],
                "outputs": [{{"id": "{name}", "shape": [{elements}], "dtype": "{dtype}"}}]}}"#
        ));
        (*name).clone_into(&mut before);
    }
    nodes.push(format!(
        r#"{{"op": "MatMul", "inputs": ["{before}"], "workspace_bytes": 640,
            "outputs": [{{"id": "z", "shape": [8], "dtype": "float32"}}]}}"#
    ));
    format!(
        r#"{{"name": "g", "nodes": [{}],
        "inputs": [{{"id": "x", "shape": [8], "dtype": "float32"}}], "outputs": ["z"]}}"#,
        nodes.join(",")
    )
}

/// Feature bytes by tensor name in the comparison.
fn feature_bytes(graph: &str, settings: Settings<'_>, files: &[(&str, &str)]) -> BTreeMap<String, u64> {
    let mut ask = Ask::new(graph, settings);
    ask.files = files;
    let comparison = ask.run();
    let graph = &comparison.workload.graphs()[0].graph;
    let name = |tensor: TensorId| graph.tensor_name(tensor).to_owned();
    let items = &comparison.session.runs[0].bound.program.lifetimes.items;
    items.iter().map(|item| (name(item.tensor), item.bytes.get())).collect()
}

/// Bytes of an element under a mode, from the mode's description.
fn width(mode: &str, op: &str, dtype: &str, kept: &[&str]) -> u64 {
    let own = match dtype {
        "float64" | "int64" => 8,
        "float32" | "int32" => 4,
        "float16" | "bfloat16" => 2,
        _ => 1,
    };
    let is_matrix = op.contains("MatMul") || op.contains("Gemm") || op.to_lowercase().contains("conv");
    let is_kept = kept
        .iter()
        .any(|name| op == *name || op.contains(&format!("aten.{name}.")));
    match (mode, dtype) {
        ("allow_fp32_to_fp16" | "allow_fp32_to_bf16", "float32") if is_matrix => 2,
        ("force_fp16" | "fp16", "float32") => 2,
        ("force_fp32" | "cube_fp16in_fp32out", "float16" | "bfloat16") => 4,
        ("cube_hif8", "float32" | "float16" | "bfloat16") if is_matrix => 1,
        ("mixed_hif8", "float32") if !is_kept => 1,
        (mixed, "float32")
            if (mixed.contains("mix_") || mixed.contains("mixed_")) && mixed != "mixed_hif8" && !is_kept =>
        {
            2
        }
        _ => own,
    }
}

#[track_caller]
fn check(settings: Settings<'_>, mode: &str, kept: &[&str], files: &[(&str, &str)]) {
    let found = feature_bytes(&graph(), settings, files);
    let mut expected: BTreeMap<String, u64> = TENSORS
        .iter()
        .map(|(name, op, dtype, elements)| ((*name).to_owned(), elements * width(mode, op, dtype, kept)))
        .collect();
    expected.insert(" (workspace)".to_owned(), 640);
    assert_eq!(found, expected, "{settings:?}");
}

#[test]
fn bytes_follow_the_mode() {
    const KEPT: &[&str] = &["Softmax", "_softmax"];
    check(&[], "", &[], &[]);
    for mode in [
        "allow_fp32_to_fp16",
        "allow_fp32_to_bf16",
        "force_fp16",
        "force_fp32",
        "cube_fp16in_fp32out",
        "must_keep_origin_dtype",
        "allow_mix_precision",
        "allow_mix_precision_fp16",
        "allow_mix_precision_bf16",
        "no such mode",
    ] {
        check(&[("precision_mode", mode)], mode, KEPT, &[]);
    }
    for mode in [
        "fp16",
        "origin",
        "cube_fp16in_fp32out",
        "mixed_float16",
        "mixed_bfloat16",
        "cube_hif8",
        "mixed_hif8",
    ] {
        check(&[("precision_mode_v2", mode)], mode, KEPT, &[]);
        // The newer option wins where both are set.
        check(
            &[("precision_mode", "force_fp32"), ("precision_mode_v2", mode)],
            mode,
            KEPT,
            &[],
        );
    }
    check(
        &[("precision_mode", "force_fp16"), ("precision_mode_v2", "")],
        "force_fp16",
        KEPT,
        &[],
    );
}

#[test]
fn lists_of_mixed_precision_are_changed_by_the_file() {
    let mode = ("precision_mode", "allow_mix_precision");
    let list = ("modify_mixlist", "mix.json");
    let text = r#"{"black-list": {"to-add": ["MatMul", "Relu"], "to-remove": ["Softmax"]},
                   "white-list": {"to-add": ["_softmax"]}}"#;
    check(&[mode, list], mode.1, &["MatMul", "Relu"], &[("mix.json", text)]);
    // An unread file changes nothing, and without a mixed mode no file does.
    check(&[mode, list], mode.1, &["Softmax", "_softmax"], &[]);
    check(&[list], "", &[], &[("mix.json", text)]);
    check(
        &[mode, ("simulation.kept_ops", "aten.convolution_backward.default, Relu")],
        mode.1,
        &["convolution_backward", "Relu"],
        &[],
    );
}

#[test]
fn views_follow_their_root_and_stated_bytes_are_scaled() {
    let graph = r#"{"name": "g", "nodes": [
        {"op": "MatMul", "inputs": ["x"],
         "outputs": [{"id": "a", "shape": [250], "dtype": "float32", "storage_bytes": 1001}]},
        {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "b", "shape": [250], "dtype": "float32", "alias_of": "a"}]},
        {"op": "Relu", "inputs": ["b"], "outputs": [{"id": "c", "shape": [250], "dtype": "float32"}]},
        {"op": "MatMul", "inputs": ["c"], "outputs": [{"id": "d", "shape": [250], "dtype": "float32", "alias_of": "c"}]},
        {"op": "MatMul", "inputs": ["d"], "outputs": [{"id": "e", "shape": [250], "dtype": "float32"}]},
        {"op": "Relu", "inputs": ["e"], "outputs": [{"id": "z", "shape": [250], "dtype": "float32", "alias_of": "e"}]}],
      "inputs": [{"id": "x", "shape": [8], "dtype": "float32"}], "outputs": ["z"]}"#;
    let bytes = |mode: &str| feature_bytes(graph, &[("precision_mode", mode)], &[]);
    let expected = |a: u64, c: u64| BTreeMap::from([("a".to_owned(), a), ("c".to_owned(), c)]);
    assert_eq!(bytes(""), expected(1001, 1000));
    assert_eq!(bytes("allow_fp32_to_fp16"), expected(501, 1000));
    assert_eq!(bytes("force_fp16"), expected(501, 500));
}

#[test]
fn matrix_ops_are_known_by_plain_type() {
    assert_eq!(plain_type("aten.addmm.out"), "addmm");
    assert!(is_matrix_op("aten.addmm.out") && !is_matrix_op("aten.add.out"));
}

#[test]
fn customized_types_change_the_results_of_the_named_ops() {
    let graph = r#"{"name": "g", "nodes": [
        {"name": "one", "op": "Relu", "inputs": ["x"], "outputs": [{"id": "a", "shape": [8], "dtype": "float32"}]},
        {"name": "two", "op": "Relu", "inputs": ["a"], "outputs": [{"id": "b", "shape": [8], "dtype": "float32"}]},
        {"name": "three", "op": "Split", "inputs": ["b"], "outputs": [
            {"id": "c", "shape": [8], "dtype": "float32"}, {"id": "d", "shape": [8], "dtype": "float32"}]},
        {"name": "four", "op": "Add", "inputs": ["c", "d"], "outputs": [{"id": "z", "shape": [8], "dtype": "float32"}]}],
        "inputs": [{"id": "x", "shape": [8], "dtype": "float32"}], "outputs": ["z"]}"#;
    // A name wins over its type, and types follow the order of the results.
    let text = "OpType::Relu:InputDtype:float,OutputDtype:float16\ntwo::InputDtype:float,OutputDtype:double\n\
                three::InputDtype:float,OutputDtype:float,int8\n";
    let bytes = |settings: Settings<'_>| {
        let found = feature_bytes(graph, settings, &[("dtypes.cfg", text)]);
        ["a", "b", "c", "d"].map(|name| found[name])
    };
    assert_eq!(bytes(&[]), [32, 32, 32, 32]);
    assert_eq!(bytes(&[("customize_dtypes", "dtypes.cfg")]), [16, 64, 32, 8]);
    let kept = ("precision_mode", "must_keep_origin_dtype");
    assert_eq!(bytes(&[("customize_dtypes", "dtypes.cfg"), kept]), [32, 32, 32, 32]);
}
