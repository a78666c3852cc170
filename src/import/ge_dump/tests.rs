//! Dumps written by hand: both forms, and what is odd in real ones.

mod forms;
mod limits;

use crate::test_help::read;
use highwater_model::graph::{Bindings, DType, Graph, Id as _, Role, TensorId};
use highwater_model::workload::{Dumped, GraphEntry, Source};

fn entry(text: &str) -> (GraphEntry, String) {
    let imported = read("ge_proto_00000001_Build.txt", text.as_bytes()).expect("a dump");
    assert_eq!(imported.format, "ge_dump");
    let Source::Graphs(mut entries) = imported.source else {
        panic!("a dump has graphs");
    };
    let said = imported.diagnostics.entries().iter();
    let said: Vec<String> = said
        .map(|entry| format!("{} [{}] x{}", entry.message, entry.place, entry.count))
        .collect();
    (entries.remove(0), said.join("\n"))
}

fn tensor(graph: &Graph, name: &str) -> TensorId {
    let found = graph.tensors().ids().find(|id| graph.tensor_name(*id) == name);
    found.unwrap_or_else(|| panic!("a tensor {name}"))
}

fn bytes(graph: &Graph, name: &str) -> Option<u64> {
    graph.sizes(&Bindings::new()).tensor(tensor(graph, name))
}

fn dumped(entry: &GraphEntry) -> &Dumped {
    entry.dumped.as_ref().expect("a dump says more than its graph")
}

fn offset(entry: &GraphEntry, name: &str) -> Option<u64> {
    let plan = dumped(entry).offsets.as_ref().expect("a plan");
    plan.offsets[tensor(&entry.graph, name).idx()]
}

/// A dump that is not in execution order, with what real ones have.
const MODEL: &str = include_str!("../../../tests/mutate/seeds/ge_proto_model.txt");

#[test]
fn ops_are_sorted_and_edges_resolved() {
    let (entry, said) = entry(MODEL);
    let graph = &entry.graph;
    assert_eq!((entry.name.as_str(), entry.bodies.len()), ("main", 1));
    let order: Vec<&str> = graph.ops().ids().map(|op| graph.op_name(op)).collect();
    assert_eq!(order, ["x", "w", "conv", "late", "var", "add", "assign", "call", "out"]);
    assert!(said.contains("not stored in execution order"), "{said}");
    assert!(
        said.contains("reads from an op that is not in the graph; the input is left out [gone:0 of call] x1"),
        "{said}"
    );
    assert!(
        said.contains("its producer does not have; the input is left out [add:7 of call] x1"),
        "{said}"
    );
    assert_eq!(dumped(&entry).streams, [0, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(entry.bodies[0].name(), "sub");
}

#[test]
fn shapes_are_the_devices_and_sizes_stand_in_for_unknown_ones() {
    let (entry, _) = entry(MODEL);
    let graph = &entry.graph;
    assert_eq!(bytes(graph, "add:0"), Some(2 * 3 * 3 * 16 * 2));
    assert_eq!(bytes(graph, "add:1"), Some(48));
    assert_eq!(bytes(graph, "conv:0"), Some(96));
    assert_eq!(bytes(graph, "call:0"), None);
    assert_eq!((bytes(graph, "w:0"), bytes(graph, "var:0")), (Some(2), Some(2)));
    let role = |name| graph.tensors()[tensor(graph, name)].role;
    assert_eq!(
        [role("x:0"), role("w:0"), role("var:0"), role("add:0")],
        [Role::Input, Role::Weight, Role::Parameter, Role::Activation]
    );
    assert_eq!(graph.tensors()[tensor(graph, "add:1")].dtype, DType::Unknown);
    let facts = &dumped(&entry).facts;
    let fact = |key: &str| {
        let found = facts.iter().find(|(known, _)| known == key);
        found.map_or_else(|| panic!("a fact {key} among {facts:?}"), |(_, value)| value.as_str())
    };
    assert_eq!(
        (fact("memory_size"), fact("ratio"), fact("stream_num")),
        ("9000000000", "0.5", "2")
    );
    assert_eq!((fact("shapes of main"), fact("sub-graphs")), ("unknown", "1"));
    assert_eq!(fact("graphs that call runs"), "sub");
    assert_eq!(fact("device layouts of outputs"), "NC1HWC0 1");
    assert_eq!(
        fact("outputs with another shape on the device"),
        "1, such as add:0: NC1HWC0 [1, 2, 3, 3, 16] of NCHW [1, 20, 3, 3]"
    );
}

#[test]
fn dynamic_dimensions_and_graphs_that_are_not_there_are_told() {
    let (_, said) = entry(MODEL);
    assert!(
        said.contains("counts the size that the dump states [conv:0] x1"),
        "{said}"
    );
    assert!(!said.contains("the file does not hold"), "{said}");
    let (entry, said) = entry(
        "graph { name: 'g' op { name: 'i' type: 'If' subgraph_name: 'then' subgraph_name: 'else'
             output_desc { dtype: DT_FLOAT shape { dim: -2 } size: 96 } } }
         graph { name: 'else' op { name: 'r' type: 'Relu' } }",
    );
    assert!(
        said.contains("the file does not hold; what it needs is not counted [then of i] x1"),
        "{said}"
    );
    assert!(said.contains("counts the size that the dump states [i:0] x1"), "{said}");
    assert_eq!(bytes(&entry.graph, "i:0"), Some(96));
    let fact = ("shapes of g".to_owned(), "unknown".to_owned());
    assert!(dumped(&entry).facts.contains(&fact), "{:?}", dumped(&entry).facts);
}

