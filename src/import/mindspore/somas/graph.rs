//! The nodes of a dump as a graph, with SOMAS's arena beside it.
//!
//! Tensors have the bytes that their nodes ask for; the arena has the rounded ones. Of parameters the dump tells neither
//! whether they are weights or inputs, so all but constants count as inputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parse::{Dump, Node, Operand, Parameter, Tensor, tensor_name};
use crate::mindspore::ops::{kind_of, phase_of};
use crate::{ImportError, notices};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{DType, GraphBuilder, GraphError, NewOp, NewTensor, Role, TensorId};
use highwater_model::progress::Progress;
use highwater_model::workload::{Dumped, GraphEntry, ProblemEntry};

const NODES_BETWEEN_CHECKS: usize = 1 << 10;

pub(super) fn entry(
    dump: &Dump,
    arena: ProblemEntry,
    name: String,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<GraphEntry, ImportError> {
    let mut build = Build {
        dump,
        builder: GraphBuilder::new(&name),
        tensors: BTreeMap::new(),
        parameters: BTreeMap::new(),
        missing: 0,
    };
    for (position, node) in dump.nodes.iter().enumerate() {
        if position % NODES_BETWEEN_CHECKS == 0 {
            progress.set("building", position as u64, dump.nodes.len() as u64)?;
        }
        build.node(node)?;
    }
    build.unions();
    diagnostics.counted(
        Severity::Warning,
        "a node names a tensor or parameter that is not listed; it is left out",
        "",
        build.missing,
    );
    let n_inputs = build
        .parameters
        .values()
        .filter(|(_, role)| *role == Role::Input)
        .count();
    diagnostics.counted(
        Severity::Info,
        "the dump does not tell whether a parameter is a weight or an input of the graph; it counts as an input",
        "",
        n_inputs as u64,
    );
    let (graph, steps) = build.builder.finish_with_steps()?;
    notices::sorted(&graph, diagnostics);
    let mut streams = vec![0; graph.ops().len()];
    for (node, step) in dump.nodes.iter().zip(steps.iter()) {
        if let Some(stream) = streams.get_mut(step.0 as usize) {
            *stream = u32::try_from(node.stream).unwrap_or(u32::MAX);
        }
    }
    let is_one_stream = streams.windows(2).all(|pair| pair[0] == pair[1]);
    let dumped = Dumped {
        facts: facts(dump, &arena, &streams),
        streams: if is_one_stream { Vec::new() } else { streams },
        arenas: vec![Arc::new(arena)],
        ..Dumped::default()
    };
    Ok(GraphEntry {
        dumped: Some(Arc::new(dumped)),
        ..GraphEntry::new(name, Arc::new(graph))
    })
}

/// What the dump states beyond the graph.
fn facts(dump: &Dump, arena: &ProblemEntry, streams: &[u32]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(plan) = &arena.recorded {
        let ends = plan.offsets.iter().zip(&arena.problem.buffers);
        let end = ends
            .map(|(offset, buffer)| offset.saturating_add(buffer.size.get()))
            .max();
        facts.push(("SOMAS arena, in bytes".to_owned(), end.unwrap_or(0).to_string()));
    }
    let distinct: std::collections::BTreeSet<&u32> = streams.iter().collect();
    for (key, count) in [
        ("blocks of SOMAS", arena.problem.buffers.len() as u64),
        ("unions of tensors", dump.unions.len() as u64),
        ("lists of contiguous tensors", dump.n_contiguous),
        ("streams", distinct.len() as u64),
        ("groups of streams", dump.n_stream_groups),
    ] {
        if count > 0 {
            facts.push((key.to_owned(), count.to_string()));
        }
    }
    facts
}

struct Build<'d> {
    dump: &'d Dump,
    builder: GraphBuilder,
    /// By id.
    tensors: BTreeMap<u64, TensorId>,
    parameters: BTreeMap<u64, (TensorId, Role)>,
    missing: u64,
}

