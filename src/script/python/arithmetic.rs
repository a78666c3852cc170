//! Python's operators on known values. `None` and [`Outcome::Unknown`] are results that are not followed, such as errors.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};

use highwater_options::{Float, Value};

use super::datum::{MAX_ITEMS, MAX_TEXT};
use super::folding::percent;
use super::paths::joined as joined_path;

pub(super) enum Outcome {
    Value(Value),
    /// An integer beyond 64 bits.
    TooLarge,
    Unknown,
}

impl From<Option<Value>> for Outcome {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Unknown, Self::Value)
    }
}

pub(super) fn binary(left: &Value, op: Operator, right: &Value) -> Outcome {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) if op == Operator::Add => {
            Outcome::from((a.len() + b.len() <= MAX_TEXT).then(|| Value::Text(format!("{a}{b}"))))
        }
        // Of texts only paths have a division.
        (Value::Text(path), Value::Text(part)) if op == Operator::Div => {
            Outcome::from((path.len() + part.len() < MAX_TEXT).then(|| Value::Text(joined_path(path, part))))
        }
        (Value::Text(template), value) if op == Operator::Mod => {
            Outcome::from(percent(template, value).map(Value::Text))
        }
        (Value::Text(text), count) | (count, Value::Text(text)) if op == Operator::Mult => {
            let count = count
                .as_int()
                .map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(0));
            let is_small = text.len().saturating_mul(count) <= MAX_TEXT;
            Outcome::from(is_small.then(|| Value::Text(text.repeat(count))))
        }
        (Value::List(a), Value::List(b)) if op == Operator::Add => Outcome::from(joined(a, b).map(Value::List)),
        (Value::Tuple(a), Value::Tuple(b)) if op == Operator::Add => Outcome::from(joined(a, b).map(Value::Tuple)),
        _ => match (left.as_int(), right.as_int()) {
            (Some(a), Some(b)) => integers(i128::from(a), op, i128::from(b)),
            _ => Outcome::from(floats(left, op, right)),
        },
    }
}

fn joined(a: &[Value], b: &[Value]) -> Option<Vec<Value>> {
    (a.len() + b.len() <= MAX_ITEMS).then(|| a.iter().chain(b).cloned().collect())
}

fn integers(a: i128, op: Operator, b: i128) -> Outcome {
    let shift = || u32::try_from(b).ok().filter(|bits| *bits < 64);
    let wide = match op {
        Operator::Add => Some(a + b),
        Operator::Sub => Some(a - b),
        Operator::Mult => Some(a * b),
        Operator::FloorDiv if b != 0 => Some(floor_div(a, b)),
        Operator::Mod if b != 0 => Some(a - floor_div(a, b) * b),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::LShift if b >= 0 => match shift() {
            Some(bits) => Some(a << bits),
            None => return Outcome::TooLarge,
        },
        Operator::RShift if b >= 0 => Some(a >> u32::try_from(b).unwrap_or(127).min(127)),
        Operator::Pow if b >= 0 => {
            let power = u32::try_from(b).ok().and_then(|exponent| a.checked_pow(exponent));
            match power {
                Some(power) => Some(power),
                None => return Outcome::TooLarge,
            }
        }
        Operator::Div if b != 0 => return Outcome::from(quotient(a, b)),
        _ => None,
    };
    match wide.map(i64::try_from) {
        Some(Ok(number)) => Outcome::Value(Value::Int(number)),
        Some(Err(_)) => Outcome::TooLarge,
        None => Outcome::Unknown,
    }
}

#[expect(clippy::cast_precision_loss, reason = "Python's division gives a double, too")]
fn quotient(a: i128, b: i128) -> Option<Value> {
    Float::new(a as f64 / b as f64).map(Value::Float)
}

fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    quotient - i128::from(a % b != 0 && (a < 0) != (b < 0))
}

fn floats(left: &Value, op: Operator, right: &Value) -> Option<Value> {
    let (a, b) = (left.as_float()?, right.as_float()?);
    let number = match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a * b,
        Operator::Div if b != 0.0 => a / b,
        Operator::FloorDiv if b != 0.0 => (a / b).floor(),
        Operator::Pow => a.powf(b),
        _ => return None,
    };
    Float::new(number).map(Value::Float)
}

pub(super) fn unary(op: UnaryOp, value: &Value) -> Outcome {
    let integer = |number: Option<i64>| match number {
        Some(number) => Outcome::Value(Value::Int(number)),
        None => Outcome::TooLarge,
    };
    match (op, value, value.as_int()) {
        (UnaryOp::USub, _, Some(number)) => integer(number.checked_neg()),
        (UnaryOp::UAdd, _, Some(number)) => integer(Some(number)),
        (UnaryOp::Invert, _, Some(number)) => integer(Some(!number)),
        (UnaryOp::USub, Value::Float(number), _) => Outcome::from(Float::new(-number.get()).map(Value::Float)),
        (UnaryOp::UAdd, Value::Float(number), _) => Outcome::Value(Value::Float(*number)),
        _ => Outcome::Unknown,
    }
}

/// `None` where the result is unknown.
pub(super) fn compare(left: &Value, op: CmpOp, right: &Value) -> Option<bool> {
    let is_equal = || match (left.as_float(), right.as_float()) {
        (Some(a), Some(b)) => left == right || (a - b).abs() < f64::MIN_POSITIVE,
        _ => left == right,
    };
    let order = || match (left, right) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => left.as_float()?.partial_cmp(&right.as_float()?),
    };
    let is_in = || match (left, right) {
        (Value::Text(part), Value::Text(whole)) => Some(whole.contains(part.as_str())),
        _ => Some(right.items()?.contains(left)),
    };
    match op {
        CmpOp::Eq | CmpOp::Is => Some(is_equal()),
        CmpOp::NotEq | CmpOp::IsNot => Some(!is_equal()),
        CmpOp::Lt => Some(order()?.is_lt()),
        CmpOp::LtE => Some(order()?.is_le()),
        CmpOp::Gt => Some(order()?.is_gt()),
        CmpOp::GtE => Some(order()?.is_ge()),
        CmpOp::In => is_in(),
        CmpOp::NotIn => is_in().map(|is_in| !is_in),
    }
}

/// `int(value)`.
pub(super) fn int_of(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => text.trim().replace('_', "").parse().ok().map(Value::Int),
        Value::Float(number) => whole(number.get().trunc()).map(Value::Int),
        other => other.as_int().map(Value::Int),
    }
}

/// `float(value)`.
pub(super) fn float_of(value: &Value) -> Option<Value> {
    let number = match value {
        Value::Text(text) => text.trim().parse().ok()?,
        other => other.as_float()?,
    };
    Float::new(number).map(Value::Float)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked against the bounds of exact doubles"
)]
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.abs() <= EXACT).then_some(number as i64)
}
