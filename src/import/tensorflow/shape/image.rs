//! Images: resizing, crops, patches, boxes, decoding.

use super::convolution::window;
use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::window::count;
use highwater_model::graph::{Dim, DimOp};

/// Height and width that an input names.
fn size(call: &Call<'_>, input: usize) -> [Dim; 2] {
    match call.listed_dims(input).as_deref() {
        Some([height, width]) => [*height, *width],
        _ => [Dim::Unknown; 2],
    }
}

/// Images of the size that an input names; channels stay.
fn resized(call: &mut Call<'_>, input: usize) -> Option<()> {
    let [batch, _, _, channels] = call.dims(0)?[..] else {
        return None;
    };
    let [height, width] = size(call, input);
    call.out(0, &[batch, height, width, channels])
}

/// Images of another size (input 1); channels stay.
pub(super) fn resize(call: &mut Call<'_>) -> Option<()> {
    resized(call, 1)?;
    // Quantized ones return their range too.
    call.out_scalars(1)
}

/// Boxes of images, each resized: one result per box.
pub(super) fn crop_and_resize(call: &mut Call<'_>) -> Option<()> {
    let channels = *call.dims(0)?.get(3)?;
    let boxes = *call.dims(1)?.first()?;
    let [height, width] = size(call, 3);
    call.out(0, &[boxes, height, width, channels])
}

/// Patches of images as channels.
pub(super) fn patches(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let (sizes, strides) = (call.list("ksizes")?, call.list("strides")?);
    let (mut found, mut area) = (dims.clone(), 1_i64);
    for at in 1..dims.len().checked_sub(1)? {
        let (kernel, window) = (*sizes.get(at)?, window(call, at, strides)?);
        found[at] = count(call.sym, dims[at], Num::Int(kernel).dim(), &window);
        area = area.checked_mul(kernel)?;
    }
    let channels = found.last_mut()?;
    *channels = call.sym.with(DimOp::Mul, *channels, area);
    call.out(0, &found)
}

/// Boxes that survive suppression: a list; its padded form has the length of input 2.
pub(super) fn suppression(call: &mut Call<'_>) -> Option<()> {
    let is_padded = call.flag("pad_to_max_output_size");
    let length = if is_padded { call.scalar_dim(2) } else { Dim::Unknown };
    call.out(0, &[length]);
    if call.kind == "NonMaxSuppressionV5" {
        call.out(1, &[length]);
        call.out(2, &[]);
    } else {
        call.out(1, &[]);
    }
    Some(())
}

/// The channels of a picture; 0 leaves them to the file.
fn channels(call: &Call<'_>) -> Dim {
    match call.int("channels").unwrap_or(0) {
        0 => Dim::Unknown,
        channels => Num::Int(channels).dim(),
    }
}

/// A picture as pixels: sizes are the picture's.
pub(super) fn decode(call: &mut Call<'_>) -> Option<()> {
    let channels = channels(call);
    if call.kind == "DecodeImage" {
        return None;
    }
    call.out(0, &[Dim::Unknown, Dim::Unknown, channels])
}

/// The part of a picture that a window of position and size takes.
pub(super) fn decode_cropped(call: &mut Call<'_>) -> Option<()> {
    let window = call.ints(1);
    let size = |position: usize| {
        let size = window.as_ref().and_then(|window| window.get(position));
        size.map_or(Dim::Unknown, |size| Num::Int(*size).dim())
    };
    let channels = channels(call);
    call.out(0, &[size(2), size(3), channels])
}

/// Images moved by a projection, into a stated size.
pub(super) fn project(call: &mut Call<'_>) -> Option<()> {
    resized(call, 2)
}

/// A box to crop at random: begin, size, and the box itself.
pub(super) fn random_box(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Known(3)]);
    call.out(1, &[Dim::Known(3)]);
    call.out(2, &[Dim::Known(1), Dim::Known(1), Dim::Known(4)])
}
