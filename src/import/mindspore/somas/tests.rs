//! Plans by hand, in the forms of 1.x and 2.x.

use crate::test_help::{messages, read, tells};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph, Phase, Role, TensorId};
use highwater_model::units::Step;
use highwater_model::workload::{Dumped, GraphEntry, ProblemEntry, Source};

/// Form of 2.10: a union, a workspace, outputs and inputs of the graph, two streams.
const PLAN: &str = include_str!("../../../../tests/mutate/seeds/CPU_somas_tensor_offset_0.ir");

fn graph(text: &str) -> (GraphEntry, Diagnostics) {
    let imported = read("CPU_somas_tensor_offset_0.ir", text.as_bytes()).expect("a plan");
    assert_eq!(imported.format, "somas");
    match imported.source {
        Source::Graphs(mut entries) => (entries.remove(0), imported.diagnostics),
        other => panic!("not a graph: {other:?}"),
    }
}

fn problem(text: &str) -> (ProblemEntry, Diagnostics) {
    let imported = read("a.ir", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "somas");
    match imported.source {
        Source::Problems(entries) => (ProblemEntry::clone(&entries[0]), imported.diagnostics),
        other => panic!("not a problem: {other:?}"),
    }
}

fn error(text: &str) -> String {
    read("a.ir", text.as_bytes()).map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}

/// A line for each block: name, first step, first step behind, bytes, offset.
fn blocks(entry: &ProblemEntry) -> Vec<String> {
    let offsets = entry.recorded.as_ref().map(|plan| &plan.offsets);
    let buffers = entry.problem.buffers.iter().enumerate();
    let lines = buffers.map(|(at, buffer)| {
        let offset = offsets.map_or_else(|| "-".to_owned(), |offsets| offsets[at].to_string());
        let (lower, upper) = (buffer.lower.0, buffer.upper.0);
        format!("{} {lower}..{upper} {} @{offset}", entry.ids.get(at), buffer.size.0)
    });
    lines.collect()
}

fn tensor(graph: &Graph, name: &str) -> TensorId {
    let found = graph.tensors().ids().find(|id| graph.tensor_name(*id) == name);
    found.unwrap_or_else(|| panic!("a tensor {name}"))
}

fn dumped(entry: &GraphEntry) -> &Dumped {
    entry.dumped.as_ref().expect("a plan")
}

#[test]
fn the_plan_is_beside_the_graph_of_its_nodes() {
    let (entry, diagnostics) = graph(PLAN);
    let arena = &dumped(&entry).arenas[0];
    let expected = [
        "Default/ReLU-op0 %0T 0..4 512 @1024",
        "Default/Add-op0 %1T %2T 1..4 512 @0",
        "Default/Add-op0 %3T 1..2 512 @512",
    ];
    assert_eq!(blocks(arena), expected);
    assert_eq!(arena.problem.buffers[0].alignment, 512);
    assert_eq!(arena.recorded.as_ref().map(|plan| plan.maker.as_str()), Some("SOMAS"));
    let graph = &entry.graph;
    let kinds: Vec<&str> = graph.ops().ids().map(|op| graph.op_kind(op)).collect();
    assert_eq!(kinds, ["ReLU", "Add", "Reshape", "MatMul", "Assign"]);
    assert_eq!(graph.ops()[highwater_model::graph::OpId(3)].phase, Phase::Backward);
    assert_eq!(dumped(&entry).streams, [0, 0, 1, 1, 1]);
    let role = |name| graph.tensors()[tensor(graph, name)].role;
    assert_eq!(
        [
            role("x"),
            role("Default/data-7"),
            role("Default/Add-op0 %3T"),
            role("Default/Add-op0 %1T")
        ],
        [Role::Input, Role::Constant, Role::Workspace, Role::Activation]
    );
    let bytes = |name| graph.sizes(&Bindings::new()).tensor(tensor(graph, name));
    assert_eq!((bytes("Default/Add-op0 %3T"), bytes("x")), (Some(100), Some(64)));
    let storage = |name| graph.tensors()[tensor(graph, name)].storage;
    assert_eq!(storage("Default/Add-op0 %1T"), storage("Default/Reshape-op0 %2T"));
    assert_eq!(storage("Default/Assign-op0 %5T"), storage("w.moment"));
    let facts = &dumped(&entry).facts;
    assert!(
        facts.contains(&("SOMAS arena, in bytes".to_owned(), "1536".to_owned())),
        "{facts:?}"
    );
    tells(&diagnostics, &[("weight or an input", 2)]);
}

