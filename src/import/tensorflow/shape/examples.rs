//! Examples of a data set, read from their texts.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use highwater_model::graph::Dim;

/// Sparse features as indices, values and shapes; then dense ones of stated shapes. Lists of examples have an axis more
/// than one example. What follows in later versions, ragged features, only data decide.
pub(super) fn parse(call: &mut Call<'_>) -> Option<()> {
    let batch = match call.kind {
        "ParseSingleExample" => Vec::new(),
        _ => call.dims(0)?,
    };
    let key = if call.kind == "ParseExample" {
        "Nsparse"
    } else {
        "num_sparse"
    };
    let n_sparse = usize::try_from(call.int(key).unwrap_or(0)).ok()?;
    let rank = batch.len() as u64 + 1;
    let n_sparse = n_sparse.min(call.outputs.len());
    for sparse in 0..n_sparse {
        call.out(sparse, &[Dim::Unknown, Dim::Known(rank)]);
        call.out(n_sparse + sparse, &[Dim::Unknown]);
        call.out(2 * n_sparse + sparse, &[Dim::Known(rank)]);
    }
    let shapes = call.node.attributes.shapes("dense_shapes")?;
    for (dense, shape) in shapes.iter().enumerate() {
        let Some(shape) = shape else { continue };
        let stated = shape.iter().map(|size| Num::Int(*size).dim());
        let dims: Vec<Dim> = batch.iter().copied().chain(stated).collect();
        call.out(3 * n_sparse + dense, &dims);
    }
    Some(())
}