#[test]
fn memory_is_as_dumped() {
    let (entry, _) = entry(MODEL);
    let graph = &entry.graph;
    for (name, expected) in [
        ("conv:0", Some(0)),
        ("add:0", Some(1024)),
        ("add:1", None),
        ("x:0", Some(9216)),
        ("var:0", Some(62_277_025_792)),
        ("add:workspace0", Some(4096)),
        ("add:workspace1", Some(8192)),
    ] {
        assert_eq!(offset(&entry, name), expected, "{name}");
    }
    let workspace = tensor(graph, "add:workspace1");
    assert_eq!(graph.tensors()[workspace].role, Role::Workspace);
    assert_eq!(bytes(graph, "add:workspace1"), Some(600));
    let atomic = &dumped(&entry).atomic;
    let atomic: Vec<&str> = (0..atomic.len()).map(|position| atomic.get(position)).collect();
    assert_eq!(atomic, ["add:1", "add:workspace1"]);
    let storage = |name| graph.tensors()[tensor(graph, name)].storage;
    assert_eq!(storage("assign:0"), storage("var:0"));
}

#[test]
fn options_are_those_of_users() {
    let (entry, _) = entry(MODEL);
    let options = dumped(&entry).options.iter();
    let options: Vec<String> = options
        .map(|option| format!("{}={} {} x{}", option.key, option.value, option.op, option.count))
        .collect();
    assert_eq!(
        options,
        [
            "_NpuOptimizer=NpuOptimizer x x1",
            "_ge.exec.staticMemoryPolicy=2 x x2",
            "_precision_mode=allow_mix_precision x x1",
            "ge.x=1  x1",
        ]
    );
}

#[test]
fn a_graph_by_itself_is_a_dump() {
    let (entry, _) = entry(
        "name: 'g'\nop { name: 'a' type: 'Data' output_desc { dtype: DT_FLOAT shape { dim: 2 } } }\n\
         op { name: 'b' type: 'ReadSelect' input: 'a:0' output_desc { dtype: DT_FLOAT shape { dim: 2 } } }",
    );
    assert_eq!((entry.name.as_str(), entry.graph.ops().len()), ("g", 2));
    assert_eq!(entry.graph.storages().len(), 1);
    assert_eq!(dumped(&entry).offsets, None);
}

