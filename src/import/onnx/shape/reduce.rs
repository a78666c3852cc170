//! Reductions, and ops whose outputs beside the first hold statistics.

use crate::onnx::types;
use highwater_model::graph::{DType, Dim, DimOp};

use super::call::Call;
use super::fact::{Elem, Num, Value};
use super::sizes::reduced;
use super::sym::axis;

/// Reductions along axes: an attribute in old operator sets, an input in new ones.
pub(super) fn reduce(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    let keeps = call.int_or("keepdims", 1) != 0;
    let axes = call.attr_or_input("axes", 1).or_else(|| {
        // Axes that nobody knows: with kept dimensions at least the rank is known.
        if keeps {
            call.set(0, dtype, &vec![Dim::Unknown; dims.len()]);
        }
        None
    })?;
    let axes: Vec<usize> = match axes {
        Some(axes) if !axes.is_empty() => axes.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?,
        _ if call.int_or("noop_with_empty_axes", 0) == 1 => Vec::new(),
        _ => (0..dims.len()).collect(),
    };
    let kept = reduced(&dims, &axes, keeps);
    call.set(0, dtype, &kept);
    if axes.is_empty() || !types::is_integer(dtype) {
        return None;
    }
    let op = match call.kind() {
        "ReduceProd" => DimOp::Mul,
        "ReduceSum" => DimOp::Add,
        "ReduceMax" => DimOp::Max,
        "ReduceMin" => DimOp::Min,
        _ => return None,
    };
    let value = call.value(0).filter(|value| value.dims.len() == 1)?;
    let mut items = value.items.iter().map(|item| item.num());
    let mut total = match op {
        DimOp::Mul => Some(Num::Int(1)),
        DimOp::Add => Some(Num::Int(0)),
        _ => items.next()?,
    };
    for item in items {
        total = call.sym.op(op, total, item);
    }
    let dims = if keeps { vec![1] } else { Vec::new() };
    let items = vec![Elem::from(total)];
    call.add_value(0, Value { dims, items });
    Some(())
}

/// Positions of extremes along one axis.
pub(super) fn arg_reduce(call: &mut Call<'_>) -> Option<()> {
    call.set_dtype(0, DType::Int64);
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let kept = reduced(&dims, &[at], call.int_or("keepdims", 1) != 0);
    call.set(0, DType::Int64, &kept);
    Some(())
}

/// Normalization over the last axes; further outputs are means and deviations.
pub(super) fn layer_norm(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    let statistics = match call.int("stash_type") {
        Some(code) => types::from_code(code),
        None => DType::Float32,
    };
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    let at = call.axis_attr("axis", -1, dims.len())?;
    let axes: Vec<usize> = (at..dims.len()).collect();
    let kept = reduced(&dims, &axes, true);
    for output in 1..call.outputs.len().min(3) {
        call.set(output, statistics, &kept);
    }
    Some(())
}

/// Normalization of a sum (com.microsoft): output 3 is the sum itself.
pub(super) fn skip_layer_norm(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    call.set_dtype(3, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    let kept = reduced(&dims, &[dims.len().checked_sub(1)?], true);
    call.set(1, DType::Float32, &kept);
    call.set(2, DType::Float32, &kept);
    call.set(3, dtype, &dims);
    Some(())
}

/// Batch normalization: further outputs are per channel.
pub(super) fn batch_norm(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    for output in 1..call.outputs.len() {
        let input = if output % 2 == 1 { 3 } else { 4 };
        let dtype = call.dtype(input);
        call.set_dtype(output, dtype);
        if let Some(dims) = call.dims(input) {
            call.set(output, dtype, &dims);
        }
    }
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// Losses: reduced to a scalar or one per element; the log probabilities keep the scores' shape.
pub(super) fn loss(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    call.set_dtype(1, dtype);
    if let Some(scores) = call.dims(0) {
        call.set(1, dtype, &scores);
    }
    if call.text("reduction") == "none" {
        let labels = call.dims(1)?;
        call.set(0, dtype, &labels);
    } else {
        call.set(0, dtype, &[]);
    }
    Some(())
}

/// Determinants: the last two dimensions go.
pub(super) fn det(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    let kept = dims.len().checked_sub(2)?;
    call.set(0, dtype, &dims[..kept]);
    Some(())
}
