//! Ops that work element by element: the shape of one input, or the common shape of several; and those that forward.

use crate::shape::call::Call;
use crate::shape::elementwise::{self, pass};
use crate::shape::fact::is_integer;
use highwater_model::graph::Dim;

/// Output 0 has the shape of all inputs: gradients, sums of many.
pub(super) fn agreed(call: &mut Call<'_>) -> Option<()> {
    let inputs: Vec<Vec<Dim>> = (0..call.inputs.len()).filter_map(|input| call.dims(input)).collect();
    let dims = common(inputs)?;
    call.out(0, &dims)
}

/// The dimensions of shapes that are equal: a number is preferred to an expression, that to an unknown one.
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

/// All outputs are input 0; all but one are dead.
pub(super) fn switch(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        pass(call, output, 0)?;
    }
    Some(())
}

/// Two inputs that broadcast against each other.
pub(super) fn binary(call: &mut Call<'_>) -> Option<()> {
    let operation = arithmetic(call.kind, is_integer(call.dtype(0)));
    elementwise::broadcast(call, 2, operation)
}

/// The op in the shared arithmetic.
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

/// A reinterpretation as another type: the last dimension grows or goes.
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
    call.out(0, &dims)
}

/// A choice of which the condition may name whole rows: the two choices have the result's shape.
pub(super) fn select(call: &mut Call<'_>) -> Option<()> {
    let choices: Vec<Vec<Dim>> = [1, 2].iter().filter_map(|input| call.dims(*input)).collect();
    let dims = common(choices)?;
    call.out(0, &dims);
    let (tests, then, other) = (call.value(0)?, call.value(1)?, call.value(2)?);
    let is_even = then.dims == other.dims && (tests.items.len() == 1 || tests.dims == then.dims);
    is_even.then(|| elementwise::select_elements(call))?
}

/// An assertion of a shape, joined with the shape of the input.
pub(super) fn ensure_shape(call: &mut Call<'_>) -> Option<()> {
    let shapes = [call.dims(0), call.shape_of("shape")];
    let dims = common(shapes.into_iter().flatten().collect())?;
    call.out(0, &dims);
    let value = call.value(0);
    call.outputs.first_mut()?.value = value;
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
    call.out(0, &dims)
}
