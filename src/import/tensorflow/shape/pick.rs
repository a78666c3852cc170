//! Ops that choose or join: Gather and its kin, Concat, Split, Pack, Unpack.

use crate::shape::fact::{Elem, MAX_ELEMENTS, Num, Value};
use crate::shape::sym::axis;
use highwater_model::graph::{Dim, DimOp};

use super::call::Call;
use super::elementwise::common;
use super::slice::stacked;

/// Gather along the first axis.
pub(super) fn gather(call: &mut Call<'_>) -> Option<()> {
    let data = call.dims(0)?;
    gathered(call, &data, 0, 0)
}

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
        call.out(0, &vec![Dim::Unknown; rank]);
        return None;
    };
    gathered(call, &data, at, batch)
}

/// Gather of rows of a variable.
pub(super) fn resource_gather(call: &mut Call<'_>) -> Option<()> {
    let shape = call.handle(0)?.shape?;
    let data = call.sym.dims(shape).to_vec();
    let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).ok()?;
    gathered(call, &data, batch, batch)
}

fn gathered(call: &mut Call<'_>, data: &[Dim], at: usize, batch: usize) -> Option<()> {
    let indices = call.dims(1)?;
    let mut dims = data.get(..at)?.to_vec();
    dims.extend_from_slice(indices.get(batch..)?);
    dims.extend_from_slice(data.get(at + 1..)?);
    call.out(0, &dims);
    if batch == 0 {
        let found = call.value(0)?.gathered(&*call.value(1)?, at)?;
        call.add_value(0, found);
    }
    Some(())
}

/// The last dimension of the indices says how many of the data's it replaces.
pub(super) fn gather_nd(call: &mut Call<'_>) -> Option<()> {
    let data = match call.handle(0) {
        Some(handle) => call.sym.dims(handle.shape?).to_vec(),
        None => call.dims(0)?,
    };
    let indices = call.dims(1)?;
    let (last, rest) = indices.split_last()?;
    let Dim::Known(depth) = last else { return None };
    let mut dims = rest.to_vec();
    dims.extend_from_slice(data.get(usize::try_from(*depth).ok()?..)?);
    call.out(0, &dims);
    Some(())
}

/// Concatenation; the axis is the last input, in the first generation the first.
pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.n_inputs();
    let (axis_input, parts) = if call.kind() == "Concat" || call.kind() == "QuantizedConcat" {
        let n_parts = usize::try_from(call.int("N")?).ok()?.min(n_inputs.checked_sub(1)?);
        (0, 1..1 + n_parts)
    } else {
        (n_inputs.checked_sub(1)?, 0..n_inputs - 1)
    };
    let shapes: Vec<Option<Vec<Dim>>> = parts.clone().map(|input| call.dims(input)).collect();
    let rank = shapes.iter().flatten().map(Vec::len).next()?;
    for output in 1..call.outputs.len() {
        call.out(output, &[]);
    }
    let Some(at) = call.axis_at(axis_input, rank) else {
        call.out(0, &vec![Dim::Unknown; rank]);
        return None;
    };
    let mut total = Dim::Known(0);
    for shape in &shapes {
        let part = shape.as_ref().and_then(|dims| dims.get(at).copied());
        total = call.sym.add(total, part.unwrap_or(Dim::Unknown));
    }
    let mut dims = common(shapes.into_iter().flatten().filter(|dims| dims.len() == rank).collect())?;
    dims[at] = total;
    call.out(0, &dims);
    if dims.len() != 1 {
        return None;
    }
    let mut items = Vec::new();
    for input in parts {
        match (call.value(input), call.dims(input)?.first()?) {
            (Some(value), Dim::Known(count)) if *count == value.items.len() as u64 => {
                items.extend_from_slice(&value.items);
            }
            (None, Dim::Known(count)) if *count <= MAX_ELEMENTS as u64 => {
                items.resize(items.len() + usize::try_from(*count).ok()?, Elem::Unknown);
            }
            _ => return None,
        }
        if items.len() > MAX_ELEMENTS {
            return None;
        }
    }
    call.add_value(0, Value::vector(items));
    Some(())
}

