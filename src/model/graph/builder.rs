//! `GraphBuilder`: the only way to make a graph.
//!
//! In: tensors, ops in file order, aliases, control edges. Out: a valid [`Graph`] whose ops are in execution order, or
//! a [`GraphError`]. Invariants are checked where they can break: a second producer at [`GraphBuilder::op`], alias
//! chains and cycles at [`GraphBuilder::finish`].

mod storages;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::dim::{Dim, DimExprs};
use super::ids::{Id as _, IdVec, NameId, OpId, ShapeId, StorageId, TensorId};
use super::order::{Edge, execution_order};
use super::tables::{Names, Shapes};
use super::{DType, Graph, Op, Phase, Role, Tensor};
use crate::units::Nanos;

/// Ops that pass values to the next iteration of a loop. Their readers run before them: the edge does not order.
const BACK_KINDS: &[&str] = &["NextIteration", "RefNextIteration"];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two ops compute one tensor.
    #[error("tensor \"{tensor}\" is computed twice, the second time by op \"{op}\"; give each result a different name")]
    SecondProducer {
        tensor: String,
        /// The second op's name or type.
        op: String,
    },
    /// Ops depend on each other in a cycle.
    #[error(
        "{count} ops depend on each other in a circle, among them \"{example}\"; the file is not an executable graph"
    )]
    Cycle {
        /// The first op of the cycle.
        example: String,
        /// Number of ops in the cycle.
        count: usize,
    },
    /// A limit of the flat tables.
    #[error("the graph has more than 4 GiB of names or 2^32 edges; split it")]
    TooLarge,
}

#[derive(Clone, Copy, Debug)]
pub struct NewTensor<'a> {
    pub name: &'a str,
    pub dtype: DType,
    /// `None` where the number of dimensions is unknown.
    pub shape: Option<ShapeId>,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NewOp<'a> {
    /// May be empty.
    pub name: &'a str,
    pub kind: &'a str,
    /// Operands, names captured by subgraphs included.
    pub operands: &'a [TensorId],
    pub results: &'a [TensorId],
    pub phase: Phase,
    /// Floating point operations; 0 if unknown.
    pub flops: u64,
    /// Time stated by the source.
    pub time: Option<Nanos>,
}

/// Collects the parts of a graph; results may be named before or after their use.
#[derive(Debug)]
pub struct GraphBuilder {
    name: String,
    ops: IdVec<OpId, Op>,
    tensors: IdVec<TensorId, Tensor>,
    operands: Vec<TensorId>,
    results: Vec<TensorId>,
    outputs: Vec<TensorId>,
    aliases: Vec<Option<TensorId>>,
    stated_bytes: IndexMap<TensorId, u64>,
    stated_tensor_bytes: BTreeMap<TensorId, u64>,
    control_edges: Vec<Edge>,
    kinds: IndexMap<Box<str>, NameId>,
    names: Names,
    shapes: Shapes,
    /// The expressions that shapes may refer to.
    pub exprs: DimExprs,
}

