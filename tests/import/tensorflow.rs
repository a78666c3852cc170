//! The TensorFlow importer on small graphs written by hand, good, odd and damaged.

use highwater_import::Imported;
use highwater_model::graph::{Bindings, Graph, OpId, Phase, Role};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::units::Step;
use highwater_model::workload::{GraphEntry, Source};

use crate::made::told;
use crate::support::read;

pub(crate) fn import(bytes: &[u8]) -> Result<Imported, String> {
    read("test.pb", bytes).map_err(|error| error.to_string())
}

pub(crate) fn entries(imported: &Imported) -> &[GraphEntry] {
    match &imported.source {
        Source::Graphs(entries) => entries,
        _ => panic!("a graph"),
    }
}

pub(crate) fn graph(text: &str) -> GraphEntry {
    let imported = import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "tensorflow");
    entries(&imported)[0].clone()
}

pub(crate) fn op(graph: &Graph, name: &str) -> OpId {
    let found = graph.ops().ids().find(|op| graph.op_name(*op) == name);
    found.unwrap_or_else(|| panic!("there is no op {name}"))
}

pub(crate) fn operands<'g>(graph: &'g Graph, name: &str) -> Vec<&'g str> {
    let operands = graph.operands(op(graph, name)).iter();
    operands.map(|tensor| graph.tensor_name(*tensor)).collect()
}

pub(crate) fn role(graph: &Graph, name: &str) -> Role {
    graph.tensors()[graph.results(op(graph, name))[0]].role
}

pub(crate) fn phase(graph: &Graph, name: &str) -> Phase {
    graph.ops()[op(graph, name)].phase
}

// ---- text ----

/// A node as text: `node("y", "Add", &["x", "^c"], "T")` with attributes written as `key=value`.
pub(crate) fn node(name: &str, kind: &str, inputs: &[&str], attributes: &[&str]) -> String {
    let inputs = each(inputs, |input| format!("  input: \"{input}\"\n"));
    let attributes = each(attributes, |attribute| {
        let (key, value) = attribute.split_once('=').expect("key=value");
        format!("  attr {{ key: \"{key}\" value {{ {value} }} }}\n")
    });
    format!("node {{\n  name: \"{name}\"\n  op: \"{kind}\"\n{inputs}{attributes}}}\n")
}

/// The texts of all items, end to end.
pub(crate) fn each<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().concat()
}

pub(crate) fn dims(shape: &[i64]) -> String {
    each(shape, |size| format!("dim {{ size: {size} }} "))
}

pub(crate) const FLOAT: &str = "dtype=type: DT_FLOAT";
pub(crate) const T: &str = "T=type: DT_FLOAT";

pub(crate) fn shapes(all: &[&[i64]]) -> String {
    let list = each(all, |shape| format!("shape {{ {}}} ", dims(shape)));
    format!("_output_shapes=list {{ {list}}}")
}

pub(crate) fn placeholder(name: &str, shape: &[i64]) -> String {
    let own = format!("shape=shape {{ {}}}", dims(shape));
    node(name, "Placeholder", &[], &[FLOAT, &own, &shapes(&[shape])])
}

pub(crate) fn constant(name: &str, shape: &[i64]) -> String {
    let value = format!("value=tensor {{ dtype: DT_FLOAT tensor_shape {{ {}}} }}", dims(shape));
    node(name, "Const", &[], &[FLOAT, &value, &shapes(&[shape])])
}

pub(crate) fn small() -> String {
    [
        placeholder("x", &[-1, 4]),
        constant("w", &[4, 3]),
        node("w/read", "Identity", &["w"], &[T, &shapes(&[&[4, 3]])]),
        node("y", "MatMul", &["x", "w/read"], &[T, &shapes(&[&[-1, 3]])]),
        node("z", "Relu", &["y", "^w"], &[T, &shapes(&[&[-1, 3]])]),
        node("done", "NoOp", &["^z"], &[]),
    ]
    .concat()
}

