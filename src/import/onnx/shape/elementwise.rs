//! Ops that work element by element, and conversions between element types.

use std::rc::Rc;

use crate::element_types::ONNX;
use crate::shape::call::Call;
use crate::shape::fact::{Value, is_integer};
use crate::shape::value::pair_up;
use crate::shape::{arith, elementwise};
use highwater_model::graph::DType;

/// The shape of input 0 and the type that attribute `dtype` names, else that of input 0.
pub(super) fn same_with_dtype(call: &mut Call<'_>) -> Option<()> {
    let dtype = call
        .int("dtype")
        .map_or_else(|| call.dtype(0), |code| ONNX.of_code(code));
    call.set_dtype(0, dtype);
    call.like(0, 0)
}

/// Dropout: the data, and a mask of truth values (of the data's type before operator set 10).
pub(super) fn dropout(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    let is_bool = call.node.opset >= 10;
    call.set_dtype(1, if is_bool { DType::Bool } else { dtype });
    call.like(0, 0)?;
    call.like(1, 0)
}

/// A conversion; its type is a number, in the first operator set a name.
pub(super) fn cast(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.kind {
        "CastLike" => call.dtype(1),
        _ => match call.int("to") {
            Some(code) => ONNX.of_code(code),
            None => ONNX.of_name(&call.text("to").to_ascii_uppercase()),
        },
    };
    call.set_dtype(0, dtype);
    elementwise::cast(call)
}

/// Arithmetic, comparisons and logic of any number of inputs.
pub(super) fn arithmetic(call: &mut Call<'_>) -> Option<()> {
    // The first operator sets name the broadcast; the result is like the first input.
    if call.int_or("broadcast", 0) == 1 {
        return call.like(0, 0);
    }
    let is_fmod = call.int_or("fmod", 0) == 1;
    let operation = if is_fmod { "TruncateMod" } else { call.kind };
    let n_inputs = call.inputs.len();
    elementwise::broadcast(call, n_inputs, Some(operation))
}

/// `PRelu`: its slopes broadcast; in the first operator sets there is one per channel.
pub(super) fn prelu(call: &mut Call<'_>) -> Option<()> {
    if call.node.opset < 7 {
        return call.like(0, 0);
    }
    elementwise::broadcast(call, 2, None)
}

/// Clip: like the data; elements within known bounds.
pub(super) fn clip(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    if !is_integer(call.dtype(0)) {
        return Some(());
    }
    let mut value = call.value(0)?;
    for (input, kind) in [(1, "Max"), (2, "Min")] {
        if call.has(input) {
            let (dims, pairs) = pair_up(&value, &*call.value(input)?)?;
            let items = pairs
                .into_iter()
                .map(|(x, y)| arith::integers(call.sym, kind, x, y))
                .collect();
            value = Rc::new(Value { dims, items });
        }
    }
    call.add_value(0, Rc::unwrap_or_clone(value))
}

/// `QuantizeLinear`: the zero point's type unless an attribute names another.
pub(super) fn quantize(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.int("output_dtype").filter(|code| *code != 0) {
        Some(code) => ONNX.of_code(code),
        None if call.has(2) => call.dtype(2),
        None => DType::Uint8,
    };
    call.set_dtype(0, dtype);
    call.like(0, 0)
}

/// `DequantizeLinear`: the scale's type unless an attribute names another.
pub(super) fn dequantize(call: &mut Call<'_>) -> Option<()> {
    if let Some(code) = call.int("output_dtype").filter(|code| *code != 0) {
        call.set_dtype(0, ONNX.of_code(code));
    }
    call.like(0, 0)
}

/// Bytes, their scale and their zero point.
pub(super) fn dynamic_quantize(call: &mut Call<'_>) -> Option<()> {
    call.out(1, &[]);
    call.out(2, &[]);
    call.like(0, 0)
}
