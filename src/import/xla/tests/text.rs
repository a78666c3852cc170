//! Text as compilers' own tests have it, and values that tuples pass on.

use super::*;
use highwater_model::graph::Bindings;
use highwater_model::liveness::{View, lifetimes};

const UNUSUAL: &str = r#"/* Copyright: all
HloModule within a comment { is none. */
// RUN: tool %s
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }

ENTRY main (x: f32[4,4],
            y: f32[4,4]) -> (f32[4,4],
    f32[]) {
  x = f32[4,4]{1,0}
    parameter(0),
    sharding={replicated}
  y = f32[4,4] parameter(1)  // a note, with a comma and ( a bracket
  z = f32[4,4] convolution(x, y), window={size=1},
      dim_labels=bf_io->bf, // another =
      metadata={op_name="f//g{" source_line=3}
  zero= f32[] constant(0)
  groups = f32[4,4] all-reduce(z), replica_groups=[2,4] <= [8],
    to_apply=add
  r = f32[] reduce(groups,
     zero), dimensions={0,1}
     , to_apply=add
  ROOT t = (f32[4,4], /*index=1*/f32[]) tuple(z, r)
}, execution_thread="main"
"#;

fn modules(text: &str) -> Vec<GraphEntry> {
    match read("f.hlo", text.as_bytes()).map(|imported| imported.source) {
        Ok(Source::Graphs(graphs)) => graphs,
        other => panic!("no modules: {other:?}"),
    }
}

fn kinds(graph: &highwater_model::graph::Graph) -> Vec<&str> {
    graph.ops().ids().map(|op| graph.op_kind(op)).collect()
}

#[test]
fn text_may_lack_its_header_and_break_lines_anywhere() {
    let entries = modules(UNUSUAL);
    let expected = [
        "parameter",
        "parameter",
        "convolution",
        "constant",
        "all-reduce",
        "reduce",
        "tuple",
    ];
    assert_eq!(kinds(&entries[0].graph), expected);
    let with_header = format!("HloModule jit_f,\n  is_scheduled=true,\n  x={{a}}\n\n{UNUSUAL}");
    let entries = modules(&with_header);
    assert_eq!(
        (entries[0].name.as_str(), kinds(&entries[0].graph)),
        ("jit_f", expected.to_vec())
    );
    let facts = &entries[0].dumped.as_ref().expect("facts").facts;
    assert!(
        facts.contains(&("order".to_owned(), "as scheduled".to_owned())),
        "{facts:?}"
    );
}

#[test]
fn a_file_of_several_modules_has_a_graph_for_each() {
    let module = |name: &str| format!("// -----\nHloModule {name}\n\nENTRY e {{\n  ROOT p = f32[2] parameter(0)\n}}\n");
    let entries = modules(&(module("one") + &module("two")));
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn tuples_hold_pointers_and_pass_their_elements_on() {
    let text = "HloModule pass\n\nENTRY e {\n  p = (f32[256], f32[512]) parameter(0)\n  a = f32[256] get-tuple-element(p), \
                index=0\n  b = f32[512] get-tuple-element(p), index=1\n  n = f32[256] negate(a)\n  inner = (f32[256], f32[512]) \
                tuple(n, b)\n  o = (f32[256], f32[512]) opt-barrier(inner)\n  c = f32[512] get-tuple-element(o), index=1\n  ROOT \
                t = (f32[256], (f32[256], f32[512]), f32[512]) tuple(a, o, c)\n}\n";
    let entries = modules(text);
    let graph = &entries[0].graph;
    let sizes = graph.sizes(&Bindings::new());
    for view in [View::Naive, View::Aliased] {
        // The negated element, and two tables of two and three pointers.
        let total = lifetimes(graph, &sizes, view).total();
        assert_eq!(total.get(), 1024 + 16 + 24, "{view:?}");
    }
    assert_eq!(kinds(graph).len(), 8);
    let outputs: Vec<&str> = graph.outputs().iter().map(|id| graph.tensor_name(*id)).collect();
    assert_eq!(outputs, ["t{}", "p{0}", "inner{}", "n", "p{1}"]);
}
