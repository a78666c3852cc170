//! Ops that work element by element: one input's shape, or the common shape of several.

use std::rc::Rc;

use crate::onnx::types;
use highwater_model::graph::DType;

use super::arith;
use super::call::Call;
use super::fact::{Elem, Num, Value};
use super::value::pair_up;

/// Output 0 is like input 0.
pub(super) fn same(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    let kind = call.kind();
    let value = call.value(0)?;
    let items = value
        .items
        .iter()
        .map(|item| arith::unary(call.sym, kind, *item))
        .collect();
    let dims = value.dims.clone();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// Identity, of anything.
pub(super) fn identity(call: &mut Call<'_>) -> Option<()> {
    let fact = call.inputs.first()?.clone()?;
    *call.outputs.first_mut()? = fact;
    Some(())
}

/// The shape of input 0 and truth values.
pub(super) fn same_bool(call: &mut Call<'_>) -> Option<()> {
    call.set_dtype(0, DType::Bool);
    let dims = call.dims(0)?;
    call.set(0, DType::Bool, &dims);
    Some(())
}

/// The shape of input 0 and the type that attribute `dtype` names, else that of input 0.
pub(super) fn same_with_dtype(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.int("dtype").map_or_else(|| call.dtype(0), types::from_code);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// Dropout: the data, and a mask of truth values (of the data's type before operator set 10).
pub(super) fn dropout(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    let mask = if call.model.opset >= 10 { DType::Bool } else { dtype };
    call.set_dtype(0, dtype);
    call.set_dtype(1, mask);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    call.set(1, mask, &dims);
    Some(())
}

/// A conversion; its type is a number, in the first operator set a name.
pub(super) fn cast(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.kind() {
        "CastLike" => call.dtype(1),
        _ => call
            .int("to")
            .map_or_else(|| types::from_text(call.text("to")), types::from_code),
    };
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    let value = call.value(0)?;
    let items = value
        .items
        .iter()
        .map(|item| match (dtype, *item) {
            (DType::Bool, Elem::Num(Num::Int(number))) => Elem::int(i64::from(number != 0)),
            (DType::Bool, _) if call.dtype(0) != DType::Bool => Elem::Unknown,
            (_, item) if types::is_integer(dtype) => arith::to_integer(call.sym, item),
            (_, item) => item,
        })
        .collect();
    let dims = value.dims.clone();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// Arithmetic of any number of inputs: the type of the first.
pub(super) fn arithmetic(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    common_shape(call, dtype)
}

/// Comparisons and logic: truth values.
pub(super) fn comparison(call: &mut Call<'_>) -> Option<()> {
    common_shape(call, DType::Bool)
}

/// `PRelu`: a slope never widens the data.
pub(super) fn prelu(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    Some(())
}

fn common_shape(call: &mut Call<'_>, dtype: DType) -> Option<()> {
    call.set_dtype(0, dtype);
    // The first operator sets name the broadcast; the result is like the first input.
    if call.int_or("broadcast", 0) == 1 {
        let dims = call.dims(0)?;
        call.set(0, dtype, &dims);
        return Some(());
    }
    let mut dims = call.dims(0)?;
    for input in 1..call.inputs.len() {
        let other = call.dims(input)?;
        dims = call.sym.broadcast(&dims, &other);
    }
    call.set(0, dtype, &dims);
    let mut value: Rc<Value> = call.value(0)?;
    for input in 1..call.inputs.len() {
        let other = call.value(input)?;
        value = Rc::new(combine(call, &value, &other)?);
    }
    if call.inputs.len() > 1 || call.kind() != "Mean" {
        call.add_value(0, Rc::unwrap_or_clone(value));
    }
    Some(())
}

fn combine(call: &mut Call<'_>, a: &Value, b: &Value) -> Option<Value> {
    let kind = call.kind();
    let is_exact = types::is_integer(call.dtype(0));
    // The remainder of a division that rounds towards zero.
    let is_fmod = call.int_or("fmod", 0) == 1;
    let (dims, pairs) = pair_up(a, b)?;
    let items = pairs
        .into_iter()
        .map(|(x, y)| match (is_exact, is_fmod) {
            (true, false) => arith::integers(call.sym, kind, x, y),
            (true, true) => match (x, y) {
                (Elem::Num(Num::Int(x)), Elem::Num(Num::Int(y))) => x.checked_rem(y).map(Num::Int).into(),
                _ => Elem::Unknown,
            },
            (false, _) => arith::floats(call.sym, kind, x, y),
        })
        .collect();
    Some(Value { dims, items })
}

/// A choice between two values.
pub(super) fn select(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(1);
    call.set_dtype(0, dtype);
    let (condition, then, other) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let dims = call.sym.broadcast(&condition, &then);
    let dims = call.sym.broadcast(&dims, &other);
    call.set(0, dtype, &dims);
    let (condition, then, other) = (call.value(0)?, call.value(1)?, call.value(2)?);
    let (shape, choices) = pair_up(&then, &other)?;
    // Widen the condition and the choices to one shape, then choose at each position.
    let positions = Value {
        dims: shape,
        items: (0..choices.len())
            .map(|position| Elem::int(i64::try_from(position).unwrap_or(0)))
            .collect(),
    };
    let (dims, pairs) = pair_up(&condition, &positions)?;
    let items = pairs
        .into_iter()
        .map(|(test, position)| {
            let Elem::Num(Num::Int(position)) = position else {
                return Elem::Unknown;
            };
            let (then, other) = choices[usize::try_from(position).unwrap_or(0)];
            match (test.num(), then.num(), other.num()) {
                (Some(Num::Int(0)), ..) => other,
                (Some(Num::Int(_)), ..) => then,
                (Some(test), Some(then), Some(other)) => call.sym.select(test, then, other).into(),
                _ => Elem::Unknown,
            }
        })
        .collect();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// Clip: like the data; elements within known bounds.
pub(super) fn clip(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    if !types::is_integer(dtype) {
        return Some(());
    }
    let mut value = call.value(0)?;
    for (input, kind) in [(1, "Max"), (2, "Min")] {
        if call.has(input) {
            let bound = call.value(input)?;
            let (dims, pairs) = pair_up(&value, &bound)?;
            let items = pairs
                .into_iter()
                .map(|(x, y)| arith::integers(call.sym, kind, x, y))
                .collect();
            value = Rc::new(Value { dims, items });
        }
    }
    call.add_value(0, Rc::unwrap_or_clone(value));
    Some(())
}
