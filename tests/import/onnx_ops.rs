//! Shape rules of single ONNX ops against `onnx_ops.txt`: what onnxruntime and onnx compute of the same inputs.

use std::fmt::Write as _;

use highwater_model::graph::{Bindings, Graph};

use crate::made::{bytes, number, told};
use crate::onnx::{body, ints, node, value};
use crate::onnx_corpus::{main_graph, read};

/// The codes of element types.
const CODES: &[(&str, i64)] = &[
    ("float32", 1),
    ("uint8", 2),
    ("int8", 3),
    ("uint16", 4),
    ("int16", 5),
    ("int32", 6),
    ("int64", 7),
    ("string", 8),
    ("bool", 9),
    ("float16", 10),
    ("float64", 11),
    ("uint32", 12),
    ("uint64", 13),
    ("bfloat16", 16),
    ("float8", 17),
];

fn code(name: &str) -> i64 {
    CODES.iter().find(|row| row.0 == name).map(|row| row.1).unwrap()
}

/// A tensor of a row: `int32[2]{1,2}`.
struct Tensor<'a> {
    dtype: &'a str,
    dims: Vec<i64>,
    elements: Option<&'a str>,
}

fn tensor(text: &str) -> Option<Tensor<'_>> {
    let (dtype, rest) = text.split_once('[')?;
    let (dims, rest) = rest.split_once(']')?;
    Some(Tensor {
        dtype,
        dims: dims.split(',').filter_map(|size| size.parse().ok()).collect(),
        elements: rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')),
    })
}

impl Tensor<'_> {
    fn text(&self) -> String {
        let sizes: Vec<String> = self.dims.iter().map(i64::to_string).collect();
        let shape = if sizes.is_empty() {
            "scalar".to_owned()
        } else {
            sizes.join("×")
        };
        format!("{} {shape}", self.dtype)
    }

    /// An initializer where the row states elements, else an input of the graph, whose sizes may be symbols.
    fn field(&self, name: &str, bindings: Option<&mut Bindings>) -> Vec<u8> {
        if let Some(elements) = self.elements {
            let mut out: Vec<u8> = self.dims.iter().flat_map(|size| number(1, *size)).collect();
            out.extend([number(2, code(self.dtype)), bytes(8, name.as_bytes())].concat());
            let content = elements.split(',').flat_map(|item| match self.dtype {
                "float32" => item.parse::<f32>().unwrap().to_le_bytes().to_vec(),
                "int32" => item.parse::<i32>().unwrap().to_le_bytes().to_vec(),
                _ => item.parse::<i64>().unwrap().to_le_bytes().to_vec(),
            });
            out.extend(bytes(9, &content.collect::<Vec<u8>>()));
            return bytes(5, &out);
        }
        let mut bindings = bindings;
        let dims = self.dims.iter().enumerate().flat_map(|(axis, size)| {
            let symbol = format!("{name}{axis}");
            let is_bound = bindings.as_mut().filter(|_| *size > 0).is_some_and(|bindings| {
                bindings.insert(symbol.clone(), size.unsigned_abs());
                true
            });
            let dim = if is_bound {
                bytes(2, symbol.as_bytes())
            } else {
                number(1, *size)
            };
            bytes(1, &dim)
        });
        let tensor = [number(1, code(self.dtype)), bytes(2, &dims.collect::<Vec<u8>>())].concat();
        bytes(11, &[bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat())
    }
}

/// `name=1`, `name=1.5f`, `name='text'`, `name=[1,2]`.
fn attribute(text: &str) -> Vec<u8> {
    let (name, value) = text.split_once('=').unwrap();
    let float = |item: &str| item.strip_suffix('f').unwrap().parse::<f32>().unwrap().to_le_bytes();
    let items = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let value = match items {
        Some(items) if items.contains('f') => {
            let items = items
                .split(',')
                .flat_map(|item| [vec![7 << 3 | 5], float(item).to_vec()].concat());
            items.chain(number(20, 6)).collect()
        }
        Some(items) => {
            let items = items.split(',').filter(|item| !item.is_empty());
            let numbers = items.flat_map(|item| number(8, item.parse().unwrap()));
            numbers.chain(number(20, 7)).collect()
        }
        None if value.starts_with('\'') => [bytes(4, value.trim_matches('\'').as_bytes()), number(20, 3)].concat(),
        None if value.ends_with('f') => [vec![2 << 3 | 5], float(value).to_vec(), number(20, 1)].concat(),
        None => [number(3, value.parse().unwrap()), number(20, 2)].concat(),
    };
    [bytes(1, name.as_bytes()), value].concat()
}

