//! Models of `MindSpore` (`MINDIR`), which `mindspore.export(net, x, file_name="net", file_format="MINDIR")` writes.
//!
//! ```text
//! ModelProto   1 ir_version, 2 producer_name, 7 graph, 8 functions
//! GraphProto   1 node, 2 name, 3 parameter (TensorProto), 5 input, 6 output (ValueInfoProto: 1 name, 2 tensor)
//! NodeProto    1 input, 2 output, 3 name, 4 op_type ("REF::Conv2D:4"), 5 attribute, 7 domain (the name with its scope)
//! TensorProto  1 dims, 2 data_type, 7 name, 9 raw_data
//! attributes   "shape" has a tensor for each result; "value" is that of a node "Constant": 3 i, or 12 tensors
//! ```
//! Source: `mind_ir.proto` of the public sources (1.0 to 2.10), and models of `MindSpore` 2.10. In: the file; weights are passed
//! over. Out: the nodes in the form of a text dump, which `ir/build.rs` makes a graph of. Nothing is inferred: a result
//! without a shape is unknown.

use std::collections::BTreeMap;

use super::ir::abstracts::{ANY_RANK, Leaf};
use super::ir::build;
use super::ir::parse::{Dump, Node, Parameter, Subgraph};
use crate::element_types::MINDSPORE;
use crate::proto_kind::{self, ProtoKind};
use crate::wire::{List, Wire};
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{DType, Dim};
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

const TEXT: u64 = 64 << 10;

/// The node that a text dump ends with.
const RETURN: &str = "Return";

/// Attributes within attributes, as tuples of tuples have them.
const MOST_DEPTH: u32 = 16;

pub(crate) fn detect(input: &Input<'_>) -> bool {
    proto_kind::kind(input.head()) == Some(ProtoKind::MindIr)
}

pub(crate) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let (file, len) = (input.name().to_owned(), input.len());
    let mut wire = Wire::new(&mut **input.reader()?, len, *progress);
    let mut dump = Dump::default();
    while let Some(number) = wire.next("a model")? {
        match number {
            7 => {
                wire.enter()?;
                let graph = graph(&mut wire, &mut dump.parameters)?;
                dump.entry.clone_from(&graph.name);
                dump.subgraphs.insert(0, graph);
            }
            8 => {
                wire.enter()?;
                // What a function is given is created where it is read.
                let graph = graph(&mut wire, &mut Vec::new())?;
                dump.subgraphs.push(graph);
            }
            _ => {}
        }
    }
    let mut nodes = dump.subgraphs.iter().flat_map(|graph| &graph.nodes);
    if nodes.all(|node| node.kind == RETURN) {
        return Err(ImportError::at_byte("the model has no node", len));
    }
    let entry = build::entry(&dump, &file, progress, diagnostics)?;
    Ok(Source::Graphs(vec![entry]))
}

/// What a node `Constant` is.
enum Constant {
    Number(i64),
    Tensor(Vec<Leaf>),
    Other,
}

fn graph(wire: &mut Wire<'_>, parameters: &mut Vec<Parameter>) -> Result<Subgraph, ImportError> {
    let mut graph = Subgraph::default();
    let mut constants: BTreeMap<String, Constant> = BTreeMap::new();
    let mut outputs = Vec::new();
    while let Some(number) = wire.next("a graph")? {
        match number {
            1 => {
                wire.enter()?;
                let (node, constant) = node(wire)?;
                if node.kind == "Constant" {
                    constants.insert(node.value, constant);
                } else {
                    graph.nodes.push(node);
                }
            }
            2 => graph.name = wire.text(TEXT)?,
            3 => {
                wire.enter()?;
                let (name, leaf) = tensor(wire)?;
                parameters.push(parameter(&name, vec![leaf], true));
            }
            5 => {
                wire.enter()?;
                let (name, leaves) = value(wire)?;
                parameters.push(parameter(&name, leaves, false));
            }
            6 => {
                wire.enter()?;
                outputs.push(format!("%{}", value(wire)?.0));
            }
            _ => {}
        }
    }
    for node in &mut graph.nodes {
        name_constants(node, &constants);
    }
    graph.nodes.push(Node {
        kind: RETURN.to_owned(),
        operands: outputs,
        ..Node::default()
    });
    Ok(graph)
}

/// Names begin with their graph: `58_1_net_construct_20:conv.weight`.
fn parameter(name: &str, leaves: Vec<Leaf>, is_weight: bool) -> Parameter {
    let short = name.rsplit_once(':').map_or(name, |(_, short)| short);
    Parameter {
        value: format!("%{name}"),
        name: short.to_owned(),
        leaves,
        is_weight,
    }
}

