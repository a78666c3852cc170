//! Arithmetic on elements by the name of the op: integers, unrounded quotients, floats.
//!
//! Unknown where integers and symbols cannot say. Floats follow the formats' single precision closely enough for
//! scales and ratios.

use highwater_model::graph::DimOp;

use super::fact::{Elem, Num};
use super::sym::Sym;

pub(crate) fn integers(sym: &mut Sym, kind: &str, a: Elem, b: Elem) -> Elem {
    let (Some(a), Some(b)) = (a.num(), b.num()) else {
        return Elem::Unknown;
    };
    let (x, y) = (Some(a), Some(b));
    match kind {
        "Add" | "Sum" => sym.op(DimOp::Add, x, y),
        "Sub" => sym.op(DimOp::Sub, x, y),
        "Mul" | "And" => sym.op(DimOp::Mul, x, y),
        "Min" => sym.op(DimOp::Min, x, y),
        "Max" | "Or" => sym.op(DimOp::Max, x, y),
        "Div" => divide(sym, a, b),
        "Mod" => sym.op(DimOp::Mod, x, y),
        "FloorDiv" => sym.op(DimOp::FloorDiv, x, y),
        "TruncateMod" => match (a, b) {
            (Num::Int(x), Num::Int(y)) => x.checked_rem(y).map(Num::Int),
            _ => None,
        },
        "Equal" => sym.op(DimOp::Equal, x, y),
        "NotEqual" => {
            let equal = sym.op(DimOp::Equal, x, y);
            sym.op(DimOp::Equal, equal, Some(Num::Int(0)))
        }
        "Less" => sym.op(DimOp::Less, x, y),
        "Greater" => sym.op(DimOp::Less, y, x),
        "LessOrEqual" => not(sym, y, x),
        "GreaterOrEqual" => not(sym, x, y),
        "Pow" => match (a, b) {
            (Num::Int(base), Num::Int(exponent)) => u32::try_from(exponent)
                .ok()
                .and_then(|exponent| base.checked_pow(exponent))
                .map(Num::Int),
            _ => None,
        },
        _ => None,
    }
    .into()
}

/// 1 where `a < b` does not hold.
fn not(sym: &mut Sym, a: Option<Num>, b: Option<Num>) -> Option<Num> {
    let less = sym.op(DimOp::Less, a, b);
    sym.op(DimOp::Equal, less, Some(Num::Int(0)))
}

/// Integer division rounds towards zero; sizes are not negative, so that is downwards for symbols.
fn divide(sym: &mut Sym, a: Num, b: Num) -> Option<Num> {
    match (a, b) {
        (Num::Int(x), Num::Int(y)) => x.checked_div(y).map(Num::Int),
        (Num::Int(x), _) | (_, Num::Int(x)) if x < 0 => None,
        _ => sym.op(DimOp::FloorDiv, Some(a), Some(b)),
    }
}

pub(crate) fn floats(sym: &mut Sym, kind: &str, a: Elem, b: Elem) -> Elem {
    if kind == "FloorDiv" {
        let quotient = floats(sym, "Div", a, b);
        return unary(sym, "Floor", quotient);
    }
    match (a, b) {
        (Elem::Unknown, _) | (_, Elem::Unknown) => Elem::Unknown,
        (Elem::Num(x), Elem::Num(y)) => match (kind, x, y) {
            ("Div", Num::Int(x), Num::Int(y)) => float_op(kind, to_f64(x), to_f64(y)),
            ("Div", ..) => ratio(sym, x, y),
            ("Mod" | "TruncateMod" | "And" | "Or", ..) => Elem::Unknown,
            _ => integers(sym, kind, a, b),
        },
        (Elem::Float(x), Elem::Float(y)) => float_op(kind, x, y),
        (Elem::Num(Num::Int(x)), Elem::Float(y)) => float_op(kind, to_f64(x), y),
        (Elem::Float(x), Elem::Num(Num::Int(y))) => float_op(kind, x, to_f64(y)),
        _ => quotients(sym, kind, a, b).unwrap_or(Elem::Unknown),
    }
}

/// Operations where one side is symbolic and one may be a quotient.
fn quotients(sym: &mut Sym, kind: &str, a: Elem, b: Elem) -> Option<Elem> {
    let (top_a, bottom_a) = parts(sym, a)?;
    let (top_b, bottom_b) = parts(sym, b)?;
    let times = |sym: &mut Sym, x: Num, y: Num| sym.op(DimOp::Mul, Some(x), Some(y));
    let (top, bottom) = match kind {
        "Mul" => (times(sym, top_a, top_b)?, times(sym, bottom_a, bottom_b)?),
        "Div" => (times(sym, top_a, bottom_b)?, times(sym, bottom_a, top_b)?),
        "Add" | "Sum" | "Sub" => {
            let left = times(sym, top_a, bottom_b)?;
            let right = times(sym, top_b, bottom_a)?;
            let op = if kind == "Sub" { DimOp::Sub } else { DimOp::Add };
            (sym.op(op, Some(left), Some(right))?, times(sym, bottom_a, bottom_b)?)
        }
        _ => return None,
    };
    Some(ratio(sym, top, bottom))
}

fn parts(sym: &Sym, elem: Elem) -> Option<(Num, Num)> {
    match elem {
        Elem::Num(num) => Some((num, Num::Int(1))),
        Elem::Ratio(top, bottom) => {
            let num = |id| sym.exprs.as_const(id).map_or(Num::Expr(id), Num::Int);
            Some((num(top), num(bottom)))
        }
        Elem::Float(value) => {
            let (top, bottom) = fraction(value)?;
            Some((Num::Int(top), Num::Int(bottom)))
        }
        Elem::Unknown => None,
    }
}

