//! Ops that rearrange elements without choosing among them: Reshape and its kin, Transpose, blocks.

use highwater_model::graph::{Dim, DimOp};

use super::call::Call;
use super::fact::{Elem, Num, Value};
use super::sizes::reshaped;
use super::sym::axis;

/// Reshape; the shape is an input, in the first operator set an attribute.
pub(super) fn reshape(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let target: Vec<Elem> = if call.has_attr("shape") {
        call.int_list("shape")?.into_iter().map(Elem::int).collect()
    } else if let Some(value) = call.value(1) {
        value.items.clone()
    } else {
        // Only the number of dimensions is known.
        let rank = match *call.dims(1)? {
            [Dim::Known(rank)] if rank <= 64 => rank,
            _ => return None,
        };
        vec![Elem::Unknown; usize::try_from(rank).ok()?]
    };
    let data = call.dims(0);
    let keeps_zero = call.int_or("allowzero", 0) == 1;
    let dims = reshaped(call.sym, data.as_deref(), &target, keeps_zero);
    call.set(0, dtype, &dims);
    keep_items(call, &dims)
}

/// A value keeps its elements under new dimensions.
fn keep_items(call: &mut Call<'_>, dims: &[Dim]) -> Option<()> {
    let value = call.value(0)?.resized(dims)?;
    call.add_value(0, value);
    Some(())
}

/// Flatten to a matrix.
pub(super) fn flatten(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    let at = call.int_or("axis", 1);
    let split = if usize::try_from(at) == Ok(dims.len()) {
        dims.len()
    } else {
        axis(at, dims.len())?
    };
    let rows = call.sym.product(&dims[..split]).map_or(Dim::Unknown, Num::dim);
    let columns = call.sym.product(&dims[split..]).map_or(Dim::Unknown, Num::dim);
    call.set(0, dtype, &[rows, columns]);
    Some(())
}

/// Squeeze; without axes every dimension of size 1 goes.
pub(super) fn squeeze(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    let gone: Vec<usize> = match call.attr_or_input("axes", 1)? {
        Some(axes) => axes.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?,
        None if dims.iter().all(|dim| matches!(dim, Dim::Known(_))) => (0..dims.len())
            .filter(|position| dims[*position] == Dim::Known(1))
            .collect(),
        None => return None,
    };
    let kept: Vec<Dim> = (0..dims.len())
        .filter(|position| !gone.contains(position))
        .map(|position| dims[position])
        .collect();
    call.set(0, dtype, &kept);
    keep_items(call, &kept)
}

/// Unsqueeze: dimensions of size 1 at positions of the result.
pub(super) fn unsqueeze(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let axes = call.attr_or_input("axes", 1)??;
    let mut rest = call.dims(0)?.into_iter();
    let rank = rest.len() + axes.len();
    let new: Vec<usize> = axes.iter().map(|at| axis(*at, rank)).collect::<Option<_>>()?;
    let dims: Vec<Dim> = (0..rank)
        .map(|position| {
            if new.contains(&position) {
                Some(Dim::Known(1))
            } else {
                rest.next()
            }
        })
        .collect::<Option<_>>()?;
    call.set(0, dtype, &dims);
    keep_items(call, &dims)
}

/// Transpose; without a permutation the order is reversed.
pub(super) fn transpose(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    let order: Vec<usize> = match call.int_list("perm") {
        Some(order) => order.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?,
        None => (0..dims.len()).rev().collect(),
    };
    let is_permutation = order.len() == dims.len() && (0..dims.len()).all(|position| order.contains(&position));
    if !is_permutation {
        return None;
    }
    let moved: Vec<Dim> = order.iter().map(|from| dims[*from]).collect();
    call.set(0, dtype, &moved);
    let value = call.value(0)?;
    call.add_value(0, value.transposed(&order));
    Some(())
}