#[test]
fn older_forms_state_an_address_and_name_references() {
    let text = "All Parameters:\n\nindex:\tsize:\n\nAll Tensors:\n\n\
        index:\tsize:\treal_size:\toffset:\taddr:\ttype:\tlifelong:\tlife_start:\tlife_end:\tsource node name:\n\
        %0T\t#512S\t#10S\t&0\t&0x7f00\tCommon\tLifeLongGraphAll\t1\t2\tA-op0\n\
        %1T\t#512S\t#512S\t&512\t&0x7f00\tRefNodeInput\tLifeLongNone\t1\t3\tB-op1\n\
        %2T\t#0S\t#512S\t&512\t&0x7f00\tRefNodeOutput\tLifeLongNone\t3\t5\tC-op2\n\
        %3T\t#1024S\t#512S\t&1024\t&0x7f00\tCommon\tLifeLongGraphEnd\t2\t3\tD-op2\n\n\
        All Ref Node Info:\n\nrefnode input-output:%1T %2T \n";
    let (entry, diagnostics) = problem(text);
    let expected = [
        "A-op0 %0T 0..6 512 @0",
        "B-op1 %1T %2T 1..6 512 @512",
        "D-op2 %3T 2..6 1024 @1024",
    ];
    assert_eq!(blocks(&entry), expected);
    assert_eq!(messages(&diagnostics), "");
    assert_eq!(entry.name, "a.ir");
}

#[test]
fn a_dump_of_a_stage_before_the_solver_has_no_plan() {
    let text = PLAN.replace("&1024", "&0").replace("&512", "&0");
    let (entry, diagnostics) = graph(&text);
    assert_eq!(dumped(&entry).arenas[0].recorded, None);
    tells(&diagnostics, &[("stage before SOMAS's solver", 1)]);
}

#[test]
fn a_union_at_two_offsets_and_a_list_that_lacks_tensors_are_told() {
    let (entry, diagnostics) = graph(&PLAN.replace("%2T\t#512S\t#64S\t&0", "%2T\t#512S\t#64S\t&2048"));
    assert_eq!(dumped(&entry).arenas[0].problem.buffers.len(), 4);
    tells(&diagnostics, &[("different offsets", 1)]);
    let (_, diagnostics) = graph(&PLAN.replace("inputs[%0T, %1P, ]", "inputs[%70T, %71P, ]"));
    tells(&diagnostics, &[("that is not listed", 2)]);
    let overlapping = PLAN.replace("&1024", "&0");
    let (_, diagnostics) = graph(&overlapping);
    tells(&diagnostics, &[("fix nothing", 1)]);
}

#[test]
fn the_log_of_edges_has_live_ranges_without_a_plan() {
    let (entry, diagnostics) = problem(
        "Somas EDGE src=n0, srcstm=0, dst=n1, dststm=1, workspace=0, size=524288, lifelong=0, tid=0, start=0, end=90\n\
         Somas EDGE src=n0, srcstm=0, dst=n90, dststm=90, workspace=0, size=524288, lifelong=0, tid=0, start=0, end=90\n\
         Somas EDGE ERROR src=n1, srcstm=1, dst=nc, dststm=nc, workspace=1, size=64, lifelong=0, tid=2, start=1, end=1\n",
    );
    assert_eq!(
        blocks(&entry),
        ["n0 %0T 0..91 524288 @-", "n1 %2T workspace 1..2 64 @-"]
    );
    assert_eq!(entry.problem.buffers[0].upper, Step(91));
    tells(&diagnostics, &[("before SOMAS rounds them", 1)]);
}

#[test]
fn files_of_the_solver_and_damaged_plans_are_errors_with_a_place() {
    for (text, expected) in [
        ("T 103 512 0\nT 0 1024 0\n", "2 blocks of 1536 bytes"),
        (
            "\ntensor_id=1\tsize=512\toffset=1024\tcontinuous=0\n",
            "1 blocks in 1536 bytes",
        ),
        ("All Tensors:\n\nindex:\n%0T\t#512S\t#1S\t&what\n", "line 4"),
        (
            "All Tensors:\n\nindex:\n%0T\t#512S\t#1S\t&0\tCommon\tLifeLongNone\t0\t1\tA\n%0T\t#512S\t#1S\t&0\tCommon\tLifeLongNone\t0\t1\tA\n",
            "line 5",
        ),
        (
            "All Tensors:\n\nindex:\n%0T\t#512S\t#1S\t&0\tCommon\tLifeLongNone\t3\t1\tA\n",
            "lives on no step",
        ),
        (
            "All Tensors:\n\nindex:\n%0T\t#0S\t#1S\t&0\tCommon\tLifeLongNone\t0\t1\tA\n",
            "no tensor lies in the arena",
        ),
        (
            "All Parameters:\n\nindex:\tsize:\n%0P\t#1S\tx\t0\n",
            "no tensor is listed",
        ),
    ] {
        assert!(error(text).contains(expected), "{}", error(text));
    }
}
