//! Calls in every format that has them: called ops are in place of the call, loops are held on their step.

use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph};
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::{GraphEntry, Source, UseKind};
use highwater_rewrite::control_flow_workspace;
use highwater_rewrite::inline::with_calls_inlined;

use crate::made::bytes;
use crate::onnx;
use crate::support::read;

/// The first graph of a file with its calls in place, and what is said.
pub(crate) fn inlined(name: &str, bytes: &[u8]) -> (GraphEntry, String) {
    let imported = read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let Source::Graphs(mut entries) = imported.source else {
        panic!("{name} is a graph")
    };
    let cancel = Cancel::new();
    let mut diagnostics = Diagnostics::new();
    with_calls_inlined(&mut entries, &Progress::silent(&cancel), &mut diagnostics).expect("not cancelled");
    let said = diagnostics.entries().iter().map(|entry| entry.message.clone());
    (entries.remove(0), said.collect::<Vec<_>>().join("\n"))
}

/// Ops with what they read: `f/neg(x:0)`.
fn text(graph: &Graph) -> String {
    let ops = graph.ops().ids().map(|op| {
        let operands = graph.operands(op).iter().map(|tensor| graph.tensor_name(*tensor));
        let name = match graph.op_name(op) {
            "" => graph.op_kind(op),
            name => name,
        };
        format!("{name}({})", operands.collect::<Vec<_>>().join(","))
    });
    ops.collect::<Vec<_>>().join(" ")
}

const XLA: &str = "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

inner (p: (f32[4], f32[4])) -> (f32[4], f32[4]) {
  %p = (f32[4]{0}, f32[4]{0}) parameter(0)
  %l = f32[4]{0} get-tuple-element(%p), index=0
  %r = f32[4]{0} get-tuple-element(%p), index=1
  %s = f32[4]{0} add(%l, %r)
  ROOT %t = (f32[4]{0}, f32[4]{0}) tuple(%s, %l)
}

ENTRY %main (arg: f32[4]) -> f32[4] {
  %arg = f32[4]{0} parameter(0)
  %neg = f32[4]{0} negate(%arg)
  %both = (f32[4]{0}, f32[4]{0}) tuple(%arg, %neg)
  %call = (f32[4]{0}, f32[4]{0}) call(%both), to_apply=%inner
  ROOT %out = f32[4]{0} get-tuple-element(%call), index=0
}
";

const GE: &str = r#"
name: "model" version: 1
graph { name: "main"
  op { name: "x" type: "Data" output_desc { dtype: DT_FLOAT shape { dim: 2 } } attr { key: "index" value { i: 0 } } }
  op { name: "w" type: "Const" output_desc { dtype: DT_FLOAT shape { dim: 2 } } }
  op { name: "call" type: "PartitionedCall" input: "w:0" input: "x:0" subgraph_name: "sub"
    output_desc { dtype: DT_FLOAT shape { dim: 2 } } output_desc { dtype: DT_FLOAT shape { dim: 2 } } }
  op { name: "out" type: "NetOutput" input: "call:1" } }
graph { name: "sub"
  op { name: "second" type: "Data" output_desc { dtype: DT_FLOAT shape { dim: 2 } }
    attr { key: "index" value { i: 0 } } attr { key: "_parent_node_index" value { i: 1 } } }
  op { name: "first" type: "Data" output_desc { dtype: DT_FLOAT shape { dim: 2 } } attr { key: "index" value { i: 0 } } }
  op { name: "sub" type: "Sub" input: "first:0" input: "second:0" output_desc { dtype: DT_FLOAT shape { dim: 2 } } }
  op { name: "end" type: "NetOutput" input: "sub:0" input: "first:0"
    input_desc { attr { key: "_parent_node_index" value { i: 1 } } }
    input_desc { attr { key: "_parent_node_index" value { i: 0 } } } } }
"#;

const TENSORFLOW: &str = r#"
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } } } } }
node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 4 } dim { size: 6 } } } } }
node { name: "call" op: "StatefulPartitionedCall" input: "x" input: "v" input: "^x"
  attr { key: "Tout" value { list { type: DT_FLOAT type: DT_FLOAT } } } attr { key: "f" value { func { name: "outer" } } } }
node { name: "y" op: "Neg" input: "call:1" attr { key: "T" value { type: DT_FLOAT } } }
library {
  function {
    signature { name: "dense" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "w" type: DT_RESOURCE }
      output_arg { name: "out" type: DT_FLOAT } }
    node_def { name: "read" op: "ReadVariableOp" input: "w" attr { key: "dtype" value { type: DT_FLOAT } } }
    node_def { name: "product" op: "MatMul" input: "a" input: "read:value:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "out" value: "product:product:0" }
  }
  function {
    signature { name: "outer" input_arg { name: "p" type: DT_FLOAT } input_arg { name: "q" type: DT_RESOURCE }
      output_arg { name: "same" type: DT_FLOAT } output_arg { name: "out" type: DT_FLOAT } }
    node_def { name: "in" op: "dense" input: "p" input: "q" }
    ret { key: "same" value: "p" } ret { key: "out" value: "in:out:0" }
  }
}
"#;