#[test]
fn memory_at_another_offset_is_not_shared() {
    let text = |at: u64| {
        format!(
            "graph {{ op {{ name: 'a' type: 'A' output_i: 0 output_desc {{ dtype: DT_FLOAT shape {{ dim: 8 }} }} }}\n\
             op {{ name: 'b' type: 'ReadSelect' input: 'a:0' output_i: {at} \
             output_desc {{ dtype: DT_FLOAT shape {{ dim: 2 }} reuse_input: true }} }} }}"
        )
    };
    assert_eq!(entry(&text(0)).0.graph.storages().len(), 1);
    let (apart, said) = entry(&text(512));
    assert_eq!(apart.graph.storages().len(), 2);
    assert!(said.contains("lies elsewhere; it counts by itself [b:0]"), "{said}");
}

const ONNX: &str = include_str!("../../../tests/mutate/seeds/ge_onnx_model.pbtxt");

#[test]
fn the_onnx_form_says_the_same() {
    let (entry, said) = entry(ONNX);
    let graph = &entry.graph;
    let order: Vec<&str> = graph.ops().ids().map(|op| graph.op_name(op)).collect();
    assert_eq!(order, ["conv", "w", "add"], "{said}");
    assert_eq!(graph.op_kind(highwater_model::graph::OpId(2)), "Add");
    assert_eq!((bytes(graph, "add:0"), bytes(graph, "add:1")), (Some(32), Some(4)));
    assert_eq!((bytes(graph, "conv:0"), bytes(graph, "w:0")), (None, Some(32)));
    assert_eq!(
        (offset(&entry, "add:1"), offset(&entry, "add:workspace0")),
        (Some(1024), Some(2048))
    );
    assert_eq!(dumped(&entry).streams, [0, 0, 3]);
    assert_eq!(dumped(&entry).options.len(), 1);
    assert_eq!(dumped(&entry).atomic.get(0), "add:1");
    assert_eq!(entry.bodies.len(), 1);
    assert_eq!(bytes(&entry.bodies[0], "d:0"), Some(1));
    let storage = |name| graph.tensors()[tensor(graph, name)].storage;
    assert_eq!(storage("add:1"), storage("conv:0"));
}

#[test]
fn kernels_of_megabytes_are_passed_over() {
    let kernel = "\\177ELF\\001\\n\\\"{".repeat(500_000);
    let text = format!(
        "graph {{ op {{ name: \"a\" type: \"A\" attr {{ key: \"_tbe_kernel_buffer\" value {{ bt: \"{kernel}\" }} }}\n\
         attr {{ key: \"weights\" value {{ s: \"{kernel}\" }} }}\n\
         attr {{ key: \"numbers\" value {{ list {{ i: [{}7] }} }} }}\n\
         output_desc {{ dtype: DT_INT8 shape {{ dim: 3 }} }} }} }}",
        "1, ".repeat(200_000)
    );
    let (entry, said) = entry(&text);
    assert_eq!(bytes(&entry.graph, "a:0"), Some(3));
    assert!(said.contains("the content of compiled kernels is not read"), "{said}");
}

#[test]
fn circles_and_cut_texts_end_in_errors() {
    let circle = "graph { op { name: 'a' type: 'A' input: 'b:0' output_desc { } } op { name: 'b' type: 'B' input: 'a:0' output_desc { } } }";
    let error = read("x.txt", circle.as_bytes()).expect_err("a circle").to_string();
    assert!(error.contains("circle"), "{error}");
    let cut = &MODEL[..MODEL.len() - 30];
    let error = read("x.txt", cut.as_bytes()).expect_err("cut off").to_string();
    assert!(error.contains("the file ends at byte"), "{error}");
    let looped = "graph { op { name: 'm' type: 'Merge' input: 'n:0' output_desc { } } \
                  op { name: 'n' type: 'NextIteration' input: 'm:0' output_desc { } } }";
    assert!(
        entry(looped)
            .1
            .contains("an edge back to the head of a loop is left out")
    );
}
