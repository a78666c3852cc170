//! Ops that choose or join elements: gathers, parts of a split, elements of a concatenation, largest elements.

use super::call::{Call, Format};
use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use super::sym::axis;
use highwater_model::graph::Dim;

/// Replaces axis `at` of the data by the indices at input 1, of which `batch` leading axes are shared.
pub(crate) fn gather<F: Format>(call: &mut Call<'_, F>, data: &[Dim], at: usize, batch: usize) -> Option<()> {
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

/// The last dimension of the indices (input 1) is the number of the data's axes that one index replaces.
pub(crate) fn gather_nd<F: Format>(call: &mut Call<'_, F>, data: &[Dim], batch: usize) -> Option<()> {
    let indices = call.dims(1)?;
    let (last, rest) = indices.split_last()?;
    let Dim::Known(depth) = last else {
        return None;
    };
    let mut dims = rest.to_vec();
    let tail = batch.checked_add(usize::try_from(*depth).ok()?)?;
    dims.extend_from_slice(data.get(tail..)?);
    call.out(0, &dims)
}

/// The elements of a concatenation of vectors.
pub(crate) fn concat_elements<F: Format>(
    call: &mut Call<'_, F>,
    inputs: impl IntoIterator<Item = usize>,
) -> Option<()> {
    let mut items = Vec::new();
    for input in inputs {
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
    call.add_value(0, Value::vector(items))
}

/// Parts of an input along an axis, with elements where the data are a vector.
pub(crate) fn split<F: Format>(call: &mut Call<'_, F>, input: usize, at: usize, parts: Vec<Dim>) -> Option<()> {
    let dims = call.dims(input)?;
    let value = call.value(input).filter(|value| value.dims.len() == 1);
    let mut start = Some(0_usize);
    for (output, part) in parts.into_iter().enumerate().take(call.outputs.len()) {
        let mut piece = dims.clone();
        piece[at] = part;
        call.out(output, &piece);
        let end = match part {
            Dim::Known(size) => start
                .zip(usize::try_from(size).ok())
                .and_then(|(start, size)| start.checked_add(size)),
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

/// The largest elements along an axis and their indices: `count` of them, or as many as input 1 states.
pub(crate) fn top_k<F: Format>(call: &mut Call<'_, F>, at: i64, count: Option<i64>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = axis(at, dims.len())?;
    dims[at] = count.map_or_else(|| call.scalar_dim(1), |count| Num::Int(count).dim());
    call.out(0, &dims);
    call.out(1, &dims)
}
