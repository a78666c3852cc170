//! Matrix products: `MatMul` and its kin, Gemm, Einsum.

use crate::shape::call::Call;
use crate::shape::products;
use highwater_model::graph::Dim;

/// The product of the inputs at two positions.
pub(super) fn matmul(call: &mut Call<'_>, left: usize, right: usize) -> Option<()> {
    products::matmul(call, [left, right], [false; 2])
}

/// Products of transposed matrices (com.microsoft).
pub(super) fn fused_matmul(call: &mut Call<'_>) -> Option<()> {
    if call.int_or("transBatchA", 0) != 0 || call.int_or("transBatchB", 0) != 0 {
        return None;
    }
    let transposed = ["transA", "transB"].map(|name| call.int_or(name, 0) != 0);
    products::matmul(call, [0, 1], transposed)
}

/// Weights in blocks of few bits: sizes are attributes.
pub(super) fn matmul_n_bits(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    *dims.last_mut()? = Dim::Known(u64::try_from(call.int("N")?).ok()?);
    call.out(0, &dims)
}

/// Gemm; the first operator sets flatten nothing either.
pub(super) fn gemm(call: &mut Call<'_>) -> Option<()> {
    let [a0, a1] = call.dims(0)?[..] else { return None };
    let [b0, b1] = call.dims(1)?[..] else { return None };
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
