//! What is around a tensor in its graph: the op that computes it, what that op reads, the ops that read the tensor, and
//! what they compute; in layers from left to right.
//!
//! In: a comparison with the links of its sources ([`Links`], made once per answer). Out: a [`Neighbourhood`]: nodes, edges,
//! and in which layer each stands at which place. Every edge leads to a later layer; where it passes over layers it has a
//! place of its own in each ([`Slot::Bend`]), so that it can be drawn between the nodes. Where there are many of a kind the
//! largest are shown (of readers the first), and the rest is listed.
//!
//! ```text
//! layer   0          1        2           3         4
//!        (x)---+
//!              +--[ Conv ]--((c))--+---[ Relu ]---(y)
//!        (w)---+                   +---[ Add  ]---(z)
//! ```
//!
//! O(operands and results of the ops that are shown + readers of the tensor); nothing is worked out for the rest of the
//! graph.

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

/// Most that is shown of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourLimits {
    /// Tensors that the producer reads.
    pub inputs: usize,
    /// Ops that read the tensor.
    pub consumers: usize,
    /// Tensors that each of those computes.
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

/// An op of a graph, of a tape or of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpKey {
    /// The graph, or the block.
    pub graph: GraphIdx,
    /// Its number there.
    pub op: u32,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKey {
    /// An op.
    Op(OpKey),
    /// A tensor, which may be a view of another.
    Tensor(TensorKey),
}

/// Where a click leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// What is selected: the tensor that owns the memory, in the same run where it runs there.
    pub selected: Selected,
    /// What the neighbourhood is of: the tensor itself.
    pub center: TensorKey,
}

/// An op or a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourNode {
    /// What it is.
    pub key: NodeKey,
    /// Its own name; may be empty.
    pub name: Box<str>,
    /// Of an op its type, of a tensor its data type and shape; empty where the source has none.
    pub what: Box<str>,
    /// Of a tensor: its bytes, where they are known.
    pub bytes: Option<Bytes>,
    /// Of a tensor: what it is for, where the source says so.
    pub role: Option<Role>,
    /// Of a tensor: whether it lies in the memory of another.
    pub is_view: bool,
    /// Of an op: how many tensors it reads and computes.
    pub counts: (usize, usize),
    /// Of an op: when it runs, where each op runs once.
    pub step: Option<Step>,
    /// Where a click leads: to a tensor itself, from an op to its largest result, or from the producer to the largest
    /// that it reads.
    pub to: Option<Destination>,
}

/// Of what there may be many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// How many there are.
    pub n_total: usize,
    /// Those that are not shown, at most [`MOST_LISTED`].
    pub list: Vec<NeighbourNode>,
    /// How many are shown.
    pub n_shown: usize,
}

/// Most that is listed of what is not shown.
pub const MOST_LISTED: usize = 500;

/// What is around a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The tensor.
    pub center: TensorKey,
    /// Ops and tensors.
    pub nodes: Vec<NeighbourNode>,
    /// From node to node, by position: what is read to who reads it, who computes to what is computed.
    pub edges: Vec<(usize, usize)>,
    /// Layers from left to right, each from top to bottom.
    pub layers: Vec<Vec<Slot>>,
    /// What the producer reads.
    pub inputs: Rest,
    /// Who reads the tensor.
    pub consumers: Rest,
}

impl Neighbourhood {
    /// The ops that compute the tensor.
    pub fn producers(&self) -> impl Iterator<Item = &NeighbourNode> {
        let center = NodeKey::Tensor(self.center);
        let ends = self.edges.iter().filter(move |(_, to)| self.nodes[*to].key == center);
        ends.map(|(from, _)| &self.nodes[*from])
    }

    /// The ops that read the tensor and are shown.
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
    /// What is around a tensor of a run: of the selected one, or of a view of it.
    ///
    /// # Errors
    /// A sentence that says why, where the source has no graph.
    pub fn neighbourhood(
        &self,
        comparison: &Comparison,
        (selected, center): (Selected, TensorKey),
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

/// The nodes so far.
struct Making<'a> {
    flow: Flow<'a>,
    nodes: IndexMap<NodeKey, NeighbourNode>,
}

impl Making<'_> {
    /// Adds everything around a tensor; returns what is left out.
    fn gather(&mut self, center: TensorKey, limits: NeighbourLimits) -> (Rest, Rest) {
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
        let consumers = Rest {
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

    /// Adds the largest tensors of some; returns the others.
    fn largest(&mut self, tensors: Vec<TensorKey>, most: usize) -> Rest {
        let mut nodes: Vec<NeighbourNode> = tensors.into_iter().map(|tensor| self.flow.tensor(tensor)).collect();
        // Those that are there already stay, whatever their size.
        nodes.sort_by_key(|node| (std::cmp::Reverse(node.bytes), node.key));
        let n_total = nodes.len();
        let list = nodes.split_off(n_total.min(most));
        let n_shown = nodes.len();
        for node in nodes {
            self.add(node);
        }
        Rest {
            n_total,
            n_shown,
            list: list.into_iter().take(MOST_LISTED).collect(),
        }
    }

    fn add(&mut self, node: NeighbourNode) {
        self.nodes.entry(node.key).or_insert(node);
    }

    /// Every edge between nodes, in their order, each once.
    fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for (at, key) in self.nodes.keys().enumerate() {
            let NodeKey::Op(op) = *key else { continue };
            let position = |tensor: TensorKey| self.nodes.get_index_of(&NodeKey::Tensor(tensor));
            let read: Vec<usize> = self.flow.inputs(op).into_iter().filter_map(position).collect();
            edges.extend(read.iter().map(|from| (*from, at)));
            let computed = self.flow.outputs(op).into_iter().filter_map(position);
            // What an op writes in place is read before: one edge would lead back.
            edges.extend(computed.filter(|to| !read.contains(to)).map(|to| (at, to)));
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