struct Row<'a> {
    line: &'a str,
    domain: &'a str,
    kind: &'a str,
    inputs: Vec<Option<Tensor<'a>>>,
    attributes: Vec<Vec<u8>>,
    /// `None` is not compared.
    outputs: Vec<Option<Tensor<'a>>>,
    opset: i64,
}

fn row(line: &str) -> Row<'_> {
    let (left, right) = line.split_once(" -> ").unwrap();
    let mut words = left.split(' ');
    let op = words.next().unwrap();
    let (domain, kind) = op.rsplit_once('.').unwrap_or(("", op));
    let (attributes, inputs): (Vec<&str>, Vec<&str>) = words.partition(|word| word.contains('='));
    let opset = right.split(' ').find_map(|word| word.strip_prefix('@')?.parse().ok());
    Row {
        line,
        domain,
        kind,
        inputs: inputs.into_iter().map(tensor).collect(),
        attributes: attributes.into_iter().map(attribute).collect(),
        outputs: right
            .split(' ')
            .filter(|word| !word.starts_with('@'))
            .map(tensor)
            .collect(),
        opset: opset.unwrap_or(26),
    }
}

impl Row<'_> {
    fn model(&self, mut bindings: Option<&mut Bindings>) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut content = Vec::new();
        for (position, input) in self.inputs.iter().enumerate() {
            let name = input.as_ref().map(|_| format!("i{position}_")).unwrap_or_default();
            content.extend(bytes(1, name.as_bytes()));
            if let Some(tensor) = input {
                parts.extend(tensor.field(&name, bindings.as_deref_mut()));
            }
        }
        for position in 0..self.outputs.len() {
            content.extend(bytes(2, format!("o{position}").as_bytes()));
        }
        content.extend(bytes(4, self.kind.as_bytes()));
        content.extend(bytes(7, self.domain.as_bytes()));
        content.extend(self.attributes.iter().flat_map(|attribute| bytes(5, attribute)));
        parts.extend(bytes(1, &content));
        [number(1, 10), bytes(8, &number(2, self.opset)), bytes(7, &parts)].concat()
    }
}

pub(crate) fn found(graph: &Graph, name: &str, bindings: &Bindings) -> String {
    let mut ids = graph.tensors().ids();
    ids.find(|id| graph.tensor_name(*id) == name)
        .map_or_else(String::new, |id| {
            let dtype = graph.tensors()[id].dtype.name();
            format!("{dtype} {}", graph.bound_shape_text(id, bindings))
        })
}

