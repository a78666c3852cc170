//! The TensorFlow importer on small graphs written by hand, good, odd and damaged.

use highwater::graph::{Bindings, Graph, OpId, Phase, Role};
use highwater::import::Imported;
use highwater::liveness::{View, lifetimes};
use highwater::units::Step;
use highwater::workload::{GraphEntry, Source};

use crate::support::read;

fn import(bytes: &[u8]) -> Result<Imported, String> {
    read("test.pb", bytes).map_err(|error| error.to_string())
}

fn entries(imported: &Imported) -> &[GraphEntry] {
    match &imported.source {
        Source::Graphs(entries) => entries,
        _ => panic!("a graph"),
    }
}

fn graph(text: &str) -> GraphEntry {
    let imported = import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "tensorflow");
    entries(&imported)[0].clone()
}

fn op(graph: &Graph, name: &str) -> OpId {
    let found = graph.ops().ids().find(|op| graph.op_name(*op) == name);
    found.unwrap_or_else(|| panic!("there is no op {name}"))
}

fn operands<'g>(graph: &'g Graph, name: &str) -> Vec<&'g str> {
    let operands = graph.operands(op(graph, name)).iter();
    operands.map(|tensor| graph.tensor_name(*tensor)).collect()
}

fn role(graph: &Graph, name: &str) -> Role {
    graph.tensors()[graph.results(op(graph, name))[0]].role
}

fn phase(graph: &Graph, name: &str) -> Phase {
    graph.ops()[op(graph, name)].phase
}

// ---- text ----

/// A node as text: `node("y", "Add", &["x", "^c"], "T")` with attributes written as `key=value`.
fn node(name: &str, kind: &str, inputs: &[&str], attributes: &[&str]) -> String {
    let inputs = each(inputs, |input| format!("  input: \"{input}\"\n"));
    let attributes = each(attributes, |attribute| {
        let (key, value) = attribute.split_once('=').expect("key=value");
        format!("  attr {{ key: \"{key}\" value {{ {value} }} }}\n")
    });
    format!("node {{\n  name: \"{name}\"\n  op: \"{kind}\"\n{inputs}{attributes}}}\n")
}

/// The texts of all items, end to end.
fn each<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().concat()
}

fn dims(shape: &[i64]) -> String {
    each(shape, |size| format!("dim {{ size: {size} }} "))
}

const FLOAT: &str = "dtype=type: DT_FLOAT";
const T: &str = "T=type: DT_FLOAT";

fn shapes(all: &[&[i64]]) -> String {
    let list = each(all, |shape| format!("shape {{ {}}} ", dims(shape)));
    format!("_output_shapes=list {{ {list}}}")
}

fn placeholder(name: &str, shape: &[i64]) -> String {
    let own = format!("shape=shape {{ {}}}", dims(shape));
    node(name, "Placeholder", &[], &[FLOAT, &own, &shapes(&[shape])])
}

fn constant(name: &str, shape: &[i64]) -> String {
    let value = format!("value=tensor {{ dtype: DT_FLOAT tensor_shape {{ {}}} }}", dims(shape));
    node(name, "Const", &[], &[FLOAT, &value, &shapes(&[shape])])
}

fn small() -> String {
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
    let said = imported.diagnostics.entries();
    assert!(said.iter().any(|entry| entry.message.contains("Foo")), "{said:?}");
}

const FUNCTION: &str = r#"
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
    // Read twice, the variable takes its 64 bytes once; the momentum, which nobody reads, takes them too.
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

// ---- binary ----

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
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

fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    bytes(5, &[bytes(1, key.as_bytes()), bytes(2, value)].concat())
}

fn binary_node(name: &str, kind: &str, inputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = [bytes(1, name.as_bytes()), bytes(2, kind.as_bytes())].concat();
    for input in inputs {
        out.extend(bytes(3, input.as_bytes()));
    }
    for attribute in attributes {
        out.extend_from_slice(attribute);
    }
    bytes(1, &out)
}

/// The graph of [`small`].
fn small_binary() -> Vec<u8> {
    let shape = |dims: &[i64]| -> Vec<u8> { dims.iter().flat_map(|size| bytes(2, &number(1, *size))).collect() };
    let stated = |dims: &[i64]| attribute("_output_shapes", &bytes(1, &bytes(7, &shape(dims))));
    let (float, t) = (attribute("dtype", &number(6, 1)), attribute("T", &number(6, 1)));
    let tensor = bytes(8, &[number(1, 1), bytes(2, &shape(&[4, 3]))].concat());
    let own = attribute("shape", &bytes(7, &shape(&[-1, 4])));
    [
        binary_node("x", "Placeholder", &[], &[float.clone(), own, stated(&[-1, 4])]),
        binary_node(
            "w",
            "Const",
            &[],
            &[stated(&[4, 3]), float, attribute("value", &tensor)],
        ),
        binary_node("w/read", "Identity", &["w"], &[t.clone(), stated(&[4, 3])]),
        binary_node("y", "MatMul", &["x", "w/read"], &[t.clone(), stated(&[-1, 3])]),
        binary_node("z", "Relu", &["y", "^w"], &[t, stated(&[-1, 3])]),
        binary_node("done", "NoOp", &["^z"], &[]),
        bytes(4, &number(1, 2000)),
    ]
    .concat()
}

