//! Sizes of results from sizes of operands: reshapes, slices, reductions. Unknown where arithmetic cannot say.

use highwater_model::graph::{Dim, DimExpr, DimOp, ExprId};

use super::fact::{Elem, Num};
use super::sym::Sym;

/// How a framework reads the target of a reshape.
#[derive(Clone, Copy)]
pub(crate) struct ReshapeRules {
    /// A 0 copies the dimension of the data; else it is a size.
    pub(crate) copies_zero: bool,
    /// The dimension written as -1 cancels common factors within products, else only equal dimensions.
    pub(crate) cancels_factors: bool,
}

/// The dimensions of a reshape to `target`, of which -1 gets the elements that are left.
pub(crate) fn reshaped(sym: &mut Sym, data: Option<&[Dim]>, target: &[Elem], rules: ReshapeRules) -> Vec<Dim> {
    let mut free = None;
    let mut unknown = Vec::new();
    let mut dims: Vec<Dim> = Vec::with_capacity(target.len());
    for (position, item) in target.iter().enumerate() {
        dims.push(match item {
            Elem::Num(Num::Int(-1)) => {
                free = Some(position);
                Dim::Unknown
            }
            Elem::Num(Num::Int(0)) if rules.copies_zero => {
                let copied = data.and_then(|data| data.get(position)).copied();
                copied.unwrap_or(Dim::Unknown)
            }
            other => other.dim(),
        });
        if dims[position] == Dim::Unknown && free != Some(position) {
            unknown.push(position);
        }
    }
    // The number of elements decides one missing dimension, whether it is called -1 or not.
    let missing = match (free, &unknown[..]) {
        (Some(position), []) => position,
        (None, [position]) => *position,
        _ => return dims,
    };
    if let Some(data) = data {
        let others: Vec<Dim> = (0..dims.len())
            .filter(|other| *other != missing)
            .map(|other| dims[other])
            .collect();
        dims[missing] = if free.is_some() && rules.cancels_factors {
            factored_quotient(sym, data, &others)
        } else {
            quotient(sym, data, &others)
        };
    }
    dims
}

/// Elements of `data` over elements of `others`, equal dimensions cancelled.
fn quotient(sym: &mut Sym, data: &[Dim], others: &[Dim]) -> Dim {
    let mut left: Vec<Dim> = Vec::with_capacity(data.len());
    let mut right = others.to_vec();
    for dim in data {
        match right.iter().position(|other| other == dim && *dim != Dim::Unknown) {
            Some(position) => {
                right.swap_remove(position);
            }
            None => left.push(*dim),
        }
    }
    let top = sym.product(&left);
    let bottom = sym.product(&right);
    if bottom == Some(Num::Int(0)) {
        return Dim::Unknown;
    }
    let result = sym.op(DimOp::FloorDiv, top, bottom);
    result.map_or(Dim::Unknown, Num::dim)
}

/// Elements of `data` over elements of `others`, common factors of products cancelled.
fn factored_quotient(sym: &mut Sym, data: &[Dim], others: &[Dim]) -> Dim {
    let (Some((top, mut left)), Some((bottom, right))) = (factors(sym, data), factors(sym, others)) else {
        return Dim::Unknown;
    };
    let mut below = Vec::new();
    for id in right {
        match left.iter().position(|other| *other == id) {
            Some(position) => {
                left.swap_remove(position);
            }
            None => below.push(id),
        }
    }
    if bottom <= 0 {
        return Dim::Unknown;
    }
    let shared = common_factor(top, bottom);
    let times = |sym: &mut Sym, number: i64, ids: Vec<ExprId>| {
        ids.into_iter().try_fold(Num::Int(number), |product, id| {
            sym.op(DimOp::Mul, Some(Num::Expr(id)), Some(product))
        })
    };
    let top = times(sym, top / shared, left);
    let bottom = times(sym, bottom / shared, below);
    let result = sym.op(DimOp::FloorDiv, top, bottom);
    result.map_or(Dim::Unknown, Num::dim)
}

/// The factors of dimensions: a number, and expressions that are no products themselves.
fn factors(sym: &Sym, dims: &[Dim]) -> Option<(i64, Vec<ExprId>)> {
    let (mut number, mut rest, mut stack) = (1_i64, Vec::new(), Vec::new());
    for dim in dims {
        match dim {
            Dim::Known(size) => number = number.checked_mul(i64::try_from(*size).ok()?)?,
            Dim::Expr(id) => stack.push(*id),
            Dim::Unknown => return None,
        }
    }
    while let Some(id) = stack.pop() {
        match sym.exprs.get(id)? {
            DimExpr::Const(value) => number = number.checked_mul(value)?,
            DimExpr::Binary(DimOp::Mul, a, b) if stack.len() + rest.len() < 64 => stack.extend([a, b]),
            _ => rest.push(id),
        }
    }
    Some((number, rest))
}

/// The greatest common divisor; `b` is above 0.
fn common_factor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.checked_abs().unwrap_or(0), b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[derive(Clone, Copy)]
pub(crate) struct Range {
    /// Negative bounds count from the end.
    pub(crate) start: Option<Num>,
    /// Exclusive.
    pub(crate) end: Option<Num>,
    pub(crate) step: Option<Num>,
}

