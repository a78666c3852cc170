//! What is kept of an ONNX file: names, nodes, attributes, types, small values. Never a weight.
//!
//! In: what `parse` read. Out: compact tables that `shape` and `build` walk. Graphs lie flat in one list and name
//! each other by [`GraphIdx`]; children stand before their parents. [`Budget`] keeps all of it, and what is built
//! from it, within a small multiple of the file's size.

use indexmap::IndexMap;

use super::locals::Locals;
use super::types;
use crate::budget::Budget;
use crate::names::{Interner, NameIdx};
pub(super) use crate::shape::constant::Data;
use highwater_model::graph::DType;

/// A graph's position in [`Model::graphs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GraphIdx(pub(super) usize);

/// A file's content.
#[derive(Debug)]
pub(super) struct Model {
    /// Every text.
    pub(super) names: Interner,
    /// Version of the default operator set.
    pub(super) opset: i64,
    /// Bodies before the graphs that hold them.
    pub(super) graphs: Vec<RawGraph>,
    /// The graph that runs.
    pub(super) main: Option<GraphIdx>,
    /// Local functions by domain and name.
    pub(super) functions: IndexMap<(NameIdx, NameIdx), GraphIdx>,
    /// What memory is left.
    pub(super) budget: Budget,
    /// What the report tells of the reading.
    pub(super) seen: Seen,
}

/// What is counted while a file is read.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Codes of element types that are not known here, with the first value of each and how many there are.
    pub(super) unknown_types: IndexMap<i64, (NameIdx, u64)>,
    /// The first tensor whose data stand in another file, and how many there are.
    pub(super) external: (NameIdx, u64),
    /// The first sparse tensor, and how many there are.
    pub(super) sparse: (NameIdx, u64),
}

/// The most unknown types that are told apart.
const MAX_UNKNOWN_TYPES: usize = 64;

impl Seen {
    /// An element type in the type of a value.
    pub(super) fn code(&mut self, code: i64, name: NameIdx) {
        let is_unknown = code != 0 && types::from_code(code) == DType::Unknown;
        if is_unknown && (self.unknown_types.len() < MAX_UNKNOWN_TYPES || self.unknown_types.contains_key(&code)) {
            self.unknown_types.entry(code).or_insert((name, 0)).1 += 1;
        }
    }

    /// One more, the first of which is kept.
    pub(super) fn one_more(counted: &mut (NameIdx, u64), name: NameIdx) {
        if counted.1 == 0 {
            counted.0 = name;
        }
        counted.1 += 1;
    }
}

/// A graph or a function's body.
#[derive(Debug)]
pub(super) struct RawGraph {
    /// Its name.
    pub(super) name: NameIdx,
    /// Nodes in file order.
    pub(super) nodes: Vec<RawNode>,
    /// Names that nodes read and compute.
    pub(super) operands: Vec<NameIdx>,
    /// The nodes' attributes.
    pub(super) attributes: Vec<(NameIdx, Attribute)>,
    /// Declared inputs.
    pub(super) inputs: Vec<ValueInfo>,
    /// Declared outputs.
    pub(super) outputs: Vec<ValueInfo>,
    /// Types of values in between.
    pub(super) value_infos: Vec<ValueInfo>,
    /// Weights and tables.
    pub(super) initializers: Vec<TensorInfo>,
    /// Numbers of its names.
    pub(super) locals: Locals,
    /// Names that it reads from graphs around it, each once, in order.
    pub(super) captures: Vec<NameIdx>,
}

/// One operation.
#[derive(Debug)]
pub(super) struct RawNode {
    /// Its name; may be empty.
    pub(super) name: NameIdx,
    /// Its type.
    pub(super) kind: NameIdx,
    /// Its operator set; empty for the default one.
    pub(super) domain: NameIdx,
    /// Where its inputs start in [`RawGraph::operands`].
    pub(super) inputs: u32,
    /// Where its outputs start, behind the inputs.
    pub(super) outputs: u32,
    /// Where its outputs end.
    pub(super) outputs_end: u32,
    /// Where its attributes start in [`RawGraph::attributes`].
    pub(super) attributes: u32,
    /// Where they end.
    pub(super) attributes_end: u32,
    /// Where the node starts in the file.
    pub(super) at: u64,
}

