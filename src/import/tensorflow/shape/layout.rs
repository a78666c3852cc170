//! Ops that rearrange elements: Reshape and its kin, Transpose, padding, tiles, blocks.

use crate::shape::fact::{Elem, MAX_ELEMENTS, Num, Value};
use crate::shape::sizes::reshaped;
use crate::shape::sym::{Sym, axis};
use highwater_model::graph::{Dim, DimExpr, DimOp, ExprId};

use super::call::Call;

/// Reshape to what input 1 names.
pub(super) fn reshape(call: &mut Call<'_>) -> Option<()> {
    let target: Vec<Elem> = match call.value(1) {
        Some(value) => value.items.clone(),
        None => vec![Elem::Unknown; call.named_dims(1)?.len()],
    };
    let data = call.dims(0);
    let mut dims = reshaped(call.sym, data.as_deref(), &target, true);
    if let (Some(data), Some(free)) = (data, target.iter().position(|item| *item == Elem::int(-1))) {
        let mut others = dims.clone();
        others.remove(free);
        if !others.contains(&Dim::Unknown) {
            dims[free] = quotient(call.sym, &data, &others);
        }
    }
    call.out(0, &dims);
    keep_items(call, &dims)
}

/// The factors of dimensions: a number, and expressions that are no products themselves.
fn factors(sym: &Sym, dims: &[Dim]) -> Option<(i64, Vec<ExprId>)> {
    let (mut number, mut rest, mut stack) = (1_i64, Vec::new(), Vec::new());
    for dim in dims {
        match dim {
            Dim::Known(size) => number = number.checked_mul(i64::try_from(*size).ok()?)?,
            Dim::Expr(id) => stack.push(*id),
            Dim::Unknown => return None,
        }
    }
    while let Some(id) = stack.pop() {
        match sym.exprs.get(id)? {
            DimExpr::Const(value) => number = number.checked_mul(value)?,
            DimExpr::Binary(DimOp::Mul, a, b) if stack.len() + rest.len() < 64 => stack.extend([a, b]),
            _ => rest.push(id),
        }
    }
    Some((number, rest))
}

/// Elements of `data` over elements of `others`, common factors left out.
fn quotient(sym: &mut Sym, data: &[Dim], others: &[Dim]) -> Dim {
    let (Some((top, mut left)), Some((bottom, right))) = (factors(sym, data), factors(sym, others)) else {
        return Dim::Unknown;
    };
    let mut below = Vec::new();
    for id in right {
        match left.iter().position(|other| *other == id) {
            Some(position) => {
                left.swap_remove(position);
            }
            None => below.push(id),
        }
    }
    if bottom <= 0 {
        return Dim::Unknown;
    }
    let shared = common_factor(top, bottom);
    let times = |sym: &mut Sym, number: i64, ids: Vec<ExprId>| {
        ids.into_iter().try_fold(Num::Int(number), |product, id| {
            sym.op(DimOp::Mul, Some(Num::Expr(id)), Some(product))
        })
    };
    let top = times(sym, top / shared, left);
    let bottom = times(sym, bottom / shared, below);
    let result = sym.op(DimOp::FloorDiv, top, bottom);
    result.map_or(Dim::Unknown, Num::dim)
}

/// The greatest common divisor; `b` is above 0.
fn common_factor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.checked_abs().unwrap_or(0), b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// A value keeps its elements under new dimensions.
fn keep_items(call: &mut Call<'_>, dims: &[Dim]) -> Option<()> {
    let value = call.value(0)?.resized(dims)?;
    call.add_value(0, value);
    Some(())
}

/// Squeeze; without axes every dimension of size 1 goes. Symbolic ones stay then, which changes no byte.
pub(super) fn squeeze(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let axes = call.list("squeeze_dims").or(call.list("axis")).unwrap_or(&[]);
    let gone: Vec<usize> = if !axes.is_empty() {
        axes.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?
    } else if dims.contains(&Dim::Unknown) {
        return None;
    } else {
        (0..dims.len()).filter(|at| dims[*at] == Dim::Known(1)).collect()
    };
    let kept: Vec<Dim> = (0..dims.len())
        .filter(|position| !gone.contains(position))
        .map(|position| dims[position])
        .collect();
    call.out(0, &kept);
    keep_items(call, &kept)
}

/// A new axis of size 1 where input 1 says.
pub(super) fn expand_dims(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let Some(at) = call.axis_at(1, dims.len() + 1) else {
        call.out(0, &vec![Dim::Unknown; dims.len() + 1]);
        return None;
    };
    dims.insert(at, Dim::Known(1));
    call.out(0, &dims);
    keep_items(call, &dims)
}

