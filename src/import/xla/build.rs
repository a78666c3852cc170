//! A [`Computation`] -> a [`Graph`].
//!
//! Every instruction is an op, parameters and constants included, so that a step is a position in XLA's own schedule. Every
//! node of an instruction's shape that it makes is a tensor: an array its bytes, a tuple the table of pointers to its
//! elements (8 bytes each), named `name{}` and its elements `name{0}`, `name{1,2}`. What instructions pass on are the tensors
//! of others ([`Values`]). Parameters are inputs (whether they are weights is not known), constants constants. Who has whose
//! memory is [`Sharing`]'s. Arrays count with the padding of their layout; those that are not in the device's own memory
//! count no bytes there.

use super::layout::Space;
use super::model::Computation;
use super::shape::{Array, Shape, Size, node_name};
use super::sharing::Sharing;
use super::values::Values;
use crate::ImportError;
use highwater_model::graph::{
    DType, Dim, Graph, GraphBuilder, GraphError, IdVec, NewOp, NewTensor, OpId, Phase, Role, TensorId,
};
use highwater_model::lists::Lists;
use highwater_model::progress::Progress;

/// The graph of a computation, and the step of each instruction.
pub(super) fn graph(
    computation: &Computation,
    values: &Values,
    reads: &Lists<u32>,
    sharing: &Sharing,
    progress: &Progress<'_>,
) -> Result<(Graph, IdVec<OpId, OpId>), ImportError> {
    let mut builder = GraphBuilder::new(&computation.name);
    tensors(computation, values, &mut builder, progress)?;
    let of = |instruction: u32| values.of(instruction).iter().map(|tensor| TensorId(*tensor));
    let (mut operands, mut results): (Vec<TensorId>, Vec<TensorId>) = (Vec::new(), Vec::new());
    for (at, instruction) in (0_u32..).zip(&computation.instructions) {
        if at.is_multiple_of(256) {
            progress.set("building", u64::from(at), computation.instructions.len() as u64)?;
        }
        results.clear();
        results.extend(of(at).filter(|tensor| values.is_new(at, tensor.0)));
        operands.clear();
        operands.extend(reads.of(at as usize).iter().map(|tensor| TensorId(*tensor)));
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
    }
    for (tensor, root) in sharing.pairs() {
        builder.alias(TensorId(tensor), TensorId(root));
    }
    for tensor in of(computation.root) {
        builder.output(tensor);
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
        let mut nodes = values.of(at).iter();
        instruction
            .shape
            .visit(&mut |path: &[u32], shape: &Shape| -> Result<(), ImportError> {
                if nodes.next().is_some_and(|tensor| values.is_new(at, *tensor)) {
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
        Shape::Array(Array { dtype, sizes, .. }) => {
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
    match shape {
        Shape::Token => builder.state_tensor_bytes(id, 0),
        Shape::Array(array) if array.space != Space::DEVICE => builder.state_laid_out_bytes(id, 0),
        Shape::Array(Array {
            padded: Some(padded), ..
        }) => builder.state_laid_out_bytes(id, *padded),
        _ => {}
    }
    Ok(id)
}
