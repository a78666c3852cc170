//! Random tensors and the keys that seed them.

use crate::shape::call::Call;
use highwater_model::graph::Dim;

/// One random tensor for each element of the parameters (input 1), of the shape at input 0.
pub(super) fn per_parameter(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.listed_dims(0)?;
    dims.extend(call.dims(1)?);
    call.out(0, &dims)
}

/// Samples of classes: rows of scores, columns by input 1.
pub(super) fn multinomial(call: &mut Call<'_>) -> Option<()> {
    let rows = *call.dims(0)?.first()?;
    let count = call.scalar_dim(1);
    call.out(0, &[rows, count])
}

/// A key, a counter, and which algorithm.
pub(super) fn key_counter(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Known(1)]);
    call.out(1, &[Dim::Known(2)]);
    call.out(2, &[])
}

/// Candidates for a sampled loss: their number is an attribute; expectations of the true and of the sampled ones.
pub(super) fn candidates(call: &mut Call<'_>) -> Option<()> {
    let count = Dim::Known(u64::try_from(call.int("num_sampled")?).ok()?);
    call.out(0, &[count]);
    call.out(2, &[count]);
    call.like(1, 0)
}