impl GraphBuilder {
    /// `name` may be empty.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ops: IdVec::new(),
            tensors: IdVec::new(),
            operands: Vec::new(),
            results: Vec::new(),
            outputs: Vec::new(),
            aliases: Vec::new(),
            stated_bytes: IndexMap::new(),
            stated_tensor_bytes: BTreeMap::new(),
            control_edges: Vec::new(),
            kinds: IndexMap::new(),
            names: Names::default(),
            shapes: Shapes::default(),
            exprs: DimExprs::default(),
        }
    }

    pub fn shape(&mut self, dims: &[Dim]) -> ShapeId {
        self.shapes.intern(dims)
    }

    pub fn dims(&self, shape: ShapeId) -> &[Dim] {
        self.shapes.dims(shape)
    }

    /// Adds a tensor without a producer.
    ///
    /// # Errors
    /// [`GraphError::TooLarge`].
    pub fn tensor(&mut self, new: NewTensor<'_>) -> Result<TensorId, GraphError> {
        let name = self.names.push(new.name).ok_or(GraphError::TooLarge)?;
        if self.tensors.len() >= u32::MAX as usize - 1 {
            return Err(GraphError::TooLarge);
        }
        self.aliases.push(None);
        Ok(self.tensors.push(Tensor {
            name,
            shape: new.shape,
            dtype: new.dtype,
            role: new.role,
            is_output: false,
            is_atomic: false,
            // `finish` numbers storages.
            storage: StorageId(0),
            producer: None,
        }))
    }

    pub fn get(&self, tensor: TensorId) -> &Tensor {
        &self.tensors[tensor]
    }

    /// For importers that infer shapes after the ops are known.
    pub fn set_shape(&mut self, tensor: TensorId, shape: Option<ShapeId>) {
        self.tensors[tensor].shape = shape;
    }

    pub fn set_dtype(&mut self, tensor: TensorId, dtype: DType) {
        self.tensors[tensor].dtype = dtype;
    }

    pub fn set_role(&mut self, tensor: TensorId, role: Role) {
        self.tensors[tensor].role = role;
    }

    /// Renames a tensor, for sources whose ids are not the names that users know.
    ///
    /// # Errors
    /// [`GraphError::TooLarge`].
    pub fn set_name(&mut self, tensor: TensorId, name: &str) -> Result<(), GraphError> {
        self.tensors[tensor].name = self.names.push(name).ok_or(GraphError::TooLarge)?;
        Ok(())
    }

    /// For sources that state the name late.
    pub fn set_graph_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Marks a tensor whose memory must be cleared before its op runs.
    pub fn set_atomic(&mut self, tensor: TensorId) {
        self.tensors[tensor].is_atomic = true;
    }

    /// Adds an op; the order of calls is the file order.
    ///
    /// # Errors
    /// [`GraphError::SecondProducer`], [`GraphError::TooLarge`].
    pub fn op(&mut self, new: NewOp<'_>) -> Result<OpId, GraphError> {
        let id = OpId::from_idx(self.ops.len());
        for result in new.results {
            if self.tensors[*result].producer.is_some() {
                return Err(GraphError::SecondProducer {
                    tensor: self.names.text(self.tensors[*result].name).to_owned(),
                    op: if new.name.is_empty() { new.kind } else { new.name }.to_owned(),
                });
            }
            self.tensors[*result].producer = Some(id);
        }
        let name = self.names.push(new.name).ok_or(GraphError::TooLarge)?;
        let kind = self.kind(new.kind)?;
        let operands = append(&mut self.operands, new.operands)?;
        let results = append(&mut self.results, new.results)?;
        Ok(self.ops.push(Op {
            name,
            kind,
            phase: new.phase,
            flops: new.flops,
            time: new.time,
            operands,
            results,
        }))
    }

    /// `from` runs before `to` although no tensor connects them. Does not extend live ranges.
    pub fn control_edge(&mut self, from: OpId, to: OpId) {
        self.control_edges.push((from.0, to.0));
    }

    /// `tensor` shares the memory of `other` (or of the root of `other`).
    pub fn alias(&mut self, tensor: TensorId, other: TensorId) {
        self.aliases[tensor.idx()] = Some(other);
    }

    /// Bytes that the source states for the storage of this root.
    pub fn state_storage_bytes(&mut self, root: TensorId, bytes: u64) {
        self.stated_bytes.insert(root, bytes);
    }

    /// Bytes that the source states for a tensor; used where shape or type are unknown.
    pub fn state_tensor_bytes(&mut self, tensor: TensorId, bytes: u64) {
        let known = &self.tensors[tensor];
        let is_complete = known.dtype != DType::Unknown
            && known
                .shape
                .is_some_and(|shape| !self.shapes.dims(shape).contains(&Dim::Unknown));
        if !is_complete {
            self.stated_tensor_bytes.insert(tensor, bytes);
        }
    }

    /// Bytes that a tensor takes by its layout, which may differ from those of its elements.
    pub fn state_laid_out_bytes(&mut self, tensor: TensorId, bytes: u64) {
        self.stated_tensor_bytes.insert(tensor, bytes);
    }

    /// Marks an output; idempotent.
    pub fn output(&mut self, tensor: TensorId) {
        if !self.tensors[tensor].is_output {
            self.tensors[tensor].is_output = true;
            self.outputs.push(tensor);
        }
    }

    /// Sorts the ops where needed and numbers the storages.
    ///
    /// # Errors
    /// [`GraphError::Cycle`] where ops or aliases form a cycle.
    pub fn finish(self) -> Result<Graph, GraphError> {
        self.finish_with_steps().map(|(graph, _)| graph)
    }

    /// As [`Self::finish`], with the step of every op by the order of calls of [`Self::op`].
    ///
    /// # Errors
    /// [`GraphError::Cycle`] where ops or aliases form a cycle.
    pub fn finish_with_steps(mut self) -> Result<(Graph, IdVec<OpId, OpId>), GraphError> {
        let storages = self.number_storages()?;
        let order = self.order()?;
        let reordered = order
            .iter()
            .enumerate()
            .filter(|(step, position)| *step != **position as usize)
            .count();
        let first = order
            .iter()
            .enumerate()
            .position(|(step, position)| step != *position as usize);
        let first_reordered = first
            .and_then(|first| order.iter().position(|position| *position as usize == first))
            .map(OpId::from_idx);
        let steps = if reordered > 0 {
            self.renumber_ops(&order)
        } else {
            self.ops.ids().collect()
        };
        self.names.shrink();
        let graph = Graph {
            name: self.name,
            ops: self.ops,
            tensors: self.tensors,
            storages,
            operands: self.operands,
            results: self.results,
            outputs: self.outputs,
            names: self.names,
            stated_bytes: self.stated_tensor_bytes,
            shapes: self.shapes,
            exprs: self.exprs,
            reordered: u32::try_from(reordered).unwrap_or(u32::MAX),
            first_reordered,
        };
        Ok((graph, steps))
    }

    fn kind(&mut self, kind: &str) -> Result<NameId, GraphError> {
        if let Some(id) = self.kinds.get(kind) {
            return Ok(*id);
        }
        let id = self.names.push(kind).ok_or(GraphError::TooLarge)?;
        self.kinds.insert(kind.into(), id);
        Ok(id)
    }

    fn order(&self) -> Result<Vec<u32>, GraphError> {
        let mut edges = self.control_edges.clone();
        let back: Vec<NameId> = BACK_KINDS
            .iter()
            .filter_map(|kind| self.kinds.get(*kind).copied())
            .collect();
        for (op_id, op) in self.ops.iter_ids() {
            for operand in &self.operands[op.operands.start as usize..op.operands.end as usize] {
                let producer = self.tensors[*operand].producer;
                if let Some(producer) = producer.filter(|producer| !back.contains(&self.ops[*producer].kind)) {
                    edges.push((producer.0, op_id.0));
                }
            }
        }
        let n_ops = u32::try_from(self.ops.len()).unwrap_or(u32::MAX);
        execution_order(n_ops, &edges).map_err(|stuck| GraphError::Cycle {
            example: stuck.first().map_or_else(String::new, |position| {
                let op = &self.ops[OpId(*position)];
                let name = self.names.text(op.name);
                let kind = self.names.text(op.kind);
                if name.is_empty() { kind } else { name }.to_owned()
            }),
            count: stuck.len(),
        })
    }

    fn renumber_ops(&mut self, order: &[u32]) -> IdVec<OpId, OpId> {
        let mut step_of: IdVec<OpId, OpId> = order.iter().map(|_| OpId(0)).collect();
        for (step, position) in order.iter().enumerate() {
            step_of[OpId(*position)] = OpId::from_idx(step);
        }
        self.ops = order.iter().map(|position| self.ops[OpId(*position)].clone()).collect();
        for id in self.tensors.ids() {
            let tensor = &mut self.tensors[id];
            tensor.producer = tensor.producer.map(|op| step_of[op]);
        }
        step_of
    }
}

fn append(pool: &mut Vec<TensorId>, items: &[TensorId]) -> Result<std::ops::Range<u32>, GraphError> {
    let start = u32::try_from(pool.len()).map_err(|_overflow| GraphError::TooLarge)?;
    pool.extend_from_slice(items);
    let end = u32::try_from(pool.len()).map_err(|_overflow| GraphError::TooLarge)?;
    Ok(start..end)
}
