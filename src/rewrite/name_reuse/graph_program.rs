//! A graph as a program of one block, so that name reuse can be applied to any graph.
//!
//! In: a graph and values of its symbols. Out: a [`GraphProgram`]: ops in order, each tensor a variable, views included
//! (as in fluid); an in-place op (`add_` and others, by PyTorch's names) writes the variable that it changes. Weights
//! and optimizer state outlive the run. A leading dimension without a value is -1, the batch; other unbound dimensions
//! leave the shape unknown, and the variable takes no part. Scratch memory is no variable. Fetch ops are added to a
//! program after `memory_optimize`, so graph outputs are listed separately, as fetched.

use indexmap::IndexMap;

use super::NameReuse;
use super::lookup::TENSOR;
use crate::plain_type;
use highwater_model::graph::{Bindings, DType, Dim, Graph, Id as _, OpId, Phase, Role, TensorId};
use highwater_model::workload::{Block, BlockOp, BlockProgram, BlockVariable};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphProgram {
    /// Variables are in the order of `tensor_of`.
    pub program: BlockProgram,
    /// By variable.
    pub tensor_of: Vec<TensorId>,
    /// By tensor; `None` for scratch memory.
    pub variable_of: Vec<Option<u32>>,
    /// Variables of graph outputs, each once.
    pub fetched: Vec<Box<str>>,
}

/// O(graph).
pub fn block_program(graph: &Graph, bindings: &Bindings) -> GraphProgram {
    let mut conversion = Conversion {
        graph,
        values: graph.exprs().evaluate(bindings),
        variables: IndexMap::new(),
        tensor_of: Vec::new(),
        variable_of: vec![None; graph.tensors().len()],
    };
    for (tensor, facts) in graph.tensors().iter_ids() {
        if facts.producer.is_none() && facts.role != Role::Workspace {
            conversion.declare(tensor);
        }
    }
    let ops: Vec<BlockOp> = graph.ops().ids().map(|op| conversion.op(op)).collect();
    let mut fetched: Vec<Box<str>> = Vec::new();
    let mut is_fetched = vec![false; conversion.variables.len()];
    for output in graph.outputs() {
        let variable = conversion.variable_of[output.idx()].map(|variable| variable as usize);
        if let Some(variable) = variable.filter(|variable| !std::mem::replace(&mut is_fetched[*variable], true)) {
            fetched.extend(conversion.variables.get_index(variable).map(|(name, _)| name.clone()));
        }
    }
    let block = Block {
        variables: conversion.variables,
        ops,
        ..Block::default()
    };
    GraphProgram {
        program: BlockProgram {
            name: graph.name().to_owned(),
            blocks: vec![block],
        },
        tensor_of: conversion.tensor_of,
        variable_of: conversion.variable_of,
        fetched,
    }
}

/// By tensor: the tensor whose memory it uses after reuse, itself where unchanged. O(tensors + renames).
pub fn merged_storage(graph: &Graph, converted: &GraphProgram, reuse: &NameReuse) -> Vec<TensorId> {
    let names = converted.program.blocks.first().map(|block| &block.variables);
    let index = |name: &str| names.and_then(|names| names.get_index_of(name));
    // A free name has no variable by then, so assigned slots do not move; the first rename counts.
    let mut slots: Vec<Option<usize>> = vec![None; converted.tensor_of.len()];
    for rename in &reuse.renames {
        if let (Some(variable), Some(cache)) = (index(&rename.variable), index(&rename.cache)) {
            let slot = slots[cache].unwrap_or(cache);
            if slot != variable {
                slots[variable].get_or_insert(slot);
            }
        }
    }
    let tensors = graph.tensors().iter_ids().map(|(tensor, _)| tensor);
    tensors
        .map(|tensor| {
            let variable = converted.variable_of[tensor.idx()];
            let slot = variable.and_then(|variable| slots[variable as usize]);
            slot.map_or(tensor, |slot| converted.tensor_of[slot])
        })
        .collect()
}

struct Conversion<'a> {
    graph: &'a Graph,
    values: Vec<Option<i64>>,
    variables: IndexMap<Box<str>, BlockVariable>,
    tensor_of: Vec<TensorId>,
    variable_of: Vec<Option<u32>>,
}

