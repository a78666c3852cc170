//! Graphs: ops, tensors and the storages that hold them.
//!
//! A [`Graph`] is made by [`GraphBuilder`] only and is valid: ids are in range, every tensor has at most one producer,
//! every storage has a root, and ops are in execution order, so that an [`OpId`] is also the op's step. Everything is
//! in flat vectors; a million tensors need well under 300 MB. Live ranges are in `liveness`, schedules in `workload`.

mod builder;
mod dim;
mod dtype;
mod fixed;
mod ids;
mod measured;
mod order;
mod shape_reads;
mod sizes;
mod tables;

pub use builder::{GraphBuilder, GraphError, NewOp, NewTensor};
pub use dim::{Bindings, Dim, DimExpr, DimExprs, DimOp};
pub use dtype::DType;
pub use ids::{ExprId, Id, IdVec, NameId, OpId, ShapeId, StorageId, TensorId};
pub use measured::MeasuredOp;
pub use sizes::{Consumers, Sizes};
pub use tables::{Names, Shapes};

use std::collections::BTreeMap;
use std::ops::Range;

use crate::units::Nanos;

/// The use of a tensor, which decides where its bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Computed while the graph runs.
    Activation,
    /// Fed from outside at each run.
    Input,
    /// Frozen weight of an inference graph, or a result of weights only.
    Weight,
    /// A literal of the program.
    Constant,
    /// A trained variable.
    Parameter,
    /// A variable that is not trained, such as running statistics.
    Buffer,
    OptimizerState,
    /// Scratch memory of one op, live during its step only.
    Workspace,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activation => "activation",
            Self::Input => "input",
            Self::Weight => "weight",
            Self::Constant => "constant",
            Self::Parameter => "parameter",
            Self::Buffer => "buffer",
            Self::OptimizerState => "optimizer state",
            Self::Workspace => "workspace",
        }
    }

    /// Whether the bytes stay on the device between runs.
    pub const fn is_resident(self) -> bool {
        !matches!(self, Self::Activation | Self::Input | Self::Workspace)
    }

    /// Whether the session owns it as a variable (it outlives its graph).
    pub const fn is_variable(self) -> bool {
        matches!(self, Self::Parameter | Self::Buffer | Self::OptimizerState)
    }
}

/// The part of a training step that an op belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    #[default]
    Unknown,
    Forward,
    Backward,
    Optimizer,
}

impl Phase {
    /// Empty where unknown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Optimizer => "optimizer",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// May be empty.
    pub name: NameId,
    /// The op type, such as `Conv` or `aten.mm.default`.
    pub kind: NameId,
    pub phase: Phase,
    /// Floating point operations stated by the source; otherwise 0.
    pub flops: u64,
    /// Time stated by the source.
    pub time: Option<Nanos>,
    operands: Range<u32>,
    results: Range<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: NameId,
    /// `None` where even the number of dimensions is unknown.
    pub shape: Option<ShapeId>,
    pub dtype: DType,
    pub role: Role,
    /// Whether the graph returns it.
    pub is_output: bool,
    /// Whether its memory must be cleared before its op accumulates into it (a memset attribute).
    pub is_atomic: bool,
    pub storage: StorageId,
    /// `None` for inputs and for weights that come with the file.
    pub producer: Option<OpId>,
}

/// The memory that one or several tensors share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The tensor that owns the memory; the others are views of it or written in place.
    pub root: TensorId,
    /// Bytes that the source states; `None` means those of the root tensor.
    pub stated_bytes: Option<u64>,
}

/// Ops in execution order, tensors, storages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    name: String,
    ops: IdVec<OpId, Op>,
    tensors: IdVec<TensorId, Tensor>,
    storages: IdVec<StorageId, Storage>,
    operands: Vec<TensorId>,
    results: Vec<TensorId>,
    outputs: Vec<TensorId>,
    names: Names,
    stated_bytes: BTreeMap<TensorId, u64>,
    shapes: Shapes,
    exprs: DimExprs,
    reordered: u32,
    first_reordered: Option<OpId>,
}

