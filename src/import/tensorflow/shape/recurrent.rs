//! Recurrent cells and layers that are one op.

use crate::shape::call::Call;
use highwater_model::graph::DimOp;

/// One step of an LSTM: every output has the shape of the state (input 1).
pub(super) fn lstm_cell(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        call.like(output, 1)?;
    }
    Some(())
}

/// All steps of an LSTM: every output is a state per step.
pub(super) fn lstm_layer(call: &mut Call<'_>) -> Option<()> {
    let [steps, batch, _] = call.dims(1)?[..] else {
        return None;
    };
    let cells = *call.dims(2)?.last()?;
    call.out_from(0, &[steps, batch, cells])
}

/// Gradients of all steps: the outputs are like the inputs from the second on.
pub(super) fn lstm_layer_gradient(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        call.like(output, output + 1);
    }
    Some(())
}

/// A layer of the vendor's library: input, states, weights -> output, states, reserved space of unknown size.
pub(super) fn vendor_layer(call: &mut Call<'_>) -> Option<()> {
    call.like(1, 1);
    call.like(2, 2);
    // The third and fourth outputs hold what only the library knows.
    let [first, second, _] = call.dims(0)?[..] else {
        return None;
    };
    let units = *call.dims(1)?.last()?;
    let width = if call.text("direction") == "bidirectional" {
        call.sym.with(DimOp::Mul, units, 2)
    } else {
        units
    };
    call.out(0, &[first, second, width]);
    if call.text("rnn_mode") != "lstm" && !call.text("rnn_mode").is_empty() {
        // Without a cell state there is one dummy.
        call.outputs.get_mut(2)?.shape = None;
    }
    Some(())
}

/// Gradients of such a layer: like the inputs.
pub(super) fn vendor_gradient(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        call.like(output, output);
    }
    Some(())
}
