//! Axes, orders of axes, indices and lists with an item per axis.

use super::known;
use crate::shape::call::Call;
use crate::shape::sym::axis;
use highwater_model::graph::Dim;

/// An axis of a tensor of this rank; an op may take `more` positions than the tensor has dimensions.
pub(super) fn out_of_range(at: i64, rank: usize, more: usize) -> Option<String> {
    let is_outside = axis(at, rank + more).is_none();
    let plural = if rank == 1 { "" } else { "s" };
    is_outside.then(|| {
        let range = range(at, rank + more);
        format!("axis {at} of a tensor with {rank} dimension{plural}{range}")
    })
}

/// The positions that would fit among `count`, counted from the side of one that does not.
fn range(at: i64, count: usize) -> String {
    match count.checked_sub(1) {
        None => String::new(),
        Some(_) if at < 0 => format!(" (-{count} to -1)"),
        Some(last) => format!(" (0 to {last})"),
    }
}

/// Axes as an attribute or an input.
pub(super) fn in_range(call: &Call<'_>, name: &str, input: usize) -> Option<String> {
    let axes = call.attr_or_input(name, input)??;
    let rank = call.dims(0)?.len();
    axes.iter().find_map(|at| out_of_range(*at, rank, 0))
}

/// Inputs differ along the axis of the concatenation alone.
pub(super) fn concat(call: &Call<'_>) -> Option<String> {
    let first = call.dims(0)?;
    let default = i64::from(call.node.opset < 4);
    let at = call.axis_attr("axis", default, first.len())?;
    let shapes: Vec<Vec<Dim>> = (0..call.inputs.len()).filter_map(|input| call.dims(input)).collect();
    if let Some(other) = shapes.iter().find(|other| other.len() != first.len()) {
        return Some(format!(
            "the numbers of dimensions of what is joined: {} against {}",
            first.len(),
            other.len()
        ));
    }
    for position in (0..first.len()).filter(|position| *position != at) {
        let mut sizes = shapes.iter().filter_map(|dims| known(dims[position]));
        let Some(one) = sizes.next() else {
            continue;
        };
        if let Some(other) = sizes.find(|other| *other != one) {
            return Some(format!("sizes along axis {position}: {one} against {other}"));
        }
    }
    None
}

/// The parts are as large as the whole; equal ones divide it.
pub(super) fn split(call: &Call<'_>) -> Option<String> {
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let Some(parts) = call.attr_or_input("split", 1)? else {
        let (size, count) = (known(dims[at])?, call.outputs.len() as u64);
        // From operator set 18 on the last part may be smaller.
        let fits = call.node.opset >= 18 || count == 0 || size.is_multiple_of(count);
        return (!fits).then(|| format!("what is split and the number of equal parts: {size} against {count}"));
    };
    let sum = parts
        .iter()
        .try_fold(0_u64, |sum, part| sum.checked_add(u64::try_from(*part).ok()?))?;
    let size = known(dims[at])?;
    (sum != size).then(|| format!("the parts of a split and what is split: {sum} against {size}"))
}

pub(super) fn transpose(call: &Call<'_>) -> Option<String> {
    let (order, rank) = (call.list("perm")?, call.dims(0)?.len());
    if order.len() != rank {
        return Some(format!(
            "the order of axes and the number of dimensions: {} against {rank}",
            order.len()
        ));
    }
    let missing = (0..rank).find(|at| !order.iter().any(|from| axis(*from, rank) == Some(*at)))?;
    Some(format!("the order of axes {order:?} lacks axis {missing}"))
}

/// Known indices are within the axis.
pub(super) fn gather(call: &Call<'_>) -> Option<String> {
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let size = usize::try_from(known(dims[at])?).ok()?;
    let beyond = call.ints(1)?.into_iter().find(|index| axis(*index, size).is_none())?;
    let range = range(beyond, size);
    Some(format!("index {beyond} of an axis of {size}{range}"))
}

/// Updates have the shape of the indices without their last axis, and of the data behind the axes that an index names.
pub(super) fn scatter_nd(call: &Call<'_>) -> Option<String> {
    let (data, indices, updates) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let (last, rows) = indices.split_last()?;
    let depth = usize::try_from(known(*last)?).ok()?;
    let Some(slices) = data.get(depth..) else {
        return Some(format!(
            "the axes that an index names and the number of dimensions: {depth} against {}",
            data.len()
        ));
    };
    let wanted = [rows, slices].concat();
    if wanted.len() != updates.len() {
        let (found, wanted) = (updates.len(), wanted.len());
        return Some(format!(
            "the numbers of dimensions of updates and of what they replace: {found} against {wanted}"
        ));
    }
    let differ = |(found, wanted): (&Dim, &Dim)| {
        let (found, wanted) = (known(*found)?, known(*wanted)?);
        (found != wanted).then(|| format!("sizes of updates and of what they replace: {found} against {wanted}"))
    };
    updates.iter().zip(&wanted).find_map(differ)
}

