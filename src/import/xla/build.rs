//! A [`Computation`] -> a [`Graph`].
//!
//! Every instruction is an op, parameters and constants included, so that a step is a position in XLA's own schedule. Every
//! node of an instruction's shape that it makes is a tensor: an array its bytes, a tuple the table of pointers to its
//! elements (8 bytes each), named `name{}` and its elements `name{0}`, `name{1,2}`. What tuples and get-tuple-elements pass
//! on are the tensors of others ([`Values`]). Parameters are inputs (whether they are weights is not known), constants
//! constants. What is a view by definition shares memory, an estimate only in that XLA may still copy: bitcast, and a loop,
//! which runs in its operand's memory.

use super::model::Computation;
use super::shape::{Shape, Size, node_name};
use super::values::Values;
use crate::ImportError;
use highwater_model::graph::{
    DType, Dim, Graph, GraphBuilder, GraphError, IdVec, NewOp, NewTensor, OpId, Phase, Role, TensorId,
};
use highwater_model::progress::Progress;

/// The most edges of a graph for each byte of its file: an op that reads a tuple reads all of it, so a few bytes
/// of text can mean a million elements.
const EDGES_PER_BYTE: u64 = 4;

/// The graph of a computation of a file of `len` bytes, and the step of each instruction.
pub(super) fn graph(
    computation: &Computation,
    values: &Values,
    len: u64,
    progress: &Progress<'_>,
) -> Result<(Graph, IdVec<OpId, OpId>), ImportError> {
    let mut builder = GraphBuilder::new(&computation.name);
    tensors(computation, values, &mut builder, progress)?;
    let ids = |numbers: &[u32]| {
        numbers
            .iter()
            .map(|number| TensorId(*number))
            .collect::<Vec<TensorId>>()
    };
    let mut edges = len.saturating_mul(EDGES_PER_BYTE).max(1 << 20);
    let (mut operands, mut results): (Vec<TensorId>, Vec<TensorId>) = (Vec::new(), Vec::new());
    for (at, instruction) in (0_u32..).zip(&computation.instructions) {
        if at.is_multiple_of(256) {
            progress.set("building", u64::from(at), computation.instructions.len() as u64)?;
        }
        results.clear();
        results.extend(ids(&values.of(at)[..values.n_new(at)]));
        operands.clear();
        for operand in &instruction.operands {
            let element = values.element(*operand, instruction.number);
            match element.filter(|_| &*instruction.opcode == "get-tuple-element") {
                Some(element) => {
                    operands.extend(ids(&values.of(*operand)[..1]));
                    operands.extend(ids(element));
                }
                None => operands.extend(ids(values.of(*operand))),
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
        aliases(computation, at, values, &mut builder);
    }
    for tensor in values.of(computation.root) {
        builder.output(TensorId(*tensor));
    }
    Ok(builder.finish_with_steps()?)
}

/// Adds every new tensor, in the order of their numbers.
fn tensors(
    computation: &Computation,
    values: &Values,
    builder: &mut GraphBuilder,
    progress: &Progress<'_>,
) -> Result<(), ImportError> {
    let mut count = 0_usize;
    for (at, instruction) in (0_u32..).zip(&computation.instructions) {
        let role = match &*instruction.opcode {
            "parameter" => Role::Input,
            "constant" => Role::Constant,
            _ => Role::Activation,
        };
        let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
        let mut left = values.n_new(at);
        if left == 0 {
            continue;
        }
        instruction
            .shape
            .visit(&mut |path: &[u32], shape: &Shape| -> Result<(), ImportError> {
                if left > 0 {
                    left -= 1;
                    tensor(builder, &node_name(&instruction.name, path, is_tuple), shape, role)?;
                    count += 1;
                }
                if count.is_multiple_of(4096) {
                    progress.check()?;
                }
                Ok(())
            })?;
    }
    Ok(())
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

/// Views by definition, and what [`Values`] could not pass on.
fn aliases(computation: &Computation, at: u32, values: &Values, builder: &mut GraphBuilder) {
    let instruction = &computation.instructions[at as usize];
    let own = values.of(at);
    let Some(first) = instruction.operands.first() else {
        return;
    };
    match &*instruction.opcode {
        "get-tuple-element" => {
            if let Some(element) = values.element(*first, instruction.number) {
                share(own, element, builder);
            }
        }
        "tuple" => {
            let mut start = 1;
            for operand in &instruction.operands {
                let theirs = values.of(*operand);
                share(own.get(start..).unwrap_or(&[]), theirs, builder);
                start += theirs.len();
            }
        }
        "bitcast" | "optimization-barrier" | "opt-barrier" | "domain" | "add-dependency" | "while" => {
            share(own, values.of(*first), builder);
        }
        _ => {}
    }
}

fn share(own: &[u32], theirs: &[u32], builder: &mut GraphBuilder) {
    for (mine, other) in own.iter().zip(theirs) {
        if mine != other {
            builder.alias(TensorId(*mine), TensorId(*other));
        }
    }
}