#[test]
fn called_ops_stand_where_the_call_was() {
    let function = {
        let call = onnx::node("Add", &["a", "b"], &["s"], &[]);
        let relu = onnx::node("Relu", &["s"], &["r"], &[]);
        // In a function nodes are field 7; in a graph 1.
        let nodes = [bytes(7, &call[2..]), bytes(7, &relu[2..])].concat();
        let ends = [bytes(4, b"a"), bytes(4, b"b"), bytes(5, b"r")].concat();
        bytes(25, &[bytes(1, b"f"), ends, nodes, bytes(10, b"own")].concat())
    };
    let call = |inputs: &[&str], outputs: &[&str]| {
        let node = onnx::node("f", inputs, outputs, &[]);
        let mut node = node[2..].to_vec();
        node.extend(bytes(7, b"own"));
        bytes(1, &node)
    };
    let mut file = onnx::model(&[
        call(&["x", "x"], &["m"]),
        call(&["m", "x"], &["y"]),
        onnx::value(11, "x", &["3"]),
        onnx::value(12, "y", &["3"]),
    ]);
    file.extend(function);
    for (name, bytes, expected, bytes_at_peak) in [
        (
            "m.txt",
            XLA.as_bytes(),
            "arg() neg(arg) both(arg,neg) call/l(arg) call/r(neg) call/s(arg,neg) call/t(call/s,arg) out(call/s)",
            // The first tuple's table and what is negated; the sum is the output's.
            16 + 16,
        ),
        (
            "ge_proto_1_Build.txt",
            GE.as_bytes(),
            "x() w() call/sub(w:0,x:0) out(call/sub:0)",
            8,
        ),
        (
            "g.pbtxt",
            TENSORFLOW.as_bytes(),
            "x() v() call/in/read(v:0) call/in/product(x:0,call/in/read:0) y(call/in/product:0)",
            2 * 6 * 4 * 2,
        ),
        ("m.onnx", &file, "Add(x,x) Relu(f/s) Add(f/r,x) Relu(f/s)", 12 * 2),
    ] {
        let (entry, said) = inlined(name, bytes);
        let found = text(&entry.graph);
        assert_eq!(found, expected, "{name}");
        assert!(entry.uses.is_empty(), "{name}: {:?}", entry.uses);
        assert!(said.contains("in place"), "{name}: {said}");
        let sizes = entry.graph.sizes(&Bindings::from([("batch".to_owned(), 2)]));
        let peak = highwater_model::liveness::feature_lifetimes(&entry.graph, &sizes)
            .peak()
            .0;
        assert_eq!(peak.get(), bytes_at_peak, "{name}");
    }
}

#[test]
fn a_loop_of_a_lite_model_is_held_on_its_step() {
    let bytes = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../sample_traces/lstm_tiny.tflite"
    ))
    .expect("a sample");
    let (entry, said) = inlined("lstm_tiny.tflite", &bytes);
    assert_eq!(said, "");
    let kinds: Vec<(u32, u32, UseKind)> = entry.uses.iter().map(|one| (one.graph, one.body, one.kind)).collect();
    assert_eq!(kinds, [(0, 1, UseKind::Loop), (0, 2, UseKind::Loop)]);
    let cancel = Cancel::new();
    let scratch = control_flow_workspace(&entry, &Bindings::new(), &Progress::silent(&cancel)).expect("not cancelled");
    let [one] = scratch[..] else { panic!("one loop") };
    assert_eq!(entry.graph.op_kind(one.op), "WHILE");
    // One turn: two products of 512 bytes, an element of 64 and two counters of 4, without the 392 bytes that the
    // results hold. The sums overwrite a product; the view of an output is a copy.
    assert_eq!((one.bytes.get(), one.is_lower_bound), (704, false));
}

#[test]
fn functions_that_nothing_calls_leave_the_shapes_of_others() {
    // The function, called by a function that the graph does not run and whose input is unknown.
    let other = r#"library { function {
        signature { name: "stray" input_arg { name: "p" type: DT_FLOAT } input_arg { name: "q" type: DT_RESOURCE }
          output_arg { name: "out" type: DT_FLOAT } }
        node_def { name: "in" op: "dense" input: "p" input: "q" }
        ret { key: "out" value: "in:out:0" } } }"#;
    let text = format!("{TENSORFLOW}{other}");
    let (entry, _) = inlined("g.pbtxt", text.as_bytes());
    let sizes = entry.graph.sizes(&Bindings::from([("batch".to_owned(), 2)]));
    let dense = &entry.bodies[0];
    assert_eq!((entry.bodies.len(), dense.name()), (3, "dense"));
    assert_eq!(entry.graph.unknown_activations(&sizes).count(), 0);
    let sizes = dense.sizes(&Bindings::from([("batch".to_owned(), 2)]));
    assert_eq!(dense.unknown_activations(&sizes).count(), 0);
}