/// The number of elements that a slice of one axis leaves.
pub(crate) fn sliced(sym: &mut Sym, dim: Dim, range: Range) -> Dim {
    if let (Dim::Known(size), Some(Num::Int(start)), Some(Num::Int(end)), Some(Num::Int(step))) =
        (dim, range.start, range.end, range.step)
    {
        let indices = i64::try_from(size)
            .ok()
            .and_then(|size| positions(size, start, end, step));
        return indices.map_or(Dim::Unknown, |(_, count)| Dim::Known(count));
    }
    let (Some(size), Some(Num::Int(step))) = (Num::of(dim), range.step) else {
        return Dim::Unknown;
    };
    if step <= 0 {
        // Backwards over all of it is the one symbolic case that exporters write.
        let is_all = step == -1
            && matches!(range.start, Some(Num::Int(-1)))
            && matches!(range.end, Some(Num::Int(end)) if end < -i64::from(i32::MAX));
        return if is_all { dim } else { Dim::Unknown };
    }
    let start = clamped(sym, range.start, size);
    let end = clamped(sym, range.end, size);
    let span = sym.op(DimOp::Sub, end, start);
    let span = sym.op(DimOp::Max, span, Some(Num::Int(0)));
    let count = sym.op(DimOp::CeilDiv, span, Some(Num::Int(step)));
    count.map_or(Dim::Unknown, Num::dim)
}

/// A bound between 0 and the size; negative ones count from the end.
fn clamped(sym: &mut Sym, bound: Option<Num>, size: Num) -> Option<Num> {
    match bound? {
        Num::Int(0) => Some(Num::Int(0)),
        Num::Int(bound) if bound >= i64::from(i32::MAX) => Some(size),
        Num::Int(bound) if bound >= 0 => sym.op(DimOp::Min, Some(Num::Int(bound)), Some(size)),
        Num::Int(bound) if bound <= -i64::from(i32::MAX) => Some(Num::Int(0)),
        Num::Int(bound) => {
            let from_start = sym.op(DimOp::Add, Some(size), Some(Num::Int(bound)));
            sym.op(DimOp::Max, from_start, Some(Num::Int(0)))
        }
        bound @ Num::Expr(_) if bound == size => Some(size),
        bound @ Num::Expr(_) => {
            // A symbolic bound may be negative too: that is known when the symbols are bound.
            let zero = Some(Num::Int(0));
            let from_end = sym.op(DimOp::Add, Some(size), Some(bound));
            let is_negative = sym.op(DimOp::Less, Some(bound), zero)?;
            let chosen = sym.select(is_negative, from_end?, bound);
            let low = sym.op(DimOp::Max, chosen, zero);
            sym.op(DimOp::Min, low, Some(size))
        }
    }
}

/// The first index and the number of indices of a slice with known numbers.
pub(crate) fn positions(size: i64, start: i64, end: i64, step: i64) -> Option<(i64, u64)> {
    let from_start = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let first = from_start(start).clamp(low.max(0), high.max(0));
    let last = from_start(end).clamp(low, high);
    let span = if step > 0 {
        last.checked_sub(first)?
    } else {
        first.checked_sub(last)?
    };
    let stride = step.checked_abs().filter(|stride| *stride > 0)?;
    if size == 0 || span <= 0 {
        return Some((first, 0));
    }
    let count = DimOp::CeilDiv.apply(span, stride)?;
    Some((first, u64::try_from(count).ok()?))
}

/// The dimensions after a reduction over axes.
pub(crate) fn reduced(dims: &[Dim], axes: &[usize], keeps: bool) -> Vec<Dim> {
    dims.iter()
        .enumerate()
        .filter_map(|(position, dim)| match (axes.contains(&position), keeps) {
            (false, _) => Some(*dim),
            (true, true) => Some(Dim::Known(1)),
            (true, false) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_count_like_python() {
        for (size, start, end, step) in [
            (10_i64, 0_i64, 10_i64, 1_i64),
            (10, 2, -1, 3),
            (10, -1, i64::MIN, -1),
            (10, 8, 2, -2),
            (10, 5, 5, 1),
            (10, 20, 30, 1),
            (3, -100, 100, 2),
            (0, 0, 5, 1),
            (4, 100, -100, -3),
        ] {
            let clamp = |at: i64, low, high| (if at < 0 { at.saturating_add(size) } else { at }).clamp(low, high);
            let mut expected = 0;
            let (mut at, last) = if step > 0 {
                (clamp(start, 0, size), clamp(end, 0, size))
            } else {
                (clamp(start, -1, size - 1), clamp(end, -1, size - 1))
            };
            while (step > 0 && at < last) || (step < 0 && at > last) {
                expected += 1;
                at += step;
            }
            let count = positions(size, start, end, step).map(|(_, count)| count);
            assert_eq!(count, Some(expected), "{size} {start} {end} {step}");
        }
        assert_eq!(positions(5, 0, 5, 0), None);
        assert_eq!(positions(5, 0, 5, i64::MIN), None);
    }
}