impl Conversion<'_> {
    /// Declares a variable for a tensor under its name; empty or taken names are replaced by the tensor's number.
    fn declare(&mut self, tensor: TensorId) {
        if self.variable_of[tensor.idx()].is_some() {
            return;
        }
        let own = self.graph.tensor_name(tensor);
        let mut name = own.to_owned();
        while name.is_empty() || self.variables.contains_key(name.as_str()) {
            name = format!("{name}#{}", tensor.idx());
        }
        let facts = &self.graph.tensors()[tensor];
        let variable = BlockVariable {
            shape: self.shape(tensor),
            dtype: dtype_name(facts.dtype).into(),
            is_persistable: facts.role.is_resident(),
            kind: TENSOR.into(),
        };
        self.variable_of[tensor.idx()] = u32::try_from(self.variables.len()).ok();
        self.variables.insert(name.into_boxed_str(), variable);
        self.tensor_of.push(tensor);
    }

    /// Dimensions in the program's notation; empty where unknown. A scalar has one element.
    fn shape(&self, tensor: TensorId) -> Vec<i64> {
        let Some(dims) = self.graph.dims(tensor) else {
            return Vec::new();
        };
        if self.graph.tensors()[tensor].dtype == DType::Unknown {
            return Vec::new();
        }
        let mut shape = Vec::with_capacity(dims.len().max(1));
        for (position, dim) in dims.iter().enumerate() {
            let known = match dim {
                Dim::Known(n) => i64::try_from(*n).ok(),
                Dim::Expr(id) => self.values[id.idx()].filter(|value| *value >= 0),
                Dim::Unknown => None,
            };
            let is_batch = position == 0 && matches!(dim, Dim::Expr(_));
            match known {
                Some(n) => shape.push(n),
                None if is_batch => shape.push(-1),
                None => return Vec::new(),
            }
        }
        if shape.is_empty() {
            shape.push(1);
        }
        shape
    }

    fn op(&mut self, op: OpId) -> BlockOp {
        let graph = self.graph;
        for result in graph.results(op) {
            if graph.tensors()[*result].role == Role::Workspace {
                continue;
            }
            match self.changed_in_place(op, *result) {
                Some(variable) => self.variable_of[result.idx()] = Some(variable),
                None => self.declare(*result),
            }
        }
        let phase = graph.ops()[op].phase;
        BlockOp {
            kind: graph.op_kind(op).into(),
            inputs: vec![("X".into(), self.names(graph.operands(op)))],
            outputs: vec![("Out".into(), self.names(graph.results(op)))],
            role: Some(match phase {
                Phase::Unknown | Phase::Forward => 0,
                Phase::Backward => 1,
                Phase::Optimizer => 2,
            }),
            // The pass skips an empty list, like an op without a parameter.
            role_variables: (phase == Phase::Optimizer).then(|| self.updated(op).unwrap_or_default()),
            sub_block: None,
            is_forced_to_cpu: false,
        }
    }

    fn names(&self, tensors: &[TensorId]) -> Vec<Box<str>> {
        let variables = tensors.iter().filter_map(|tensor| self.variable_of[tensor.idx()]);
        let names = variables.filter_map(|variable| self.variables.get_index(variable as usize));
        names.map(|(name, _)| name.clone()).collect()
    }

    /// The variable of the operand that an in-place op changes and returns.
    fn changed_in_place(&self, op: OpId, result: TensorId) -> Option<u32> {
        if !plain_type(self.graph.op_kind(op)).ends_with('_') {
            return None;
        }
        let storage = |tensor: TensorId| self.graph.tensors()[tensor].storage;
        let mut operands = self.graph.operands(op).iter();
        let changed = operands.find(|operand| storage(**operand) == storage(result))?;
        self.variable_of[changed.idx()]
    }

    /// Parameter and gradient of an optimizer op, where it reads both.
    fn updated(&self, op: OpId) -> Option<Vec<Box<str>>> {
        let graph = self.graph;
        let mut operands = graph.operands(op).iter();
        let is_parameter = |tensor: &&TensorId| {
            let root = graph.storages()[graph.tensors()[**tensor].storage].root;
            graph.tensors()[root].role == Role::Parameter
        };
        let is_gradient = |tensor: &&TensorId| {
            let producer = graph.tensors()[**tensor].producer;
            producer.is_some_and(|producer| graph.ops()[producer].phase == Phase::Backward)
        };
        let parameter = operands.clone().find(is_parameter)?;
        let gradient = operands.find(is_gradient)?;
        let pair = self.names(&[*parameter, *gradient]);
        (pair.len() == 2).then_some(pair)
    }
}

fn dtype_name(dtype: DType) -> String {
    match dtype {
        DType::Float16 => "FP16".to_owned(),
        DType::Bfloat16 => "BF16".to_owned(),
        DType::Float32 => "FP32".to_owned(),
        DType::Float64 => "FP64".to_owned(),
        other => other.name().to_ascii_uppercase(),
    }
}
