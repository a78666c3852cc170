//! One ONNX model in each form that `onnx.save` writes, and texts that are damaged.

use highwater_model::graph::Bindings;

use crate::onnx_corpus::{figures, main_graph};
use crate::onnx_ops::found;
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

/// onnx.printer writes 1.0 as `1`.
#[test]
fn whole_numbers_are_floats_where_the_type_says_so() {
    for (op, expected) in [
        ("Upsample <scales: floats = [1, 1, 2, 2.5]> (x)", "float32 1×3×16×20"),
        ("Upsample <scales = [1, 1, 2, 2.5]> (x)", "float32 1×3×16×20"),
        ("Upsample <scales: floats = [1, 1, 2, 2]> (x)", "float32 1×3×16×16"),
        ("Constant <value_floats: floats = [1, 2.5, 3, 4.25]> ()", "float32 4"),
        ("Constant <value_floats: floats = [1, -0, 3]> ()", "float32 3"),
        ("Constant <value_floats = [1, nan, 3]> ()", "float32 3"),
        ("Constant <value_float: float = 2> ()", "float32 scalar"),
        ("Constant <value_float: float = -0> ()", "float32 scalar"),
        ("Constant <value_ints: ints = [1, -2]> ()", "int64 2"),
        ("Constant <value_ints = [1, -2]> ()", "int64 2"),
    ] {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : 7]>\ng (float[1, 3, 8, 8] x) => (z) {{ y = {op} z = Identity (y) }}"
        );
        let imported = read("model.onnxtxt", text.as_bytes()).unwrap_or_else(|error| panic!("{op}: {error}"));
        assert_eq!(found(main_graph(&imported), "z", &Bindings::new()), expected, "{op}");
    }
    let text = "<ir_version: 10>\ng (float[1] x) => (y) { y = Softmax <axis: int = 1.5> (x) }";
    let error = read("model.onnxtxt", text.as_bytes()).expect_err("no whole number");
    assert!(error.to_string().contains("a whole number"), "{error}");
}

#[test]
fn json_that_is_not_read_is_better_saved_in_the_binary_form() {
    const ADVICE: &str = "onnx.save(model, \"model.onnx\")";
    let nested = |depth: usize| {
        let open = r#"{"node": [{"opType": "If", "attribute": [{"name": "then_branch", "g": "#;
        format!(
            "{{\"irVersion\": \"8\", \"graph\": {}{{}}{}}}",
            open.repeat(depth),
            "}]}]}".repeat(depth)
        )
    };
    assert!(read("model.json", nested(2).as_bytes()).is_ok());
    for (text, what) in [
        (nested(40), "nests deeper than is read"),
        (r#"{"irVersion": "8", "graph": {"node": [3]}}"#.to_owned(), "a number"),
    ] {
        let error = read("model.json", text.as_bytes()).expect_err(&text).to_string();
        assert!(error.contains(what) && error.contains(ADVICE), "{error}");
        assert!(!error.contains("damaged") && !error.contains("text-formats"), "{error}");
    }
}