impl Graph {
    /// May be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In execution order.
    pub fn ops(&self) -> &IdVec<OpId, Op> {
        &self.ops
    }

    /// In import order.
    pub fn tensors(&self) -> &IdVec<TensorId, Tensor> {
        &self.tensors
    }

    pub fn storages(&self) -> &IdVec<StorageId, Storage> {
        &self.storages
    }

    /// Operands, names captured by subgraphs included.
    pub fn operands(&self, op: OpId) -> &[TensorId] {
        let Range { start, end } = self.ops[op].operands;
        &self.operands[start as usize..end as usize]
    }

    pub fn results(&self, op: OpId) -> &[TensorId] {
        let Range { start, end } = self.ops[op].results;
        &self.results[start as usize..end as usize]
    }

    /// Each tensor once.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    pub fn text(&self, name: NameId) -> &str {
        self.names.text(name)
    }

    pub fn tensor_name(&self, tensor: TensorId) -> &str {
        self.names.text(self.tensors[tensor].name)
    }

    pub fn op_name(&self, op: OpId) -> &str {
        self.names.text(self.ops[op].name)
    }

    pub fn op_kind(&self, op: OpId) -> &str {
        self.names.text(self.ops[op].kind)
    }

    /// `None` where the number of dimensions is unknown.
    pub fn dims(&self, tensor: TensorId) -> Option<&[Dim]> {
        self.tensors[tensor].shape.map(|shape| self.shapes.dims(shape))
    }

    /// A shape as text with the symbols' values: `8×128×768`.
    pub fn bound_shape_text(&self, tensor: TensorId, bindings: &Bindings) -> String {
        let values = self.exprs.evaluate(bindings);
        let bound = |dim: &Dim| match dim {
            Dim::Expr(id) => values[id.idx()].and_then(|value| u64::try_from(value).ok()),
            Dim::Known(n) => Some(*n),
            Dim::Unknown => None,
        };
        match self.dims(tensor) {
            Some(dims) if !dims.is_empty() => {
                let texts: Vec<String> = dims
                    .iter()
                    .map(|dim| bound(dim).map_or_else(|| "?".to_owned(), |n| n.to_string()))
                    .collect();
                texts.join("×")
            }
            _ => self.shape_text(tensor),
        }
    }

    /// A shape as text: `8×64×112×112`, `batch×3`, `?` where unknown, `scalar`.
    pub fn shape_text(&self, tensor: TensorId) -> String {
        self.dims(tensor).map_or_else(
            || "?".to_owned(),
            |dims| {
                if dims.is_empty() {
                    return "scalar".to_owned();
                }
                let texts: Vec<String> = dims
                    .iter()
                    .map(|dim| match dim {
                        Dim::Known(n) => n.to_string(),
                        Dim::Expr(id) => self.exprs.text(*id),
                        Dim::Unknown => "?".to_owned(),
                    })
                    .collect();
                texts.join("×")
            },
        )
    }

    /// Bytes that the source states for a tensor whose shape or type is unknown.
    pub fn stated_tensor_bytes(&self, tensor: TensorId) -> Option<u64> {
        self.stated_bytes.get(&tensor).copied()
    }

    /// The expressions of symbolic dimensions.
    pub fn exprs(&self) -> &DimExprs {
        &self.exprs
    }

    /// Symbols that some tensor's shape depends on, in the order of first use.
    pub fn symbols(&self) -> Vec<String> {
        self.exprs.symbols().map(str::to_owned).collect()
    }

    /// Ops whose position differs from the file, because the file is not in execution order.
    pub fn reordered_ops(&self) -> u32 {
        self.reordered
    }

    /// The first of the file's ops whose position differs: it needs a later one.
    pub fn first_reordered_op(&self) -> Option<OpId> {
        self.first_reordered
    }
}
