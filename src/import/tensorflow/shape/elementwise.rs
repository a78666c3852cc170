//! Ops that work element by element: one input's shape, or the common shape of several; and those that pass on.

use std::rc::Rc;

use crate::shape::fact::{Elem, Num, Value, is_integer};
use crate::shape::{arith, value};
use highwater_model::graph::{DType, Dim, DimOp};

use super::call::Call;

/// Output 0 has the shape of input 0; elements as far as arithmetic goes.
pub(super) fn unary(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    let kind = match call.kind() {
        "LogicalNot" => "Not",
        "Rint" => "Round",
        kind => kind,
    };
    let value = call.value(0)?;
    let items = value.items.iter();
    let items = if kind == "Square" {
        items.map(|item| arith::floats(call.sym, "Mul", *item, *item)).collect()
    } else {
        items.map(|item| arith::unary(call.sym, kind, *item)).collect()
    };
    let dims = value.dims.clone();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// Output 0 has the shape of input 0 and other elements.
pub(super) fn same(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)
}

/// Output 0 has the shape that all inputs share: gradients, sums of many.
pub(super) fn agreed(call: &mut Call<'_>) -> Option<()> {
    let inputs: Vec<Vec<Dim>> = (0..call.n_inputs()).filter_map(|input| call.dims(input)).collect();
    let dims = common(inputs)?;
    call.out(0, &dims);
    Some(())
}

/// The dimensions of shapes that are one: a number says more than an expression, that more than nothing.
pub(super) fn common(shapes: Vec<Vec<Dim>>) -> Option<Vec<Dim>> {
    shapes.into_iter().reduce(|mut one, other| {
        if one.len() == other.len() {
            for (dim, other) in one.iter_mut().zip(other) {
                let says_more = match *dim {
                    Dim::Unknown => other != Dim::Unknown,
                    Dim::Expr(_) => matches!(other, Dim::Known(_)),
                    Dim::Known(_) => false,
                };
                if says_more {
                    *dim = other;
                }
            }
        }
        one
    })
}

/// Every output is the input at its place.
pub(super) fn identity(call: &mut Call<'_>) -> Option<()> {
    for position in 0..call.outputs.len() {
        pass(call, position, position)?;
    }
    Some(())
}

/// Both outputs are input 0, of which one is dead.
pub(super) fn switch(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        pass(call, output, 0)?;
    }
    Some(())
}

/// An output is an input, as it is.
pub(super) fn pass(call: &mut Call<'_>, output: usize, input: usize) -> Option<()> {
    let fact = call.inputs.get(input)?.clone();
    let slot = call.outputs.get_mut(output)?;
    // The type that the node itself names counts.
    let dtype = slot.dtype;
    *slot = fact;
    if dtype != DType::Unknown {
        slot.dtype = dtype;
    }
    Some(())
}

/// Two inputs that broadcast against each other.
pub(super) fn binary(call: &mut Call<'_>) -> Option<()> {
    let (left, right) = (call.dims(0)?, call.dims(1)?);
    let dims = call.sym.broadcast(&left, &right);
    call.out(0, &dims);
    let (left, right) = (call.value(0)?, call.value(1)?);
    let is_exact = is_integer(call.dtype(0));
    let kind = arithmetic(call.kind(), is_exact)?;
    let (dims, pairs) = value::pair_up(&left, &right)?;
    let items = pairs.into_iter().map(|(x, y)| match (kind, is_exact) {
        ("FloorDiv", true) => call.sym.op(DimOp::FloorDiv, x.num(), y.num()).into(),
        ("NotEqual", true) => {
            let equal = arith::integers(call.sym, "Equal", x, y);
            arith::integers(call.sym, "Equal", equal, Elem::int(0))
        }
        ("FloorDiv", false) => {
            let quotient = arith::floats(call.sym, "Div", x, y);
            arith::unary(call.sym, "Floor", quotient)
        }
        ("TruncateMod", true) => match (x, y) {
            (Elem::Num(Num::Int(x)), Elem::Num(Num::Int(y))) => x.checked_rem(y).map(Num::Int).into(),
            _ => Elem::Unknown,
        },
        (_, true) => arith::integers(call.sym, kind, x, y),
        (_, false) => arith::floats(call.sym, kind, x, y),
    });
    let items = items.collect();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// The name of an op as the shared arithmetic calls it.
fn arithmetic(kind: &str, is_exact: bool) -> Option<&'static str> {
    Some(match kind {
        "Add" | "AddV2" => "Add",
        "Sub" => "Sub",
        "Mul" => "Mul",
        "Div" | "TruncateDiv" | "RealDiv" => "Div",
        "FloorDiv" => "FloorDiv",
        "FloorMod" => "Mod",
        "Mod" | "TruncateMod" if is_exact => "TruncateMod",
        "Maximum" => "Max",
        "Minimum" => "Min",
        "Pow" => "Pow",
        "Equal" => "Equal",
        "NotEqual" if is_exact => "NotEqual",
        "Less" => "Less",
        "LessEqual" if is_exact => "LessOrEqual",
        "Greater" => "Greater",
        "GreaterEqual" if is_exact => "GreaterOrEqual",
        "LogicalAnd" => "And",
        "LogicalOr" => "Or",
        _ => return None,
    })
}