impl Build<'_> {
    fn node(&mut self, node: &Node) -> Result<(), GraphError> {
        let mut operands = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            operands.extend(match input {
                Operand::Parameter(id) => self.parameter(*id)?,
                Operand::Tensor(id) => self.tensor(*id, Role::Activation)?,
            });
        }
        let mut results = Vec::with_capacity(node.outputs.len() + node.workspaces.len());
        for id in &node.outputs {
            results.extend(self.tensor(*id, Role::Activation)?);
        }
        for id in &node.workspaces {
            results.extend(self.tensor(*id, Role::Workspace)?);
        }
        self.builder.op(NewOp {
            name: &node.name,
            kind: kind_of(&node.name),
            operands: &operands,
            results: &results,
            phase: phase_of(&node.name),
            ..NewOp::default()
        })?;
        self.written_parameters(node);
        Ok(())
    }

    fn tensor(&mut self, id: u64, role: Role) -> Result<Option<TensorId>, GraphError> {
        if let Some(tensor) = self.tensors.get(&id) {
            if role == Role::Workspace {
                self.builder.set_role(*tensor, role);
            }
            return Ok(Some(*tensor));
        }
        let Some(found) = self.dump.tensor(id) else {
            self.missing += 1;
            return Ok(None);
        };
        let tensor = self.new_tensor(&tensor_name(found), found.bytes, role)?;
        if found.kind == "GraphOutput" {
            self.builder.output(tensor);
        }
        self.tensors.insert(id, tensor);
        Ok(Some(tensor))
    }

    fn new_tensor(&mut self, name: &str, bytes: u64, role: Role) -> Result<TensorId, GraphError> {
        let tensor = self.builder.tensor(NewTensor {
            name,
            dtype: DType::Unknown,
            shape: None,
            role,
        })?;
        self.builder.state_tensor_bytes(tensor, bytes);
        Ok(tensor)
    }

    fn parameter(&mut self, id: u64) -> Result<Option<TensorId>, GraphError> {
        if let Some((tensor, _)) = self.parameters.get(&id) {
            return Ok(Some(*tensor));
        }
        let dump = self.dump;
        let Some(Parameter { bytes, name }) = dump.parameters.get(&id) else {
            self.missing += 1;
            return Ok(None);
        };
        // Values in the graph are called after their scope and a number, `Default/data-7`; parameters have their names.
        let last = name.rsplit('/').next().filter(|last| last.len() < name.len());
        let is_constant = last.is_some_and(|last| last.starts_with("data-"));
        let role = if is_constant { Role::Constant } else { Role::Input };
        let tensor = self.new_tensor(name, *bytes, role)?;
        self.parameters.insert(id, (tensor, role));
        Ok(Some(tensor))
    }

    /// An output of kind `GraphInput` is a parameter that the node writes: the first operand of its size.
    fn written_parameters(&mut self, node: &Node) {
        let is_written = |tensor: &&Tensor| tensor.aligned == 0 && tensor.kind == "GraphInput";
        let outputs = node.outputs.iter().filter_map(|id| self.dump.tensor(*id));
        for output in outputs.filter(is_written) {
            let found = node.inputs.iter().find_map(|input| match input {
                Operand::Parameter(id) => {
                    let bytes = self.dump.parameters.get(id)?.bytes;
                    (bytes == output.bytes).then(|| self.parameters.get(id))?
                }
                Operand::Tensor(_) => None,
            });
            if let (Some((parameter, _)), Some(tensor)) = (found, self.tensors.get(&output.id)) {
                self.builder.alias(*tensor, *parameter);
            }
        }
    }

    /// Tensors of a union share the memory of its first.
    fn unions(&mut self) {
        for union in &self.dump.unions {
            let mut members = union.iter().filter_map(|id| self.tensors.get(id).copied());
            let Some(first) = members.next() else { continue };
            for other in members.filter(|other| *other != first) {
                self.builder.alias(other, first);
            }
        }
    }
}
