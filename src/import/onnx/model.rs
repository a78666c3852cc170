//! The tables of an ONNX file: names, nodes, attributes, types, small values. Never a weight.
//!
//! In: what `parse` read. Out: compact tables that `shape` and `build` walk. Graphs lie flat in one list and name
//! each other by [`GraphIdx`]; children come before their parents. [`Budget`] keeps all of it, and what is built
//! from it, within a small multiple of the file's size.

use indexmap::IndexMap;

use super::locals::Locals;
use crate::budget::Budget;
use crate::element_types::ONNX;
use crate::names::{Interner, NameIdx};
pub(super) use crate::shape::attribute::{Attribute, Attributes, GraphIdx, TensorInfo};
pub(super) use crate::shape::constant::Data;
use crate::shape::versions::Layout;
use highwater_model::graph::DType;

#[derive(Debug)]
pub(super) struct Model {
    pub(super) names: Interner,
    pub(super) opset: i64,
    /// Bodies before the graphs that hold them.
    pub(super) graphs: Vec<RawGraph>,
    pub(super) main: Option<GraphIdx>,
    /// Local functions by domain, name and overload.
    pub(super) functions: IndexMap<FunctionKey, GraphIdx>,
    pub(super) budget: Budget,
    pub(super) counts: ParseCounts,
}

/// Domain (empty for the default one), name and overload of a function.
pub(super) type FunctionKey = (NameIdx, NameIdx, NameIdx);

/// Counts of oddities while a file is read.
#[derive(Debug, Default)]
pub(super) struct ParseCounts {
    /// Codes of element types that are not known here, with the first value of each and how many there are.
    pub(super) unknown_types: IndexMap<i64, (NameIdx, u64)>,
    /// The first tensor with external data, and the number of such tensors.
    pub(super) external: (NameIdx, u64),
    /// The first sparse tensor, and the number of them.
    pub(super) sparse: (NameIdx, u64),
}

const MAX_UNKNOWN_TYPES: usize = 64;