/// Writes constants among the operands as a text dump has them.
fn name_constants(node: &mut Node, constants: &BTreeMap<String, Constant>) {
    for (at, operand) in node.operands.iter_mut().enumerate() {
        match constants.get(operand.as_str()) {
            Some(Constant::Number(number)) => *operand = format!("I64({number})"),
            Some(Constant::Tensor(leaves)) => {
                "Tensor(".clone_into(operand);
                if node.inputs.len() <= at {
                    node.inputs.resize(at + 1, Vec::new());
                }
                node.inputs[at].clone_from(leaves);
            }
            Some(Constant::Other) => "None".clone_into(operand),
            None => {}
        }
    }
}

fn node(wire: &mut Wire<'_>) -> Result<(Node, Constant), ImportError> {
    let mut node = Node::default();
    let mut constant = Constant::Other;
    while let Some(number) = wire.next("a node")? {
        match number {
            1 => node.operands.push(format!("%{}", wire.text(TEXT)?)),
            2 if node.value.is_empty() => node.value = format!("%{}", wire.text(TEXT)?),
            4 => kind_of(&wire.text(TEXT)?).clone_into(&mut node.kind),
            5 => {
                wire.enter()?;
                let attribute = attribute(wire, 0)?;
                match attribute.name.as_str() {
                    "shape" => node.outputs = attribute.tensors,
                    "value" if !attribute.tensors.is_empty() => constant = Constant::Tensor(attribute.tensors),
                    "value" => constant = attribute.number.map_or(Constant::Other, Constant::Number),
                    _ => {}
                }
            }
            7 => node.name = wire.text(TEXT)?,
            _ => {}
        }
    }
    Ok((node, constant))
}

/// `Conv2D` of `REF::Conv2D:4`, a reference to a primitive with its number.
fn kind_of(text: &str) -> &str {
    let text = text.strip_prefix("REF::").unwrap_or(text);
    match text.rsplit_once(':') {
        Some((kind, number)) if !kind.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => text,
    }
}

#[derive(Default)]
struct Attribute {
    name: String,
    number: Option<i64>,
    /// Those of attributes within it, too.
    tensors: Vec<Leaf>,
}

fn attribute(wire: &mut Wire<'_>, depth: u32) -> Result<Attribute, ImportError> {
    let mut attribute = Attribute::default();
    while let Some(number) = wire.next("an attribute")? {
        match number {
            1 => attribute.name = wire.text(TEXT)?,
            3 => attribute.number = Some(wire.int()?),
            6 | 12 => {
                wire.enter()?;
                attribute.tensors.push(tensor(wire)?.1);
            }
            17 if depth < MOST_DEPTH => {
                wire.enter()?;
                attribute.tensors.extend(self::attribute(wire, depth + 1)?.tensors);
            }
            _ => {}
        }
    }
    Ok(attribute)
}

/// Name and tensors of an input or output of a graph.
fn value(wire: &mut Wire<'_>) -> Result<(String, Vec<Leaf>), ImportError> {
    let (mut name, mut leaves) = (String::new(), Vec::new());
    while let Some(number) = wire.next("a value")? {
        match number {
            1 => name = wire.text(TEXT)?,
            2 => {
                wire.enter()?;
                leaves.push(tensor(wire)?.1);
            }
            _ => {}
        }
    }
    Ok((name, leaves))
}

fn tensor(wire: &mut Wire<'_>) -> Result<(String, Leaf), ImportError> {
    let mut name = String::new();
    let mut dtype = DType::Unknown;
    let mut dims = List::new(crate::text_limits::RANK);
    while let Some(number) = wire.next("a tensor")? {
        match number {
            1 => wire.ints(&mut dims)?,
            2 => dtype = MINDSPORE.of_code(wire.int()?),
            7 => name = wire.text(TEXT)?,
            _ => {}
        }
    }
    let is_known = !dims.is_full && !dims.items.contains(&ANY_RANK);
    let sizes = dims.items.iter();
    let sizes = sizes.map(|dim| u64::try_from(*dim).map_or(Dim::Unknown, Dim::Known));
    let leaf = Leaf {
        dtype: Some(dtype),
        dims: is_known.then(|| sizes.collect()),
        reference: None,
    };
    Ok((name, leaf))
}

#[cfg(test)]
mod tests {
    use crate::test_help::read;
    use highwater_model::graph::{Bindings, Graph, Role};
    use highwater_model::workload::Source;

