//! Reductions along axes.

use super::call::Call;
use super::fact::{Elem, Num, Value, is_integer};
use super::sizes::reduced;
use highwater_model::graph::DimOp;

/// Reduces axes; elements where all axes of an integer value go under an operation that symbols know.
pub(crate) fn reduce(call: &mut Call<'_>, axes: &[usize], keeps_axes: bool, operation: Option<DimOp>) -> Option<()> {
    let dims = call.dims(0)?;
    call.out(0, &reduced(&dims, axes, keeps_axes));
    let op = operation?;
    let value = call.value(0)?;
    if axes.is_empty() {
        return call.add_value(0, (*value).clone());
    }
    if !is_integer(call.dtype(0)) || axes.len() != value.dims.len() {
        return None;
    }
    let mut items = value.items.iter().map(|item| item.num());
    let mut total = match op {
        DimOp::Mul => Some(Num::Int(1)),
        DimOp::Add => Some(Num::Int(0)),
        _ => items.next()?,
    };
    for item in items {
        total = call.sym.op(op, total, item);
    }
    let dims = if keeps_axes {
        vec![1; value.dims.len()]
    } else {
        Vec::new()
    };
    let items = vec![Elem::from(total)];
    call.add_value(0, Value { dims, items })
}

/// One number for each matrix: the last two dimensions go.
pub(crate) fn determinant(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    call.out_from(0, &dims[..dims.len().checked_sub(2)?])
}
