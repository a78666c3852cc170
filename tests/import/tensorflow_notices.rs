//! Diagnostics of the TensorFlow importer, and the sources of a variable's size.

use highwater_import::Imported;
use highwater_model::graph::{Bindings, Graph};

use crate::made::told;
use crate::tensorflow::{FLOAT, T, constant, dims, entries, graph, import, node, placeholder, shapes};

fn read(parts: &[String]) -> Imported {
    import(parts.concat().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_first_op_out_of_order_is_named() {
    let imported = read(&[
        placeholder("x", &[4]),
        node("late", "Neg", &["early"], &[T]),
        node("early", "Neg", &["x"], &[T]),
    ]);
    assert_eq!(told(&imported, "sorted"), Some(("late".to_owned(), 1)));
}

#[test]
fn stated_shapes_that_cannot_be_are_told_with_both() {
    let imported = read(&[
        placeholder("x", &[2, 3]),
        node("y", "Neg", &["x"], &[T, &shapes(&[&[2, 4]])]),
        node("z", "Abs", &["y"], &[T]),
    ]);
    let (place, count) = told(&imported, "the stated one counts").expect("a contradiction");
    assert_eq!((place.as_str(), count), ("\"y\": stated [2, 4], computed [2, 3]", 1));
}

#[test]
fn types_and_sizes_that_are_unknown_are_told() {
    let imported = read(&[
        node("x", "Placeholder", &[], &["dtype=type: 77", "shape=shape { }"]),
        node(
            "y",
            "Placeholder",
            &[],
            &["dtype=type: DT_OF_TOMORROW", "shape=shape { }"],
        ),
        node("z", "Placeholder", &[], &[FLOAT]),
        node("s", "Placeholder", &[], &["dtype=type: DT_STRING", "shape=shape { }"]),
    ]);
    assert_eq!(told(&imported, "element type 77"), Some(("x".to_owned(), 1)));
    assert_eq!(told(&imported, "an element type has a name"), Some(("y".to_owned(), 1)));
    assert_eq!(told(&imported, "of an input or a weight"), Some(("x:0".to_owned(), 3)));
    assert_eq!(told(&imported, "strings"), Some(("s:0".to_owned(), 1)));
}

#[test]
fn ops_without_a_rule_are_counted_and_views_are_an_estimate() {
    let imported = read(&[
        placeholder("x", &[4]),
        node("a", "Foo", &["x"], &[&shapes(&[&[4]])]),
        node("b", "Foo", &["a"], &[&shapes(&[&[4]])]),
        node("c", "Identity", &["b"], &[T]),
    ]);
    assert_eq!(told(&imported, "op type Foo"), Some(("a".to_owned(), 2)));
    assert_eq!(told(&imported, "share its input's memory"), Some(("c:0".to_owned(), 1)));
}

#[test]
fn a_text_may_begin_with_its_versions_or_its_library() {
    let graph = placeholder("x", &[4]);
    let library = crate::tensorflow::FUNCTION;
    for text in [
        format!("versions {{ producer: 1087 }}\n{graph}"),
        format!("{library}{graph}"),
        format!("versions {{ }}\n{library}{graph}"),
    ] {
        let imported = import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.format, "tensorflow");
        assert_eq!(entries(&imported)[0].graph.ops().len(), 1);
    }
}

/// A call reads thousands of results by name: each is found at once, whatever their number.
#[test]
fn results_of_functions_are_found_by_name() {
    let outputs = (0..2000).map(|at| format!("output_arg {{ name: \"r{at}\" type: DT_FLOAT }} "));
    let signature = format!(
        "signature {{ name: \"f\" {} }}",
        outputs.collect::<Vec<String>>().concat()
    );
    let reads = (0..2000).rev().map(|at| format!(" input: \"call:r{at}:0\""));
    let call = "node_def { name: \"call\" op: \"f\" }";
    let sum = format!(
        "node_def {{ name: \"sum\" op: \"AddN\" {} }}",
        reads.collect::<Vec<String>>().concat()
    );
    let outer = format!("function {{ signature {{ name: \"g\" }} {call} {sum} }}");
    let text = format!(
        "library {{ function {{ {signature} }} {outer} }} {}",
        placeholder("x", &[4])
    );
    let imported = import(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let body = &entries(&imported)[0].bodies[1];
    let sum = body.ops().ids().last().expect("the sum");
    assert_eq!(body.operands(sum).len(), 2000);
    assert_eq!(body.tensor_name(body.operands(sum)[1]), "call:1998");
}

/// Bytes of the storages of variables, by name.
fn variables(graph: &Graph) -> Vec<(String, u64)> {
    let sizes = graph.sizes(&Bindings::new());
    let storages = graph.storages().iter_ids();
    storages
        .filter(|(_, storage)| graph.tensors()[storage.root].role.is_variable())
        .map(|(id, storage)| (graph.tensor_name(storage.root).to_owned(), sizes.storage(id)))
        .collect()
}

#[test]
fn variables_that_are_only_updated_have_a_size() {
    let handle = |name, more: &[&str]| {
        let own = [&["dtype=type: DT_RESOURCE", "shape=shape { }"], more].concat();
        node(name, "Placeholder", &[], &own)
    };
    let row = |kind| format!("_handle_shapes=list {{ shape {{ {}}} }} {kind}", dims(&[5]));
    let stated = [
        row("").trim_end().to_owned(),
        "_handle_dtypes=list { type: DT_DOUBLE }".to_owned(),
    ];
    let stated: Vec<&str> = stated.iter().map(String::as_str).collect();
    let update = ["weight", "momentum", "rate", "gradients/g", "rate"];
    let adam = [
        "other",
        "m",
        "v",
        "rate",
        "rate",
        "rate",
        "rate",
        "rate",
        "rate",
        "gradients/g",
    ];
    let entry = graph(
        &[
            placeholder("x", &[4, 2]),
            constant("rate", &[]),
            handle("weight", &[]),
            handle("momentum", &[]),
            handle("other", &[]),
            handle("m", &[]),
            handle("v", &[]),
            handle("counter", &stated),
            node("gradients/g", "Neg", &["x"], &[T]),
            node("step", "ResourceApplyMomentum", &update, &[T]),
            node("adam", "ResourceApplyAdam", &adam, &[T]),
            node(
                "count",
                "AssignAddVariableOp",
                &["counter", "y"],
                &["dtype=type: DT_DOUBLE"],
            ),
            node("y", "Foo", &["x"], &[]),
        ]
        .concat(),
    );
    let names = ["weight", "momentum", "other", "m", "v"];
    let mut expected: Vec<(String, u64)> = names.map(|name| (format!("{name}:0"), 32)).to_vec();
    expected.push(("counter:0".to_owned(), 40));
    assert_eq!(variables(&entry.graph), expected);
}

/// A handle that is only handed on, through two functions, is as large as what the inner one reads of it.
#[test]
fn variables_that_are_handed_on_have_a_size() {
    let function = |name: &str, body: &str| {
        format!("function {{ signature {{ name: \"{name}\" input_arg {{ name: \"r\" type: DT_RESOURCE }} }} {body} }} ")
    };
    let read = "node_def { name: \"read\" op: \"ReadVariableOp\" input: \"r\" attr { key: \"dtype\" value { type: DT_FLOAT \
                } } attr { key: \"_output_shapes\" value { list { shape { dim { size: 6 } } } } } }";
    let call = "node_def { name: \"call\" op: \"inner\" input: \"r\" }";
    let library = format!("library {{ {}{} }}", function("inner", read), function("outer", call));
    let handle = node("w", "Placeholder", &[], &["dtype=type: DT_RESOURCE", "shape=shape { }"]);
    let outer = node(
        "run",
        "StatefulPartitionedCall",
        &["w"],
        &["f=func { name: \"outer\" }"],
    );
    let entry = graph(&[handle, outer, library].concat());
    assert_eq!(variables(&entry.graph), [("w:0".to_owned(), 24)]);
}
