//! Signatures of meta graphs: which nodes run, and which variables count, each once.

use highwater_model::graph::{Bindings, Graph};
use highwater_model::workload::GraphEntry;

use crate::made::told;
use crate::tensorflow::{FLOAT, T, dims, each, entries, import, node, placeholder, shapes};

/// Bytes of the variables, each once.
fn variables(graph: &Graph) -> u64 {
    let sizes = graph.sizes(&Bindings::new());
    let storages = graph.storages().iter_ids();
    let variables = storages.filter(|(_, storage)| graph.tensors()[storage.root].role.is_variable());
    variables.map(|(id, _)| sizes.storage(id)).sum()
}

pub(crate) fn handle(name: &str, size: i64, more: &[&str]) -> String {
    let shape = format!("shape=shape {{ {}}}", dims(&[size]));
    let own = [FLOAT, &shape, "_output_shapes=list { shape { } }"];
    node(name, "VarHandleOp", &[], &[&own, more].concat())
}

fn read(name: &str, from: &str, size: i64) -> String {
    node(name, "ReadVariableOp", &[from], &[FLOAT, &shapes(&[&[size]])])
}

pub(crate) fn call(name: &str, function: &str, inputs: &[&str]) -> String {
    let f = format!("f=func {{ name: \"{function}\" }}");
    let types = ["Tin=list { type: DT_RESOURCE }", "Tout=list { type: DT_FLOAT }", &f];
    node(name, "StatefulPartitionedCall", inputs, &types)
}

