//! Functions of ONNX that are called with several shapes and attributes, as protobuf text: every call has its own sizes.
//!
//! The files in `functions` begin with the sizes that onnxruntime 1.32.0 computes for the same model without functions.

use highwater_model::graph::{Bindings, Graph, Role};
use highwater_model::workload::Source;

use crate::calls::inlined;
use crate::made::told;
use crate::support::read;

/// Bytes of what nodes compute, ascending, without tensors that share memory and without the graph's outputs.
fn computed(graph: &Graph) -> Vec<u64> {
    let sizes = graph.sizes(&Bindings::new());
    let mut bytes: Vec<u64> = graph
        .tensors()
        .iter_ids()
        .filter(|(id, tensor)| tensor.role == Role::Activation && !graph.outputs().contains(id))
        .filter(|(id, tensor)| graph.storages()[tensor.storage].root == *id)
        .map(|(id, _)| sizes.tensor(id).expect("a known size"))
        .collect();
    bytes.sort_unstable();
    bytes
}

#[test]
fn every_call_has_the_sizes_of_the_model_without_functions() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/import/functions");
    let mut n_files = 0;
    for file in std::fs::read_dir(folder).expect("the folder of this test") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let expected = text.lines().nth(1).expect("sizes").trim_start_matches("# ");
        let expected: Vec<u64> = expected
            .split(' ')
            .map(|size| size.parse().expect("a number"))
            .collect();
        let (entry, _) = inlined("model.textproto", text.as_bytes());
        assert_eq!(computed(&entry.graph), expected, "{}", path.display());
        n_files += 1;
    }
    assert_eq!(n_files, 6);
}

/// A model with inputs `a` [2, 3] and `b` [4], nodes, and a function `F` of domain `loc` with a body.
fn model(nodes: &str, function: &str) -> String {
    let value = |field: &str, name: &str, dims: &[u64]| {
        let dims: Vec<String> = dims.iter().map(|dim| format!("dim {{ dim_value: {dim} }}")).collect();
        format!(
            "{field} {{ name: \"{name}\" type {{ tensor_type {{ elem_type: 1 shape {{ {} }} }} }} }}\n",
            dims.join(" ")
        )
    };
    format!(
        "ir_version: 10 opset_import {{ version: 21 }} opset_import {{ domain: \"loc\" version: 1 }}\n\
         graph {{ name: \"main\" {}{}{nodes} }}\n\
         functions {{ domain: \"loc\" name: \"F\" opset_import {{ version: 21 }} {function} }}\n",
        value("input", "a", &[2, 3]),
        value("input", "b", &[4]),
    )
}

fn call(inputs: &[&str], output: &str, more: &str) -> String {
    let inputs: Vec<String> = inputs.iter().map(|input| format!("input: \"{input}\"")).collect();
    format!(
        "node {{ op_type: \"F\" domain: \"loc\" {} output: \"{output}\" {more} }}\n",
        inputs.join(" ")
    )
}

fn names(text: &str) -> Vec<String> {
    let imported = read("m.textproto", text.as_bytes()).expect("a model");
    let Source::Graphs(graphs) = &imported.source else {
        panic!("graphs")
    };
    let bodies = graphs[0].bodies.iter();
    bodies.map(|body| body.name().to_owned()).collect()
}

const RELU: &str = "input: \"x\" output: \"y\" node { op_type: \"Relu\" input: \"x\" output: \"t\" } node { op_type: \"Neg\" input: \"t\" output: \"y\" }";

#[test]
fn calls_with_equal_shapes_share_a_version() {
    let one = call(&["a"], "c", "") + &call(&["c"], "d", "");
    assert_eq!(names(&model(&one, RELU)), ["F"]);
    let two = one + &call(&["b"], "e", "") + &call(&["a"], "f", "");
    assert_eq!(names(&model(&two, RELU)), ["F", "F (version 2)"]);
    // A value that changes no shape inside makes no version.
    let valued =
        "node { op_type: \"Shape\" input: \"a\" output: \"s\" } node { op_type: \"Neg\" input: \"s\" output: \"n\" }\n"
            .to_owned()
            + &call(&["s"], "c", "")
            + &call(&["n"], "d", "");
    assert_eq!(names(&model(&valued, RELU)), ["F"]);
}

#[test]
fn an_input_that_a_call_leaves_out_is_none() {
    let clip = "input: \"x\" input: \"low\" output: \"y\" node { op_type: \"Clip\" input: \"x\" input: \"low\" output: \"y\" }";
    let text = model(&(call(&["a"], "c", "") + &call(&["c", ""], "d", "")), clip);
    let imported = read("m.textproto", text.as_bytes()).expect("a model");
    assert_eq!(told(&imported, "unknown"), None);
    assert_eq!(computed(&inlined("m.textproto", text.as_bytes()).0.graph), [24, 24]);
}

