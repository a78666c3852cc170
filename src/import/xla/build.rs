//! A [`Computation`] -> a [`Graph`].
//!
//! Every instruction is an op, parameters and constants included, so that a step is a position in XLA's own schedule. Every
//! node of an instruction's shape is a tensor: an array its bytes, a tuple the table of pointers to its elements (8 bytes
//! each), named `name{}` and its elements `name{0}`, `name{1,2}`. Parameters are inputs (whether they are weights is not
//! known), constants constants. What is a view by definition shares memory, an estimate only in that XLA may still copy:
//! elements of get-tuple-element, tuple, bitcast, optimization-barrier, domain, add-dependency, and of a loop, which
//! runs in its operand's memory.

use super::model::Computation;
use super::shape::{Shape, Size, node_name};
use crate::ImportError;
use highwater_model::graph::{
    DType, Dim, Graph, GraphBuilder, GraphError, Id as _, IdVec, NewOp, NewTensor, OpId, Phase, Role, TensorId,
};
use highwater_model::progress::Progress;

/// The most edges of a graph for each byte of its file: an op that reads a tuple reads all of it, so a few bytes
/// of text can mean a million elements.
const EDGES_PER_BYTE: u64 = 4;

struct Tensors {
    all: Vec<TensorId>,
    /// The start of each instruction's tensors; one more at the end.
    starts: Vec<usize>,
    /// Of each instruction that yields a tuple, the first nodes of its elements.
    elements: Vec<Box<[u32]>>,
}

impl Tensors {
    fn of(&self, instruction: u32) -> &[TensorId] {
        let at = instruction as usize;
        &self.all[self.starts[at]..self.starts[at + 1]]
    }

    /// The tensors of element `number` of a tuple; `None` where there is none.
    fn element(&self, instruction: u32, number: u64) -> Option<&[TensorId]> {
        let starts = &self.elements[instruction as usize];
        let number = usize::try_from(number).ok()?;
        let (start, end) = (*starts.get(number)?, *starts.get(number.checked_add(1)?)?);
        self.of(instruction).get(start as usize..end as usize)
    }
}

/// The graph of a computation of a file of `len` bytes, and the step of each instruction.
pub(super) fn graph(
    computation: &Computation,
    len: u64,
    progress: &Progress<'_>,
) -> Result<(Graph, IdVec<OpId, OpId>), ImportError> {
    let mut builder = GraphBuilder::new(&computation.name);
    let tensors = tensors(computation, &mut builder, progress)?;
    let mut edges = len.saturating_mul(EDGES_PER_BYTE).max(1 << 20);
    let (mut operands, mut results): (Vec<TensorId>, Vec<TensorId>) = (Vec::new(), Vec::new());
    for (at, instruction) in (0_u32..).zip(&computation.instructions) {
        if at.is_multiple_of(256) {
            progress.set("building", u64::from(at), computation.instructions.len() as u64)?;
        }
        results.clear();
        results.extend_from_slice(tensors.of(at));
        operands.clear();
        for operand in &instruction.operands {
            let element = tensors.element(*operand, instruction.number);
            match element.filter(|_| &*instruction.opcode == "get-tuple-element") {
                Some(element) => {
                    operands.push(tensors.of(*operand)[0]);
                    operands.extend_from_slice(element);
                }
                None => operands.extend_from_slice(tensors.of(*operand)),
            }
        }
        edges = edges
            .checked_sub(operands.len() as u64)
            .ok_or(ImportError::Graph(GraphError::TooLarge))?;
        builder.op(NewOp {
            name: &instruction.name,
            kind: &instruction.opcode,
            operands: &operands,
            results: &results,
            phase: Phase::Unknown,
            ..NewOp::default()
        })?;
        for control in &instruction.controls {
            builder.control_edge(OpId(*control), OpId(at));
        }
        aliases(computation, at, &tensors, &mut builder);
    }
    for tensor in tensors.of(computation.root) {
        builder.output(*tensor);
    }
    Ok(builder.finish_with_steps()?)
}

fn tensors(
    computation: &Computation,
    builder: &mut GraphBuilder,
    progress: &Progress<'_>,
) -> Result<Tensors, ImportError> {
    let mut tensors = Tensors {
        all: Vec::new(),
        starts: vec![0],
        elements: Vec::with_capacity(computation.instructions.len()),
    };
    for instruction in &computation.instructions {
        let role = match &*instruction.opcode {
            "parameter" => Role::Input,
            "constant" => Role::Constant,
            _ => Role::Activation,
        };
        let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
        instruction
            .shape
            .visit(&mut |path: &[u32], shape: &Shape| -> Result<(), ImportError> {
                let name = node_name(&instruction.name, path, is_tuple);
                tensors.all.push(tensor(builder, &name, shape, role)?);
                if tensors.all.len().is_multiple_of(4096) {
                    progress.check()?;
                }
                Ok(())
            })?;
        tensors.starts.push(tensors.all.len());
        tensors.elements.push(instruction.shape.starts());
    }
    Ok(tensors)
}

fn tensor(builder: &mut GraphBuilder, name: &str, shape: &Shape, role: Role) -> Result<TensorId, GraphError> {
    let (dtype, dims) = match shape {
        Shape::Array(dtype, sizes) => {
            let dims = sizes.iter().map(|size| match size {
                Size::Known(size) | Size::Bound(size) => Dim::Known(*size),
                Size::Free => Dim::Unknown,
            });
            (*dtype, Some(dims.collect::<Vec<Dim>>()))
        }
        // Pointers are numbers of 8 bytes; this is how many.
        Shape::Tuple(elements) => (DType::Uint64, Some(vec![Dim::Known(elements.len() as u64)])),
        Shape::Token | Shape::Opaque => (DType::Unknown, None),
    };
    let shape_id = dims.map(|dims| builder.shape(&dims));
    let id = builder.tensor(NewTensor {
        name,
        dtype,
        shape: shape_id,
        role,
    })?;
    if *shape == Shape::Token {
        builder.state_tensor_bytes(id, 0);
    }
    Ok(id)
}

fn aliases(computation: &Computation, at: u32, tensors: &Tensors, builder: &mut GraphBuilder) {
    let instruction = &computation.instructions[at as usize];
    let own = tensors.of(at);
    let Some(first) = instruction.operands.first() else {
        return;
    };
    match &*instruction.opcode {
        "get-tuple-element" => {
            if let Some(element) = tensors.element(*first, instruction.number) {
                share(own, element, builder);
            }
        }
        "tuple" => {
            let mut start = 1;
            for operand in &instruction.operands {
                let theirs = tensors.of(*operand);
                share(own.get(start..).unwrap_or(&[]), theirs, builder);
                start += theirs.len();
            }
        }
        "bitcast" | "optimization-barrier" | "domain" | "add-dependency" | "while" => {
            share(own, tensors.of(*first), builder);
        }
        _ => {}
    }
}

fn share(own: &[TensorId], theirs: &[TensorId], builder: &mut GraphBuilder) {
    for (mine, other) in own.iter().zip(theirs) {
        if mine.idx() != other.idx() {
            builder.alias(*mine, *other);
        }
    }
}