fn ratio(sym: &mut Sym, top: Num, bottom: Num) -> Elem {
    if bottom == Num::Int(1) {
        return Elem::Num(top);
    }
    Elem::Ratio(sym.expr(top), sym.expr(bottom))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the formats compute such values in floats too"
)]
fn to_f64(value: i64) -> f64 {
    value as f64
}

fn float_op(kind: &str, a: f64, b: f64) -> Elem {
    let value = match kind {
        "Add" | "Sum" => a + b,
        "Sub" => a - b,
        "Mul" => a * b,
        "Div" => a / b,
        "Min" => a.min(b),
        "Max" => a.max(b),
        "Pow" => a.powf(b),
        "Less" => f64::from(a < b),
        "Greater" => f64::from(a > b),
        _ => return Elem::Unknown,
    };
    Elem::float(value)
}

pub(crate) fn unary(sym: &mut Sym, kind: &str, item: Elem) -> Elem {
    match (kind, item) {
        ("Identity", _) | ("Floor" | "Ceil" | "Round" | "Rint", Elem::Num(_)) => item,
        ("Floor", Elem::Float(value)) => Elem::float(value.floor()),
        ("Ceil", Elem::Float(value)) => Elem::float(value.ceil()),
        ("Round" | "Rint", Elem::Float(value)) => Elem::float(value.round_ties_even()),
        ("Floor", Elem::Ratio(a, b)) => sym.op(DimOp::FloorDiv, Some(Num::Expr(a)), Some(Num::Expr(b))).into(),
        ("Ceil", Elem::Ratio(a, b)) => sym.op(DimOp::CeilDiv, Some(Num::Expr(a)), Some(Num::Expr(b))).into(),
        ("Square", _) => floats(sym, "Mul", item, item),
        ("Neg", Elem::Num(num)) => sym.op(DimOp::Sub, Some(Num::Int(0)), Some(num)).into(),
        ("Neg", Elem::Float(value)) => Elem::Float(-value),
        ("Abs" | "Relu", Elem::Num(Num::Int(value))) => {
            let kept = if kind == "Abs" {
                value.checked_abs()
            } else {
                Some(value.max(0))
            };
            kept.map(Num::Int).into()
        }
        ("Relu", Elem::Num(num)) => sym.op(DimOp::Max, Some(num), Some(Num::Int(0))).into(),
        ("Sqrt", Elem::Num(Num::Int(value))) => Elem::float(to_f64(value).sqrt()),
        ("Sqrt", Elem::Float(value)) => Elem::float(value.sqrt()),
        ("Not" | "LogicalNot", Elem::Num(num)) => sym.op(DimOp::Equal, Some(num), Some(Num::Int(0))).into(),
        _ => Elem::Unknown,
    }
}

/// The element as an integer, as Cast rounds it: towards zero.
pub(crate) fn to_integer(sym: &mut Sym, item: Elem) -> Elem {
    match item {
        Elem::Float(value) => Elem::float(value.trunc()),
        Elem::Ratio(..) => unary(sym, "Floor", item),
        _ => item,
    }
}

/// The simplest fraction that is this float in single precision: 0.7 is 7/10.
pub(crate) fn fraction(value: f64) -> Option<(i64, i64)> {
    if !value.is_finite() || value.abs() > 1e9 {
        return None;
    }
    let target = single(value);
    // Continued fraction; convergents are the simplest fractions near a number.
    let (mut before, mut last) = ((0_i64, 1_i64), (1_i64, 0_i64));
    let mut rest = value;
    for _ in 0..24 {
        let whole = rest.floor();
        #[expect(clippy::cast_possible_truncation, reason = "below 1e9 at first, below 1e12 later")]
        let digit = if whole.abs() < 1e12 { whole as i64 } else { return None };
        let next = (
            digit.checked_mul(last.0)?.checked_add(before.0)?,
            digit.checked_mul(last.1)?.checked_add(before.1)?,
        );
        if next.1 > 1_000_000 {
            return None;
        }
        if single(to_f64(next.0) / to_f64(next.1)).to_bits() == target.to_bits() {
            return Some(next);
        }
        (before, last) = (last, next);
        rest = 1.0 / (rest - whole);
        if !rest.is_finite() {
            return None;
        }
    }
    None
}

#[expect(clippy::cast_possible_truncation, reason = "single precision is the point")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_become_the_fractions_that_were_meant() {
        for (value, expected) in [(0.7_f32, (7, 10)), (2.0, (2, 1)), (0.333_333_34, (1, 3)), (1.5, (3, 2))] {
            assert_eq!(fraction(f64::from(value)), Some(expected));
        }
        assert_eq!(fraction(f64::NAN), None);
        assert_eq!(fraction(1e30), None);
    }

    #[test]
    fn quotients_wait_for_their_rounding() {
        let mut sym = Sym::new(0);
        let n = Num::Expr(sym.exprs.symbol("n"));
        let half = floats(&mut sym, "Div", Elem::Num(n), Elem::int(2));
        assert!(matches!(half, Elem::Ratio(..)));
        let up = unary(&mut sym, "Ceil", half);
        let text = match up {
            Elem::Num(Num::Expr(id)) => sym.exprs.text(id),
            other => format!("{other:?}"),
        };
        assert_eq!(text, "n ceil/ 2");
        assert_eq!(floats(&mut sym, "Div", Elem::int(7), Elem::int(2)), Elem::Float(3.5));
        assert_eq!(integers(&mut sym, "Div", Elem::int(-7), Elem::int(2)), Elem::int(-3));
    }
}