#[test]
fn a_frozen_graph_is_counted() {
    let entry = graph(&small());
    let graph = &entry.graph;
    assert_eq!(graph.symbols(), ["batch"]);
    assert_eq!((graph.ops().len(), graph.tensors().len()), (6, 5));
    assert_eq!((role(graph, "x"), role(graph, "w")), (Role::Input, Role::Constant));
    assert_eq!(operands(graph, "z"), ["y:0"]);
    let sizes = graph.sizes(&Bindings::from([("batch".to_owned(), 2)]));
    let peak = |view| lifetimes(graph, &sizes, view).peak();
    // Naive: the copy of the weight counts 48 bytes, y and z 24 each; it lives no longer than y's op.
    assert_eq!((peak(View::Naive).0.get(), peak(View::Naive).1), (72, Some(Step(3))));
    assert_eq!(
        (peak(View::Aliased).0.get(), peak(View::Aliased).1),
        (48, Some(Step(4)))
    );
    assert!(graph.ops().iter().all(|op| op.phase == Phase::Unknown));
}

#[test]
fn loops_are_sorted_without_their_back_edges() {
    let text = [
        node("next", "NextIteration", &["add"], &[T, &shapes(&[&[8]])]),
        placeholder("x", &[8]),
        node("enter", "Enter", &["x"], &[T, &shapes(&[&[8]])]),
        node(
            "merge",
            "Merge",
            &["enter", "next"],
            &[T, "N=i: 2", &shapes(&[&[8], &[]])],
        ),
        node("less", "Foo", &["merge"], &[&shapes(&[&[]])]),
        node("cond", "LoopCond", &["less"], &[&shapes(&[&[]])]),
        node("switch", "Switch", &["merge", "cond"], &[T, &shapes(&[&[8], &[8]])]),
        node("exit", "Exit", &["switch"], &[T, &shapes(&[&[8]])]),
        node("add", "Neg", &["switch:1", "^cond"], &[T, &shapes(&[&[8]])]),
    ]
    .concat();
    let imported = import(text.as_bytes()).expect("a graph");
    let graph = &entries(&imported)[0].graph;
    let order: Vec<&str> = graph.ops().ids().map(|op| graph.op_name(op)).collect();
    assert_eq!(
        order,
        ["x", "enter", "merge", "less", "cond", "switch", "exit", "add", "next"]
    );
    assert_eq!(operands(graph, "merge"), ["enter:0", "next:0"]);
    assert_eq!(operands(graph, "add"), ["switch:1"]);
    let sizes = graph.sizes(&Bindings::new());
    // Switch: its own outputs and what it reads, the sum of loop values and the index that Merge gives.
    let (peak, step) = lifetimes(graph, &sizes, View::Naive).peak();
    assert_eq!((peak.get(), step), (97, Some(Step(5))));
    assert!(told(&imported, "Foo").is_some(), "{:?}", imported.diagnostics);
}

pub(crate) const FUNCTION: &str = r#"
library {
  function {
    signature {
      name: "f"
      input_arg { name: "a" type: DT_FLOAT }
      input_arg { name: "s" type: DT_FLOAT }
      output_arg { name: "out" type: DT_FLOAT }
      output_arg { name: "var" type: DT_FLOAT }
    }
    node_def {
      name: "bn" op: "FusedBatchNormV3"
      input: "a" input: "s" input: "s" input: "s" input: "s"
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "U" value { type: DT_FLOAT } }
    }
    node_def { name: "use" op: "Neg" input: "bn:batch_variance:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "keep" op: "Identity" input: "bn:y:0" input: "^use" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "var" value: "use:y:0" }
    ret { key: "out" value: "keep:output:0" }
    arg_attr { key: 1 value { attr { key: "_output_shapes" value { list { shape { dim { size: 4 } } } } } } }
  }
}
"#;

