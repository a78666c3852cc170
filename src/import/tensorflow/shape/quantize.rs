//! Quantized tensors, which carry their range as two further outputs.

use super::elementwise::binary;
use super::layout::reshape;
use crate::shape::call::Call;

/// The shape of input 0, and a range.
pub(super) fn with_range(call: &mut Call<'_>) -> Option<()> {
    call.out_scalars(1);
    call.like(0, 0)
}

/// A broadcast of two tensors, and a range.
pub(super) fn binary_with_range(call: &mut Call<'_>) -> Option<()> {
    call.out_scalars(1);
    binary(call)
}

/// A reshape, and a range.
pub(super) fn reshape_with_range(call: &mut Call<'_>) -> Option<()> {
    call.out_scalars(1);
    reshape(call)
}

/// Gradients of rounding to few steps: of the data, and of both ends of the range.
pub(super) fn rounding_gradient(call: &mut Call<'_>) -> Option<()> {
    for output in 1..call.outputs.len() {
        // Ranges per channel have a shape, which input 2 has as well.
        let dims = call.dims(output + 1).unwrap_or_default();
        call.out(output, &dims);
    }
    call.like(0, 0)
}