/// A conversion; elements are cut towards zero.
pub(super) fn cast(call: &mut Call<'_>) -> Option<()> {
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
    call.add_value(0, Value { dims, items });
    Some(())
}

/// The same bits as another type: the last dimension grows or goes.
pub(super) fn bitcast(call: &mut Call<'_>) -> Option<()> {
    let (from, to) = (call.dtype(0).bits(), call.outputs.first()?.dtype.bits());
    if from == 0 || to == 0 {
        return None;
    }
    let mut dims = call.dims(0)?;
    if from > to {
        dims.push(Dim::Known(u64::from(from / to)));
    } else if from < to {
        dims.pop()?;
    }
    call.out(0, &dims);
    Some(())
}

/// A choice of which the condition may name whole rows: the two choices have the result's shape.
pub(super) fn select(call: &mut Call<'_>) -> Option<()> {
    let choices: Vec<Vec<Dim>> = [1, 2].iter().filter_map(|input| call.dims(*input)).collect();
    let dims = common(choices)?;
    call.out(0, &dims);
    chosen(call)
}

/// A choice that broadcasts.
pub(super) fn select_v2(call: &mut Call<'_>) -> Option<()> {
    let (condition, then, other) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let dims = call.sym.broadcast(&condition, &then);
    let dims = call.sym.broadcast(&dims, &other);
    call.out(0, &dims);
    chosen(call)
}

/// Elements of a choice between values, where all three have the same dimensions or the condition is one element.
fn chosen(call: &mut Call<'_>) -> Option<()> {
    let (tests, then, other): (Rc<Value>, _, _) = (call.value(0)?, call.value(1)?, call.value(2)?);
    let is_even = then.dims == other.dims && (tests.items.len() == 1 || tests.dims == then.dims);
    if !is_even {
        return None;
    }
    let pairs = then.items.iter().zip(&other.items).enumerate();
    let items = pairs.map(|(position, (then, other))| {
        let test = tests.items.get(position).or(tests.items.first());
        match (test.and_then(|test| test.num()), then.num(), other.num()) {
            (Some(Num::Int(0)), ..) => *other,
            (Some(Num::Int(_)), ..) => *then,
            (Some(test), Some(then), Some(other)) => call.sym.select(test, then, other).into(),
            _ => Elem::Unknown,
        }
    });
    let items = items.collect();
    let dims = then.dims.clone();
    call.add_value(0, Value { dims, items });
    Some(())
}

/// One element without dimensions.
pub(super) fn scalar(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        call.out(output, &[]);
    }
    Some(())
}

/// One list whose length only data decide.
pub(super) fn some_list(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        call.out(output, &[Dim::Unknown]);
    }
    Some(())
}

/// Shapes that only data decide.
pub(super) fn unknown(_call: &mut Call<'_>) -> Option<()> {
    Some(())
}

/// An assertion of a shape: what it names and what is known of the input.
pub(super) fn ensure_shape(call: &mut Call<'_>) -> Option<()> {
    let shapes = [call.dims(0), call.shape_of("shape")];
    let dims = common(shapes.into_iter().flatten().collect())?;
    call.out(0, &dims);
    if let (Some(fact), Some(input)) = (call.outputs.first_mut(), call.inputs.first()) {
        fact.value.clone_from(&input.value);
    }
    Some(())
}
/// `BiasAdd`: the data, whose channels the bias knows too.
pub(super) fn bias_add(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let is_channels_first = call.text("data_format").starts_with("NC");
    let at = if is_channels_first {
        1
    } else {
        dims.len().checked_sub(1)?
    };
    let bias = call.dims(1).and_then(|bias| bias.first().copied());
    let channels = dims.get_mut(at)?;
    if *channels == Dim::Unknown {
        *channels = bias.unwrap_or(Dim::Unknown);
    }
    call.out(0, &dims);
    Some(())
}