#[test]
fn ops_have_the_shapes_that_runtimes_compute() {
    let rows = include_str!("onnx_ops.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let (mut wrong, mut n_symbolic, mut n_outputs) = (String::new(), 0, 0);
    for row in rows.map(row) {
        for is_symbolic in [false, true] {
            let mut bindings = Bindings::new();
            let model = row.model(is_symbolic.then_some(&mut bindings));
            let imported = read(&model).expect(row.line);
            let graph = main_graph(&imported);
            let outputs = row.outputs.iter().enumerate();
            for (position, output) in outputs.filter_map(|(position, output)| Some((position, output.as_ref()?))) {
                let found = found(graph, &format!("o{position}"), &bindings);
                n_symbolic += usize::from(is_symbolic && found == output.text());
                n_outputs += usize::from(is_symbolic);
                // A symbol may leave a size open, but never makes another one.
                if found != output.text() && !(is_symbolic && found.contains('?')) {
                    writeln!(wrong, "{}\n    output {position}: {found}, {is_symbolic}", row.line).unwrap();
                }
            }
        }
    }
    assert_eq!(wrong, "");
    assert!(n_symbolic * 100 >= n_outputs * 98, "{n_symbolic} of {n_outputs}");
}

/// A model of some nodes with inputs of floats.
fn shapes_of(parts: &[Vec<u8>], names: &[&str]) -> Vec<String> {
    let imported =
        read(&[number(1, 10), bytes(8, &number(2, 17)), bytes(7, &parts.concat())].concat()).expect("a model");
    let bindings = Bindings::from([("n".to_owned(), 7)]);
    let graph = main_graph(&imported);
    names.iter().map(|name| found(graph, name, &bindings)).collect()
}

fn scalar(name: &str, value: i64) -> Vec<u8> {
    let content = [number(2, 7), bytes(8, name.as_bytes()), bytes(9, &value.to_le_bytes())].concat();
    bytes(5, &content)
}

#[test]
fn sequences_keep_the_shapes_of_their_elements() {
    let flag = |name: &str, value: i64| [bytes(1, name.as_bytes()), number(3, value), number(20, 2)].concat();
    let mapped = [
        node("Shape", &["e"], &["size"], &[]),
        node("Transpose", &["e"], &["turned"], &[ints("perm", &[1, 0])]),
        value(11, "e", &["r", "c"]),
        value(12, "turned", &["c", "r"]),
    ];
    let inputs = [
        scalar("first", 0),
        scalar("last", -1),
        value(11, "x", &["2", "3"]),
        value(11, "y", &["5", "3"]),
        value(11, "z", &["n", "3"]),
    ];
    let nodes = [
        node("SequenceConstruct", &["x", "y"], &["s"], &[]),
        node("SequenceInsert", &["s", "z", "first"], &["t"], &[]),
        node("SequenceAt", &["t", "first"], &["at0"], &[]),
        node("SequenceAt", &["t", "last"], &["at2"], &[]),
        node("SequenceLength", &["t"], &["length"], &[]),
        node("ConcatFromSequence", &["t"], &["all"], &[flag("axis", 0)]),
        node("SequenceErase", &["t", "first"], &["u"], &[]),
        node("SequenceErase", &["u"], &["v"], &[]),
        node(
            "ConcatFromSequence",
            &["v"],
            &["stacked"],
            &[flag("axis", 0), flag("new_axis", 1)],
        ),
        node(
            "SplitToSequence",
            &["y"],
            &["rows"],
            &[flag("axis", 0), flag("keepdims", 0)],
        ),
        node("SequenceAt", &["rows", "last"], &["line"], &[]),
        node("SplitToSequence", &["z"], &["zs"], &[flag("axis", 0)]),
        node("ConcatFromSequence", &["zs"], &["joined"], &[flag("axis", 0)]),
        node("SequenceMap", &["u"], &["w"], &[body("body", &mapped.concat())]),
        node("SequenceAt", &["w", "last"], &["turned_y"], &[]),
        node("Optional", &["y"], &["o"], &[]),
        node("OptionalGetElement", &["o"], &["held"], &[]),
    ];
    let names = ["at0", "at2", "all", "stacked", "line", "joined", "turned_y", "held"];
    assert_eq!(
        shapes_of(&[nodes.concat(), inputs.concat()], &names),
        ["7×3", "5×3", "14×3", "1×2×3", "3", "7×3", "3×5", "5×3"].map(|shape| format!("float32 {shape}"))
    );
}

/// A name that only a body's input has is no dimension of the model.
#[test]
fn dimensions_of_bodies_are_no_symbols_of_the_model() {
    let whole = [
        node("Transpose", &["e"], &["turned"], &[ints("perm", &[1, 0])]),
        value(11, "e", &["a", "b"]),
        value(12, "turned", &["?", "?"]),
    ];
    let axis = |value: i64| [bytes(1, b"axis"), number(3, value), number(20, 2)].concat();
    let nodes = [
        node("SplitToSequence", &["x", "four"], &["s"], &[axis(0)]),
        node("SequenceMap", &["s"], &["m"], &[body("body", &whole.concat())]),
        node("SequenceAt", &["m", "last"], &["z"], &[]),
        node("ConcatFromSequence", &["m"], &["all"], &[axis(1)]),
    ];
    let inputs = [scalar("four", 4), scalar("last", -1), value(11, "x", &["10", "8"])];
    let imported =
        read(&[number(1, 10), bytes(7, &[nodes.concat(), inputs.concat()].concat())].concat()).expect("a model");
    let graph = main_graph(&imported);
    assert_eq!(graph.exprs().symbols().count(), 0);
    let shapes = ["z", "all"].map(|name| found(graph, name, &Bindings::new()));
    assert_eq!(shapes, ["float32 8×2", "float32 8×10"]);
}

/// A type of an input that holds floats: field 4 is a sequence, 9 an optional.
fn holds(name: &str, kinds: &[u64], dims: &[&str]) -> Vec<u8> {
    let tensor = value(11, "", dims);
    // Behind the head of the value, its empty name and the head of its type.
    let mut ty = tensor[6..].to_vec();
    for kind in kinds.iter().rev() {
        ty = bytes(*kind, &bytes(1, &ty));
    }
    bytes(11, &[bytes(1, name.as_bytes()), bytes(2, &ty)].concat())
}

#[test]
fn stated_types_of_sequences_and_optionals_give_shapes() {
    let get = |from: &str| match from {
        "sequence" => node("SequenceAt", &["s", "at"], &["e"], &[]),
        "optional" => node("OptionalGetElement", &["s"], &["e"], &[]),
        _ => [
            node("OptionalGetElement", &["s"], &["t"], &[]),
            node("SequenceAt", &["t", "at"], &["e"], &[]),
        ]
        .concat(),
    };
    for (from, kinds, dims, expected) in [
        ("sequence", &[4][..], &["3", "4"][..], "float32 3×4"),
        ("sequence", &[4], &["3", "?"], "float32 3×?"),
        ("optional", &[9], &["3", "4"], "float32 3×4"),
        ("both", &[9, 4], &["3", "4"], "float32 3×4"),
        // No type of an operator; it is read all the same.
        ("sequence", &[4, 4, 4, 4], &["3", "4"], "?"),
    ] {
        let parts = [get(from), scalar("at", 1), holds("s", kinds, dims)];
        let shape = shapes_of(&parts, &["e"]).concat();
        assert!(shape.ends_with(expected), "{from} {kinds:?}: {shape}");
    }
    // Nothing is stated, and the reason says no more than that.
    let parts = [get("sequence"), scalar("at", 1), value(11, "s", &["2"])].concat();
    let imported = read(&[number(1, 10), bytes(7, &parts)].concat()).expect("a model");
    let told_of = told(
        &imported,
        "SequenceAt stay unknown: the shape of the sequence's elements is not known",
    );
    assert_eq!(told_of.map(|row| row.1), Some(1));
}

/// An empty sequence does not decide the shape of what a loop appends to it.
#[test]
fn a_loop_that_appends_to_an_empty_sequence_knows_its_elements() {
    let appends = [
        node("Identity", &["ci"], &["co"], &[]),
        node("SequenceInsert", &["st", "x"], &["so"], &[]),
        bytes(11, &bytes(1, b"i")),
        bytes(11, &bytes(1, b"ci")),
        holds("st", &[4], &["4", "8"]),
        bytes(12, &bytes(1, b"co")),
        bytes(12, &bytes(1, b"so")),
    ];
    let parts = [
        node("SequenceEmpty", &[], &["s0"], &[]),
        node("Loop", &["n", "", "s0"], &["s"], &[body("body", &appends.concat())]),
        node("SequenceAt", &["s", "last"], &["e"], &[]),
        scalar("n", 3),
        scalar("last", -1),
        value(11, "x", &["4", "8"]),
    ];
    assert_eq!(shapes_of(&parts, &["e"]), ["float32 4×8"]);
}

#[test]
fn damaged_files_nest_no_containers() {
    let names: Vec<String> = (0..20_000).map(|turn| format!("o{turn}")).collect();
    let nested = |kind: &'static str| {
        let pairs = names.windows(2);
        pairs
            .flat_map(move |pair| node(kind, &[&*pair[0]; 3], &[&pair[1]], &[]))
            .collect::<Vec<u8>>()
    };
    for kind in ["Optional", "SequenceConstruct", "SequenceInsert"] {
        let first = node("SequenceConstruct", &["x"; 128], &["o0"], &[]);
        let parts = [first, nested(kind), value(11, "x", &["2"])].concat();
        let imported = read(&[number(1, 10), bytes(7, &parts)].concat()).expect("a model");
        assert_eq!(main_graph(&imported).ops().len(), names.len());
    }
}

