//! `BroadcastGradientArgs` and `BroadcastArgs`: which axes a broadcast widened.
//!
//! The gradient of a broadcast operand is summed over the axes where the operand had size 1. The op also lists an
//! axis where both operands have size 1, unless their shapes are equal. Whether a symbolic size is 1 is known when it is
//! bound, so such an axis is counted in the list's length by a comparison, and left out of the list's elements: sums
//! over it keep an axis that has size 1 whenever it should have gone, and the sum's bytes are right either way.

use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num, Value};
use highwater_model::graph::{Dim, DimOp};

/// The size of a shape at an axis counted from the end of the longer one.
fn at(dims: &[Elem], rank: usize, position: usize) -> Elem {
    match (position + dims.len()).checked_sub(rank) {
        Some(inside) => dims[inside],
        None => Elem::int(1),
    }
}

/// The axes to sum over, for both operands.
pub(super) fn arguments(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Unknown]);
    call.out(1, &[Dim::Unknown]);
    let (left, right) = (call.value(0)?, call.value(1)?);
    let rank = left.items.len().max(right.items.len());
    let is_equal = left == right && left.items.iter().all(|item| item.num().is_some());
    let mut axes = [Vec::new(), Vec::new()];
    let mut lengths = [Some(Num::Int(0)); 2];
    for position in (0..rank).filter(|_| !is_equal) {
        let sizes = [&left, &right].map(|value| at(&value.items, rank, position).num());
        for side in 0..2 {
            let (own, other) = (sizes[side]?, sizes[1 - side]?);
            let is_listed = match (own, other) {
                (Num::Int(1), _) => Some(Num::Int(1)),
                // A size above 1 is never summed over.
                (Num::Int(_), _) => Some(Num::Int(0)),
                (Num::Expr(_), other) if other == Num::Int(1) || other == own => {
                    call.sym.op(DimOp::Equal, Some(own), Some(Num::Int(1)))
                }
                // The other may be larger: whether elements are summed is known when both are bound.
                (Num::Expr(_), _) => return None,
            };
            if is_listed == Some(Num::Int(1)) {
                axes[side].push(Elem::int(i64::try_from(position).ok()?));
            }
            lengths[side] = call.sym.op(DimOp::Add, lengths[side], is_listed);
        }
    }
    for (side, items) in axes.into_iter().enumerate() {
        call.out(side, &[Dim::Known(items.len() as u64)]);
        call.add_value(side, Value::vector(items));
        let length = lengths[side].map_or(Dim::Unknown, Num::dim);
        call.out(side, &[length]);
    }
    Some(())
}

/// The shape of a broadcast, from two shapes.
pub(super) fn broadcast_args(call: &mut Call<'_>) -> Option<()> {
    let lengths = [call.dims(0)?, call.dims(1)?];
    let longer = match (lengths[0].first()?, lengths[1].first()?) {
        (Dim::Known(a), Dim::Known(b)) => Dim::Known(*a.max(b)),
        _ => Dim::Unknown,
    };
    call.out(0, &[longer]);
    let (left, right) = (call.listed_dims(0)?, call.listed_dims(1)?);
    let dims = call.sym.broadcast(&left, &right);
    call.add_value(0, Value::of_dims(&dims))
}
