//! Facts through chains of ops, loops, functions and stated shapes, and the work that hostile files cause.

use super::cases::{dims, input};
use super::{ALL_STATED, Facts, infer};
use crate::tensorflow::model::{GraphIdx, MAIN, Model};
use crate::tensorflow::parse::{self, FileKind};
use crate::text_proto::TextProto;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Dim;
use highwater_model::progress::{Cancel, Progress};

pub(super) fn read(text: &str) -> Model {
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let len = text.len() as u64;
    let mut reader = std::io::Cursor::new(text.as_bytes());
    let mut fields = TextProto::new(&mut reader, len, progress);
    let mut diagnostics = Diagnostics::new();
    let all = parse::file(&mut fields, FileKind::Graph, len, &progress, &mut diagnostics);
    all.expect(text).remove(0).model
}

pub(super) fn facts(model: &Model) -> Facts {
    let cancel = Cancel::new();
    infer(model, 0, ALL_STATED, &Progress::silent(&cancel)).expect("not cancelled")
}

/// Dimensions of a node's outputs as text.
pub(super) fn outputs(model: &Model, facts: &Facts, graph: GraphIdx, name: &str) -> String {
    let raw = &model.graphs[graph.0];
    let node = raw.nodes.iter().find(|node| model.names.text(node.name) == name);
    let values = raw.values_of(node.expect(name));
    let texts = values.map(|value| match facts.dims(graph, value) {
        None => "?".to_owned(),
        Some(dims) => {
            let dims = dims.iter().map(|dim| match dim {
                Dim::Known(size) => size.to_string(),
                Dim::Expr(id) => facts.sym.exprs.text(*id),
                Dim::Unknown => "_".to_owned(),
            });
            format!("[{}]", dims.collect::<Vec<_>>().join(","))
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// `x` of `[-1, 6]`, and what nodes make of its shape.
fn chain(nodes: &str, last: &str) -> String {
    let model = read(&format!(
        "node {{ name: 'x' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }} \
         attr {{ key: 'shape' value {{ shape {{ dim {{ size: -1 }} dim {{ size: 6 }} }} }} }} }}\n{nodes}"
    ));
    outputs(&model, &facts(&model), MAIN, last)
}

fn number(name: &str, items: &[i64], is_list: bool) -> String {
    let shape = if is_list {
        format!("dim {{ size: {} }}", items.len())
    } else {
        String::new()
    };
    let items: Vec<String> = items.iter().map(|item| format!("int_val: {item} ")).collect();
    let items = items.concat();
    format!(
        "node {{ name: '{name}' op: 'Const' attr {{ key: 'dtype' value {{ type: DT_INT32 }} }} attr {{ key: 'value' \
         value {{ tensor {{ dtype: DT_INT32 tensor_shape {{ {shape} }} {items} }} }} }} }}\n"
    )
}

#[test]
fn the_shape_of_a_shape_stays_an_expression() {
    let nodes = [
        number("0", &[0], true),
        number("1", &[1], true),
        number("two", &[2], false),
        number("three", &[3], false),
        "node { name: 's' op: 'Shape' input: 'x' }\n".to_owned(),
        "node { name: 'n' op: 'StridedSlice' input: ['s', '0', '1', '1'] \
         attr { key: 'shrink_axis_mask' value { i: 1 } } }\n"
            .to_owned(),
        "node { name: 'p' op: 'Pack' input: ['n', 'two', 'three'] attr { key: 'N' value { i: 3 } } }\n".to_owned(),
        "node { name: 'r' op: 'Reshape' input: ['x', 'p'] }\n".to_owned(),
        "node { name: 'm' op: 'Mul' input: ['n', 'two'] }\n".to_owned(),
        "node { name: 'q' op: 'Pack' input: ['m', 'three'] attr { key: 'N' value { i: 2 } } }\n".to_owned(),
        "node { name: 't' op: 'Fill' input: ['q', 'x'] }\n".to_owned(),
    ]
    .concat();
    assert_eq!(chain(&nodes, "r"), "[batch,2,3]");
    assert_eq!(chain(&nodes, "t"), "[batch*2,3]");
}

#[test]
fn gradients_of_broadcasts_know_what_to_sum() {
    let nodes = "node { name: 's' op: 'Shape' input: 'x' }\n\
         node { name: 'b' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 6 } } } } }\n\
         node { name: 'u' op: 'Shape' input: 'b' }\n\
         node { name: 'g' op: 'BroadcastGradientArgs' input: ['s', 'u'] }\n\
         node { name: 'left' op: 'Sum' input: ['x', 'g'] }\n\
         node { name: 'right' op: 'Sum' input: ['x', 'g:1'] }\n";
    assert_eq!(chain(nodes, "g"), "[batch == 1] [1]");
    assert_eq!(chain(nodes, "left"), "[batch,6]");
    assert_eq!(chain(nodes, "right"), "[6]");
}

#[test]
fn loops_keep_what_every_turn_agrees_on() {
    let nodes = [
        "node { name: 'e' op: 'Enter' input: 'x' }\n",
        "node { name: 'm' op: 'Merge' input: ['e', 'back'] }\n",
        "node { name: 'c' op: 'Placeholder' }\n",
        "node { name: 'w' op: 'Switch' input: ['m', 'c'] }\n",
        "node { name: 'j' op: 'ConcatV2' input: ['w:1', 'w:1', 'axis'] attr { key: 'N' value { i: 2 } } }\n",
        "node { name: 'back' op: 'NextIteration' input: 'j' }\n",
        "node { name: 'out' op: 'Exit' input: 'w' }\n",
    ]
    .concat();
    // Rows double in every turn, columns stay.
    let rows = number("axis", &[0], false);
    assert_eq!(chain(&format!("{rows}{nodes}"), "out"), "[_,6]");
    let stays = nodes.replace("'ConcatV2' input: ['w:1', 'w:1', 'axis']", "'Relu' input: ['w:1']");
    assert_eq!(chain(&stays, "out"), "[batch,6]");
}

#[test]
fn elements_of_lists_have_the_shape_on_which_all_that_is_set_agrees() {
    let node = |name: &str, op: &str, inputs: &[&str], attributes: &str| {
        let inputs: Vec<String> = inputs.iter().map(|input| format!("input: '{input}' ")).collect();
        let inputs = inputs.concat();
        format!("node {{ name: '{name}' op: '{op}' {inputs} {attributes} }}\n")
    };
    // The number of places, an index, what is declared of elements, an item of another size.
    let known = [
        number("four", &[4], false),
        number("zero", &[0], false),
        number("any", &[-1], false),
        number("open", &[-1, 6], true),
        number("axis", &[0], false),
        node(
            "wide",
            "ConcatV2",
            &["x", "x", "axis"],
            "attr { key: 'N' value { i: 2 } }",
        ),
    ]
    .concat();
    let grows = "attr { key: 'resize_if_index_out_of_bounds' value { b: true } }";
    for (declared, sets, expected) in [
        ("open", &[][..], "[4,_,6]"),
        ("any", &[], "?"),
        ("open", &[("x", "")], "[4,batch,6]"),
        ("any", &[("x", "")], "[4,batch,6]"),
        ("open", &[("x", ""), ("x", "")], "[4,batch,6]"),
        // Elements of two sizes, and of two sizes and one more.
        ("open", &[("x", ""), ("wide", "")], "[4,_,6]"),
        ("any", &[("x", ""), ("wide", ""), ("x", "")], "[4,_,6]"),
        ("any", &[("x", grows)], "[_,batch,6]"),
    ] {
        let mut nodes = known.clone() + &node("l0", "TensorListReserve", &[declared, "four"], "");
        for (number, (item, attributes)) in sets.iter().enumerate() {
            let (before, after) = (format!("l{number}"), format!("l{}", number + 1));
            nodes += &node(&after, "TensorListSetItem", &[&before, "zero", item], attributes);
        }
        let last = format!("l{}", sets.len());
        nodes += &node("y", "TensorListStack", &[&last, "any"], "");
        assert_eq!(chain(&nodes, "y"), expected, "{declared} {sets:?}");
    }
    // A branch that sets nothing does not matter; a loop that sets an item in every turn settles at once.
    let merged = [
        node("l0", "TensorListReserve", &["open", "four"], ""),
        node("l1", "TensorListSetItem", &["l0", "zero", "x"], ""),
        node("m", "Merge", &["l0", "l1"], "attr { key: 'N' value { i: 2 } }"),
        node("y", "TensorListStack", &["m", "any"], ""),
    ];
    assert_eq!(chain(&(known.clone() + &merged.concat()), "y"), "[4,batch,6]");
    let repeated = [
        node("l0", "TensorListReserve", &["open", "four"], ""),
        node("e", "Enter", &["l0"], ""),
        node("m", "Merge", &["e", "back"], "attr { key: 'N' value { i: 2 } }"),
        node("w", "Switch", &["m", "x"], ""),
        node("set", "TensorListSetItem", &["w:1", "zero", "x"], ""),
        node("back", "NextIteration", &["set"], ""),
        node("out", "Exit", &["w"], ""),
        node("y", "TensorListStack", &["out", "any"], ""),
    ];
    assert_eq!(chain(&(known + &repeated.concat()), "y"), "[4,batch,6]");
}

const FUNCTION: &str = "library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } \
     output_arg { name: 'o' type: DT_FLOAT } } \
     node_def { name: 'h' op: 'CALLEE' input: 'a' attr { key: 'f' value { func { name: 'f' } } } \
     attr { key: 'Tout' value { list { type: DT_FLOAT } } } } ret { key: 'o' value: 'h:y:0' } } }\n";

#[test]
fn functions_are_inferred_where_they_are_called() {
    let call = "node { name: 'y' op: 'PartitionedCall' input: 'x' attr { key: 'f' value { func { name: 'f' } } } \
         attr { key: 'Tout' value { list { type: DT_FLOAT } } } }\n";
    assert_eq!(
        chain(&format!("{call}{}", FUNCTION.replace("CALLEE", "Relu")), "y"),
        "[batch,6]"
    );
    // The first input of a remote call is its target.
    let remote = call
        .replace("PartitionedCall", "RemoteCall")
        .replace("input: 'x'", "input: 'b' input: 'x'");
    let target = "node { name: 'b' op: 'Placeholder' }\n";
    assert_eq!(
        chain(&format!("{target}{remote}{}", FUNCTION.replace("CALLEE", "Relu")), "y"),
        "[batch,6]"
    );
    // A function that calls itself stays unknown, and ends.
    let endless = FUNCTION
        .replace("CALLEE", "PartitionedCall")
        .replace("h:y:0", "h:output:0");
    assert_eq!(chain(&format!("{call}{endless}"), "y"), "?");
}

#[test]
fn stated_numbers_hold_and_stated_gaps_are_filled() {
    let stated = |sizes: &str| {
        format!(
            "node {{ name: 'y' op: 'Relu' input: 'x' attr {{ key: '_output_shapes' value {{ list {{ shape {{ {} }} }} \
             }} }} }}",
            dims(sizes)
        )
    };
    assert_eq!(chain(&stated("-1,6"), "y"), "[batch,6]");
    assert_eq!(chain(&stated("8,-1"), "y"), "[8,6]");
    let model = read(&format!("{}{}", input(0, "f[2,6]").replace("x0", "x"), stated("3,6")));
    let facts = facts(&model);
    assert_eq!(outputs(&model, &facts, MAIN, "y"), "[3,6]");
    let mut diagnostics = Diagnostics::new();
    facts.report(&model, &mut diagnostics);
    assert_eq!(diagnostics.entries().len(), 1);
}

#[test]
fn hostile_graphs_end_soon() {
    // Each function calls the next one twice: a thousand million calls.
    let mut text = String::from("library {\n");
    for number in 0..30 {
        text.push_str(&format!(
            "function {{ signature {{ name: 'f{number}' input_arg {{ name: 'a' type: DT_FLOAT }} \
             output_arg {{ name: 'o' type: DT_FLOAT }} }} \
             node_def {{ name: 'h' op: 'f{0}' input: 'a' }} node_def {{ name: 'i' op: 'f{0}' input: 'h:o:0' }} \
             ret {{ key: 'o' value: 'i:o:0' }} }}\n",
            number + 1
        ));
    }
    text.push_str("}\nnode { name: 'y' op: 'f0' input: 'x' }\n");
    assert_eq!(chain(&text, "y"), "?");
    // A long chain from back to front, whose rows double each time.
    let mut text = String::new();
    for number in (0..20_000).rev() {
        text.push_str(&format!(
            "node {{ name: 'n{}' op: 'ConcatV2' input: ['n{number}', 'n{number}', 'axis'] \
             attr {{ key: 'N' value {{ i: 2 }} }} }}\n",
            number + 1
        ));
    }
    text.push_str("node { name: 'n0' op: 'Identity' input: 'x' }\n");
    text.push_str(&number("axis", &[0], false));
    let last = chain(&text, "n20000");
    assert!(last.ends_with(",6]"), "{last}");
    // Nodes that read each other in a circle stay unknown.
    let circle = "node { name: 'a' op: 'Relu' input: 'b' }\nnode { name: 'b' op: 'Relu' input: 'a' }\n";
    assert_eq!(chain(circle, "a"), "?");
}

#[test]
fn ops_of_summaries_and_of_data_pipelines_have_shapes() {
    let node = |name: &str, op: &str, inputs: &[&str], attributes: &str| {
        let inputs: Vec<String> = inputs.iter().map(|input| format!("input: '{input}' ")).collect();
        let inputs = inputs.concat();
        format!("node {{ name: '{name}' op: '{op}' {inputs} {attributes} }}\n")
    };
    let float = "attr { key: 'T' value { type: DT_FLOAT } }";
    assert_eq!(
        chain(&node("y", "_UnaryOpsComposition", &["x"], float), "y"),
        "[batch,6]"
    );
    for summary in ["MergeSummary", "HistogramSummary", "ScalarSummary", "ImageSummary"] {
        assert_eq!(chain(&node("y", summary, &["x"], ""), "y"), "[]", "{summary}");
    }
    let examples = "attr { key: 'num_sparse' value { i: 1 } } attr { key: 'sparse_types' value { list { type: DT_FLOAT } } } \
                    attr { key: 'Tdense' value { list { type: DT_INT64 } } } \
                    attr { key: 'dense_shapes' value { list { shape { dim { size: 2 } } } } }";
    let single = chain(&node("y", "ParseSingleExample", &["x"], examples), "y");
    assert_eq!(single, "[_,1] [_] [1] [2]");
    let window = number("window", &[0, 0, 7, 9], true);
    let cropped = node(
        "y",
        "DecodeAndCropJpeg",
        &["x", "window"],
        "attr { key: 'channels' value { i: 3 } }",
    );
    assert_eq!(chain(&(window + &cropped), "y"), "[7,9,3]");
}
