//! Ops that choose elements: Gather and its kin, Slice, Split, Concat.

use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num};
use crate::shape::pick;
use crate::shape::sizes::{Range, positions, sliced};
use crate::shape::sym::axis;
use highwater_model::graph::{DType, Dim, DimOp};

/// Slice; ranges are attributes in old operator sets and inputs in new ones.
pub(super) fn slice(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let (starts, ends, axes, steps) = if call.has_attr("starts") {
        let list = |values: &[i64]| values.iter().copied().map(Elem::int).collect::<Vec<_>>();
        (
            Some(list(call.list("starts")?)),
            Some(list(call.list("ends")?)),
            call.list("axes").map(<[i64]>::to_vec),
            None,
        )
    } else {
        let items = |call: &Call<'_>, input| call.value(input).map(|value| value.items.clone());
        if call.has(3) && call.ints(3).is_none() {
            call.out_rank(dims.len());
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
    call.out(0, &dims);
    slice_value(
        call,
        &axes,
        starts.as_deref()?,
        ends.as_deref()?,
        steps.flatten().as_deref(),
    )
}

fn slice_value(
    call: &mut Call<'_>,
    axes: &[i64],
    starts: &[Elem],
    ends: &[Elem],
    steps: Option<&[Elem]>,
) -> Option<()> {
    let mut value = (*call.value(0)?).clone();
    for (position, at) in axes.iter().enumerate() {
        let at = axis(*at, value.dims.len())?;
        let number = |items: &[Elem]| match items.get(position) {
            Some(Elem::Num(Num::Int(value))) => Some(*value),
            _ => None,
        };
        let step = steps.map_or(Some(1), number)?;
        let size = i64::try_from(value.dims[at]).ok()?;
        let (first, count) = positions(size, number(starts)?, number(ends)?, step)?;
        value = value.strided(at, first, count, step)?;
    }
    call.add_value(0, value)
}

pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.inputs.len();
    joined(call, 0..n_inputs)?;
    pick::concat_elements(call, 0..n_inputs)
}

/// Quantized concatenation (com.microsoft): behind the result's scale and zero point, tensors with theirs.
pub(super) fn q_concat(call: &mut Call<'_>) -> Option<()> {
    let n_inputs = call.inputs.len();
    joined(call, (2..n_inputs).step_by(3))
}

/// Inputs one behind the other along an axis; all have the same number of dimensions.
fn joined(call: &mut Call<'_>, mut inputs: impl Iterator<Item = usize>) -> Option<()> {
    let mut dims = call.dims(inputs.next()?)?;
    let default = i64::from(call.node.opset < 4);
    let at = call.axis_attr("axis", default, dims.len())?;
    for input in inputs {
        let other = call.dims(input)?;
        if other.len() != dims.len() {
            return None;
        }
        for position in 0..dims.len() {
            if position == at {
                dims[at] = call.sym.dim(DimOp::Add, dims[at], other[at]);
            } else if !matches!(dims[position], Dim::Known(_)) && other[position] != Dim::Unknown {
                // The sizes agree in any valid model: a number says more than an expression.
                dims[position] = other[position];
            }
        }
    }
    call.out(0, &dims);
    (dims.len() == 1).then_some(())
}

/// Rows of a table in blocks of few bits (com.microsoft); bytes hold several elements of the last axis.
pub(super) fn gather_quantized(call: &mut Call<'_>) -> Option<()> {
    let (mut dims, indices) = (call.dims(0)?, call.dims(1)?);
    let bits = call.int_or("bits", 4);
    if call.dtype(0) == DType::Uint8 && (1..8).contains(&bits) {
        let last = dims.last_mut()?;
        *last = call.sym.with(DimOp::Mul, *last, 8 / bits);
    }
    let at = call.axis_attr("gather_axis", 0, dims.len())?;
    dims.splice(at..=at, indices);
    call.out(0, &dims)
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
        call.list("split")?.iter().map(|part| Elem::int(*part).dim()).collect()
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
        let last = call.sym.dim(DimOp::Sub, dims[at], before);
        let mut parts = vec![part; n_outputs];
        if usize::try_from(count) == Ok(n_outputs) {
            parts[n_outputs - 1] = last;
        }
        parts
    };
    pick::split(call, 0, at, parts)
}
