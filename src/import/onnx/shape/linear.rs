//! Matrix products: `MatMul` and its kin, Gemm, Einsum.

use crate::shape::call::Call;
use crate::shape::products;
use highwater_model::graph::{DType, Dim};

/// The product of the inputs at two positions.
pub(super) fn matmul(call: &mut Call<'_>, left: usize, right: usize) -> Option<()> {
    products::matmul(call, [left, right], [false; 2])
}

/// Products of transposed matrices (com.microsoft); batches may be transposed first: axis 0 goes in front of the last.
pub(super) fn fused_matmul(call: &mut Call<'_>) -> Option<()> {
    for (input, name) in [(0, "transBatchA"), (1, "transBatchB")] {
        let mut dims = call.dims(input)?;
        if call.int_or(name, 0) != 0 && dims.len() > 2 {
            let first = dims.remove(0);
            dims.insert(dims.len() - 1, first);
            let shape = call.sym.shape(&dims);
            call.inputs.get_mut(input)?.as_mut()?.shape = shape;
        }
    }
    let transposed = ["transA", "transB"].map(|name| call.int_or(name, 0) != 0);
    products::matmul(call, [0, 1], transposed)
}

/// Products of 16 bits (com.microsoft): signed where an operand is.
pub(super) fn matmul_integer16(call: &mut Call<'_>) -> Option<()> {
    let is_unsigned = (0..2).all(|input| call.dtype(input) == DType::Uint16);
    call.set_dtype(0, if is_unsigned { DType::Uint32 } else { DType::Int32 });
    matmul(call, 0, 1)
}

/// Quantized Gemm (com.microsoft): floats without a zero point of the result.
pub(super) fn q_gemm(call: &mut Call<'_>) -> Option<()> {
    let dtype = if call.has(8) { call.dtype(8) } else { call.dtype(1) };
    call.set_dtype(0, dtype);
    gemm(call, 3)
}

/// Gemm of input 0 and the matrix at an input; the first operator sets flatten nothing either.
pub(super) fn gemm(call: &mut Call<'_>, right: usize) -> Option<()> {
    let [a0, a1] = call.dims(0)?[..] else { return None };
    let [b0, b1] = call.dims(right)?[..] else { return None };
    let rows = if call.int_or("transA", 0) == 0 { a0 } else { a1 };
    let columns = if call.int_or("transB", 0) == 0 { b1 } else { b0 };
    call.out(0, &[rows, columns])
}

pub(super) fn einsum(call: &mut Call<'_>) -> Option<()> {
    let inputs: Vec<Vec<Dim>> = (0..call.inputs.len())
        .map(|input| call.dims(input))
        .collect::<Option<_>>()?;
    let dims = products::einsum(call.sym, call.text("equation"), &inputs)?;
    call.out(0, &dims)
}
