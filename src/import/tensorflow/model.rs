//! What is kept of a TensorFlow graph: names, nodes, attributes, small constants. Never a weight.
//!
//! In: what `parse` read. Out: compact tables that `shape` and `build` walk. One [`Model`] is one `GraphDef`: its main
//! graph and one graph per library function, all in [`Model::graphs`]. Arguments of a function are nodes of kind
//! `_Arg` in front of its own nodes, so that everything that is read is an output of a node. The outputs of all nodes
//! of a graph are numbered through: output `port` of a node is value `first_value + port`, and tables about values are
//! plain vectors by that number. Inputs name nodes by position; where a name is defined nowhere, the input is
//! [`Operand::MISSING`].

use indexmap::IndexMap;

use crate::names::{Interner, NameIdx};
pub(super) use crate::shape::constant::Data;
use highwater_model::graph::DType;

/// A graph's position in [`Model::graphs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GraphIdx(pub(super) usize);

/// The main graph of every model.
pub(super) const MAIN: GraphIdx = GraphIdx(0);

/// One `GraphDef`.
#[derive(Debug)]
pub(super) struct Model {
    /// Every text.
    pub(super) names: Interner,
    /// The main graph, then the functions in the order of the file.
    pub(super) graphs: Vec<RawGraph>,
    /// Functions by name.
    pub(super) functions: IndexMap<NameIdx, GraphIdx>,
}

/// The main graph or a function's body.
#[derive(Debug, Default)]
pub(super) struct RawGraph {
    /// Its name; empty for the main graph.
    pub(super) name: NameIdx,
    /// Nodes in file order, behind the `_Arg` nodes of a function.
    pub(super) nodes: Vec<RawNode>,
    /// How many of `nodes` are arguments; they are no ops of the graph.
    pub(super) n_args: u32,
    /// What nodes read, all nodes end to end.
    pub(super) operands: Vec<Operand>,
    /// What nodes wait for without reading it, all nodes end to end: positions of nodes.
    pub(super) controls: Vec<u32>,
    /// The nodes' attributes.
    pub(super) attributes: Vec<(NameIdx, Attribute)>,
    /// What a function returns, in order.
    pub(super) results: Vec<Operand>,
    /// The element type of every value, as the op and its attributes say; unknown for ops that are not in the table.
    pub(super) dtypes: Vec<DType>,
}

/// One node.
#[derive(Clone, Debug)]
pub(super) struct RawNode {
    /// Its name.
    pub(super) name: NameIdx,
    /// The op's plain name, such as `MatMul`.
    pub(super) kind: NameIdx,
    /// Where its inputs start in [`RawGraph::operands`].
    pub(super) operands: u32,
    /// Where they end.
    pub(super) operands_end: u32,
    /// Where its control inputs start in [`RawGraph::controls`].
    pub(super) controls: u32,
    /// Where they end.
    pub(super) controls_end: u32,
    /// Where its attributes start in [`RawGraph::attributes`].
    pub(super) attributes: u32,
    /// Where they end.
    pub(super) attributes_end: u32,
    /// The number of its output 0.
    pub(super) first_value: u32,
    /// How many outputs it has.
    pub(super) n_outputs: u32,
    /// Where the node starts in the file.
    pub(super) at: u64,
}

/// An output of a node that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operand {
    /// The node's position.
    pub(super) node: u32,
    /// Which of its outputs; always one that it has.
    pub(super) port: u32,
}

impl Operand {
    /// An input whose name is defined nowhere.
    pub(super) const MISSING: Self = Self {
        node: u32::MAX,
        port: 0,
    };
}

/// The shape of a tensor as the file states it: `None` where the number of dimensions is unknown, -1 for a
/// dimension that is.
pub(super) type RawShape = Option<Box<[i64]>>;

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute {
    /// A number.
    Int(i64),
    /// A float.
    Float(f32),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(NameIdx),
    /// An element type.
    Type(DType),
    /// A shape.
    Shape(RawShape),
    /// A constant.
    Tensor(Box<TensorInfo>),
    /// The name of a function.
    Function(NameIdx),
    /// A list of any kind without elements.
    Empty,
    /// Numbers.
    Ints(Box<[i64]>),
    /// Floats.
    Floats(Box<[f32]>),
    /// Truth values.
    Bools(Box<[bool]>),
    /// Texts.
    Texts(Box<[NameIdx]>),
    /// Element types.
    Types(Box<[DType]>),
    /// Shapes, such as those of `_output_shapes`.
    Shapes(Box<[RawShape]>),
    /// Names of functions.
    Functions(Box<[NameIdx]>),
    /// Something else, or a list or text too long to matter for shapes.
    Other,
}