#[test]
fn functions_are_bodies_and_name_outputs() {
    let call = node(
        "call",
        "PartitionedCall",
        &["x", "x"],
        &[
            "Tin=list { type: [DT_FLOAT, DT_FLOAT] }",
            "Tout=list { type: [DT_FLOAT, DT_FLOAT] }",
            "f=func { name: \"f\" }",
        ],
    );
    let entry = graph(&[placeholder("x", &[2, 3, 3, 4]), call, FUNCTION.to_owned()].concat());
    assert_eq!(entry.graph.results(op(&entry.graph, "call")).len(), 2);
    let body = &entry.bodies[0];
    assert_eq!((body.name(), body.ops().len()), ("f", 3));
    assert_eq!(operands(body, "use"), ["bn:2"]);
    assert_eq!(operands(body, "bn"), ["a:0", "s:0", "s:0", "s:0", "s:0"]);
    let outputs: Vec<&str> = body.outputs().iter().map(|tensor| body.tensor_name(*tensor)).collect();
    assert_eq!(outputs, ["keep:0", "use:0"]);
}

#[test]
fn training_is_recognised() {
    let handle = |name| {
        let shape = "shape=shape { dim { size: 4 } dim { size: 4 } }";
        node(name, "VarHandleOp", &[], &[FLOAT, shape, &shapes(&[&[]])])
    };
    let reads = |name, from| node(name, "ReadVariableOp", &[from], &[FLOAT, &shapes(&[&[4, 4]])]);
    let same = shapes(&[&[4, 4]]);
    let update = ["var", "slot", "rate", "gradients/y", "rate", "^after"];
    let entry = graph(
        &[
            placeholder("x", &[4, 4]),
            handle("var"),
            handle("slot"),
            reads("read", "var"),
            reads("again", "var"),
            node("y", "MatMul", &["x", "read"], &[T, &same]),
            node("loss", "Mul", &["y", "again"], &[T, &same]),
            node("gradients/y", "ReluGrad", &["loss", "y"], &[T, &same]),
            constant("rate", &[]),
            node("clip", "Neg", &["gradients/y"], &[T, &same]),
            node("after", "NoOp", &["^loss"], &[]),
            node("train", "ResourceApplyMomentum", &update, &[T]),
            node("group", "NoOp", &["^train"], &[]),
        ]
        .concat(),
    );
    let graph = &entry.graph;
    let of = |name| phase(graph, name);
    assert_eq!(
        (of("y"), of("loss"), of("after")),
        (Phase::Forward, Phase::Forward, Phase::Forward)
    );
    assert_eq!(of("gradients/y"), Phase::Backward);
    for name in ["clip", "train", "group", "rate"] {
        assert_eq!(of(name), Phase::Optimizer, "{name}");
    }
    assert_eq!(
        (role(graph, "var"), role(graph, "slot")),
        (Role::Parameter, Role::Buffer)
    );
    assert_eq!(
        (role(graph, "read"), role(graph, "again")),
        (Role::Parameter, Role::Parameter)
    );
    // Read twice, the variable takes its 64 bytes once; the momentum, which no op reads, takes them too.
    let sizes = graph.sizes(&Bindings::new());
    let taken: Vec<u64> = graph
        .storages()
        .iter_ids()
        .filter(|(_, storage)| graph.tensors()[storage.root].role.is_variable())
        .map(|(id, _)| sizes.storage(id))
        .collect();
    assert_eq!(taken, [64, 64]);
}

#[test]
fn oddities_are_told() {
    let missing = import(node("y", "Neg", &["nowhere"], &[T]).as_bytes()).expect("a graph");
    let said = missing.diagnostics.entries();
    assert!(said.iter().any(|entry| entry.place.contains("nowhere")), "{said:?}");
    let fails = |text: String| import(text.as_bytes()).expect_err("no graph");
    let twice = fails([constant("c", &[1]), constant("c", &[1])].concat());
    assert!(twice.contains("two nodes are called \"c\""), "{twice}");
    let port = fails([constant("c", &[1]), node("y", "Neg", &["c:4294967294"], &[T])].concat());
    assert!(port.contains("output 4294967294"), "{port}");
    let circle = fails([node("a", "Neg", &["b"], &[T]), node("b", "Neg", &["a"], &[T])].concat());
    assert!(circle.contains("circle"), "{circle}");
    let many = fails(node("s", "Split", &[], &["num_split=i: 9000000000000", T]));
    assert!(many.contains("outputs"), "{many}");
    let deep = fails(format!(
        "{}attr {}",
        small().trim_end_matches("}\n"),
        "{ value ".repeat(100_000)
    ));
    assert!(deep.contains("deep"), "{deep}");
}