impl ParseCounts {
    /// An element type in the type of a value.
    pub(super) fn code(&mut self, code: i64, name: NameIdx) {
        let is_unknown = code != 0 && ONNX.of_code(code) == DType::Unknown;
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

#[derive(Clone, Debug)]
pub(super) struct RawGraph {
    pub(super) name: NameIdx,
    pub(super) is_function: bool,
    /// Of a function: the version of its default operator set, where it states one.
    pub(super) opset: Option<i64>,
    /// Of a function: attributes that a call may leave out.
    pub(super) defaults: Vec<(NameIdx, Attribute)>,
    pub(super) nodes: Vec<RawNode>,
    /// Names that nodes read and compute.
    pub(super) operands: Vec<NameIdx>,
    pub(super) attributes: Vec<(NameIdx, Attribute)>,
    pub(super) inputs: Vec<ValueInfo>,
    pub(super) outputs: Vec<ValueInfo>,
    pub(super) value_infos: Vec<ValueInfo>,
    pub(super) initializers: Vec<TensorInfo>,
    pub(super) locals: Locals,
    /// Names that it reads from graphs around it, each once, in order.
    pub(super) captures: Vec<NameIdx>,
}

#[derive(Clone, Debug)]
pub(super) struct RawNode {
    /// Its name; may be empty.
    pub(super) name: NameIdx,
    pub(super) kind: NameIdx,
    /// Its operator set; empty for the default one.
    pub(super) domain: NameIdx,
    pub(super) overload: NameIdx,
    /// The local function that it calls.
    pub(super) function: Option<GraphIdx>,
    /// The start of its inputs in [`RawGraph::operands`].
    pub(super) inputs: u32,
    /// The start of its outputs, behind the inputs.
    pub(super) outputs: u32,
    pub(super) outputs_end: u32,
    /// The start of its attributes in [`RawGraph::attributes`].
    pub(super) attributes: u32,
    pub(super) attributes_end: u32,
    pub(super) at: u64,
}

/// One dimension as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawDim {
    /// A number; 0 is an empty dimension, a negative one is unknown.
    Value(i64),
    Text(NameIdx),
    Unnamed,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RawType {
    /// The code of the element type; 0 where it is not given.
    pub(super) code: i64,
    /// Set where it is no tensor; code and dimensions are then not given.
    pub(super) composite: Option<Box<Composite>>,
    /// Its dimensions, where their number is given.
    pub(super) dims: Option<Box<[RawDim]>>,
}

/// A type that is no tensor, with the type of the tensors in it.
#[derive(Clone, Debug)]
pub(super) enum Composite {
    /// A sequence of tensors, also an optional one.
    Sequence(RawType),
    /// An optional tensor.
    Optional(RawType),
    /// A map, or what nests deeper.
    Other,
}

impl RawType {
    /// The type of the tensor, or of the tensors that it holds.
    pub(super) fn of_tensor(&self) -> &Self {
        match self.composite.as_deref() {
            Some(Composite::Sequence(ty) | Composite::Optional(ty)) => ty,
            _ => self,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct ValueInfo {
    pub(super) name: NameIdx,
    pub(super) ty: RawType,
}

impl RawGraph {
    pub(super) fn new() -> Self {
        Self {
            name: NameIdx::EMPTY,
            is_function: false,
            opset: None,
            defaults: Vec::new(),
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

    /// Names of a node's inputs; empty for an optional one that is left out.
    pub(super) fn inputs_of(&self, node: &RawNode) -> &[NameIdx] {
        &self.operands[node.inputs as usize..node.outputs as usize]
    }

    /// Names of a node's outputs; empty for an optional one that is left out.
    pub(super) fn outputs_of(&self, node: &RawNode) -> &[NameIdx] {
        &self.operands[node.outputs as usize..node.outputs_end as usize]
    }

    pub(super) fn attributes_of(&self, node: &RawNode) -> &[(NameIdx, Attribute)] {
        &self.attributes[node.attributes as usize..node.attributes_end as usize]
    }

    /// The graphs that nodes run, with the positions of the nodes.
    pub(super) fn callees(&self) -> Vec<(u32, GraphIdx)> {
        let of_node = |(position, node)| {
            let node: &RawNode = node;
            let callees = node.function.into_iter().chain(self.bodies_of(node));
            callees.map(move |callee| (position, callee))
        };
        (0_u32..).zip(&self.nodes).flat_map(of_node).collect()
    }

    fn run_instead(&mut self, position: u32, callee: GraphIdx, instead: GraphIdx) {
        let node = &mut self.nodes[position as usize];
        if node.function == Some(callee) {
            node.function = Some(instead);
        }
        for (_, attribute) in &mut self.attributes[node.attributes as usize..node.attributes_end as usize] {
            if let Attribute::Graphs(graphs) = attribute {
                let replaced = graphs.iter_mut().filter(|graph| **graph == callee);
                replaced.for_each(|graph| *graph = instead);
            }
        }
    }

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
    /// Links each node that calls a local function to it. Functions come before operators of the same name, since a file
    /// that has one means it.
    pub(super) fn link(&mut self) {
        if self.functions.is_empty() {
            return;
        }
        for node in self.graphs.iter_mut().flat_map(|graph| &mut graph.nodes) {
            node.function = self.functions.get(&(node.domain, node.kind, node.overload)).copied();
        }
    }

    /// Adds the further versions of functions, with the bodies in them, and lets their callers run them.
    pub(super) fn expand(&mut self, layout: &Layout) {
        let names = layout.names(|source| self.names.text(self.graphs[source.0].name).to_owned());
        for (source, name) in layout.copies.iter().zip(names) {
            let mut copy = self.graphs[source.0].clone();
            copy.name = self.names.intern(&name);
            self.graphs.push(copy);
        }
        for (site, callee) in &layout.moved {
            self.graphs[site.caller.0].run_instead(site.node, site.callee, *callee);
        }
    }

    pub(super) fn attributes<'m>(&'m self, graph: &'m RawGraph, node: &RawNode) -> Attributes<'m> {
        Attributes {
            names: &self.names,
            all: graph.attributes_of(node),
        }
    }

    pub(super) fn title(&self, node: &RawNode) -> &str {
        self.names
            .text(if node.name.is_empty() { node.kind } else { node.name })
    }

    /// A node's operator set, the default one as an empty text.
    pub(super) fn domain(&self, node: &RawNode) -> &str {
        self.names.text(node.domain)
    }
}
