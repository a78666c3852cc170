//! Ops that rearrange elements without choosing among them.

use crate::shape::call::Call;
use crate::shape::fact::{Num, Value};
use crate::shape::layout::{self, Symbolic};
use crate::shape::sizes::ReshapeRules;
use crate::shape::sym::axis;
use highwater_model::graph::{Dim, DimOp};

/// The target shape is an input, in the first operator set an attribute.
pub(super) fn reshape(call: &mut Call<'_>) -> Option<()> {
    let listed = if call.has_attr("shape") {
        Some(call.list("shape")?)
    } else {
        None
    };
    let rules = ReshapeRules {
        copies_zero: call.int_or("allowzero", 0) != 1,
        cancels_factors: false,
    };
    layout::reshape(call, listed, rules)
}

pub(super) fn flatten(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let at = call.int_or("axis", 1);
    let split = if usize::try_from(at) == Ok(dims.len()) {
        dims.len()
    } else {
        axis(at, dims.len())?
    };
    let rows = call.sym.product(&dims[..split]).map_or(Dim::Unknown, Num::dim);
    let columns = call.sym.product(&dims[split..]).map_or(Dim::Unknown, Num::dim);
    call.out(0, &[rows, columns])
}

pub(super) fn squeeze(call: &mut Call<'_>) -> Option<()> {
    let axes = call.attr_or_input("axes", 1)?;
    layout::squeeze(call, axes.as_deref(), Symbolic::MayGo)
}

pub(super) fn unsqueeze(call: &mut Call<'_>) -> Option<()> {
    let axes = call.attr_or_input("axes", 1)??;
    layout::unsqueeze(call, &axes)
}

/// One new axis at a position that is an input (com.microsoft).
pub(super) fn expand_dims(call: &mut Call<'_>) -> Option<()> {
    let axes = call.ints(1)?;
    layout::unsqueeze(call, &axes)
}

/// Slices of one size along an axis, which become a last axis (com.microsoft).
pub(super) fn unfold(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("dim", -1, dims.len())?;
    let size = call.int("size")?;
    let step = call.int_or("step", 1);
    if step <= 0 {
        return None;
    }
    let free = call.sym.with(DimOp::Sub, dims[at], size);
    let steps = call.sym.with(DimOp::FloorDiv, free, step);
    dims[at] = call.sym.with(DimOp::Add, steps, 1);
    dims.push(Num::Int(size).dim());
    call.out(0, &dims)
}

pub(super) fn transpose(call: &mut Call<'_>) -> Option<()> {
    let order = call.list("perm");
    layout::transpose(call, order)
}

/// Expand, whose target broadcasts against the data.
pub(super) fn expand(call: &mut Call<'_>) -> Option<()> {
    let (data, target) = (call.dims(0)?, call.listed_dims(1)?);
    let dims = call.sym.broadcast(&data, &target);
    layout::widen(call, &dims)
}

pub(super) fn tile(call: &mut Call<'_>) -> Option<()> {
    if call.inputs.len() != 3 {
        return layout::tile(call);
    }
    // The first operator set: a number of tiles and an axis.
    let mut dims = call.dims(0)?;
    let (tiles, at) = (call.value(1)?, call.ints(2)?);
    let at = axis(*at.first()?, dims.len())?;
    dims[at] = call.sym.dim(DimOp::Mul, dims[at], tiles.items.first()?.dim());
    call.out(0, &dims)
}

/// `SpaceToDepth` and `DepthToSpace`.
pub(super) fn blocks(call: &mut Call<'_>) -> Option<()> {
    let block = call.int("blocksize").filter(|block| *block > 0)?;
    if call.dims(0)?.len() != 4 {
        return None;
    }
    layout::blocks(call, block, 1, [2, 3])
}

/// The dimensions as a value, or a part of them.
pub(super) fn shape(call: &mut Call<'_>) -> Option<()> {
    let Some(dims) = call.dims(0) else {
        call.out_rank(1);
        return None;
    };
    let clamp = |at: i64| {
        let rank = i64::try_from(dims.len()).unwrap_or(i64::MAX);
        let from_start = if at < 0 { at.saturating_add(rank) } else { at };
        usize::try_from(from_start.clamp(0, rank)).unwrap_or(0)
    };
    let start = clamp(call.int_or("start", 0));
    let end = clamp(call.int_or("end", i64::MAX));
    call.set_value(0, Value::of_dims(dims.get(start..end.max(start))?))
}
