//! The graph of torchair and of atc in their forms.

use super::{bytes, dumped, entry, offset, tensor};
use crate::test_help::read;
use highwater_model::graph::{Bindings, Role};
use highwater_model::workload::{GraphEntry, Source};

/// A product and its activation, of tensors of [8, 1024], whose results have their shapes in `_meta`.
fn with_meta(shape: &str) -> String {
    let meta =
        format!("attr {{ key: \"_meta\" value {{ s: \"Tensor(dtype=torch.float32, shape=torch.Size({shape})\" }} }}");
    format!(
        "name: \"graph_1\"\n\
         op {{ name: \"x\" type: \"Data\" output_desc {{ name: \"y\" dtype: DT_FLOAT shape {{ dim: -1 dim: 1024 }} {meta} }} }}\n\
         op {{ name: \"m\" type: \"MatMul\" input: \"x:0\" output_desc {{ name: \"y\" dtype: DT_FLOAT layout: \"ND\" {meta} }} }}\n\
         op {{ name: \"r\" type: \"Relu\" input: \"m:0\" output_desc {{ name: \"y\" layout: \"ND\" {meta} }} }}\n\
         op {{ name: \"NetOutput\" type: \"NetOutput\" input: \"r:0\" }}\n"
    )
}

#[test]
fn results_have_the_shapes_that_torchair_notes() {
    let (known, said) = entry(&with_meta("[8, 1024]"));
    for name in ["x:0", "m:0", "r:0"] {
        assert_eq!(bytes(&known.graph, name), Some(32768), "{name}: {said}");
    }
    assert!(!said.contains("dynamic"), "{said}");
}

#[test]
fn symbols_of_torchair_are_dimensions_with_names() {
    let (open, said) = entry(&with_meta("[2*s0, 1024]"));
    let graph = &open.graph;
    assert_eq!(graph.symbols(), ["s0"]);
    let mut bindings = Bindings::new();
    bindings.insert("s0".to_owned(), 4);
    let sizes = graph.sizes(&bindings);
    for name in ["x:0", "m:0", "r:0"] {
        assert_eq!(sizes.tensor(tensor(graph, name)), Some(32768), "{name}");
    }
    assert!(!said.contains("dynamic"), "{said}");
}

/// The same graph in the syntax of `TensorFlow`, as both of torchair's writers have it.
const NODES: &str = include_str!("../../../../tests/mutate/seeds/dynamo_graph.pbtxt");

#[test]
fn nodes_of_tensorflow_with_descriptors_are_ops_of_the_engine() {
    let imported = read("dynamo_optimized_graph_1.pbtxt", NODES.as_bytes()).expect("a graph");
    assert_eq!(imported.format, "ge_dump");
    let (entry, said) = entry(NODES);
    let graph = &entry.graph;
    assert_eq!(graph.tensors()[tensor(graph, "x:0")].role, Role::Input);
    assert_eq!(
        (bytes(graph, "x:0"), bytes(graph, "split:0")),
        (Some(32768), Some(8192))
    );
    assert_eq!((bytes(graph, "split:1"), bytes(graph, "split:2")), (Some(4096), None));
    assert!(said.contains("an attribute cannot be read"), "{said}");
    assert!(said.contains("[[o]y2 of split, line"), "{said}");
    // A graph of TensorFlow has no descriptors.
    let plain = "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } }\n";
    assert_eq!(
        read("a.pbtxt", plain.as_bytes()).map(|imported| imported.format).ok(),
        Some("tensorflow")
    );
}

fn of_json(text: &str) -> GraphEntry {
    let imported = read("model.json", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "ge_dump");
    match imported.source {
        Source::Graphs(mut entries) => entries.remove(0),
        other => panic!("not a graph: {other:?}"),
    }
}

#[test]
fn the_json_of_atc_is_the_same_graph() {
    // Keys in alphabetical order, as its writer sorts them; maps as lists; a sub-graph.
    let atc = include_str!("../../../../tests/mutate/seeds/ge_atc.json");
    let entry = of_json(atc);
    let graph = &entry.graph;
    assert_eq!(
        (bytes(graph, "a:0"), bytes(graph, "b:0"), bytes(graph, "b:workspace0")),
        (Some(64), Some(64), Some(64))
    );
    assert_eq!(
        (offset(&entry, "b:0"), offset(&entry, "b:workspace0")),
        (Some(512), Some(1024))
    );
    assert_eq!(
        (dumped(&entry).streams.as_slice(), entry.bodies.len()),
        (&[0, 1, 0][..], 1)
    );
    let fact = ("memory_size".to_owned(), "9000".to_owned());
    assert!(dumped(&entry).facts.contains(&fact), "{:?}", dumped(&entry).facts);
    // As protobuf prints it: other names, numbers as texts, maps as objects, a graph by itself, a model in a model.
    let graph_alone = r#"{"op": [{"name": "a", "type": "Data", "outputDesc": [{"dtype": "DT_FLOAT", "shape": {"dim": ["4", "4"]},
        "attr": {"origin_format": {"s": "NC\"\\\n1"}}}], "outputI": ["8"]}], "name": "g"}"#;
    let model_within = format!("{{\"model\": [{{\"graph\": [{graph_alone}]}}]}}");
    for text in [graph_alone, model_within.as_str()] {
        let entry = of_json(text);
        assert_eq!((bytes(&entry.graph, "a:0"), offset(&entry, "a:0")), (Some(64), Some(8)));
    }
}

#[test]
fn damaged_json_of_atc_is_an_error_with_a_place() {
    for (text, expected) in [
        (
            "{\"graph\": [{\"op\": [{\"name\": \"a\", \"type\": \"A\"",
            "the file ends",
        ),
        ("{\"graph\": [{\"op\": [7]}]}", "atc --mode=1"),
        (
            "{\"graph\": [{\"op\": [{\"name\": \"a\", \"type\": \"A\", \"output_i\": [\"x\"]}]}]}",
            "output_i",
        ),
    ] {
        let error = read("a.json", text.as_bytes()).expect_err("damaged").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
