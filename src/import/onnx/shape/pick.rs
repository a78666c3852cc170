//! Ops that choose elements: Gather and its kin, Slice, Split, Concat.

use highwater_model::graph::{Dim, DimOp};

use super::call::Call;
use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use super::sizes::{Range, positions, sliced};
use super::sym::axis;

/// Gather along one axis.
pub(super) fn gather(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let (data, indices) = (call.dims(0)?, call.dims(1)?);
    let at = call.axis_attr("axis", 0, data.len())?;
    let mut dims = data[..at].to_vec();
    dims.extend_from_slice(&indices);
    dims.extend_from_slice(&data[at + 1..]);
    call.set(0, dtype, &dims);
    let (value, wanted) = (call.value(0)?, call.value(1)?);
    let found = value.gathered(&wanted, at)?;
    call.add_value(0, found);
    Some(())
}

/// The shape of the indices, the type of the data.
pub(super) fn gather_elements(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(1)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// `GatherND`: the last dimension of the indices says how many of the data's it replaces.
pub(super) fn gather_nd(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let (data, indices) = (call.dims(0)?, call.dims(1)?);
    let batch = usize::try_from(call.int_or("batch_dims", 0)).ok()?;
    let (last, rest) = indices.split_last()?;
    let Dim::Known(depth) = last else {
        return None;
    };
    let mut dims = rest.to_vec();
    let tail = batch.checked_add(usize::try_from(*depth).ok()?)?;
    dims.extend_from_slice(data.get(tail..)?);
    call.set(0, dtype, &dims);
    Some(())
}

/// Slice; ranges are attributes in old operator sets and inputs in new ones.
pub(super) fn slice(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    let (starts, ends, axes, steps) = if call.has_attr("starts") {
        let list = |values: Vec<i64>| values.into_iter().map(Elem::int).collect::<Vec<_>>();
        (
            Some(list(call.int_list("starts")?)),
            Some(list(call.int_list("ends")?)),
            call.int_list("axes"),
            None,
        )
    } else {
        let items = |call: &Call<'_>, input| call.value(input).map(|value| value.items.clone());
        if call.has(3) && call.ints(3).is_none() {
            call.set(0, dtype, &vec![Dim::Unknown; dims.len()]);
            return None;
        }
        let steps = if call.has(4) { Some(items(call, 4)) } else { None };
        (items(call, 1), items(call, 2), call.ints(3), steps)
    };
    let count = starts.as_ref().map_or(dims.len(), Vec::len);
    let axes = axes.unwrap_or_else(|| (0..count).filter_map(|at| i64::try_from(at).ok()).collect());
    let pick = |items: Option<&Vec<Elem>>, position: usize| {
        items
            .and_then(|items| items.get(position))
            .copied()
            .unwrap_or(Elem::Unknown)
    };
    for (position, at) in axes.iter().enumerate() {
        let at = axis(*at, dims.len())?;
        let step = steps
            .as_ref()
            .map_or(Elem::int(1), |steps| pick(steps.as_ref(), position));
        let range = Range {
            start: pick(starts.as_ref(), position).num(),
            end: pick(ends.as_ref(), position).num(),
            step: step.num(),
        };
        dims[at] = sliced(call.sym, dims[at], range);
    }
    call.set(0, dtype, &dims);
    slice_value(
        call,
        &axes,
        starts.as_deref()?,
        ends.as_deref()?,
        steps.flatten().as_deref(),
    )
}

/// The elements of a sliced value with known ranges.
fn slice_value(
    call: &mut Call<'_>,
    axes: &[i64],
    starts: &[Elem],
    ends: &[Elem],
    steps: Option<&[Elem]>,
) -> Option<()> {
    let value = call.value(0)?;
    let mut value = (*value).clone();
    for (position, at) in axes.iter().enumerate() {
        let at = axis(*at, value.dims.len())?;
        let number = |items: &[Elem]| match items.get(position) {
            Some(Elem::Num(Num::Int(value))) => Some(*value),
            _ => None,
        };
        let step = steps.map_or(Some(1), number)?;
        let size = i64::try_from(value.dims[at]).ok()?;
        let found = positions(size, (number(starts)?, number(ends)?), step)?;
        value = value.strided(at, found, step)?;
    }
    call.add_value(0, value);
    Some(())
}

/// Concatenation along an axis.
pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    concat_inputs(call, &(0..call.inputs.len()).collect::<Vec<_>>())
}

/// Concatenation of some inputs.
pub(super) fn concat_inputs(call: &mut Call<'_>, inputs: &[usize]) -> Option<()> {
    let dtype = call.dtype(*inputs.first()?);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(*inputs.first()?)?;
    let default = i64::from(call.model.opset < 4);
    let at = call.axis_attr("axis", default, dims.len())?;
    for input in &inputs[1..] {
        let other = call.dims(*input)?;
        if other.len() != dims.len() {
            return None;
        }
        for position in 0..dims.len() {
            if position == at {
                dims[at] = call.sym.add(dims[at], other[at]);
            } else if !matches!(dims[position], Dim::Known(_)) && other[position] != Dim::Unknown {
                // The sizes agree in any valid model: a number says more than an expression.
                dims[position] = other[position];
            }
        }
    }
    call.set(0, dtype, &dims);
    if dims.len() != 1 {
        return None;
    }
    let mut items = Vec::new();
    for input in inputs {
        match call.value(*input) {
            Some(value) => items.extend_from_slice(&value.items),
            None => match *call.dims(*input)? {
                [Dim::Known(count)] if count <= MAX_ELEMENTS as u64 => {
                    items.resize(items.len() + usize::try_from(count).ok()?, Elem::Unknown);
                }
                _ => return None,
            },
        }
        if items.len() > MAX_ELEMENTS {
            return None;
        }
    }
    call.add_value(0, Value::vector(items));
    Some(())
}

/// Split into listed or equal parts; where they are not equal the last is the smallest.
pub(super) fn split(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    let n_outputs = call.outputs.len();
    for output in 0..n_outputs {
        call.set_dtype(output, dtype);
    }
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let parts: Vec<Dim> = if call.has_attr("split") {
        call.int_list("split")?
            .into_iter()
            .map(|part| Elem::int(part).dim())
            .collect()
    } else if call.has(1) {
        call.value(1).map_or_else(
            || vec![Dim::Unknown; n_outputs],
            |value| value.items.iter().map(|item| item.dim()).collect(),
        )
    } else {
        let count = i64::try_from(n_outputs).ok()?;
        let count = call.int_or("num_outputs", count);
        if count <= 0 || usize::try_from(count).ok()? < n_outputs {
            return None;
        }
        let part = call.sym.with(DimOp::CeilDiv, dims[at], count);
        let before = call.sym.with(DimOp::Mul, part, count - 1);
        let last = call.sym.op(DimOp::Sub, Num::of(dims[at]), Num::of(before));
        let mut parts = vec![part; n_outputs];
        if usize::try_from(count) == Ok(n_outputs) {
            parts[n_outputs - 1] = last.map_or(Dim::Unknown, Num::dim);
        }
        parts
    };
    let value = call.value(0).filter(|value| value.dims.len() == 1);
    let mut start = Some(0_usize);
    for (output, part) in parts.into_iter().enumerate().take(n_outputs) {
        let mut piece = dims.clone();
        piece[at] = part;
        call.set(output, dtype, &piece);
        let end = match part {
            Dim::Known(size) => start
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