/// Where the parts of a concatenation start: input 0 is the axis, the others are their shapes.
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
    let count = i64::try_from(call.outputs.len()).ok()?;
    let part = call
        .axis_at(0, dims.len())
        .map(|at| (at, call.sym.with(DimOp::FloorDiv, dims[at], count)));
    let mut parts = Vec::with_capacity(call.outputs.len());
    for _ in 0..call.outputs.len() {
        parts.push(part.map(|(_, size)| size));
    }
    pieces(call, 1, &dims, part.map(|(at, _)| at), parts)
}

/// Parts of listed sizes; the axis is input 2.
pub(super) fn split_v(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let at = call.axis_at(2, dims.len());
    let sizes = call.value(1);
    let mut parts: Vec<Option<Dim>> = vec![None; call.outputs.len()];
    if let (Some(at), Some(sizes)) = (at, &sizes) {
        let mut rest = Num::of(dims[at]);
        for item in sizes.items.iter().filter(|item| **item != Elem::int(-1)) {
            rest = call.sym.op(DimOp::Sub, rest, item.num());
        }
        for (part, item) in parts.iter_mut().zip(&sizes.items) {
            let is_rest = *item == Elem::int(-1);
            *part = if is_rest { rest.map(Num::dim) } else { Some(item.dim()) };
        }
    }
    pieces(call, 0, &dims, at, parts)
}

/// States the parts of a split along an axis, with elements where the data are a list.
fn pieces(call: &mut Call<'_>, input: usize, dims: &[Dim], at: Option<usize>, parts: Vec<Option<Dim>>) -> Option<()> {
    let Some(at) = at else {
        for output in 0..call.outputs.len() {
            call.out(output, &vec![Dim::Unknown; dims.len()]);
        }
        return None;
    };
    let value = call.value(input).filter(|value| value.dims.len() == 1);
    let mut start = Some(0_usize);
    for (output, part) in parts.into_iter().enumerate() {
        let mut piece = dims.to_vec();
        piece[at] = part.unwrap_or(Dim::Unknown);
        call.out(output, &piece);
        let end = match part {
            Some(Dim::Known(size)) => start
                .zip(usize::try_from(size).ok())
                .and_then(|(a, b)| a.checked_add(b)),
            _ => None,
        };
        if let (Some(value), Some(start), Some(end)) = (&value, start, end) {
            let items = value.items.get(start..end)?.to_vec();
            call.add_value(output, Value::vector(items));
        }
        start = end;
    }
    Some(())
}

/// Tensors of one shape stacked along a new axis.
pub(super) fn pack(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.n_inputs();
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

/// The inverse of a stack.
pub(super) fn unpack(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = axis(call.int("axis").unwrap_or(0), dims.len())?;
    dims.remove(at);
    for output in 0..call.outputs.len() {
        call.out(output, &dims);
    }
    let value = call.value(0).filter(|value| value.dims.len() == 1)?;
    for (output, item) in value.items.iter().enumerate() {
        call.add_value(output, Value::scalar(*item));
    }
    Some(())
}

/// The largest elements of the last axis, and their indices.
pub(super) fn top_k(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    *dims.last_mut()? = match call.int("k") {
        Some(count) => Num::Int(count).dim(),
        None => call.scalar_dim(1),
    };
    call.out(0, &dims);
    call.out(1, &dims);
    Some(())
}

/// A new axis of the depth.
pub(super) fn one_hot(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = axis(call.int("axis").unwrap_or(-1), dims.len() + 1)?;
    dims.insert(at, call.scalar_dim(1));
    call.out(0, &dims);
    Some(())
}

/// Elements without repetition; where each went; how often each came.
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
        call.out(0, &vec![Dim::Unknown; dims.len()]);
        call.out(1, &[Dim::Unknown]);
        Some(())
    }
}

/// Where elements are not zero.
pub(super) fn positions_of(call: &mut Call<'_>) -> Option<()> {
    let rank = call.dims(0)?.len();
    call.out(0, &[Dim::Unknown, Dim::Known(rank as u64)]);
    Some(())
}