#[test]
fn attributes_are_those_of_the_call_else_of_the_function() {
    let flatten = |default: &str| {
        format!(
            "input: \"x\" output: \"y\" {default} \
             node {{ op_type: \"Concat\" input: \"x\" input: \"x\" input: \"x\" output: \"t\" \
             attribute {{ name: \"axis\" ref_attr_name: \"p\" type: INT }} }} \
             node {{ op_type: \"Gather\" input: \"t\" input: \"t\" output: \"y\" \
             attribute {{ name: \"axis\" ref_attr_name: \"p\" type: INT }} }}"
        )
    };
    let with_default = flatten("attribute_proto { name: \"p\" i: 1 type: INT }");
    let given = call(&["a"], "c", "attribute { name: \"p\" i: 0 type: INT }") + &call(&["a"], "d", "");
    // Axis 0: [6, 3] and [6, 3, 3]; axis 1: [2, 9] and [2, 2, 9].
    let (entry, _) = inlined("m.textproto", model(&given, &with_default).as_bytes());
    assert_eq!(computed(&entry.graph), [72, 72, 144, 216]);
    // Concat cannot do without an axis: nothing is known of what follows.
    let imported = read(
        "m.textproto",
        model(&call(&["a"], "c", ""), &flatten("attribute: \"p\"")).as_bytes(),
    )
    .expect("a model");
    let (place, count) = told(&imported, "neither the call nor the function gives").expect("told");
    assert_eq!((place.as_str(), count), ("\"Concat\": axis", 2));
}

#[test]
fn calls_beyond_the_limit_keep_what_they_agree_on() {
    // As many widths as calls: each call joins its input with what the one before gave.
    let joins = "input: \"x\" input: \"z\" output: \"y\" \
                 node { op_type: \"Concat\" input: \"x\" input: \"z\" output: \"y\" attribute { name: \"axis\" i: 0 type: INT } } \
                 node { op_type: \"Shape\" input: \"z\" output: \"rank\" }";
    let mut nodes = call(&["b", "b"], "v0", "");
    for turn in 1..1100 {
        nodes += &call(&[&format!("v{}", turn - 1), "b"], &format!("v{turn}"), "");
    }
    let imported = read("m.textproto", model(&nodes, joins).as_bytes()).expect("a model");
    let (place, count) = told(&imported, "more different shapes than are followed").expect("told");
    assert_eq!((place.as_str(), count), ("F", 1100 - 1024));
    let Source::Graphs(graphs) = &imported.source else {
        panic!("graphs")
    };
    // The last call is the last of those that share a version: its own result is known.
    assert_eq!(graphs[0].bodies.len(), 1025);
    let shared = &graphs[0].bodies[1024];
    let sizes = shared.sizes(&Bindings::new());
    assert_eq!(shared.unknown_activations(&sizes).count(), 1);
    let sizes = graphs[0].graph.sizes(&Bindings::new());
    assert_eq!(graphs[0].graph.unknown_activations(&sizes).count(), 0);
}

#[test]
fn functions_that_call_themselves_end() {
    let twice = "input: \"x\" output: \"y\" node { op_type: \"F\" domain: \"loc\" input: \"x\" output: \"t\" } \
                 node { op_type: \"Add\" input: \"t\" input: \"x\" output: \"y\" }";
    let text = model(&(call(&["a"], "c", "") + &call(&["b"], "d", "")), twice);
    let (_, said) = inlined("m.textproto", text.as_bytes());
    assert!(said.contains("circle"), "{said}");
}

#[test]
fn ops_that_cannot_run_are_told_with_both_shapes() {
    let nodes = "node { name: \"sum\" op_type: \"Add\" input: \"a\" input: \"b\" output: \"c\" }";
    let imported = read("m.textproto", model(nodes, RELU).as_bytes()).expect("a model");
    let (place, _) = told(&imported, "Add cannot run").expect("told");
    assert_eq!(place, "\"sum\": [2, 3] and [4]");
}

#[test]
fn a_stated_element_type_counts_and_the_other_one_is_told() {
    let stated = "value_info { name: \"c\" type { tensor_type { elem_type: 10 } } }\n";
    let nodes = format!(
        "{stated} node {{ name: \"n\" op_type: \"Neg\" input: \"a\" output: \"c\" }} \
         node {{ op_type: \"Abs\" input: \"c\" output: \"d\" }}"
    );
    let text = model(&nodes, RELU);
    let imported = read("m.textproto", text.as_bytes()).expect("a model");
    let (place, count) = told(&imported, "Neg gives float32, but the file states float16").expect("told");
    assert_eq!((place.as_str(), count), ("\"n\", output \"c\"", 1));
    assert_eq!(computed(&inlined("m.textproto", text.as_bytes()).0.graph), [12, 12]);
}

/// A function of TensorFlow that calls another one, and two calls of it with different shapes, by name and by attribute.
const TENSORFLOW: &str = r#"
node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 8 } } } } }
node { name: "b" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
node { name: "one" op: "PartitionedCall" input: "a" attr { key: "f" value { func { name: "outer" } } }
  attr { key: "Tout" value { list { type: DT_FLOAT } } } }
node { name: "two" op: "outer" input: "b" }
node { name: "three" op: "outer" input: "one" }
library {
  function {
    signature { name: "inner" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
    node_def { name: "tanh" op: "Tanh" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "y" value: "tanh:y:0" }
  }
  function {
    signature { name: "outer" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
    node_def { name: "call" op: "StatefulPartitionedCall" input: "x" attr { key: "f" value { func { name: "inner" } } }
      attr { key: "Tout" value { list { type: DT_FLOAT } } } }
    node_def { name: "exp" op: "Exp" input: "call:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "y" value: "exp:y:0" }
  }
}
"#;

#[test]
fn functions_of_tensorflow_have_versions_too() {
    let (entry, _) = inlined("g.pbtxt", TENSORFLOW.as_bytes());
    let bodies: Vec<&str> = entry.bodies.iter().map(|body| body.name()).collect();
    assert_eq!(bodies, ["inner", "outer", "outer (version 2)", "inner (version 2)"]);
    assert_eq!(computed(&entry.graph), [24, 24, 32, 32, 32, 32]);
}
