//! Ops that change how far single axes reach: Pad, `TopK`, Compress, `CenterCropPad`.

use highwater_model::graph::{DType, Dim, DimOp};

use super::call::Call;
use super::fact::{Elem, Num};
use super::sym::axis;

/// Pad; amounts are an attribute in old operator sets and an input in new ones.
pub(super) fn pad(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    let name = if call.has_attr("paddings") { "paddings" } else { "pads" };
    let amounts: Vec<Elem> = if call.has_attr(name) {
        call.int_list(name)?.into_iter().map(Elem::int).collect()
    } else if let Some(value) = call.value(1) {
        value.items.clone()
    } else {
        call.set(0, dtype, &vec![Dim::Unknown; dims.len()]);
        return None;
    };
    let axes: Vec<usize> = if call.has(3) {
        call.ints(3)?
            .iter()
            .map(|at| axis(*at, dims.len()))
            .collect::<Option<_>>()?
    } else {
        (0..dims.len()).collect()
    };
    if amounts.len() != axes.len() * 2 {
        return None;
    }
    for (position, at) in axes.iter().enumerate() {
        let sym = &mut *call.sym;
        let size = sym.op(DimOp::Add, Num::of(dims[*at]), amounts[position].num());
        let size = sym.op(DimOp::Add, size, amounts[position + axes.len()].num());
        dims[*at] = size.map_or(Dim::Unknown, Num::dim);
    }
    call.set(0, dtype, &dims);
    Some(())
}

/// `TopK`: values and their indices.
pub(super) fn top_k(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    call.set_dtype(1, DType::Int64);
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("axis", -1, dims.len())?;
    dims[at] = match call.int("k") {
        Some(count) => Elem::int(count).dim(),
        None => call
            .value(1)
            .and_then(|value| value.items.first().copied())
            .map_or(Dim::Unknown, Elem::dim),
    };
    call.set(0, dtype, &dims);
    call.set(1, DType::Int64, &dims);
    Some(())
}

/// As many elements as the data decide.
pub(super) fn compress(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    if !call.has_attr("axis") {
        call.set(0, dtype, &[Dim::Unknown]);
        return Some(());
    }
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    dims[at] = Dim::Unknown;
    call.set(0, dtype, &dims);
    Some(())
}

/// `CenterCropPad`: listed axes get listed sizes.
pub(super) fn center_crop_pad(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    let target = call.value(1)?;
    let axes: Vec<usize> = match call.int_list("axes") {
        Some(axes) => axes.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?,
        None => (0..dims.len()).collect(),
    };
    for (at, size) in axes.iter().zip(&target.items) {
        dims[*at] = size.dim();
    }
    call.set(0, dtype, &dims);
    Some(())
}
