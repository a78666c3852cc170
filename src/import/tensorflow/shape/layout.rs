//! Ops that rearrange elements: Reshape and its kin, Transpose, padding, blocks, diagonals.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::layout::{self, Symbolic};
use crate::shape::sizes::ReshapeRules;
use highwater_model::graph::{Dim, DimOp};

/// Reshape to the dimensions that input 1 lists.
pub(super) fn reshape(call: &mut Call<'_>) -> Option<()> {
    let rules = ReshapeRules {
        copies_zero: false,
        cancels_factors: true,
    };
    layout::reshape(call, None, rules)
}

pub(super) fn squeeze(call: &mut Call<'_>) -> Option<()> {
    let axes = call.list("squeeze_dims").or(call.list("axis"));
    layout::squeeze(call, axes.filter(|axes| !axes.is_empty()), Symbolic::Stays)
}

/// A new axis of size 1 at the position in input 1.
pub(super) fn expand_dims(call: &mut Call<'_>) -> Option<()> {
    let rank = call.dims(0)?.len();
    call.out_rank(rank + 1);
    let at = call.scalar_int(1)?;
    layout::unsqueeze(call, &[at])
}

/// Transpose by the permutation at input 1.
pub(super) fn transpose(call: &mut Call<'_>) -> Option<()> {
    let rank = match (call.dims(0), call.listed_dims(1)) {
        (Some(dims), _) => dims.len(),
        (None, listed) => listed?.len(),
    };
    call.out_rank(rank);
    let order = call.ints(1)?;
    layout::transpose(call, Some(&order))
}

/// Padding: two amounts per axis at input 1; the gradient takes them off again.
pub(super) fn pad(call: &mut Call<'_>) -> Option<()> {
    let rank = match (call.dims(0), call.dims(1).as_deref()) {
        (Some(dims), _) => dims.len(),
        (None, Some([Dim::Known(rank), _])) if *rank <= 64 => usize::try_from(*rank).ok()?,
        _ => return None,
    };
    call.out_rank(rank);
    let (mut dims, amounts) = (call.dims(0)?, call.value(1)?);
    let op = if call.kind.ends_with("Grad") {
        DimOp::Sub
    } else {
        DimOp::Add
    };
    for (dim, pair) in dims.iter_mut().zip(amounts.items.chunks(2)) {
        let mut size = Num::of(*dim);
        for amount in pair {
            size = call.sym.op(op, size, amount.num());
        }
        *dim = size.map_or(Dim::Unknown, Num::dim);
    }
    call.out(0, &dims)
}

/// Broadcast to the shape that input 1 lists.
pub(super) fn broadcast_to(call: &mut Call<'_>) -> Option<()> {
    let target = call.listed_dims(1)?;
    let dims: Vec<Dim> = match call.dims(0) {
        // The data may fill gaps of the target.
        Some(data) if data.len() <= target.len() && target.contains(&Dim::Unknown) => {
            call.sym.broadcast(&data, &target)
        }
        _ => target,
    };
    layout::widen(call, &dims)
}

/// `SpaceToDepth` and `DepthToSpace`.
pub(super) fn blocks(call: &mut Call<'_>) -> Option<()> {
    let block = call.int("block_size").filter(|block| *block > 0)?;
    let (channels, spatial) = match (call.text("data_format"), call.dims(0)?.len()) {
        ("NCHW", 4) | ("NCHW_VECT_C", 5) => (1, [2, 3]),
        ("NHWC" | "", 4) => (3, [1, 2]),
        _ => return None,
    };
    layout::blocks(call, block, channels, spatial)
}

/// Blocks of space and batch in exchange: sizes of blocks, and what is padded before or cropped after.
pub(super) fn batch_blocks(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let (sizes, amounts) = match call.int("block_size") {
        Some(size) => (Some(vec![size; 2]), call.value(1)),
        None => (call.ints(1), call.value(2)),
    };
    let Some(sizes) = sizes.filter(|sizes| sizes.iter().all(|size| *size > 0)) else {
        call.out_rank(dims.len());
        return None;
    };
    let to_batch = call.kind.starts_with("SpaceToBatch");
    for (position, size) in sizes.iter().enumerate() {
        let amount = |side: usize| amounts.as_ref()?.items.get(position * 2 + side)?.num();
        let sum = call.sym.op(DimOp::Add, amount(0), amount(1));
        let (batch, dim) = (*dims.first()?, *dims.get(position + 1)?);
        if to_batch {
            let padded = call.sym.op(DimOp::Add, Num::of(dim), sum);
            let blocks = call.sym.op(DimOp::FloorDiv, padded, Some(Num::Int(*size)));
            dims[position + 1] = blocks.map_or(Dim::Unknown, Num::dim);
            dims[0] = call.sym.with(DimOp::Mul, batch, *size);
        } else {
            let wide = call.sym.op(DimOp::Mul, Num::of(dim), Some(Num::Int(*size)));
            let cropped = call.sym.op(DimOp::Sub, wide, sum);
            dims[position + 1] = cropped.map_or(Dim::Unknown, Num::dim);
            dims[0] = call.sym.with(DimOp::FloorDiv, batch, *size);
        }
    }
    call.out(0, &dims)
}

/// Tensors as diagonals of others, and back.
pub(super) fn diagonal(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    match call.kind {
        "Diag" => dims.extend_from_within(..),
        "DiagPart" => dims.truncate(dims.len() / 2),
        "MatrixDiag" => dims.push(*dims.last()?),
        _ => {
            let (columns, rows) = (dims.pop()?, dims.pop()?);
            dims.push(call.sym.dim(DimOp::Min, rows, columns));
        }
    }
    call.out(0, &dims)
}