/// Transpose by the permutation at input 1.
pub(super) fn transpose(call: &mut Call<'_>) -> Option<()> {
    let rank = match (call.dims(0), call.named_dims(1)) {
        (Some(dims), _) => dims.len(),
        (None, named) => named?.len(),
    };
    call.out(0, &vec![Dim::Unknown; rank]);
    let (dims, order) = (call.dims(0)?, call.ints(1)?);
    let order: Vec<usize> = order.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?;
    let is_permutation = order.len() == dims.len() && (0..dims.len()).all(|position| order.contains(&position));
    if !is_permutation {
        return None;
    }
    let moved: Vec<Dim> = order.iter().map(|from| dims[*from]).collect();
    call.out(0, &moved);
    let value = call.value(0)?.transposed(&order);
    call.add_value(0, value);
    Some(())
}

/// Padding: two amounts per axis at input 1; the gradient takes them off again.
pub(super) fn pad(call: &mut Call<'_>) -> Option<()> {
    let rank = match (call.dims(0), call.dims(1).as_deref()) {
        (Some(dims), _) => dims.len(),
        (None, Some([Dim::Known(rank), _])) if *rank <= 64 => usize::try_from(*rank).ok()?,
        _ => return None,
    };
    call.out(0, &vec![Dim::Unknown; rank]);
    let (mut dims, amounts) = (call.dims(0)?, call.value(1)?);
    let op = if call.kind().ends_with("Grad") {
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
    call.out(0, &dims);
    Some(())
}

/// Copies side by side, as many per axis as input 1 says.
pub(super) fn tile(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let Some(times) = call.value(1).filter(|times| times.items.len() == dims.len()) else {
        call.out(0, &vec![Dim::Unknown; dims.len()]);
        return None;
    };
    let tiled: Vec<Dim> = dims
        .iter()
        .zip(&times.items)
        .map(|(dim, times)| call.sym.mul(*dim, times.dim()))
        .collect();
    call.out(0, &tiled);
    let value = call.value(0)?;
    if let ([_], [Dim::Known(count)]) = (&value.dims[..], &tiled[..]) {
        let count = usize::try_from(*count).ok().filter(|count| *count <= MAX_ELEMENTS)?;
        let items = value.items.iter().copied().cycle().take(count).collect();
        call.add_value(0, Value::vector(items));
    }
    Some(())
}

/// Broadcast to the shape at input 1.
pub(super) fn broadcast_to(call: &mut Call<'_>) -> Option<()> {
    let target = call.named_dims(1)?;
    let dims: Vec<Dim> = match call.dims(0) {
        // Where the target is open, the data may say more.
        Some(data) if data.len() <= target.len() && target.contains(&Dim::Unknown) => {
            call.sym.broadcast(&data, &target)
        }
        _ => target,
    };
    call.out(0, &dims);
    let value = call.value(0)?;
    if let ([item], [Dim::Known(count)]) = (&value.items[..], &dims[..]) {
        let count = usize::try_from(*count).ok().filter(|count| *count <= MAX_ELEMENTS)?;
        call.add_value(0, Value::vector(vec![*item; count]));
    }
    Some(())
}

/// Blocks of space and channels in exchange.
pub(super) fn blocks(call: &mut Call<'_>) -> Option<()> {
    let block = call.int("block_size").filter(|block| *block > 0)?;
    let mut dims = call.dims(0)?;
    let format = call.text("data_format");
    let (channels, spatial) = match (format, dims.len()) {
        ("NCHW", 4) | ("NCHW_VECT_C", 5) => (1, [2, 3]),
        ("NHWC" | "", 4) => (3, [1, 2]),
        _ => return None,
    };
    let (for_channels, for_space) = if call.kind() == "SpaceToDepth" {
        (DimOp::Mul, DimOp::FloorDiv)
    } else {
        (DimOp::FloorDiv, DimOp::Mul)
    };
    dims[channels] = call.sym.with(for_channels, dims[channels], block.checked_mul(block)?);
    for at in spatial {
        dims[at] = call.sym.with(for_space, dims[at], block);
    }
    call.out(0, &dims);
    Some(())
}

/// Blocks of space and batch in exchange: sizes of blocks, and what is padded before or cropped after.
pub(super) fn batch_blocks(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let (sizes, amounts) = match call.int("block_size") {
        Some(size) => (Some(vec![size; 2]), call.value(1)),
        None => (call.ints(1), call.value(2)),
    };
    let Some(sizes) = sizes.filter(|sizes| sizes.iter().all(|size| *size > 0)) else {
        call.out(0, &vec![Dim::Unknown; dims.len()]);
        return None;
    };
    let to_batch = call.kind().starts_with("SpaceToBatch");
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
    call.out(0, &dims);
    Some(())
}

/// Tensors as diagonals of others, and back.
pub(super) fn diagonal(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    match call.kind() {
        "Diag" => dims.extend_from_within(..),
        "DiagPart" => dims.truncate(dims.len() / 2),
        "MatrixDiag" => dims.push(*dims.last()?),
        _ => {
            let (columns, rows) = (dims.pop()?, dims.pop()?);
            let shorter = call.sym.op(DimOp::Min, Num::of(rows), Num::of(columns));
            dims.push(shorter.map_or(Dim::Unknown, Num::dim));
        }
    }
    call.out(0, &dims);
    Some(())
}
