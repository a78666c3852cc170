//! Ops that work element by element: the shape of one input, or the common shape of several.

use std::rc::Rc;

use super::arith;
use super::call::Call;
use super::fact::{Elem, Fact, Num, Value, is_integer};
use super::value::pair_up;
use highwater_model::graph::DType;

/// Output 0 has the shape of input 0.
pub(crate) fn same(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)
}

/// Every output is the input at its place.
pub(crate) fn identity(call: &mut Call<'_>) -> Option<()> {
    for position in 0..call.outputs.len() {
        pass(call, position, position)?;
    }
    Some(())
}

/// An output is an input; a type that the node states for it counts.
pub(crate) fn pass(call: &mut Call<'_>, output: usize, input: usize) -> Option<()> {
    let fact = call.input(input)?.clone();
    let slot = call.outputs.get_mut(output)?;
    let dtype = if slot.dtype == DType::Unknown {
        fact.dtype
    } else {
        slot.dtype
    };
    *slot = Fact { dtype, ..fact };
    Some(())
}

/// Output 0 has the shape of input 0; elements as far as [`arith::unary`] knows the op.
pub(crate) fn unary(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    let value = call.value(0)?;
    let items = value.items.iter().map(|item| arith::unary(call.sym, call.kind, *item));
    let items = items.collect();
    let dims = value.dims.clone();
    call.add_value(0, Value { dims, items })
}

/// A conversion to the type of output 0; elements are cut towards zero.
pub(crate) fn cast(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    let (from, to) = (call.dtype(0), call.outputs.first()?.dtype);
    let value = call.value(0)?;
    let items = value.items.iter().map(|item| match (to, *item) {
        (DType::Bool, Elem::Num(Num::Int(number))) => Elem::int(i64::from(number != 0)),
        (DType::Bool, _) if from != DType::Bool => Elem::Unknown,
        (_, item) if is_integer(to) => arith::to_integer(call.sym, item),
        (_, item) => item,
    });
    let items = items.collect();
    let dims = value.dims.clone();
    call.add_value(0, Value { dims, items })
}

/// The first inputs broadcast against each other; elements under an operation of [`arith`], if it has one.
pub(crate) fn broadcast(call: &mut Call<'_>, n_inputs: usize, operation: Option<&str>) -> Option<()> {
    let mut dims = call.dims(0)?;
    for input in 1..n_inputs {
        let other = call.dims(input)?;
        dims = call.sym.broadcast(&dims, &other);
    }
    call.out(0, &dims);
    let operation = operation?;
    let is_exact = is_integer(call.dtype(0));
    let mut value = call.value(0)?;
    for input in 1..n_inputs {
        let (dims, pairs) = pair_up(&value, &*call.value(input)?)?;
        let items = pairs.into_iter().map(|(x, y)| {
            if is_exact {
                arith::integers(call.sym, operation, x, y)
            } else {
                arith::floats(call.sym, operation, x, y)
            }
        });
        let items = items.collect();
        value = Rc::new(Value { dims, items });
    }
    call.add_value(0, Rc::unwrap_or_clone(value))
}

/// A choice between inputs 1 and 2, all three broadcast.
pub(crate) fn select(call: &mut Call<'_>) -> Option<()> {
    let (condition, then, other) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let dims = call.sym.broadcast(&condition, &then);
    let dims = call.sym.broadcast(&dims, &other);
    call.out(0, &dims);
    select_elements(call)
}

pub(crate) fn select_elements(call: &mut Call<'_>) -> Option<()> {
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
    let items = pairs.into_iter().map(|(test, position)| {
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
    });
    let items = items.collect();
    call.add_value(0, Value { dims, items })
}
