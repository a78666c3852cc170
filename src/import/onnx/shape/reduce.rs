//! Reductions, and ops with further outputs for statistics.

use crate::element_types::ONNX;
use crate::shape::call::Call;
use crate::shape::reduce;
use crate::shape::sizes::reduced;
use crate::shape::sym::axes;
use highwater_model::graph::{DType, Dim, DimOp};

/// Reductions along axes: an attribute in old operator sets, an input in new ones.
pub(super) fn reduce(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let keeps_axes = call.int_or("keepdims", 1) != 0;
    let Some(listed) = call.attr_or_input("axes", 1) else {
        // At least the rank is known where dimensions are kept, or one goes; several axes may be the same.
        match call.dims(1).as_deref() {
            _ if keeps_axes => call.out_rank(dims.len()),
            Some([Dim::Known(1)]) => call.out_rank(dims.len().checked_sub(1)?),
            _ => None,
        };
        return None;
    };
    let axes: Vec<usize> = match listed {
        Some(listed) if !listed.is_empty() => axes(&listed, dims.len())?,
        _ if call.int_or("noop_with_empty_axes", 0) == 1 => Vec::new(),
        _ => (0..dims.len()).collect(),
    };
    let operation = match call.kind {
        "ReduceProd" => Some(DimOp::Mul),
        "ReduceSum" => Some(DimOp::Add),
        "ReduceMax" => Some(DimOp::Max),
        "ReduceMin" => Some(DimOp::Min),
        _ => None,
    };
    reduce::reduce(call, &axes, keeps_axes, operation)
}

/// Sums of bytes (com.microsoft), in 32 bits.
pub(super) fn reduce_integer(call: &mut Call<'_>) -> Option<()> {
    let is_unsigned = call.dtype(0) == DType::Uint8;
    call.set_dtype(0, if is_unsigned { DType::Uint32 } else { DType::Int32 });
    reduce(call)
}

/// Positions of extremes along one axis.
pub(super) fn arg_reduce(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let kept = reduced(&dims, &[at], call.int_or("keepdims", 1) != 0);
    call.out(0, &kept)
}

/// Normalization over the last axes; further outputs are means and deviations.
pub(super) fn layer_norm(call: &mut Call<'_>) -> Option<()> {
    let statistics = match call.int("stash_type") {
        Some(code) => ONNX.of_code(code),
        None => DType::Float32,
    };
    for output in 1..call.outputs.len().min(3) {
        call.set_dtype(output, statistics);
    }
    let dims = call.dims(0)?;
    call.out(0, &dims);
    let at = call.axis_attr("axis", -1, dims.len())?;
    let axes: Vec<usize> = (at..dims.len()).collect();
    let kept = reduced(&dims, &axes, true);
    call.out(1, &kept);
    call.out(2, &kept)
}

/// Normalization of a sum (com.microsoft): output 3 is the sum itself.
pub(super) fn skip_layer_norm(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    call.out(0, &dims);
    let kept = reduced(&dims, &[dims.len().checked_sub(1)?], true);
    call.out(1, &kept);
    call.out(2, &kept);
    call.out(3, &dims)
}

/// Batch normalization: further outputs are per channel.
pub(super) fn batch_norm(call: &mut Call<'_>) -> Option<()> {
    for output in 1..call.outputs.len() {
        let input = if output % 2 == 1 { 3 } else { 4 };
        let dtype = call.dtype(input);
        call.set_dtype(output, dtype);
        call.like(output, input);
    }
    call.like(0, 0)
}

/// Losses: reduced to a scalar or one per element; the log probabilities keep the scores' shape.
pub(super) fn loss(call: &mut Call<'_>) -> Option<()> {
    call.like(1, 0);
    if call.text("reduction") == "none" {
        return call.like(0, 1);
    }
    call.out(0, &[])
}
