//! Ops that hand on states: optimizers, gradients, convolutions step by step.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use highwater_model::graph::{Dim, DimOp};

/// An output of the type and shape of an input.
fn same(call: &mut Call<'_>, output: usize, input: usize) -> Option<()> {
    let dtype = call.dtype(input);
    call.set_dtype(output, dtype);
    call.like(output, input)
}

/// Adagrad, Adam, Momentum: behind the rate and the step come values, their gradients and states, group by group; outputs
/// are the new values and states.
pub(super) fn optimizer(call: &mut Call<'_>) -> Option<()> {
    let n_states = if call.kind == "Adam" { 2 } else { 1 };
    let n_values = call.inputs.len().checked_sub(2)? / (n_states + 2);
    for output in 0..call.outputs.len() {
        let (group, value) = (output.checked_div(n_values)?, output.checked_rem(n_values)?);
        let group = if group == 0 { 0 } else { group + 1 };
        same(call, output, 2 + group * n_values + value);
    }
    Some(())
}

/// A gradient has the shape of the value that it is taken by; these come first.
pub(super) fn gradient(call: &mut Call<'_>) -> Option<()> {
    let known = (0..call.outputs.len()).filter(|output| same(call, *output, *output).is_some());
    (known.count() > 0).then_some(())
}

/// A convolution that looks back (com.microsoft), and the values that the next step looks back to.
pub(super) fn causal_conv(call: &mut Call<'_>) -> Option<()> {
    let input = call.dims(0)?;
    let is_last = call.int_or("channels_last", 0) == 1;
    let given = |name: &str| call.int(name).filter(|number| *number > 0);
    let (channels, window, length) = (given("input_channels"), given("state_window"), given("state_length"));
    let capacity = Num::Int(call.int_or("state_update_capacity", 0)).dim();
    let mut output = input.clone();
    let mut tail = if is_last {
        input.get(2..)?.to_vec()
    } else {
        vec![*input.get(1)?]
    };
    if let Some(channels) = channels {
        *output.last_mut()? = Num::Int(channels).dim();
        tail = vec![Num::Int(channels).dim()];
    }
    call.out(0, &output);
    let length = if let Some(length) = length {
        Num::Int(length).dim()
    } else {
        let kernel = *call.dims(1)?.last()?;
        let back = call.sym.with(DimOp::Sub, kernel, 1);
        call.sym.with(DimOp::Mul, back, call.int_or("dilation", 1))
    };
    let mut state: Vec<Dim> = window.map(|window| Num::Int(window).dim()).into_iter().collect();
    state.push(*input.first()?);
    match call.int_or("state_channels_last", -1) {
        -1 if is_last => {
            state.push(length);
            state.extend_from_slice(&tail);
        }
        1 => state.extend([length, call.sym.product(&tail).map_or(Dim::Unknown, Num::dim)]),
        _ => {
            state.push(call.sym.product(&tail).map_or(Dim::Unknown, Num::dim));
            if !is_last {
                state.extend_from_slice(input.get(2..input.len() - 1)?);
            }
            state.push(length);
        }
    }
    call.out(1, &state);
    let width = call.sym.product(&tail).map_or(Dim::Unknown, Num::dim);
    call.out(2, &[*input.first()?, capacity, width])
}