/// Expand, whose target broadcasts against the data.
pub(super) fn expand(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let data = call.dims(0)?;
    let target: Vec<Dim> = if let Some(value) = call.value(1) {
        value.items.iter().map(|item| item.dim()).collect()
    } else {
        match *call.dims(1)? {
            [Dim::Known(rank)] if rank <= 64 => vec![Dim::Unknown; usize::try_from(rank).ok()?],
            _ => return None,
        }
    };
    let dims = call.sym.broadcast(&data, &target);
    call.set(0, dtype, &dims);
    let value = call.value(0)?;
    if let ([item], [Dim::Known(count)]) = (&value.items[..], &dims[..]) {
        let count = usize::try_from(*count)
            .ok()
            .filter(|count| *count <= super::fact::MAX_ELEMENTS)?;
        call.add_value(0, Value::vector(vec![*item; count]));
    } else {
        keep_items(call, &dims)?;
    }
    Some(())
}

/// Tile; repeats are an input.
pub(super) fn tile(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    if call.inputs.len() == 3 {
        // The first operator set: a number of tiles and an axis.
        let (tiles, at) = (call.value(1)?, call.ints(2)?);
        let at = axis(*at.first()?, dims.len())?;
        let mut dims = dims;
        dims[at] = call.sym.mul(dims[at], tiles.items.first()?.dim());
        call.set(0, dtype, &dims);
        return Some(());
    }
    let Some(repeats) = call.value(1) else {
        call.set(0, dtype, &vec![Dim::Unknown; dims.len()]);
        return None;
    };
    let tiled: Vec<Dim> = dims
        .iter()
        .zip(&repeats.items)
        .map(|(dim, times)| call.sym.mul(*dim, times.dim()))
        .collect();
    if tiled.len() != dims.len() {
        return None;
    }
    call.set(0, dtype, &tiled);
    let value = call.value(0)?;
    if let ([_], [Dim::Known(count)]) = (&value.dims[..], &tiled[..]) {
        let count = usize::try_from(*count)
            .ok()
            .filter(|count| *count <= super::fact::MAX_ELEMENTS)?;
        let items = value.items.iter().copied().cycle().take(count).collect();
        call.add_value(0, Value::vector(items));
    }
    Some(())
}

/// Blocks of space become channels.
pub(super) fn space_to_depth(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let block = call.int("blocksize").filter(|block| *block > 0)?;
    let [batch, channels, height, width] = call.dims(0)?[..] else {
        return None;
    };
    let channels = call.sym.with(DimOp::Mul, channels, block.checked_mul(block)?);
    let height = call.sym.with(DimOp::FloorDiv, height, block);
    let width = call.sym.with(DimOp::FloorDiv, width, block);
    call.set(0, dtype, &[batch, channels, height, width]);
    Some(())
}

/// Channels become blocks of space.
pub(super) fn depth_to_space(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let block = call.int("blocksize").filter(|block| *block > 0)?;
    let [batch, channels, height, width] = call.dims(0)?[..] else {
        return None;
    };
    let channels = call.sym.with(DimOp::FloorDiv, channels, block.checked_mul(block)?);
    let height = call.sym.with(DimOp::Mul, height, block);
    let width = call.sym.with(DimOp::Mul, width, block);
    call.set(0, dtype, &[batch, channels, height, width]);
    Some(())
}

/// The dimensions as a value, or a part of them.
pub(super) fn shape(call: &mut Call<'_>) -> Option<()> {
    use highwater_model::graph::DType::Int64;
    call.set_dtype(0, Int64);
    let dims = call.dims(0).or_else(|| {
        call.set(0, Int64, &[Dim::Unknown]);
        None
    })?;
    let clamp = |at: i64| {
        let rank = i64::try_from(dims.len()).unwrap_or(i64::MAX);
        let from_start = if at < 0 { at.saturating_add(rank) } else { at };
        usize::try_from(from_start.clamp(0, rank)).unwrap_or(0)
    };
    let start = clamp(call.int_or("start", 0));
    let end = clamp(call.int_or("end", i64::MAX));
    let items = dims
        .get(start..end.max(start))?
        .iter()
        .map(|dim| Num::of(*dim).into())
        .collect();
    call.set_value(0, Int64, Value::vector(items));
    Some(())
}

/// The number of elements.
pub(super) fn size(call: &mut Call<'_>) -> Option<()> {
    use highwater_model::graph::DType::Int64;
    call.set(0, Int64, &[]);
    let dims = call.dims(0)?;
    let count = call.sym.product(&dims);
    call.set_value(0, Int64, Value::scalar(count.into()));
    Some(())
}
