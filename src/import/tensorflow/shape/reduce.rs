//! Reductions along axes that an input names, positions of extremes, and sums of segments.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::reduce;
use crate::shape::sym::{axes, axis};
use highwater_model::graph::{Dim, DimOp};

/// Sums, means, products and extremes along axes.
pub(super) fn reduce(call: &mut Call<'_>) -> Option<()> {
    let keeps_axes = call.flag("keep_dims");
    let dims = call.dims(0)?;
    let Some(listed) = call.ints(1) else {
        return unknown_axes(call, &dims, keeps_axes);
    };
    let operation = match call.kind {
        "Prod" => Some(DimOp::Mul),
        "Sum" => Some(DimOp::Add),
        "Max" | "Any" => Some(DimOp::Max),
        "Min" | "All" => Some(DimOp::Min),
        _ => None,
    };
    let axes = axes(&listed, dims.len())?;
    reduce::reduce(call, &axes, keeps_axes, operation)
}

/// Unknown axes: all dimensions may be reduced, none or some.
fn unknown_axes(call: &mut Call<'_>, dims: &[Dim], keeps_axes: bool) -> Option<()> {
    if keeps_axes {
        return call.out_rank(dims.len());
    }
    // As many axes as there are dimensions leave nothing; one axis of one leaves nothing either.
    let n_axes = match *call.dims(1)? {
        [] => 1,
        [Dim::Known(count)] => usize::try_from(count).ok()?,
        _ => return None,
    };
    let rest = dims.len().checked_sub(n_axes)?;
    call.out_rank(rest)
}

/// Positions of extremes along one axis.
pub(super) fn arg_reduce(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    match call.scalar_int(1) {
        Some(at) => {
            dims.remove(axis(at, dims.len())?);
        }
        None => dims = vec![Dim::Unknown; dims.len().checked_sub(1)?],
    }
    call.out(0, &dims)
}

/// Sums of segments: the last identifier decides the number of rows.
pub(super) fn segment(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let ids = call.ints(1).and_then(|ids| ids.last().copied());
    let count = ids.and_then(|last| last.checked_add(1)).map(Num::Int);
    *dims.first_mut()? = count.map_or(Dim::Unknown, Num::dim);
    call.out(0, &dims)
}

/// Sums of segments whose number an input names.
pub(super) fn unsorted_segment(call: &mut Call<'_>) -> Option<()> {
    let (dims, ids) = (call.dims(0)?, call.dims(1)?);
    let mut found = vec![call.scalar_dim(2)];
    found.extend_from_slice(dims.get(ids.len()..)?);
    call.out(0, &found)
}

/// Sums of chosen rows by segment: as many rows as only data decide, or as an input names.
pub(super) fn sparse_segment(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    *dims.first_mut()? = match call.kind {
        "SparseSegmentSumGrad" | "SparseSegmentMeanGrad" | "SparseSegmentSqrtNGrad" => call.scalar_dim(3),
        kind if kind.ends_with("WithNumSegments") => call.scalar_dim(3),
        _ => Dim::Unknown,
    };
    call.out(0, &dims)
}

/// Counts of numbers below a size.
pub(super) fn bincount(call: &mut Call<'_>) -> Option<()> {
    let size = call.scalar_dim(1);
    match call.dims(0).as_deref() {
        Some([rows, _]) if call.kind == "DenseBincount" => call.out(0, &[*rows, size]),
        _ => call.out(0, &[size]),
    }
}