/// An attribute's value.
#[derive(Debug)]
pub(super) enum Attribute {
    /// A number.
    Int(i64),
    /// A float.
    Float(f32),
    /// A text.
    Text(NameIdx),
    /// Numbers.
    Ints(Box<[i64]>),
    /// Floats.
    Floats(Box<[f32]>),
    /// How many texts a list holds.
    Texts(u32),
    /// A constant.
    Tensor(Box<TensorInfo>),
    /// Bodies.
    Graphs(Box<[GraphIdx]>),
    /// A value that the caller of a function gives.
    Reference,
    /// Something else, or a list too long to matter for shapes.
    Other,
}

/// One dimension as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawDim {
    /// A number; not positive means unknown.
    Value(i64),
    /// A name or an expression.
    Text(NameIdx),
    /// Nothing.
    Unnamed,
}

/// A value's declared type.
#[derive(Clone, Debug, Default)]
pub(super) struct RawType {
    /// The code of the element type; 0 where it is not given.
    pub(super) code: i64,
    /// Whether it is a sequence, an optional or a map.
    pub(super) is_composite: bool,
    /// Its dimensions, where their number is given.
    pub(super) dims: Option<Box<[RawDim]>>,
}

/// A named value with a type.
#[derive(Debug)]
pub(super) struct ValueInfo {
    /// The value's name.
    pub(super) name: NameIdx,
    /// Its type.
    pub(super) ty: RawType,
}

/// A tensor in the file, without its data unless it is small.
#[derive(Debug)]
pub(super) struct TensorInfo {
    /// Its name.
    pub(super) name: NameIdx,
    /// Its element type.
    pub(super) dtype: DType,
    /// Its dimensions.
    pub(super) dims: Box<[u64]>,
    /// Its elements, where there are few.
    pub(super) data: Data,
    /// Where it starts in the file.
    pub(super) at: u64,
}

impl RawGraph {
    /// An empty graph.
    pub(super) fn new() -> Self {
        Self {
            name: NameIdx::EMPTY,
            locals: Locals::default(),
            nodes: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            value_infos: Vec::new(),
            initializers: Vec::new(),
            captures: Vec::new(),
        }
    }

    /// What a node reads; empty names are left out optional inputs.
    pub(super) fn inputs_of(&self, node: &RawNode) -> &[NameIdx] {
        &self.operands[node.inputs as usize..node.outputs as usize]
    }

    /// What a node computes; empty names are left out optional outputs.
    pub(super) fn outputs_of(&self, node: &RawNode) -> &[NameIdx] {
        &self.operands[node.outputs as usize..node.outputs_end as usize]
    }

    /// A node's attributes.
    pub(super) fn attributes_of(&self, node: &RawNode) -> &[(NameIdx, Attribute)] {
        &self.attributes[node.attributes as usize..node.attributes_end as usize]
    }

    /// Bodies that a node holds.
    pub(super) fn bodies_of<'a>(&'a self, node: &RawNode) -> impl Iterator<Item = GraphIdx> + use<'a> {
        self.attributes_of(node)
            .iter()
            .filter_map(|(_, attribute)| match attribute {
                Attribute::Graphs(graphs) => Some(graphs.iter().copied()),
                _ => None,
            })
            .flatten()
    }
}

impl Model {
    pub(super) fn attribute<'g>(&self, graph: &'g RawGraph, node: &RawNode, name: &str) -> Option<&'g Attribute> {
        let mut attributes = graph.attributes_of(node).iter();
        attributes
            .find(|(key, _)| self.names.text(*key) == name)
            .map(|(_, value)| value)
    }

    /// A node's name for messages.
    pub(super) fn title(&self, node: &RawNode) -> &str {
        self.names
            .text(if node.name.is_empty() { node.kind } else { node.name })
    }

    /// A node's operator set, the default one as an empty text.
    pub(super) fn domain(&self, node: &RawNode) -> &str {
        match self.names.text(node.domain) {
            "ai.onnx" => "",
            other => other,
        }
    }
}