#[test]
fn both_forms_give_the_same_graph() {
    let imported = import(&small_binary()).expect("a graph");
    assert_eq!(entries(&imported)[0].graph, graph(&small()).graph);
}

#[test]
fn saved_models_give_a_graph_for_each_meta_graph() {
    let meta = |tag: &str| {
        let info = [bytes(4, tag.as_bytes()), bytes(5, b"2.21.0")].concat();
        [bytes(1, &info), bytes(2, &small_binary())].concat()
    };
    let saved = [number(1, 1), bytes(2, &meta("serve")), bytes(2, &meta("train"))].concat();
    let imported = import(&saved).expect("a saved model");
    assert_eq!(imported.format, "tensorflow");
    let names: Vec<&str> = entries(&imported).iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["serve", "train"]);
    assert_eq!(entries(&imported)[0].graph, entries(&imported)[1].graph);
    let alone = import(&meta("serve")).expect("a meta graph");
    assert_eq!(entries(&alone)[0].graph.ops().len(), 6);
}

#[test]
fn big_contents_are_skipped() {
    // 8 MiB of weights, of which nothing is kept.
    let content = vec![0x41_u8; 8 << 20];
    let tensor = [
        number(1, 1),
        bytes(2, &bytes(2, &number(1, 2 << 20))),
        bytes(4, &content),
    ]
    .concat();
    let file = binary_node(
        "w",
        "Const",
        &[],
        &[
            attribute("dtype", &number(6, 1)),
            attribute("value", &bytes(8, &tensor)),
        ],
    );
    let imported = import(&file).expect("a graph");
    let graph = &entries(&imported)[0].graph;
    let sizes = graph.sizes(&Bindings::new());
    assert_eq!(sizes.tensor(graph.results(OpId(0))[0]), Some(8 << 20));
}

#[test]
fn cut_off_files_name_the_byte() {
    let whole = small_binary();
    for len in 40..whole.len() {
        match import(&whole[..len]) {
            // Cut between two nodes.
            Ok(imported) => assert!(entries(&imported)[0].graph.ops().len() < 7),
            Err(error) => assert!(error.contains(&format!("byte {len}")), "{len}: {error}"),
        }
    }
}

fn damage(whole: &[u8], rounds: u32) {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut answers, mut errors) = (0, 0);
    for _ in 0..rounds {
        let mut damaged = whole.to_vec();
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
        match import(&damaged) {
            Ok(imported) => {
                answers += 1;
                match &imported.source {
                    Source::Graphs(entries) => {
                        for entry in entries {
                            let sizes = entry.graph.sizes(&Bindings::from([("batch".to_owned(), 3)]));
                            lifetimes(&entry.graph, &sizes, View::Aliased).peak();
                        }
                    }
                    Source::Recordings(all) => all.iter().for_each(|one| assert_eq!(one.check(), Ok(()))),
                    _ => {}
                }
            }
            Err(error) => {
                assert!(!error.is_empty());
                errors += 1;
            }
        }
    }
    assert!(answers > 20 && errors > 20, "{answers} answers, {errors} errors");
}

#[test]
fn damaged_files_never_panic() {
    damage(&small_binary(), 1000);
    damage([small().as_str(), FUNCTION].concat().as_bytes(), 1000);
    damage(&run(), 1000);
}

// ---- runs ----

fn run() -> Vec<u8> {
    let record = |micros, bytes: i64| bytes_field(6, &[number(1, micros), number(2, bytes)]);
    let memory = |records: &[Vec<u8>]| bytes_field(6, &[bytes(1, b"cpu"), records.concat()]);
    let node = |name: &str, start, records: &[Vec<u8>]| {
        let times = [number(2, start), number(4, 3), number(5, 4)].concat();
        let label = bytes(8, format!("{name} = MatMul(x)").as_bytes());
        let scratch = bytes(12, &number(1, 96));
        bytes_field(2, &[bytes(1, name.as_bytes()), times, memory(records), label, scratch])
    };
    let device = [
        bytes(1, b"/job:localhost/replica:0/task:0/device:CPU:0"),
        node("a", 10, &[record(11, 64), record(30, -64)]),
        node("b", 20, &[record(21, 32)]),
    ]
    .concat();
    [bytes(1, &bytes(1, &device)), bytes(2, &[]), bytes(3, b"\x0a\x00")].concat()
}

fn bytes_field(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

#[test]
fn a_run_is_a_recording() {
    let imported = import(&run()).expect("a run");
    assert_eq!(imported.format, "tensorflow_run");
    let Source::Recordings(all) = &imported.source else {
        panic!("recordings")
    };
    let recording = &all[0];
    assert_eq!((all.len(), recording.name.as_str(), recording.n_steps), (1, "CPU:0", 3));
    assert_eq!(recording.peaks().live.0.get(), 96);
    let op = &recording.ops[1];
    assert_eq!((recording.text(op.name), recording.text(op.kind)), ("b", "MatMul"));
    assert_eq!((op.start.0, op.time.0, op.scratch.get()), (20_000, 3_000, 96));
    assert_eq!(imported.diagnostics.entries().len(), 2);
}
