//! Ops that rearrange elements: Reshape and its kin, Transpose, copies, blocks.

use super::call::Call;
use super::fact::{Elem, MAX_ELEMENTS, Value};
use super::sizes::{ReshapeRules, reshaped};
use super::sym::axes;
use highwater_model::graph::{Dim, DimOp};

/// The treatment of symbolic dimensions in a squeeze without axes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbolic {
    /// It stays, which changes no byte.
    Stays,
    /// The shape is unknown, since the dimension may go.
    MayGo,
}

/// A reshape to the dimensions that input 1 lists, or to `listed`.
pub(crate) fn reshape(call: &mut Call<'_>, listed: Option<&[i64]>, rules: ReshapeRules) -> Option<()> {
    let target: Vec<Elem> = match (listed, call.value(1)) {
        (Some(sizes), _) => sizes.iter().copied().map(Elem::int).collect(),
        (None, Some(value)) => value.items.clone(),
        (None, None) => vec![Elem::Unknown; call.listed_dims(1)?.len()],
    };
    let data = call.dims(0);
    let dims = reshaped(call.sym, data.as_deref(), &target, rules);
    call.out(0, &dims);
    keep_elements(call, &dims)
}

/// The value of input 0 keeps its elements under new dimensions.
fn keep_elements(call: &mut Call<'_>, dims: &[Dim]) -> Option<()> {
    let value = call.value(0)?.resized(dims)?;
    call.add_value(0, value)
}

/// Drops axes; without axes every dimension of size 1.
pub(crate) fn squeeze(call: &mut Call<'_>, listed: Option<&[i64]>, symbolic: Symbolic) -> Option<()> {
    let dims = call.dims(0)?;
    let is_open = |dim: &Dim| match dim {
        Dim::Known(_) => false,
        Dim::Expr(_) => symbolic == Symbolic::MayGo,
        Dim::Unknown => true,
    };
    let gone: Vec<usize> = match listed {
        Some(listed) => axes(listed, dims.len())?,
        None if dims.iter().any(is_open) => return None,
        None => (0..dims.len()).filter(|at| dims[*at] == Dim::Known(1)).collect(),
    };
    let kept: Vec<Dim> = (0..dims.len())
        .filter(|position| !gone.contains(position))
        .map(|position| dims[position])
        .collect();
    call.out(0, &kept);
    keep_elements(call, &kept)
}

/// Adds dimensions of size 1 at positions of the result.
pub(crate) fn unsqueeze(call: &mut Call<'_>, listed: &[i64]) -> Option<()> {
    let mut rest = call.dims(0)?.into_iter();
    let rank = rest.len() + listed.len();
    let new = axes(listed, rank)?;
    let dims: Vec<Dim> = (0..rank)
        .map(|position| {
            if new.contains(&position) {
                Some(Dim::Known(1))
            } else {
                rest.next()
            }
        })
        .collect::<Option<_>>()?;
    call.out(0, &dims);
    keep_elements(call, &dims)
}

/// Reorders axes; without an order they are reversed.
pub(crate) fn transpose(call: &mut Call<'_>, order: Option<&[i64]>) -> Option<()> {
    let dims = call.dims(0)?;
    let order: Vec<usize> = match order {
        Some(order) => axes(order, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    let is_permutation = order.len() == dims.len() && (0..dims.len()).all(|position| order.contains(&position));
    if !is_permutation {
        return None;
    }
    let moved: Vec<Dim> = order.iter().map(|from| dims[*from]).collect();
    call.out(0, &moved);
    let value = call.value(0)?.transposed(&order);
    call.add_value(0, value)
}

/// Widens input 0 to dimensions against which it broadcasts.
pub(crate) fn widen(call: &mut Call<'_>, dims: &[Dim]) -> Option<()> {
    call.out(0, dims);
    let value = call.value(0)?;
    if let ([item], [Dim::Known(count)]) = (&value.items[..], dims) {
        let count = usize::try_from(*count).ok().filter(|count| *count <= MAX_ELEMENTS)?;
        return call.add_value(0, Value::vector(vec![*item; count]));
    }
    keep_elements(call, dims)
}

/// Copies side by side, as many per axis as input 1 lists.
pub(crate) fn tile(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let Some(repeats) = call.value(1).filter(|repeats| repeats.items.len() == dims.len()) else {
        call.out_rank(dims.len());
        return None;
    };
    let tiled: Vec<Dim> = dims
        .iter()
        .zip(&repeats.items)
        .map(|(dim, repeat)| call.sym.dim(DimOp::Mul, *dim, repeat.dim()))
        .collect();
    call.out(0, &tiled);
    let value = call.value(0)?;
    if let ([_], [Dim::Known(count)]) = (&value.dims[..], &tiled[..]) {
        let count = usize::try_from(*count).ok().filter(|count| *count <= MAX_ELEMENTS)?;
        let items = value.items.iter().copied().cycle().take(count).collect();
        call.add_value(0, Value::vector(items));
    }
    Some(())
}

/// Blocks of space become channels (`SpaceToDepth`), or channels blocks of space. The dimensions of an image are
/// given by position.
pub(crate) fn blocks(call: &mut Call<'_>, block: i64, channels: usize, spatial: [usize; 2]) -> Option<()> {
    let mut dims = call.dims(0)?;
    let (for_channels, for_space) = match call.kind {
        "SpaceToDepth" => (DimOp::Mul, DimOp::FloorDiv),
        _ => (DimOp::FloorDiv, DimOp::Mul),
    };
    dims[channels] = call.sym.with(for_channels, dims[channels], block.checked_mul(block)?);
    for at in spatial {
        dims[at] = call.sym.with(for_space, dims[at], block);
    }
    call.out(0, &dims)
}

/// A new axis of the size in input 1.
pub(crate) fn one_hot(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = call.axis_attr("axis", -1, dims.len() + 1)?;
    dims.insert(at, call.scalar_dim(1));
    call.out(0, &dims)
}
