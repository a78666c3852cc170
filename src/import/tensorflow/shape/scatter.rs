//! Ops that put elements at indices.

use crate::shape::call::Call;
use crate::shape::fact::{Elem, MAX_ELEMENTS, Value};
use highwater_model::graph::Dim;

/// The first half of the inputs are indices, the second the data that go there.
pub(super) fn stitch(call: &mut Call<'_>) -> Option<()> {
    let n_parts = call.inputs.len() / 2;
    let mut tail = None;
    for part in 0..n_parts {
        if let (Some(indices), Some(data)) = (call.dims(part), call.dims(part + n_parts)) {
            tail = data.get(indices.len()..).map(<[Dim]>::to_vec);
        }
    }
    let tail = tail?;
    let indices: Option<Vec<Vec<i64>>> = (0..n_parts).map(|part| call.ints(part)).collect();
    let mut dims = vec![Dim::Unknown];
    dims.extend_from_slice(&tail);
    call.out(0, &dims);
    let indices = indices?;
    let highest = indices.iter().flatten().copied().max().unwrap_or(-1);
    let count = usize::try_from(highest.checked_add(1)?).ok()?;
    dims[0] = Dim::Known(count as u64);
    call.out(0, &dims);
    if !tail.is_empty() || count > MAX_ELEMENTS {
        return None;
    }
    let mut items = vec![Elem::Unknown; count];
    for (part, indices) in indices.iter().enumerate() {
        let value = call.value(part + n_parts);
        for (position, index) in indices.iter().enumerate() {
            let item = value.as_ref().and_then(|value| value.items.get(position)).copied();
            let slot = usize::try_from(*index).ok().and_then(|index| items.get_mut(index))?;
            *slot = item.unwrap_or(Elem::Unknown);
        }
    }
    call.add_value(0, Value::vector(items))
}

/// Parts that only data decide: rows of the data.
pub(super) fn partition(call: &mut Call<'_>) -> Option<()> {
    let (data, parts) = (call.dims(0)?, call.dims(1)?);
    let mut dims = vec![Dim::Unknown];
    dims.extend_from_slice(data.get(parts.len()..)?);
    call.out_from(0, &dims)
}

/// Indices by position: the inverse of a permutation.
pub(super) fn invert_permutation(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    let order = call.ints(0)?;
    let mut items = vec![Elem::Unknown; order.len()];
    for (position, index) in order.iter().enumerate() {
        let slot = usize::try_from(*index).ok().and_then(|index| items.get_mut(index))?;
        *slot = Elem::int(i64::try_from(position).ok()?);
    }
    call.add_value(0, Value::vector(items))
}