#[test]
fn an_op_without_a_static_size_says_why() {
    let parts = [
        node("NonZero", &["x"], &["found"], &[]),
        node("Relu", &["x"], &["y"], &[]),
        value(11, "x", &["2", "3"]),
    ];
    let imported = read(&[number(1, 10), bytes(7, &parts.concat())].concat()).expect("a model");
    assert_eq!(found(main_graph(&imported), "found", &Bindings::new()), "int64 2×?");
    let told_of = told(
        &imported,
        "NonZero stay unknown: the data decide how many elements are not 0",
    );
    assert_eq!(told_of, Some(("NonZero".to_owned(), 1)));
    assert_eq!(told(&imported, "no shape rule"), None);
}

/// The block of channels is a property of the processor; the weights of the reader state it.
#[test]
fn blocked_channels_come_from_the_weights_that_read_them() {
    let blocked = |kind: &str, inputs: &[&str], output: &str| {
        let node = node(kind, inputs, &[output], &[]);
        let (_, content) = node.split_at(node.len() - usize::from(node[1]));
        bytes(1, &[content, &bytes(7, b"com.microsoft.nchwc")].concat())
    };
    for (stated, channels) in [("32", 32), ("24", 24)] {
        let weights = [
            number(1, 48),
            number(1, channels),
            number(1, 1),
            number(1, 1),
            number(2, 1),
            bytes(8, b"w"),
        ];
        let parts = [
            blocked("ReorderInput", &["x"], "r"),
            blocked("Conv", &["r", "w"], "c"),
            bytes(5, &weights.concat()),
            value(11, "x", &["1", "20", "8", "8"]),
        ];
        let expected = [format!("float32 1×{stated}×8×8"), "float32 1×48×8×8".to_owned()];
        assert_eq!(shapes_of(&parts, &["r", "c"]), expected);
    }
}
