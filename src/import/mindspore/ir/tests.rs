//! Dumps by hand, in the manner of `MindSpore` 2.10 and 1.x.

use crate::test_help::{read, tells};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Phase, Role, TensorId};
use highwater_model::workload::{GraphEntry, Source};

const DUMP: &str = include_str!("../../../../tests/mutate/seeds/graph_build_0_0094.ir");

fn graph(text: &str) -> (GraphEntry, Diagnostics) {
    let imported = read("graph_build_0_0094.ir", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "mindspore_ir");
    match imported.source {
        Source::Graphs(mut entries) => (entries.remove(0), imported.diagnostics),
        other => panic!("not a graph: {other:?}"),
    }
}

fn tensor(graph: &Graph, name: &str) -> TensorId {
    let found = graph.tensors().ids().find(|id| graph.tensor_name(*id) == name);
    found.unwrap_or_else(|| panic!("a tensor {name}"))
}

fn bytes(graph: &Graph, name: &str) -> Option<u64> {
    graph.sizes(&Bindings::new()).tensor(tensor(graph, name))
}

#[test]
fn nodes_that_compute_are_ops_and_the_others_name_values() {
    let (entry, diagnostics) = graph(DUMP);
    let graph = &entry.graph;
    assert_eq!(entry.name, "kernel_graph0");
    let ops: Vec<(&str, &str)> = graph
        .ops()
        .ids()
        .map(|op| (graph.op_name(op), graph.op_kind(op)))
        .collect();
    let expected = [
        ("Default/MatMul-op0", "MatMul"),
        ("Default/Reshape-op0", "Reshape"),
        ("Default/TopK-op0", "TopK"),
        ("Gradients/Default/AssignAdd-op0", "AssignAdd"),
    ];
    assert_eq!(ops, expected);
    assert_eq!(graph.ops()[highwater_model::graph::OpId(3)].phase, Phase::Backward);
    for (name, expected) in [
        ("w", 128),
        ("x", 64),
        ("step", 4),
        ("Default/MatMul-op0:0", 32),
        ("Default/TopK-op0:0", 20),
        ("Default/TopK-op0:1", 20),
        ("Default/TopK-op0 constant 1", 32),
    ] {
        assert_eq!(bytes(graph, name), Some(expected), "{name}");
    }
    let role = |name| graph.tensors()[tensor(graph, name)].role;
    assert_eq!(
        [role("w"), role("x"), role("Default/TopK-op0 constant 1")],
        [Role::Parameter, Role::Input, Role::Constant]
    );
    let storage = |name| graph.tensors()[tensor(graph, name)].storage;
    assert_eq!(storage("Default/MatMul-op0:0"), storage("Default/Reshape-op0:0"));
    assert_eq!(storage("Gradients/Default/AssignAdd-op0:0"), storage("step"));
    tells(&diagnostics, &[("in the order of the file", 1)]);
}

#[test]
fn a_parameter_named_after_another_one_is_a_state_of_the_optimizer() {
    for (name, expected) in [("moment1.w", Role::OptimizerState), ("moment1.v", Role::Parameter)] {
        let (entry, _) = graph(&DUMP.replace("step", name));
        let role = entry.graph.tensors()[tensor(&entry.graph, name)].role;
        assert_eq!(role, expected, "{name}");
    }
}

#[test]
fn the_layout_of_the_device_counts_where_it_is_stated() {
    let text = DUMP.replace(
        "-> (<Float32xDefaultFormat[const vector]{2, 4}>)",
        "-> (<Float16xFRACTAL_NZ[const vector]{1, 1, 16, 16}>)",
    );
    let (entry, _) = graph(&text);
    assert_eq!(bytes(&entry.graph, "Default/MatMul-op0:0"), Some(512));
}

#[test]
fn graphs_that_are_called_and_dimensions_without_a_value_are_told() {
    let text = "#IR entry      : @top.1:2\n#Total params  : 1\n%para1_x : <Tensor[Float32], (-1, 4)>\n\n\
        subgraph @body.2(%para2_y) {\n  %0([CNode]5) = Neg(%para2_y)\n      : (<Tensor[Float32], (3)>) -> (<Tensor[Float32], (3)>)\n      # (Default/Neg-op1)\n\
        \n  Return(%0)\n      : (<Tensor[Float32], (3)>)\n}\n\n\
        subgraph @top.1:2() {\n  %0([CNode]6) = call @body.2(%para1_x)\n      : (<Tensor[Float32], (-1, 4)>) -> (<Tensor[Float32], (3)>)\n\
        \n  %1([CNode]7) = %0(%0)\n      : (<null>) -> (<null>)\n  Return(%1)\n}\n";
    let (entry, diagnostics) = graph(text);
    assert_eq!((entry.name.as_str(), entry.bodies.len()), ("top.1:2", 1));
    let kinds: Vec<&str> = entry.graph.ops().ids().map(|op| entry.graph.op_kind(op)).collect();
    assert_eq!(kinds, ["call", "call"]);
    assert_eq!(
        (
            bytes(&entry.graph, "x"),
            bytes(&entry.graph, "%0:0"),
            bytes(&entry.graph, "%1:0")
        ),
        (None, Some(12), None)
    );
    assert_eq!(bytes(&entry.bodies[0], "Default/Neg-op1:0"), Some(12));
    tells(
        &diagnostics,
        &[("listed and not simulated", 1), ("a dimension is -1", 1)],
    );
}

#[test]
fn damaged_dumps_are_errors_with_a_place() {
    for (text, expected) in [
        ("# IR entry: @g\nsubgraph @g() {\n  %0(a) = Neg(%1\n}\n", "line 3"),
        ("# IR entry: @g\nsubgraph @g() {\n  %0(a) = Neg(%1)\n", "does not end"),
        ("# IR entry: @g\n", "there is no node"),
    ] {
        let error = read("a.ir", text.as_bytes()).expect_err("damaged").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