/// A coordinate for each spatial axis of the data.
pub(super) fn grid(call: &Call<'_>) -> Option<String> {
    let spatial = call.dims(0)?.len().checked_sub(2)? as u64;
    let found = known(*call.dims(1)?.last()?)?;
    (found != spatial).then(|| format!("coordinates and spatial axes: {found} against {spatial}"))
}

/// Dropped axes have the size 1.
pub(super) fn squeeze(call: &Call<'_>) -> Option<String> {
    let dims = call.dims(0)?;
    let axes = call.attr_or_input("axes", 1)??;
    let drops = |at: &i64| {
        let Some(position) = axis(*at, dims.len()) else {
            return out_of_range(*at, dims.len(), 0);
        };
        let size = known(dims[position]).filter(|size| *size != 1)?;
        Some(format!("the size of a dropped axis: {size} against 1"))
    };
    axes.iter().find_map(drops)
}

/// As many repeats as dimensions; the first operator set has other inputs.
pub(super) fn tile(call: &Call<'_>) -> Option<String> {
    if call.has(2) {
        return None;
    }
    listed(call, "repeats", 1, 1)
}

/// A list, as an attribute or an input, has so many items for each axis.
pub(super) fn listed(call: &Call<'_>, name: &str, input: usize, times: usize) -> Option<String> {
    // Pads of chosen axes are as many as those axes.
    if call.has(3) {
        return None;
    }
    let rank = call.dims(0)?.len().checked_mul(times)?;
    let count = call.attr_or_input(name, input)??.len();
    (count != rank).then(|| format!("the items of {name} and those that the dimensions need: {count} against {rank}"))
}

/// New axes are positions of the result.
pub(super) fn unsqueeze(call: &Call<'_>) -> Option<String> {
    let axes = call.attr_or_input("axes", 1)??;
    let rank = call.dims(0)?.len();
    axes.iter().find_map(|at| out_of_range(*at, rank, axes.len()))
}

/// As many ends as starts, and as many axes and steps.
pub(super) fn slice(call: &Call<'_>) -> Option<String> {
    let count = |input: usize| call.value(input).map(|value| value.items.len());
    let starts = count(1)?;
    let other = [2, 3, 4].into_iter().filter_map(count).find(|other| *other != starts)?;
    Some(format!(
        "the numbers of starts and of ends, axes or steps: {starts} against {other}"
    ))
}

/// An index names at most as many axes as there are.
pub(super) fn gather_nd(call: &Call<'_>) -> Option<String> {
    let batch = usize::try_from(call.int_or("batch_dims", 0)).ok()?;
    let depth = usize::try_from(known(*call.dims(1)?.last()?)?).ok()?;
    let rank = call.dims(0)?.len();
    (depth > rank.checked_sub(batch)?)
        .then(|| format!("the axes that an index names and the number of dimensions: {depth} against {rank}"))
}

/// No more elements than the axis has.
pub(super) fn top_k(call: &Call<'_>) -> Option<String> {
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", -1, dims.len())?;
    let wanted = u64::try_from(call.int("k").or_else(|| call.scalar_int(1))?).ok()?;
    let size = known(dims[at])?;
    (wanted > size).then(|| format!("k is {wanted} of an axis of {size}"))
}

/// Scales or sizes for each axis, or for each of the axes that are named.
pub(super) fn resize(call: &Call<'_>) -> Option<String> {
    let rank = match call.list("axes") {
        Some(axes) => axes.len(),
        None => call.dims(0)?.len(),
    };
    // Operator set 10 has the scales at input 1; an empty list is none.
    let inputs = if call.node.opset < 11 { 1..2 } else { 2..4 };
    let count = |input: usize| usize::try_from(known(*call.dims(input)?.first()?)?).ok();
    let counts = inputs.filter_map(count);
    let count = counts.into_iter().find(|count| *count != 0 && *count != rank)?;
    Some(format!(
        "scales or sizes and the number of axes: {count} against {rank}"
    ))
}

/// A scale for each element of an axis, where the scale is a vector.
pub(super) fn quantized(call: &Call<'_>) -> Option<String> {
    let (data, scale) = (call.dims(0)?, call.dims(1)?);
    let [scale] = scale[..] else { return None };
    if call.int_or("block_size", 0) != 0 {
        return None;
    }
    let at = call.axis_attr("axis", 1, data.len())?;
    let (size, scales) = (known(data[at])?, known(scale)?);
    (scales != size && scales != 1).then(|| format!("scales and the size of their axis: {scales} against {size}"))
}