/// A constant, without its data unless it is small.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TensorInfo {
    /// Its element type.
    pub(super) dtype: DType,
    /// Its shape.
    pub(super) shape: RawShape,
    /// Its elements, where there are few and the file has them.
    pub(super) data: Data,
}

impl RawGraph {
    /// What a node reads.
    pub(super) fn operands_of(&self, node: &RawNode) -> &[Operand] {
        &self.operands[node.operands as usize..node.operands_end as usize]
    }

    /// Positions of the nodes that a node waits for.
    pub(super) fn controls_of(&self, node: &RawNode) -> &[u32] {
        &self.controls[node.controls as usize..node.controls_end as usize]
    }

    /// A node's attributes.
    pub(super) fn attributes_of(&self, node: &RawNode) -> &[(NameIdx, Attribute)] {
        &self.attributes[node.attributes as usize..node.attributes_end as usize]
    }

    /// The node that computes an operand; `None` where the name is defined nowhere.
    pub(super) fn producer(&self, operand: Operand) -> Option<&RawNode> {
        self.nodes.get(operand.node as usize)
    }

    /// Numbers of a node's values.
    pub(super) fn values_of(&self, node: &RawNode) -> std::ops::Range<usize> {
        let start = node.first_value as usize;
        start..(start + node.n_outputs as usize).min(self.dtypes.len())
    }

    /// The number of an operand's value; `None` where the name is defined nowhere.
    pub(super) fn value(&self, operand: Operand) -> Option<usize> {
        let node = self.producer(operand)?;
        (operand.port < node.n_outputs).then(|| node.first_value as usize + operand.port as usize)
    }
}

impl Model {
    /// A node's op, such as `MatMul`.
    pub(super) fn kind(&self, node: &RawNode) -> &str {
        self.names.text(node.kind)
    }

    /// An attribute of a node.
    pub(super) fn attribute<'m>(&'m self, graph: &'m RawGraph, node: &RawNode, key: &str) -> Option<&'m Attribute> {
        let mut attributes = graph.attributes_of(node).iter();
        attributes
            .find(|(name, _)| self.names.text(*name) == key)
            .map(|(_, value)| value)
    }

    /// A number among a node's attributes.
    pub(super) fn int(&self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<i64> {
        match self.attribute(graph, node, key)? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A truth value among a node's attributes.
    pub(super) fn flag(&self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<bool> {
        match self.attribute(graph, node, key)? {
            Attribute::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// An element type among a node's attributes.
    pub(super) fn dtype(&self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<DType> {
        match self.attribute(graph, node, key)? {
            Attribute::Type(dtype) => Some(*dtype),
            _ => None,
        }
    }

    /// A text among a node's attributes.
    pub(super) fn text<'m>(&'m self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<&'m str> {
        match self.attribute(graph, node, key)? {
            Attribute::Text(name) => Some(self.names.text(*name)),
            _ => None,
        }
    }

    /// A list of numbers among a node's attributes; an empty list is one.
    pub(super) fn ints<'m>(&'m self, graph: &'m RawGraph, node: &RawNode, key: &str) -> Option<&'m [i64]> {
        match self.attribute(graph, node, key)? {
            Attribute::Ints(values) => Some(values),
            Attribute::Empty => Some(&[]),
            _ => None,
        }
    }

    /// What the file states of an output's shape: `None` where it does not say, `Some(None)` for an unknown rank.
    pub(super) fn stated_shape<'m>(&'m self, graph: &'m RawGraph, node: &RawNode, port: u32) -> Option<&'m RawShape> {
        match self.attribute(graph, node, "_output_shapes")? {
            Attribute::Shapes(shapes) => shapes.get(port as usize),
            _ => None,
        }
    }

    /// The function that an attribute of a node names, where the library has it.
    pub(super) fn function(&self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<GraphIdx> {
        match self.attribute(graph, node, key)? {
            Attribute::Function(name) => self.functions.get(name).copied(),
            _ => None,
        }
    }
}
