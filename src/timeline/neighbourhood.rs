//! The neighbourhood of a tensor in its graph: producer and its inputs, consumers and their outputs, in layers from
//! left to right.
//!
//! In: a comparison with the links of its sources ([`Links`]). Out: nodes, edges, and the layer and place of each node.
//! Every edge leads to a later layer; where it crosses layers it has a place in each ([`Slot::Bend`]), so that it can
//! be drawn between nodes. Of many inputs or outputs the largest are shown, of many consumers the first; the others are
//! listed.
//!
//! ```text
//! layer   0          1        2           3         4
//!        (x)---+
//!              +--[ Conv ]--((c))--+---[ Relu ]---(y)
//!        (w)---+                   +---[ Add  ]---(z)
//! ```
//!
//! O(operands and results of the ops shown + consumers of the tensor).

mod flow;
mod layers;
mod links;

pub use layers::Slot;
pub(super) use links::Links;

use indexmap::IndexMap;

use super::{Selected, TensorKey, Timeline};
use flow::Flow;
use highwater_analysis::Comparison;
use highwater_model::graph::Role;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;

/// Maximum numbers of nodes shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourLimits {
    /// Inputs of the producer.
    pub inputs: usize,
    pub consumers: usize,
    /// Outputs of each consumer.
    pub outputs: usize,
}

impl Default for NeighbourLimits {
    fn default() -> Self {
        Self {
            inputs: 6,
            consumers: 6,
            outputs: 2,
        }
    }
}

/// An op of a graph, a tape or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpKey {
    pub graph: GraphIdx,
    pub op: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKey {
    Op(OpKey),
    /// May be a view of another tensor.
    Tensor(TensorKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The tensor that owns the memory, in the same run if it exists there.
    pub selected: Selected,
    /// The tensor itself, for the new neighbourhood.
    pub center: TensorKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourNode {
    pub key: NodeKey,
    pub name: Box<str>,
    /// Type of an op; data type and shape of a tensor; empty where the source has none.
    pub what: Box<str>,
    /// Of a tensor, if known.
    pub bytes: Option<Bytes>,
    /// Of a tensor, if stated.
    pub role: Option<Role>,
    /// Of a tensor: whether it lies in the memory of another.
    pub is_view: bool,
    /// Of an op: numbers of inputs and outputs.
    pub counts: (usize, usize),
    /// Of an op: its step, if it runs exactly once.
    pub step: Option<Step>,
    /// Target of a click: the tensor itself; for an op its largest output, for the producer its largest input.
    pub to: Option<Destination>,
}

/// The nodes of one kind that are not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenNodes {
    pub n_total: usize,
    pub list: Vec<NeighbourNode>,
    pub n_shown: usize,
}

/// Maximum number of nodes in [`HiddenNodes::list`].
pub const MOST_LISTED: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    pub center: TensorKey,
    pub nodes: Vec<NeighbourNode>,
    /// Positions of nodes: tensor to its consumer, op to its output.
    pub edges: Vec<(usize, usize)>,
    /// From left to right, each from top to bottom.
    pub layers: Vec<Vec<Slot>>,
    /// Inputs of the producer.
    pub inputs: HiddenNodes,
    pub consumers: HiddenNodes,
}

impl Neighbourhood {
    pub fn producers(&self) -> impl Iterator<Item = &NeighbourNode> {
        let center = NodeKey::Tensor(self.center);
        let ends = self.edges.iter().filter(move |(_, to)| self.nodes[*to].key == center);
        ends.map(|(from, _)| &self.nodes[*from])
    }

    pub fn readers(&self) -> impl Iterator<Item = &NeighbourNode> {
        let center = NodeKey::Tensor(self.center);
        let begins = self
            .edges
            .iter()
            .filter(move |(from, _)| self.nodes[*from].key == center);
        begins.map(|(_, to)| &self.nodes[*to])
    }
}

impl Timeline {
    /// The neighbourhood of the selected tensor, or of a view of it.
    ///
    /// # Errors
    /// A sentence on why the source has no graph.
    pub fn neighbourhood(
        &self,
        comparison: &Comparison,
        selected: Selected,
        center: TensorKey,
        limits: NeighbourLimits,
    ) -> Result<Neighbourhood, &'static str> {
        let flow = Flow::new(comparison, self, selected)?;
        let mut making = Making {
            flow,
            nodes: IndexMap::new(),
        };
        let (inputs, consumers) = making.gather(center, limits);
        let edges = making.edges();
        let nodes: Vec<NeighbourNode> = making.nodes.into_values().collect();
        Ok(Neighbourhood {
            center,
            layers: layers::layers(nodes.len(), &edges),
            nodes,
            edges,
            inputs,
            consumers,
        })
    }
}

struct Making<'a> {
    flow: Flow<'a>,
    nodes: IndexMap<NodeKey, NeighbourNode>,
}

impl Making<'_> {
    /// Adds the nodes; returns the inputs and consumers left out.
    fn gather(&mut self, center: TensorKey, limits: NeighbourLimits) -> (HiddenNodes, HiddenNodes) {
        let producers = self.flow.producers(center);
        let mut read: Vec<TensorKey> = Vec::new();
        for producer in &producers {
            read.extend(self.flow.inputs(*producer));
        }
        read.sort_unstable();
        read.dedup();
        read.retain(|tensor| *tensor != center);
        let inputs = self.largest(read, limits.inputs);
        for producer in &producers {
            self.add(self.flow.op(*producer, true));
        }
        self.add(self.flow.tensor(center));
        let mut readers = self.flow.consumers(center);
        readers.retain(|op| !producers.contains(op));
        let shown = readers.len().min(limits.consumers);
        let consumers = HiddenNodes {
            n_total: readers.len(),
            n_shown: shown,
            list: readers[shown..]
                .iter()
                .take(MOST_LISTED)
                .map(|op| self.flow.op(*op, false))
                .collect(),
        };
        for reader in &readers[..shown] {
            self.add(self.flow.op(*reader, false));
            let results = self.flow.outputs(*reader);
            drop(self.largest(results, limits.outputs));
        }
        (inputs, consumers)
    }

    /// Adds the largest tensors; returns the others.
    fn largest(&mut self, tensors: Vec<TensorKey>, most: usize) -> HiddenNodes {
        let mut nodes: Vec<NeighbourNode> = tensors.into_iter().map(|tensor| self.flow.tensor(tensor)).collect();
        // Existing nodes stay, whatever their size.
        nodes.sort_by_key(|node| (std::cmp::Reverse(node.bytes), node.key));
        let n_total = nodes.len();
        let list = nodes.split_off(n_total.min(most));
        let n_shown = nodes.len();
        for node in nodes {
            self.add(node);
        }
        HiddenNodes {
            n_total,
            n_shown,
            list: list.into_iter().take(MOST_LISTED).collect(),
        }
    }

    fn add(&mut self, node: NeighbourNode) {
        self.nodes.entry(node.key).or_insert(node);
    }

    /// Sorted, without duplicates.
    fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for (at, key) in self.nodes.keys().enumerate() {
            let NodeKey::Op(op) = *key else { continue };
            let position = |tensor: TensorKey| self.nodes.get_index_of(&NodeKey::Tensor(tensor));
            let read: Vec<usize> = self.flow.inputs(op).into_iter().filter_map(position).collect();
            edges.extend(read.iter().map(|from| (*from, at)));
            let computed = self.flow.outputs(op).into_iter().filter_map(position);
            // An op that writes in place also reads the tensor: a second edge would lead back.
            edges.extend(computed.filter(|to| !read.contains(to)).map(|to| (at, to)));
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
