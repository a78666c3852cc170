//! The tables of a TensorFlow graph: names, nodes, attributes, small constants. Never a weight.
//!
//! In: what `parse` read. Out: compact tables that `shape` and `build` walk. One [`Model`] is one `GraphDef`: its main
//! graph and one graph per library function, all in [`Model::graphs`]. Arguments of a function are nodes of kind
//! `_Arg` in front of its nodes, so that every input is an output of a node. The outputs of all nodes
//! of a graph are numbered through: output `port` of a node is value `first_value + port`, and tables about values are
//! plain vectors by that number. Inputs name nodes by position; where a name is defined nowhere, the input is
//! [`Operand::MISSING`].

use indexmap::IndexMap;

use crate::names::{Interner, NameIdx};
pub(super) use crate::shape::attribute::{Attribute, Attributes, GraphIdx, RawShape, TensorInfo};
pub(super) use crate::shape::constant::Data;
use crate::shape::versions::Layout;
use highwater_model::graph::DType;

pub(super) const MAIN: GraphIdx = GraphIdx(0);

#[derive(Debug)]
pub(super) struct Model {
    pub(super) names: Interner,
    /// The main graph, those that may run in its place, then the functions in the order of the file.
    pub(super) graphs: Vec<RawGraph>,
    /// How many graphs run by themselves: the main one, and those in its place.
    pub(super) n_runnable: usize,
    pub(super) functions: IndexMap<NameIdx, GraphIdx>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RawGraph {
    /// Its name; empty for the main graph.
    pub(super) name: NameIdx,
    /// Nodes in file order, behind the `_Arg` nodes of a function.
    pub(super) nodes: Vec<RawNode>,
    /// The number of `nodes` that are arguments; they are no ops of the graph.
    pub(super) n_args: u32,
    /// Inputs of nodes, all nodes end to end.
    pub(super) operands: Vec<Operand>,
    /// Positions of nodes that nodes wait for, all nodes end to end.
    pub(super) controls: Vec<u32>,
    pub(super) attributes: Vec<(NameIdx, Attribute)>,
    /// Results of a function, in order.
    pub(super) results: Vec<Operand>,
    /// The element type of every value, from the op and its attributes; unknown for ops that are not in the table.
    pub(super) dtypes: Vec<DType>,
}

#[derive(Clone, Debug)]
pub(super) struct RawNode {
    pub(super) name: NameIdx,
    /// The op's plain name, such as `MatMul`.
    pub(super) kind: NameIdx,
    /// The start of its inputs in [`RawGraph::operands`].
    pub(super) operands: u32,
    pub(super) operands_end: u32,
    /// The start of its control inputs in [`RawGraph::controls`].
    pub(super) controls: u32,
    pub(super) controls_end: u32,
    /// The start of its attributes in [`RawGraph::attributes`].
    pub(super) attributes: u32,
    pub(super) attributes_end: u32,
    /// The number of its output 0.
    pub(super) first_value: u32,
    pub(super) n_outputs: u32,
    pub(super) at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operand {
    pub(super) node: u32,
    /// The number of an output that exists.
    pub(super) port: u32,
}

impl Operand {
    /// An input whose name is defined nowhere.
    pub(super) const MISSING: Self = Self {
        node: u32::MAX,
        port: 0,
    };
}

impl RawGraph {
    pub(super) fn operands_of(&self, node: &RawNode) -> &[Operand] {
        &self.operands[node.operands as usize..node.operands_end as usize]
    }

    pub(super) fn controls_of(&self, node: &RawNode) -> &[u32] {
        &self.controls[node.controls as usize..node.controls_end as usize]
    }

    /// Lets a node name another function.
    fn run_instead(&mut self, position: u32, name: NameIdx, instead: NameIdx) {
        let node = &mut self.nodes[position as usize];
        if node.kind == name {
            node.kind = instead;
        }
        for (_, attribute) in &mut self.attributes[node.attributes as usize..node.attributes_end as usize] {
            match attribute {
                Attribute::Function(named) if *named == name => *named = instead,
                Attribute::Functions(all) => {
                    let named = all.iter_mut().filter(|named| **named == name);
                    named.for_each(|named| *named = instead);
                }
                _ => {}
            }
        }
    }

    pub(super) fn attributes_of(&self, node: &RawNode) -> &[(NameIdx, Attribute)] {
        &self.attributes[node.attributes as usize..node.attributes_end as usize]
    }

    /// The node that computes an operand; `None` where the name is defined nowhere.
    pub(super) fn producer(&self, operand: Operand) -> Option<&RawNode> {
        self.nodes.get(operand.node as usize)
    }

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
    /// Adds the further versions of functions, and lets their callers name them.
    pub(super) fn expand(&mut self, layout: &Layout) {
        let names = layout.names(|source| self.names.text(self.graphs[source.0].name).to_owned());
        for (source, name) in layout.copies.iter().zip(names) {
            let mut copy = self.graphs[source.0].clone();
            copy.name = self.names.intern(&name);
            self.functions.insert(copy.name, GraphIdx(self.graphs.len()));
            self.graphs.push(copy);
        }
        for (site, callee) in &layout.moved {
            let (name, instead) = (self.graphs[site.callee.0].name, self.graphs[callee.0].name);
            self.graphs[site.caller.0].run_instead(site.node, name, instead);
        }
    }

    pub(super) fn kind(&self, node: &RawNode) -> &str {
        self.names.text(node.kind)
    }

    pub(super) fn attributes<'m>(&'m self, graph: &'m RawGraph, node: &RawNode) -> Attributes<'m> {
        Attributes {
            names: &self.names,
            all: graph.attributes_of(node),
        }
    }

    /// The stated shape of an output: `None` where there is none, `Some(None)` for an unknown rank.
    pub(super) fn stated_shape<'m>(&'m self, graph: &'m RawGraph, node: &RawNode, port: u32) -> Option<&'m RawShape> {
        let shapes = self.attributes(graph, node).shapes("_output_shapes")?;
        shapes.get(port as usize)
    }

    /// The function that an attribute of a node names, where the library has it.
    pub(super) fn function(&self, graph: &RawGraph, node: &RawNode, key: &str) -> Option<GraphIdx> {
        match self.attributes(graph, node).get(key)? {
            Attribute::Function(name) => self.functions.get(name).copied(),
            _ => None,
        }
    }
}
