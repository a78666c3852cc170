//! Ops that choose or join elements: gathers, parts of a split, elements of a concatenation, largest elements.

use super::call::Call;
use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use highwater_model::graph::Dim;

/// Replaces axis `at` of the data by the indices at input 1, of which `batch` leading axes are shared.
pub(crate) fn gathered(call: &mut Call<'_>, data: &[Dim], at: usize, batch: usize) -> Option<()> {
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

/// Gather along an axis, the first by default.
pub(crate) fn gather(call: &mut Call<'_>) -> Option<()> {
    let data = call.dims(0)?;
    let at = call.axis_attr("axis", 0, data.len())?;
    gathered(call, &data, at, 0)
}

/// The last dimension of the indices (input 1) is the number of axes that one index replaces: of data or of a variable.
pub(crate) fn gather_nd(call: &mut Call<'_>) -> Option<()> {
    let data = match call.handle(0) {
        Some(handle) => call.sym.dims(handle.shape?).to_vec(),
        None => call.dims(0)?,
    };
    let batch = usize::try_from(call.int_or("batch_dims", 0)).ok()?;
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
pub(crate) fn concat_elements(call: &mut Call<'_>, inputs: impl IntoIterator<Item = usize>) -> Option<()> {
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
pub(crate) fn split(call: &mut Call<'_>, input: usize, at: usize, parts: Vec<Dim>) -> Option<()> {
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

/// The largest elements along an axis and their indices; an attribute or input 1 states how many.
pub(crate) fn top_k(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("axis", -1, dims.len())?;
    dims[at] = call
        .int("k")
        .map_or_else(|| call.scalar_dim(1), |count| Num::Int(count).dim());
    call.out(0, &dims);
    call.out(1, &dims)
}
