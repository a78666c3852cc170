//! One ONNX model in each form that `onnx.save` writes, and texts that are damaged.

use highwater_model::graph::Bindings;

use crate::onnx_corpus::{figures, main_graph};
use crate::support::read;

const TEXT: &str = include_str!("../mutate/seeds/onnx_model.textproto");
const JSON: &str = include_str!("../mutate/seeds/onnx_model.json");
const SYNTAX: &str = include_str!("../mutate/seeds/onnx_model.onnxtxt");

#[test]
fn every_form_gives_the_same_graphs() {
    let of_text = read("model.textproto", TEXT.as_bytes()).expect("a text");
    for (name, text) in [("model.json", JSON), ("model.onnxtxt", SYNTAX)] {
        let imported = read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(imported, of_text, "{name}");
    }
    let found = figures(main_graph(&of_text), &Bindings::from([("n".to_owned(), 4)]));
    // 4 * 6 floats as [8, 3], joined along axis 0 as [16, 3], and again in i, y and z.
    assert_eq!((found.ops, found.unknown, found.weights), (5, 0, 16));
    assert_eq!(found.activations, 8 * 3 * 4 + 4 * 16 * 3 * 4);
}

#[test]
fn both_styles_of_names_and_texts_as_numbers_are_json() {
    let camel = JSON.replace("op_type", "opType").replace("ir_version", "irVersion");
    let camel = camel
        .replace("tensor_type", "tensorType")
        .replace("dim_value", "dimValue");
    let of_json = read("model.json", JSON.as_bytes()).expect("JSON");
    assert_eq!(read("model.json", camel.as_bytes()).expect("JSON"), of_json);
}

#[test]
fn damaged_texts_name_the_line() {
    for (text, expected) in [
        (
            "ir_version: 8\ngraph {\n  node {\n    input: \"x\"\n  }\n}\n",
            "no operator type at line 3",
        ),
        (
            "ir_version: 8\ngraph {\n  node {\n    op_type { a: 7 }\n  }\n}",
            "line 4",
        ),
        ("<ir_version: 8>\ng (float[2] x) => (y) {\n  y = Relu x\n}", "'('"),
        ("<ir_version: 8>\ng (float[2] x) => (y) {\n  y = Relu(x)", "line 3"),
        (
            "<ir_version: 8>\ng (float[2] x) => (y) {\n  y = Relu <a = [1, >(x)\n}",
            "line 3",
        ),
        ("<ir_version: 8>\ng (float[2] x", "line 2"),
        (
            "<ir_version: 8>\ng (float[2] x) => (y) { y = Relu(\"x) }",
            "a text in quotes does not end at line 2",
        ),
        ("{\"irVersion\": \"8\", \"graph\": {\"node\": [3]}}", "line 1 column"),
        ("{\"irVersion\": \"8\", \"graph\": {\"node\": [", "JSON"),
    ] {
        let error = read("model", text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn every_cut_of_a_text_is_an_error_or_a_model() {
    for text in [TEXT, JSON, SYNTAX] {
        for end in (0..text.len()).step_by(7) {
            // Neither panics; what is whole opens.
            let Some(part) = text.get(..end) else {
                continue;
            };
            if let Err(error) = read("model", part.as_bytes()) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
    let deep = format!(
        "<ir_version: 8> g () => () {{ {} }}",
        "y = If <a = b () => () { ".repeat(500)
    );
    let error = read("model.onnxtxt", deep.as_bytes())
        .expect_err("too deep")
        .to_string();
    assert!(error.contains("less nesting"), "{error}");
}
