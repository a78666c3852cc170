//! Normalizations and losses, whose further outputs hold statistics.

use super::elementwise::common;
use crate::shape::call::Call;
use highwater_model::graph::Dim;

/// The dimension of the channels of an image; the gradients' data are at input 1.
fn channels(call: &Call<'_>, data: usize, scale: usize) -> Dim {
    let dims = call.dims(data);
    let found = dims.as_ref().and_then(|dims| {
        if call.text("data_format").starts_with("NC") {
            dims.get(1)
        } else {
            dims.last()
        }
    });
    let shared = call.dims(scale).and_then(|dims| dims.first().copied());
    match (found, shared) {
        (Some(Dim::Known(size)), _) => Dim::Known(*size),
        (_, Some(shared)) => shared,
        (found, None) => found.copied().unwrap_or(Dim::Unknown),
    }
}

/// Fused batch normalization: the data, four vectors of statistics, and reserved space of unknown form.
pub(super) fn batch_norm(call: &mut Call<'_>) -> Option<()> {
    let channels = channels(call, 0, 1);
    for output in 1..call.outputs.len().min(5) {
        call.out(output, &[channels]);
    }
    call.like(0, 0)
}

/// Gradients of batch normalization: of the data, of scale and offset, and two empty ones.
pub(super) fn batch_norm_gradient(call: &mut Call<'_>) -> Option<()> {
    let channels = channels(call, 1, 2);
    for output in 1..call.outputs.len() {
        let size = if output < 3 { channels } else { Dim::Known(0) };
        call.out(output, &[size]);
    }
    let shapes = [call.dims(1), call.dims(0)];
    let dims = common(shapes.into_iter().flatten().collect())?;
    call.out(0, &dims)
}

/// Cross entropy against probabilities: one loss per row, and gradients like the scores.
pub(super) fn softmax_loss(call: &mut Call<'_>) -> Option<()> {
    let (scores, labels) = (call.dims(0), call.dims(1));
    let dims = match (scores, labels) {
        (Some(scores), Some(labels)) => call.sym.broadcast(&scores, &labels),
        (one, other) => one.or(other)?,
    };
    call.out(0, dims.get(..1)?);
    call.out(1, &dims)
}

/// Cross entropy against classes: one loss per row, and gradients like the scores.
pub(super) fn sparse_softmax_loss(call: &mut Call<'_>) -> Option<()> {
    let rows: Vec<Vec<Dim>> = [
        call.dims(1),
        call.dims(0).and_then(|dims| Some(dims.get(..1)?.to_vec())),
    ]
    .into_iter()
    .flatten()
    .collect();
    let rows = common(rows)?;
    call.out(0, &rows);
    let mut dims = call.dims(0)?;
    *dims.first_mut()? = *rows.first()?;
    call.out(1, &dims)
}

/// Connectionist temporal classification: one loss per sequence, and gradients like the scores.
pub(super) fn ctc_loss(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let batch = *dims.get(1)?;
    call.out(0, &[batch]);
    call.out(1, &dims)
}
