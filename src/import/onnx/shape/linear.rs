//! Matrix products: `MatMul` and its kin, Gemm, Einsum.

use crate::onnx::types;
use highwater_model::graph::{DType, Dim};

use super::call::Call;
use super::products::{einsum as einsum_of, product};

fn matmul_of(call: &mut Call<'_>, a: usize, b: usize, dtype: DType) -> Option<()> {
    call.set_dtype(0, dtype);
    let (left, right) = (call.dims(a)?, call.dims(b)?);
    let dims = product(call.sym, left, right)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// `MatMul`.
pub(super) fn matmul(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    matmul_of(call, 0, 1, dtype)
}

/// Integer products accumulate in 32 bits.
pub(super) fn matmul_integer(call: &mut Call<'_>) -> Option<()> {
    matmul_of(call, 0, 1, DType::Int32)
}

/// Integer products that are scaled to floats.
pub(super) fn matmul_to_float(call: &mut Call<'_>) -> Option<()> {
    matmul_of(call, 0, 1, DType::Float32)
}

/// Quantized products return the type of the last zero point.
pub(super) fn qlinear_matmul(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(7);
    matmul_of(call, 0, 3, dtype)
}

/// Products of transposed matrices.
pub(super) fn fused_matmul(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    if call.int_or("transBatchA", 0) != 0 || call.int_or("transBatchB", 0) != 0 {
        return None;
    }
    let (mut left, mut right) = (call.dims(0)?, call.dims(1)?);
    for (dims, name) in [(&mut left, "transA"), (&mut right, "transB")] {
        let rank = dims.len();
        if call.int_or(name, 0) != 0 && rank >= 2 {
            dims.swap(rank - 1, rank - 2);
        }
    }
    let dims = product(call.sym, left, right)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// Weights in blocks of few bits: sizes are attributes.
pub(super) fn matmul_n_bits(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    *dims.last_mut()? = Dim::Known(u64::try_from(call.int("N")?).ok()?);
    call.set(0, dtype, &dims);
    Some(())
}

/// Gemm; the first operator sets flatten nothing either.
pub(super) fn gemm(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let [a0, a1] = call.dims(0)?[..] else { return None };
    let [b0, b1] = call.dims(1)?[..] else { return None };
    let rows = if call.int_or("transA", 0) == 0 { a0 } else { a1 };
    let columns = if call.int_or("transB", 0) == 0 { b1 } else { b0 };
    call.set(0, dtype, &[rows, columns]);
    Some(())
}

/// Einsum: letters name dimensions, three dots stand for broadcast ones.
pub(super) fn einsum(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let inputs: Vec<Vec<Dim>> = (0..call.inputs.len())
        .map(|input| call.dims(input))
        .collect::<Option<_>>()?;
    let dims = einsum_of(call.sym, call.text("equation"), &inputs)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// Quantized elementwise sums and products (com.microsoft): operands at 0 and 3.
pub(super) fn qlinear_pair(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let (left, right) = (call.dims(0)?, call.dims(3)?);
    let dims = call.sym.broadcast(&left, &right);
    call.set(0, dtype, &dims);
    Some(())
}

/// `QuantizeLinear`: the zero point's type, or what the attribute says.
pub(super) fn quantize(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.int("output_dtype").filter(|code| *code != 0) {
        Some(code) => types::from_code(code),
        None if call.has(2) => call.dtype(2),
        None => DType::Uint8,
    };
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// `DequantizeLinear`: the scale's type.
pub(super) fn dequantize(call: &mut Call<'_>) -> Option<()> {
    let dtype = match call.int("output_dtype").filter(|code| *code != 0) {
        Some(code) => types::from_code(code),
        None => call.dtype(1),
    };
    call.set_dtype(0, dtype);
    let dims = call.dims(0)?;
    call.set(0, dtype, &dims);
    Some(())
}

/// Bytes, their scale and their zero point.
pub(super) fn dynamic_quantize(call: &mut Call<'_>) -> Option<()> {
    call.set_dtype(0, DType::Uint8);
    call.set(1, DType::Float32, &[]);
    call.set(2, DType::Uint8, &[]);
    let dims = call.dims(0)?;
    call.set(0, DType::Uint8, &dims);
    Some(())
}