    /// A field of bytes.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let len = u8::try_from(content.len()).expect("a short content");
        assert!(len < 128, "one byte states the length");
        [&[number << 3 | 2, len][..], content].concat()
    }

    /// A field of bytes of any length below 16384.
    fn long(number: u8, content: &[u8]) -> Vec<u8> {
        let len = content.len();
        let low = u8::try_from(len & 0x7f | 0x80).expect("a byte");
        let high = u8::try_from(len >> 7).expect("a short content");
        [&[number << 3 | 2, low, high][..], content].concat()
    }

    fn tensor(dims: &[u8], dtype: u8, name: &str) -> Vec<u8> {
        let dims: Vec<u8> = dims.iter().flat_map(|dim| [8, *dim]).collect();
        let name = if name.is_empty() {
            Vec::new()
        } else {
            field(7, name.as_bytes())
        };
        [dims, vec![16, dtype], name].concat()
    }

    fn node(inputs: &[&str], output: &str, kind: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
        let inputs = inputs.iter().flat_map(|input| field(1, input.as_bytes()));
        let attributes = attributes.iter().flat_map(|attribute| field(5, attribute));
        let head = [field(2, output.as_bytes()), field(4, kind.as_bytes())].concat();
        let domain = field(7, format!("Default/{output}-op0").as_bytes());
        inputs.chain(head).chain(attributes).chain(domain).collect()
    }

    fn shape(tensors: &[Vec<u8>]) -> Vec<u8> {
        let tensors = tensors.iter().flat_map(|tensor| field(12, tensor));
        field(1, b"shape").into_iter().chain(tensors).collect()
    }

    fn model() -> Vec<u8> {
        let nodes = [
            node(&[], "k", "Constant", &[[field(1, b"value"), vec![24, 1]].concat()]),
            node(&["g:w", "k"], "g:a", "REF::Load:1", &[shape(&[tensor(&[4, 8], 1, "")])]),
            node(
                &["g:x", "g:a"],
                "g:b",
                "REF::MatMul:2",
                &[shape(&[tensor(&[2, 4], 1, "")])],
            ),
            node(
                &["g:b"],
                "g:c",
                "REF::TopK:3",
                &[shape(&[tensor(&[2, 3], 1, ""), tensor(&[2, 3], 6, "")])],
            ),
            node(
                &["g:c", "k"],
                "g:d",
                "REF::TupleGetItem:4",
                &[shape(&[tensor(&[2, 3], 6, "")])],
            ),
            node(&["g:d"], "g:e", "REF::Neg:5", &[]),
        ];
        let nodes: Vec<u8> = nodes.iter().flat_map(|node| field(1, node)).collect();
        let input = [field(1, b"g:x"), field(2, &tensor(&[2, 8], 10, ""))].concat();
        let graph = [
            nodes,
            field(2, b"g"),
            field(3, &tensor(&[4, 8], 1, "g:w")),
            field(5, &input),
            field(6, &field(1, b"g:e")),
        ]
        .concat();
        [
            field(1, b"1.1"),
            field(2, b"MindSpore"),
            field(5, b"2.10.0"),
            long(7, &graph),
        ]
        .concat()
    }

    #[test]
    fn results_have_the_shapes_that_the_model_states() {
        let imported = read("net.bin", &model()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.format, "mindir");
        let Source::Graphs(entries) = imported.source else {
            panic!("a graph")
        };
        let graph: &Graph = &entries[0].graph;
        let kinds: Vec<&str> = graph.ops().ids().map(|op| graph.op_kind(op)).collect();
        assert_eq!(kinds, ["MatMul", "TopK", "Neg"]);
        let sizes = graph.sizes(&Bindings::new());
        let tensors = graph
            .tensors()
            .iter_ids()
            .map(|(id, tensor)| (graph.tensor_name(id), tensor.role, sizes.tensor(id)));
        let expected = [
            ("w", Role::Parameter, Some(128)),
            ("x", Role::Input, Some(32)),
            ("Default/g:b-op0:0", Role::Activation, Some(32)),
            ("Default/g:c-op0:0", Role::Activation, Some(24)),
            ("Default/g:c-op0:1", Role::Activation, Some(24)),
        ];
        assert_eq!(tensors.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn models_that_are_cut_off_are_errors() {
        let whole = model();
        for len in [whole.len() - 1, whole.len() / 2] {
            assert!(read("net.mindir", &whole[..len]).is_err(), "{len}");
        }
        let empty = read("net.mindir", b"\x0a\x031.1\x12\x09MindSpore\x3a\x00").map(|imported| imported.format);
        assert!(empty.is_err());
    }
}
