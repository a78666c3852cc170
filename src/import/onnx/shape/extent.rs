//! Ops that change how far single axes reach: Pad, `TopK`, Compress, `CenterCropPad`.

use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num};
use crate::shape::sym::axes;
use highwater_model::graph::{Dim, DimOp};

/// Pad; amounts are an attribute in old operator sets and an input in new ones.
pub(super) fn pad(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let name = if call.has_attr("paddings") { "paddings" } else { "pads" };
    let amounts: Vec<Elem> = if call.has_attr(name) {
        call.list(name)?.iter().copied().map(Elem::int).collect()
    } else if let Some(value) = call.value(1) {
        value.items.clone()
    } else {
        call.out_rank(dims.len());
        return None;
    };
    let axes: Vec<usize> = if call.has(3) {
        axes(&call.ints(3)?, dims.len())?
    } else {
        (0..dims.len()).collect()
    };
    if amounts.len() != axes.len() * 2 {
        return None;
    }
    for (position, at) in axes.iter().enumerate() {
        let size = call.sym.op(DimOp::Add, Num::of(dims[*at]), amounts[position].num());
        let size = call.sym.op(DimOp::Add, size, amounts[position + axes.len()].num());
        dims[*at] = size.map_or(Dim::Unknown, Num::dim);
    }
    call.out(0, &dims)
}

/// As many elements as the condition chooses.
pub(super) fn compress(call: &mut Call<'_>) -> Option<()> {
    let condition = call.ints(1);
    // A condition may be longer than the data.
    let chosen = |size: Dim| {
        let most = match size {
            Dim::Known(size) => usize::try_from(size).ok()?,
            _ => usize::MAX,
        };
        let chosen = condition.as_ref()?.iter().take(most).filter(|item| **item != 0);
        Some(Dim::Known(chosen.count() as u64))
    };
    if !call.has_attr("axis") {
        call.out_rank(1);
        let dims = call.dims(0)?;
        let size = call.sym.product(&dims).map_or(Dim::Unknown, Num::dim);
        return call.out(0, &[chosen(size)?]);
    }
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    dims[at] = chosen(dims[at]).unwrap_or(Dim::Unknown);
    call.out(0, &dims)
}

/// `CenterCropPad`: listed axes get listed sizes, or all of them one.
pub(super) fn center_crop_pad(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let Some(target) = call.value(1) else {
        call.out_rank(dims.len());
        return None;
    };
    let axes: Vec<usize> = match call.list("axes") {
        Some(listed) => axes(listed, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    if target.items.len() != axes.len() && !target.dims.is_empty() {
        call.out_rank(dims.len());
        return None;
    }
    for (at, size) in axes.iter().zip(target.items.iter().cycle()) {
        dims[*at] = size.dim();
    }
    call.out(0, &dims)
}
