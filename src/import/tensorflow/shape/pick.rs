//! Ops that choose or join: Gather and its kin, Concat, Split, Pack, Unpack.

use super::elementwise::common;
use super::slice::stacked;
use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num, Value};
use crate::shape::pick;
use crate::shape::sym::axis;
use highwater_model::graph::{Dim, DimOp};

/// Gather along an axis that input 2 names.
pub(super) fn gather_v2(call: &mut Call<'_>) -> Option<()> {
    let data = call.dims(0)?;
    let batch = call.int("batch_dims").unwrap_or(0);
    let batch = if batch == 0 {
        0
    } else {
        axis(batch, call.dims(1)?.len())?
    };
    let Some(at) = call.axis_at(2, data.len()) else {
        let rank = (data.len() + call.dims(1)?.len()).checked_sub(1 + batch)?;
        call.out_rank(rank);
        return None;
    };
    pick::gathered(call, &data, at, batch)
}

/// Gather of rows of a variable.
pub(super) fn resource_gather(call: &mut Call<'_>) -> Option<()> {
    let shape = call.handle(0)?.shape?;
    let data = call.sym.dims(shape).to_vec();
    let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).ok()?;
    pick::gathered(call, &data, batch, batch)
}

/// Concatenation; the axis is the last input, in the first generation the first.
pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.inputs.len();
    let (axis_input, parts) = if call.kind == "Concat" || call.kind == "QuantizedConcat" {
        let n_parts = usize::try_from(call.int("N")?).ok()?.min(n_inputs.checked_sub(1)?);
        (0, 1..1 + n_parts)
    } else {
        (n_inputs.checked_sub(1)?, 0..n_inputs - 1)
    };
    let shapes: Vec<Option<Vec<Dim>>> = parts.clone().map(|input| call.dims(input)).collect();
    let rank = shapes.iter().flatten().map(Vec::len).next()?;
    call.out_scalars(1);
    let Some(at) = call.axis_at(axis_input, rank) else {
        call.out_rank(rank);
        return None;
    };
    let mut total = Dim::Known(0);
    for shape in &shapes {
        let part = shape.as_ref().and_then(|dims| dims.get(at).copied());
        total = call.sym.dim(DimOp::Add, total, part.unwrap_or(Dim::Unknown));
    }
    let mut dims = common(shapes.into_iter().flatten().filter(|dims| dims.len() == rank).collect())?;
    dims[at] = total;
    call.out(0, &dims);
    if dims.len() != 1 {
        return None;
    }
    pick::concat_elements(call, parts)
}

/// The offsets of the parts of a concatenation: input 0 is the axis, the others are their shapes.
pub(super) fn concat_offset(call: &mut Call<'_>) -> Option<()> {
    let mut start = Some(Num::Int(0));
    for output in 0..call.outputs.len() {
        call.like(output, output + 1)?;
        if let (Some(at), Some(shape)) = (call.scalar_int(0), call.value(output + 1)) {
            let at = axis(at, shape.items.len())?;
            let mut items = vec![Elem::int(0); shape.items.len()];
            items[at] = start.into();
            start = call.sym.op(DimOp::Add, start, shape.items[at].num());
            call.add_value(output, Value::vector(items));
        }
    }
    Some(())
}

/// Equal parts; the axis is input 0.
pub(super) fn split(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(1)?;
    let n_outputs = call.outputs.len();
    let Some(at) = call.axis_at(0, dims.len()) else {
        return unknown_parts(call, dims.len());
    };
    let part = call.sym.with(DimOp::FloorDiv, dims[at], i64::try_from(n_outputs).ok()?);
    pick::split(call, 1, at, vec![part; n_outputs])
}

/// Parts of listed sizes; the axis is input 2.
pub(super) fn split_v(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let Some(at) = call.axis_at(2, dims.len()) else {
        return unknown_parts(call, dims.len());
    };
    let mut parts = vec![Dim::Unknown; call.outputs.len()];
    if let Some(sizes) = call.value(1) {
        let mut rest = Num::of(dims[at]);
        for item in sizes.items.iter().filter(|item| **item != Elem::int(-1)) {
            rest = call.sym.op(DimOp::Sub, rest, item.num());
        }
        for (part, item) in parts.iter_mut().zip(&sizes.items) {
            let is_rest = *item == Elem::int(-1);
            *part = if is_rest { Elem::from(rest).dim() } else { item.dim() };
        }
    }
    pick::split(call, 0, at, parts)
}

fn unknown_parts(call: &mut Call<'_>, rank: usize) -> Option<()> {
    call.out_from(0, &vec![Dim::Unknown; rank])
}

/// Tensors of one shape stacked along a new axis.
pub(super) fn pack(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.inputs.len();
    let shapes: Vec<Vec<Dim>> = (0..n_inputs).filter_map(|input| call.dims(input)).collect();
    let mut dims = common(shapes)?;
    let at = axis(call.int("axis").unwrap_or(0), dims.len() + 1)?;
    dims.insert(at, Dim::Known(n_inputs as u64));
    call.out(0, &dims);
    if dims.len() == 1 {
        let items = stacked(call, 0..n_inputs);
        call.add_value(0, Value::vector(items));
    } else if at == 0 {
        let parts: Option<Vec<_>> = (0..n_inputs).map(|input| call.value(input)).collect();
        let parts = parts?;
        let items: Vec<Elem> = parts.iter().flat_map(|value| value.items.iter().copied()).collect();
        let mut sizes = vec![n_inputs];
        sizes.extend_from_slice(&parts.first()?.dims);
        if parts.iter().all(|part| part.dims == parts[0].dims) {
            call.add_value(0, Value { dims: sizes, items });
        }
    }
    Some(())
}

pub(super) fn unpack(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = axis(call.int("axis").unwrap_or(0), dims.len())?;
    dims.remove(at);
    call.out_from(0, &dims);
    let value = call.value(0).filter(|value| value.dims.len() == 1)?;
    for (output, item) in value.items.iter().enumerate() {
        call.add_value(output, Value::scalar(*item));
    }
    Some(())
}

/// Unique elements; the position of each input among them; the count of each.
pub(super) fn unique(call: &mut Call<'_>) -> Option<()> {
    for output in [0, 2] {
        call.out(output, &[Dim::Unknown]);
    }
    let dims = call.dims(0)?;
    if dims.len() == 1 {
        call.like(1, 0)
    } else {
        // Along axes: as many indices as rows.
        call.outputs.first_mut()?.shape = None;
        call.out_rank(dims.len());
        call.out(1, &[Dim::Unknown])
    }
}

/// Positions of elements that are not zero.
pub(super) fn positions_of(call: &mut Call<'_>) -> Option<()> {
    let rank = call.dims(0)?.len();
    call.out(0, &[Dim::Unknown, Dim::Known(rank as u64)])
}
