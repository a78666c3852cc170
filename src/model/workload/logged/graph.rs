//! A graph out of the placements of a log.

use std::sync::Arc;

use super::LOG_MAKER;
use super::arena::{Arena, ArenaTensor};
use crate::graph::{DType, Graph, GraphBuilder, GraphError, NewOp, NewTensor, Role, TensorId};
use crate::workload::cann_log::{LoggedGraph, LoggedProcess};
use crate::workload::{Dumped, DumpedOffsets, GraphEntry};

/// What the engine adds to the bytes of a variable.
const VARIABLE_PADDING: u64 = 1024;

/// The entry of a graph with its plan, weights and the variables of the session.
pub(super) fn entry(
    logged: &LoggedGraph,
    arena: &Arena,
    weights: Option<u64>,
    process: &LoggedProcess,
) -> Result<GraphEntry, GraphError> {
    let name = format!("graph_{}", logged.id);
    let mut draft = Draft::new(&logged.name);
    for (variable, bytes) in &process.variable_bytes {
        draft.tensor(variable, Role::Parameter, bytes.saturating_sub(VARIABLE_PADDING))?;
    }
    if let Some(bytes) = weights.filter(|bytes| *bytes > 0) {
        draft.tensor(&format!("weights of {name}"), Role::Weight, bytes)?;
    }
    let graph = draft.finish(arena)?;
    let Built { graph, offsets, sizes } = graph;
    let is_one_stream = arena.ops.iter().all(|op| op.stream == arena.ops[0].stream);
    let dumped = Dumped {
        log_graph: Some(logged.id),
        offsets: Some(DumpedOffsets {
            offsets,
            sizes,
            maker: LOG_MAKER.to_owned(),
        }),
        streams: if is_one_stream {
            Vec::new()
        } else {
            arena.ops.iter().map(|op| op.stream).collect()
        },
        ..Dumped::default()
    };
    Ok(GraphEntry {
        dumped: Some(Arc::new(dumped)),
        ..GraphEntry::new(name, Arc::new(graph))
    })
}

/// The first step of a tensor, its slot, and the tensor.
type Operand = (u32, (bool, u64), TensorId);

struct Built {
    graph: Graph,
    offsets: Vec<Option<u64>>,
    sizes: Vec<Option<u64>>,
}

struct Draft {
    builder: GraphBuilder,
    offsets: Vec<Option<u64>>,
    sizes: Vec<Option<u64>>,
}

impl Draft {
    fn new(name: &str) -> Self {
        Self {
            builder: GraphBuilder::new(name),
            offsets: Vec::new(),
            sizes: Vec::new(),
        }
    }

    fn tensor(&mut self, name: &str, role: Role, bytes: u64) -> Result<TensorId, GraphError> {
        let tensor = self.builder.tensor(NewTensor {
            name,
            dtype: DType::Unknown,
            shape: None,
            role,
        })?;
        self.builder.state_tensor_bytes(tensor, bytes);
        self.offsets.push(None);
        self.sizes.push(None);
        Ok(tensor)
    }

    fn placed(&mut self, one: &ArenaTensor, role: Role) -> Result<TensorId, GraphError> {
        let tensor = self.tensor(&one.name, role, one.bytes)?;
        self.offsets.pop();
        self.sizes.pop();
        self.offsets.push(Some(one.offset));
        self.sizes.push(Some(one.size));
        if one.is_cleared {
            self.builder.set_atomic(tensor);
        }
        Ok(tensor)
    }

    fn finish(mut self, arena: &Arena) -> Result<Built, GraphError> {
        // By op: results with their slots, and what is read for the last time with its first step and slot.
        let mut results: Vec<Vec<((bool, u64), TensorId)>> = vec![Vec::new(); arena.ops.len()];
        let mut operands: Vec<Vec<Operand>> = vec![Vec::new(); arena.ops.len()];
        for one in &arena.tensors {
            let role = if one.slot.0 && one.first == one.last {
                Role::Workspace
            } else {
                Role::Activation
            };
            let tensor = self.placed(one, role)?;
            results[one.first as usize].push((one.slot, tensor));
            if one.last > one.first {
                operands[one.last as usize].push((one.first, one.slot, tensor));
            }
        }
        for one in &arena.io {
            if one.is_input {
                self.placed(one, Role::Input)?;
                continue;
            }
            let tensor = self.placed(one, Role::Activation)?;
            results[one.first as usize].push((one.slot, tensor));
            self.builder.output(tensor);
        }
        for ((op, mut results), mut operands) in arena.ops.iter().zip(results).zip(operands) {
            results.sort_unstable();
            operands.sort_unstable();
            let results: Vec<TensorId> = results.into_iter().map(|(_, tensor)| tensor).collect();
            let operands: Vec<TensorId> = operands.into_iter().map(|(.., tensor)| tensor).collect();
            self.builder.op(NewOp {
                name: &op.name,
                kind: &op.kind,
                operands: &operands,
                results: &results,
                ..NewOp::default()
            })?;
        }
        Ok(Built {
            graph: self.builder.finish()?,
            offsets: self.offsets,
            sizes: self.sizes,
        })
    }
}
