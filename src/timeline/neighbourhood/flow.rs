//! One interface to the sources with ops and tensors: graphs, tapes, programs of blocks.

use super::super::facts::dims_text;
use super::super::grouping::producer;
use super::super::{Selected, TensorKey, Timeline};
use super::links::{Links, variables};
use super::{Destination, NeighbourNode, NodeKey, OpKey};
use highwater_analysis::{Comparison, OpSource};
use highwater_model::graph::{Bindings, Id as _, OpId, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{BlockProgram, GraphEntry, GraphIdx, Tape};

/// Why a tensor has no neighbourhood, where its source states no other reason.
const NOTHING: &str = "The source has no graph.";

enum Source<'a> {
    Graph(&'a GraphEntry),
    Tape(&'a Tape),
    Program(&'a BlockProgram),
}

pub(super) struct Flow<'a> {
    source: Source<'a>,
    comparison: &'a Comparison,
    timeline: &'a Timeline,
    links: &'a Links,
    selected: Selected,
    bindings: Bindings,
    sizes: Option<Sizes<'a>>,
}

type Sizes<'a> = Box<dyn Fn(TensorId) -> Option<u64> + 'a>;

impl<'a> Flow<'a> {
    pub(super) fn new(
        comparison: &'a Comparison,
        timeline: &'a Timeline,
        selected: Selected,
    ) -> Result<Self, &'static str> {
        let study = comparison.study_of_graph(selected.graph);
        let source = match study.ops(&comparison.workload) {
            OpSource::Graphs(entries) => entries.get(selected.graph.idx()).map(Source::Graph),
            OpSource::Tape(tape) => Some(Source::Tape(tape)),
            OpSource::Program(program) => Some(Source::Program(program)),
            OpSource::None => None,
        };
        let source = source.ok_or_else(|| study.words().no_ops.unwrap_or(NOTHING))?;
        let run = comparison.axis.runs.get(selected.run as usize);
        let bindings = run.map(|run| run.run.bindings.clone()).unwrap_or_default();
        let sizes = match &source {
            Source::Graph(entry) => Some(Box::new(entry.graph.tensor_sizes(&bindings)) as Sizes<'a>),
            Source::Tape(_) | Source::Program(_) => None,
        };
        Ok(Self {
            source,
            sizes,
            comparison,
            timeline,
            links: &timeline.links,
            selected,
            bindings,
        })
    }

    /// One op, except for variables that are written several times.
    pub(super) fn producers(&self, tensor: TensorKey) -> Vec<OpKey> {
        let graph = tensor.graph;
        match &self.source {
            Source::Graph(entry) => {
                let op = producer(&entry.graph, tensor.tensor);
                op.map(|op| OpKey { graph, op: op.0 }).into_iter().collect()
            }
            Source::Tape(tape) => {
                let known = tape.tensors.get(tensor.tensor.idx());
                known.map(|known| OpKey { graph, op: known.op }).into_iter().collect()
            }
            Source::Program(_) => {
                let links = self.links.blocks.get(graph.idx());
                links.map_or_else(Vec::new, |(_, writers)| writers.of(tensor.tensor))
            }
        }
    }

    /// Ascending, without duplicates.
    pub(super) fn consumers(&self, tensor: TensorKey) -> Vec<OpKey> {
        let graph = tensor.graph;
        match &self.source {
            Source::Graph(entry) => {
                let is_known = tensor.tensor.idx() < entry.graph.tensors().len();
                let links = self.links.graphs.get(graph.idx()).filter(|_| is_known);
                let mut ops = links.map_or_else(Vec::new, |links| links.of(tensor.tensor).to_vec());
                ops.dedup();
                ops.into_iter().map(|op| OpKey { graph, op: op.0 }).collect()
            }
            Source::Tape(_) => {
                let links = self.links.tape.as_ref();
                let ops = links.map_or_else(Vec::new, |links| links.of(tensor.tensor));
                ops.into_iter().map(|op| OpKey { graph, ..op }).collect()
            }
            Source::Program(_) => {
                let links = self.links.blocks.get(graph.idx());
                links.map_or_else(Vec::new, |(readers, _)| readers.of(tensor.tensor))
            }
        }
    }

    /// Without duplicates.
    pub(super) fn inputs(&self, op: OpKey) -> Vec<TensorKey> {
        self.ends(op, true)
    }

    /// Without duplicates.
    pub(super) fn outputs(&self, op: OpKey) -> Vec<TensorKey> {
        self.ends(op, false)
    }

    fn ends(&self, op: OpKey, is_read: bool) -> Vec<TensorKey> {
        let graph = op.graph;
        let of_tape = |tensors: &[u32]| tensors.iter().map(|tensor| TensorId(*tensor)).collect();
        let mut tensors: Vec<TensorId> = match &self.source {
            Source::Graph(entry) if op.op as usize >= entry.graph.ops().len() => return Vec::new(),
            Source::Graph(entry) if is_read => entry.graph.operands(OpId(op.op)).to_vec(),
            Source::Graph(entry) => entry.graph.results(OpId(op.op)).to_vec(),
            Source::Tape(tape) => {
                let row = tape.ops.get(op.op as usize);
                row.map_or_else(Vec::new, |row| {
                    of_tape(if is_read { &row.inputs } else { &row.outputs })
                })
            }
            Source::Program(program) => {
                let block = program.blocks.get(graph.idx());
                let Some(row) = block.and_then(|block| block.ops.get(op.op as usize)) else {
                    return Vec::new();
                };
                let slots = if is_read { &row.inputs } else { &row.outputs };
                return variables(program, graph.idx(), slots);
            }
        };
        tensors.sort_unstable();
        tensors.dedup();
        tensors.into_iter().map(|tensor| TensorKey { graph, tensor }).collect()
    }

    /// A click on the producer leads back to its largest input.
    pub(super) fn op(&self, op: OpKey, is_producer: bool) -> NeighbourNode {
        let (inputs, outputs) = (self.inputs(op), self.outputs(op));
        let (what, name) = self.op_words(op);
        let leads_back = is_producer && !inputs.is_empty() || outputs.is_empty();
        let towards = if leads_back { &inputs } else { &outputs };
        let largest = towards
            .iter()
            .max_by_key(|tensor| (self.bytes(**tensor), std::cmp::Reverse(**tensor)));
        NeighbourNode {
            key: NodeKey::Op(op),
            name: name.into(),
            what: what.into(),
            bytes: None,
            role: None,
            is_view: false,
            counts: (inputs.len(), outputs.len()),
            step: self.step(op),
            to: largest.map(|tensor| self.destination(*tensor)),
        }
    }

    fn op_words(&self, op: OpKey) -> (&str, &str) {
        let number = op.op as usize;
        match &self.source {
            Source::Graph(entry) if number < entry.graph.ops().len() => {
                (entry.graph.op_kind(OpId(op.op)), entry.graph.op_name(OpId(op.op)))
            }
            Source::Graph(_) => ("", ""),
            Source::Tape(tape) => (tape.ops.get(number).map_or("", |op| &*op.name), ""),
            Source::Program(program) => {
                let block = program.blocks.get(op.graph.idx());
                (
                    block.and_then(|block| block.ops.get(number)).map_or("", |op| &*op.kind),
                    "",
                )
            }
        }
    }

    /// The step of an op of the run, if it has exactly one.
    fn step(&self, op: OpKey) -> Option<Step> {
        let run = self.comparison.axis.runs.get(self.selected.run as usize)?;
        let has_own_steps = run.run.graph == op.graph && run.slots.is_none() && op.op < run.n_steps;
        let is_tape = matches!(self.source, Source::Tape(_));
        (has_own_steps && !is_tape).then(|| Step(run.start.0 + op.op))
    }

    pub(super) fn tensor(&self, tensor: TensorKey) -> NeighbourNode {
        let mut node = NeighbourNode {
            key: NodeKey::Tensor(tensor),
            name: self.comparison.tensor_name(tensor.graph, tensor.tensor).into(),
            what: "".into(),
            bytes: self.bytes(tensor),
            role: None,
            is_view: self.root(tensor) != tensor.tensor,
            counts: (0, 0),
            step: None,
            to: Some(self.destination(tensor)),
        };
        match &self.source {
            Source::Graph(entry) => match entry.graph.tensors().get(tensor.tensor) {
                Some(known) => {
                    let shape = entry.graph.bound_shape_text(tensor.tensor, &self.bindings);
                    node.what = format!("{} {shape}", known.dtype.name()).into();
                    node.role = Some(known.role);
                }
                None => node.role = Some(highwater_model::graph::Role::Workspace),
            },
            Source::Tape(tape) => {
                let known = tape.tensors.get(tensor.tensor.idx());
                node.name = known.map_or("", |known| &*known.name).into();
            }
            Source::Program(program) => {
                if let Some((name, variable)) = program.variable(tensor.graph, tensor.tensor) {
                    node.name = name.into();
                    node.what = format!("{} {}", variable.dtype, dims_text(&variable.shape)).into();
                }
            }
        }
        if node.name.is_empty() {
            node.name = format!("tensor {}", tensor.tensor.0).into();
        }
        node
    }

    fn root(&self, tensor: TensorKey) -> TensorId {
        let id = tensor.tensor;
        match &self.source {
            Source::Graph(entry) => {
                let known = entry.graph.tensors().get(id);
                known.map_or(id, |known| entry.graph.storages()[known.storage].root)
            }
            Source::Tape(tape) => tape.tensors.get(id.idx()).map_or(id, |known| TensorId(known.storage)),
            Source::Program(_) => id,
        }
    }

    /// Bytes in the run; for unlisted tensors the size stated by the graph.
    fn bytes(&self, tensor: TensorKey) -> Option<Bytes> {
        let destination = self.destination(tensor);
        let is_root = destination.selected.tensor == tensor.tensor;
        let row = self.timeline.rows.find(destination.selected).filter(|_| is_root);
        if let Some(row) = row {
            return Some(row.bytes);
        }
        match &self.source {
            Source::Graph(_) => {
                let bytes = self.sizes.as_ref().and_then(|sizes| sizes(tensor.tensor));
                bytes.map(Bytes)
            }
            Source::Tape(tape) => tape.tensors.get(tensor.tensor.idx()).map(|known| known.bytes),
            Source::Program(program) => {
                let (_, variable) = program.variable(tensor.graph, tensor.tensor)?;
                // The batch size is known only at run time.
                let is_known = variable.shape.iter().all(|dim| *dim >= 0);
                is_known.then(|| variable.bytes(1)).flatten()
            }
        }
    }

    fn destination(&self, tensor: TensorKey) -> Destination {
        Destination {
            selected: Selected {
                run: self.run_of(tensor.graph),
                graph: tensor.graph,
                tensor: self.root(tensor),
            },
            center: tensor,
        }
    }

    /// The selected run, or the first one of another block.
    fn run_of(&self, graph: GraphIdx) -> u32 {
        if graph == self.selected.graph {
            return self.selected.run;
        }
        let runs = &self.comparison.axis.runs;
        let first = runs.iter().position(|run| run.run.graph == graph);
        first
            .and_then(|run| u32::try_from(run).ok())
            .unwrap_or(self.selected.run)
    }
}