/// A function that reads its only argument, a variable.
pub(crate) fn function(name: &str, kind: &str) -> String {
    format!(
        r#"function {{
          signature {{ name: "{name}" input_arg {{ name: "v" type: DT_RESOURCE }} output_arg {{ name: "out" type: DT_FLOAT }} }}
          node_def {{ name: "read" op: "ReadVariableOp" input: "v" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}
          node_def {{ name: "y" op: "{kind}" input: "read:value:0" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
          ret {{ key: "out" value: "y:y:0" }}
        }}"#
    )
}

pub(crate) fn signature(key: &str, fetch: &str) -> String {
    format!("signature_def {{ key: \"{key}\" value {{ outputs {{ key: \"y\" value {{ name: \"{fetch}\" }} }} }} }}\n")
}

pub(crate) fn meta(tags: &str, nodes: &str, functions: &[String], rest: &str) -> String {
    let library = functions.concat();
    format!("meta_info_def {{ tags: \"{tags}\" }}\ngraph_def {{ {nodes} library {{ {library} }} }}\n{rest}")
}

/// As Keras writes it: a second storage of the variable that only saving and restoring reaches, and two signatures.
fn model(signatures: &[(&str, &str)]) -> String {
    let nodes = [
        handle("w", 100, &["shared_name=s: \"w\""]),
        read("w/Read", "w", 100),
        read("copy/Initializer", "w", 100),
        handle("copy", 100, &["shared_name=s: \"copy\""]),
        node(
            "copy/Assign",
            "AssignVariableOp",
            &["copy", "copy/Initializer"],
            &[FLOAT],
        ),
        handle("other", 7, &["shared_name=s: \"other\""]),
        call("infer", "reads", &["w"]),
        call("train", "applies", &["other"]),
        call("save", "saves", &["copy"]),
    ];
    let functions = [
        function("reads", "Neg"),
        function("applies", "ApplyNothing"),
        function("saves", "Exp"),
        function("uncalled", "Abs"),
    ];
    let signatures = each(signatures, |(key, fetch)| signature(key, fetch));
    meta("serve", &nodes.concat(), &functions, &signatures)
}

pub(crate) fn only(text: &str) -> GraphEntry {
    let imported = import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    entries(&imported)[0].clone()
}

#[test]
fn nodes_that_the_signature_does_not_need_are_left_out() {
    let init = ("__saved_model_init_op", "copy/Assign");
    let text = model(&[init, ("serving_default", "infer:0")]);
    let entry = only(&text);
    assert_eq!(entry.name, "serving_default");
    let ops: Vec<&str> = entry.graph.ops().ids().map(|op| entry.graph.op_name(op)).collect();
    assert_eq!(ops, ["w", "infer"]);
    assert_eq!(variables(&entry.graph), 400);
    // What trains, what saves and what nothing calls is not there.
    let bodies: Vec<&str> = entry.bodies.iter().map(|body| body.name()).collect();
    assert_eq!(bodies, ["reads"]);
    let imported = import(text.as_bytes()).expect("a model");
    assert_eq!(
        told(&imported, "7 ops that it does not need"),
        Some(("serving_default".to_owned(), 1))
    );
}

#[test]
fn other_signatures_are_graphs_to_choose() {
    let text = model(&[("train", "train:0"), ("serving_default", "infer:0")]);
    let entry = only(&text);
    let bodies: Vec<(&str, u64)> = entry.bodies.iter().map(|body| (body.name(), variables(body))).collect();
    assert_eq!(bodies, [("train", 28), ("reads", 400), ("applies", 28)]);
    // Number 1 is the other signature; it runs the function that trains.
    let runs: Vec<(u32, u32)> = entry.uses.iter().map(|one| (one.graph, one.body)).collect();
    assert_eq!(runs, [(1, 3), (0, 2)]);
    let imported = import(text.as_bytes()).expect("a model");
    assert!(told(&imported, "choose another with --graph NAME: \"train\"").is_some());
}

#[test]
fn the_serving_signature_runs_else_the_only_one_else_the_one_that_trains() {
    for (signatures, expected) in [
        (&[("a", "infer"), ("serving_default", "train:0")][..], "serving_default"),
        (&[("any", "infer:0")], "any"),
        (&[("a", "infer:0"), ("b", "train:0"), ("c", "train:0")], "b"),
        (&[("b", "infer:0"), ("a", "infer:0")], "a"),
        // Signatures without results, or of nodes that the file lacks, choose nothing.
        (&[("__saved_model_init_op", "copy/Assign")], "serve"),
        (&[("serving_default", "nowhere:0")], "serve"),
    ] {
        assert_eq!(only(&model(signatures)).name, expected, "{signatures:?}");
    }
    // A meta graph for training runs its training op, which older files list as a collection.
    let collection = "collection_def { key: \"train_op\" value { node_list { value: \"train\" } } }";
    let serving = signature("serving_default", "infer:0");
    let nodes = [
        handle("w", 4, &[]),
        call("infer", "reads", &["w"]),
        call("train", "applies", &["w"]),
    ]
    .concat();
    let functions = [function("reads", "Neg"), function("applies", "ApplyNothing")];
    for (tags, rest, expected) in [
        ("train", [collection, &serving].concat(), "train_op"),
        ("serve", [collection, &serving].concat(), "serving_default"),
        ("", collection.to_owned(), "train_op"),
    ] {
        assert_eq!(only(&meta(tags, &nodes, &functions, &rest)).name, expected, "{tags}");
    }
}

#[test]
fn results_of_signatures_may_be_sparse_or_composite() {
    let outputs = [
        "coo_sparse { values_tensor_name: \"a:0\" indices_tensor_name: \"b:0\" dense_shape_tensor_name: \"c\" }",
        "composite_tensor { type_spec { } components { name: \"a:0\" } components { composite_tensor { components { name: \"b\" } \
         components { name: \"c:0\" } } } }",
    ];
    for output in outputs {
        let nodes = each(&["a", "b", "c", "d"], |name| placeholder(name, &[4]));
        let rest = format!("signature_def {{ key: \"s\" value {{ outputs {{ key: \"y\" value {{ {output} }} }} }} }}");
        assert_eq!(
            only(&meta("serve", &nodes, &[], &rest)).graph.ops().len(),
            3,
            "{output}"
        );
    }
    let deep = "composite_tensor { components { ".repeat(40) + &"} } ".repeat(40);
    let rest = format!("signature_def {{ key: \"s\" value {{ outputs {{ key: \"y\" value {{ {deep} }} }} }} }}");
    let text = meta("serve", &placeholder("x", &[4]), &[], &rest);
    let error = import(text.as_bytes()).expect_err("nested too deep");
    assert!(error.contains("nested too deep"), "{error}");
}

#[test]
fn nodes_of_one_container_and_shared_name_are_one_variable() {
    let anonymous = "shared_name=s: \"cd2c89b7-88b7-44c8-ad83-06c2a9158347\"";
    let (v, w) = ("shared_name=s: \"v\"", "shared_name=s: \"w\"");
    let c = "container=s: \"c\"";
    for (kinds, a, b, expected) in [
        ("VarHandleOp", &[v][..], &[v][..], 400),
        ("VarHandleOp", &[v], &[w], 800),
        ("VarHandleOp", &[v], &[v, c], 800),
        ("VarHandleOp", &[v, c], &[v, c], 400),
        ("VarHandleOp", &[], &[], 800),
        ("VarHandleOp", &["shared_name=s: \"\""], &["shared_name=s: \"\""], 800),
        ("VarHandleOp", &[anonymous], &[anonymous], 800),
        ("VariableV2", &[v], &[v], 400),
        ("VariableV2", &[], &[], 800),
        ("Variable", &[v, c], &[v], 800),
    ] {
        let make = |name, more: &[&str]| handle(name, 100, more).replace("VarHandleOp", kinds);
        let reads = match kinds {
            "VarHandleOp" => "ReadVariableOp",
            _ => "Identity",
        };
        let nodes = [
            make("a", a),
            make("b", b),
            read("x", "a", 100).replace("ReadVariableOp", reads),
            read("y", "b", 100).replace("ReadVariableOp", reads),
            read("z", "b", 100).replace("ReadVariableOp", reads),
            node("sum", "AddN", &["x", "y", "z"], &[T, "N=i: 3", &shapes(&[&[100]])]),
        ];
        let nodes = nodes.concat();
        // A reference is the variable itself.
        let nodes = if kinds == "VarHandleOp" {
            nodes
        } else {
            nodes.replace("shape { } }", "shape { dim { size: 100 } } }")
        };
        assert_eq!(variables(&only(&nodes).graph), expected, "{kinds} {a:?} {b:?}");
    }
}

/// A saved object with two functions and no signature. Both take a tensor; each captures a variable.
const OBJECTS: &str = r#"
object_graph_def {
  nodes { user_object { } children { node_id: 1 local_name: "w" } children { node_id: 2 local_name: "infer" }
          children { node_id: 3 local_name: "step" } children { node_id: 9 local_name: "gone" } }
  nodes { variable { dtype: DT_FLOAT shape { dim { size: 100 } } trainable: true } }
  nodes { function { concrete_functions: "nowhere" concrete_functions: "reads" } }
  nodes { bare_concrete_function { concrete_function_name: "applies" } children { node_id: 1 local_name: "inner" } }
  nodes { variable { shape { dim { size: 7 } } dtype: DT_HALF } }
  concrete_functions { key: "reads" value { bound_inputs: 1 canonicalized_input_signature { tuple_value {
    values { tuple_value { values { tensor_spec_value { name: "x" shape { dim { size: -1 } dim { size: 5 } } dtype: DT_FLOAT } } } }
    values { dict_value { } } } } } }
  concrete_functions { key: "applies" value { bound_inputs: 4 canonicalized_input_signature { tuple_value {
    values { dict_value {
      fields { key: "b" value { tensor_spec_value { shape { dim { size: 2 } } dtype: DT_FLOAT } } }
      fields { key: "a" value { tensor_spec_value { shape { dim { size: 3 } } dtype: DT_FLOAT } } } } } } } } }
}
"#;

/// A function of tensors and a variable.
fn captures(name: &str, arguments: &[&str], kind: &str) -> String {
    let arguments = each(arguments, |argument| {
        format!("input_arg {{ name: \"{argument}\" type: DT_FLOAT }} ")
    });
    let variable = "input_arg { name: \"v\" type: DT_RESOURCE } output_arg";
    function(name, kind).replace(
        "input_arg { name: \"v\" type: DT_RESOURCE } output_arg",
        &(arguments + variable),
    )
}

#[test]
fn without_signatures_the_functions_of_the_saved_object_run() {
    let nodes = [handle("w", 100, &[]), call("save", "saves", &["w"])].concat();
    let functions = [
        captures("reads", &["x"], "Neg"),
        captures("applies", &["a", "b"], "ApplyNothing"),
        function("saves", "Exp"),
    ];
    let text = meta("serve", &nodes, &functions, OBJECTS);
    let entry = only(&text);
    // The one that trains comes first.
    assert_eq!(entry.name, "step");
    let graph = &entry.graph;
    let ops: Vec<&str> = graph.ops().ids().map(|op| graph.op_name(op)).collect();
    assert_eq!(ops, ["a", "b", "v", "read", "y"]);
    let sizes = graph.sizes(&Bindings::new());
    let bytes: Vec<Option<u64>> = graph.tensors().ids().take(2).map(|id| sizes.tensor(id)).collect();
    assert_eq!(bytes, [Some(12), Some(8)]);
    assert_eq!(variables(graph), 14);
    let bodies: Vec<(&str, u64)> = entry.bodies.iter().map(|body| (body.name(), variables(body))).collect();
    assert_eq!(bodies, [("infer", 400)]);
    assert_eq!(entry.bodies[0].symbols(), ["batch"]);
    let imported = import(text.as_bytes()).expect("a model");
    let told = told(
        &imported,
        "(the first that trains, because there is no \"serving_default\"); the file has no signature; choose another with \
         --graph NAME: \"infer\"",
    );
    assert!(told.is_some(), "{:?}", imported.diagnostics);
    // With a signature its functions do not matter.
    let signed = meta(
        "serve",
        &nodes,
        &functions,
        &(OBJECTS.to_owned() + &signature("s", "save:0")),
    );
    assert_eq!(only(&signed).name, "s");
}
