//! Ops that slide a window: convolutions and pools, in every padding mode.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::sym::Sym;
use crate::shape::window::{Window, count, grow};
use highwater_model::graph::{Dim, DimOp};

/// The windows of all spatial axes, from the attributes.
fn windows(call: &Call<'_>, rank: usize) -> Option<Vec<Window>> {
    let list = |name: &str, count: usize, default: i64| match call.list(name) {
        Some(values) if values.len() == count => Some(values.to_vec()),
        Some(_) => None,
        None => Some(vec![default; count]),
    };
    let strides = list("strides", rank, 1)?;
    let dilations = list("dilations", rank, 1)?;
    let pads = list("pads", rank * 2, 0)?;
    let mode = call.text("auto_pad");
    let is_valid = mode == "VALID";
    let is_same = mode.starts_with("SAME");
    let ceils = call.int_or("ceil_mode", 0) == 1;
    let window = |axis: usize| {
        let (stride, dilation) = (strides[axis], dilations[axis]);
        (stride > 0 && dilation > 0).then(|| Window {
            stride,
            dilation,
            pad_start: if is_valid { 0 } else { pads[axis] },
            pad_end: if is_valid { 0 } else { pads[axis + rank] },
            is_same,
            ceils,
        })
    };
    (0..rank).map(window).collect()
}

/// The sizes of the kernel: an attribute, else those of the filter.
fn kernel(call: &Call<'_>, filter: &[Dim]) -> Vec<Dim> {
    match call.list("kernel_shape") {
        Some(sizes) if sizes.len() == filter.len() => sizes.iter().map(|size| Num::Int(*size).dim()).collect(),
        _ => filter.to_vec(),
    }
}

/// Convolution of input 0 with the weights at an input.
pub(super) fn conv(call: &mut Call<'_>, weights: usize) -> Option<()> {
    let (data, filter) = (call.dims(0)?, call.dims(weights)?);
    if data.len() < 3 || filter.len() != data.len() {
        return None;
    }
    let rank = data.len() - 2;
    let kernel = kernel(call, &filter[2..]);
    let mut dims = vec![data[0], filter[0]];
    for (axis, window) in windows(call, rank)?.iter().enumerate() {
        dims.push(count(call.sym, data[axis + 2], kernel[axis], window));
    }
    call.out(0, &dims)
}

/// Transposed convolution of input 0 with the weights at an input; padding may be an input (com.microsoft).
pub(super) fn conv_transpose(call: &mut Call<'_>, weights: usize) -> Option<()> {
    let (data, filter) = (call.dims(0)?, call.dims(weights)?);
    if data.len() < 3 || filter.len() != data.len() {
        return None;
    }
    let rank = data.len() - 2;
    let channels = call.sym.with(DimOp::Mul, filter[1], call.int_or("group", 1));
    let mut dims = vec![data[0], channels];
    if let Some(stated) = call.list("output_shape") {
        let skipped = stated.len().checked_sub(rank)?;
        dims.extend(stated[skipped..].iter().map(|size| Num::Int(*size).dim()));
        return call.out(0, &dims);
    }
    let extra = call.list("output_padding");
    let kernel = kernel(call, &filter[2..]);
    let mut windows = windows(call, rank)?;
    if call.kind == "ConvTransposeWithDynamicPads" && call.has(2) {
        let pads = call.ints(2).filter(|pads| pads.len() == rank * 2);
        let Some(pads) = pads else {
            dims.resize(data.len(), Dim::Unknown);
            return call.out(0, &dims);
        };
        for (axis, window) in windows.iter_mut().enumerate() {
            (window.pad_start, window.pad_end) = (pads[axis], pads[axis + rank]);
        }
    }
    for (axis, window) in windows.iter().enumerate() {
        let extra = extra.map_or(Some(&0), |extra| extra.get(axis))?;
        dims.push(grow(call.sym, data[axis + 2], kernel[axis], window, *extra));
    }
    call.out(0, &dims)
}

/// The dimensions behind a pool; `step` makes a spatial size of the one before and the kernel's.
fn pooled(call: &mut Call<'_>, step: fn(&mut Sym, Dim, Dim, &Window) -> Dim) -> Option<Vec<Dim>> {
    let data = call.dims(0)?;
    let rank = data.len().checked_sub(2)?;
    let kernel = call.list("kernel_shape").filter(|sizes| sizes.len() == rank)?;
    let mut dims = data[..2].to_vec();
    for (axis, window) in windows(call, rank)?.iter().enumerate() {
        dims.push(step(call.sym, data[axis + 2], Num::Int(kernel[axis]).dim(), window));
    }
    Some(dims)
}

/// Pools; a second output holds indices.
pub(super) fn pool(call: &mut Call<'_>) -> Option<()> {
    let dims = pooled(call, count)?;
    call.out(0, &dims);
    call.out(1, &dims)
}

/// One value per channel.
pub(super) fn global_pool(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    for dim in dims.iter_mut().skip(2) {
        *dim = Dim::Known(1);
    }
    call.out(0, &dims)
}

/// `MaxUnpool`: the inverse of a pool, or a stated shape.
pub(super) fn max_unpool(call: &mut Call<'_>) -> Option<()> {
    if call.has(2) {
        let dims: Vec<Dim> = call.value(2)?.items.iter().map(|item| item.dim()).collect();
        return call.out(0, &dims);
    }
    let dims = pooled(call, |sym, size, kernel, window| grow(sym, size, kernel, window, 0))?;
    call.out(0, &dims)
}

/// Pools over regions: one result per region.
pub(super) fn roi_pool(call: &mut Call<'_>) -> Option<()> {
    let (data, regions) = (call.dims(0)?, call.dims(1)?);
    let sizes = match call.list("pooled_shape") {
        Some(sizes) if sizes.len() == 2 => (sizes[0], sizes[1]),
        _ => (call.int_or("output_height", 1), call.int_or("output_width", 1)),
    };
    let dims = [
        *regions.first()?,
        *data.get(1)?,
        Num::Int(sizes.0).dim(),
        Num::Int(sizes.1).dim(),
    ];
    call.out(0, &dims)
}

/// `Col2Im`: blocks become an image of a stated size.
pub(super) fn col_to_im(call: &mut Call<'_>) -> Option<()> {
    let data = call.dims(0)?;
    let (image, block) = (call.value(1)?, call.ints(2)?);
    let area = block
        .iter()
        .try_fold(1_i64, |product, size| product.checked_mul(*size))?;
    let channels = call.sym.with(DimOp::FloorDiv, *data.get(1)?, area);
    let mut dims = vec![data[0], channels];
    dims.extend(image.items.iter().map(|item| item.dim()));
    call.out(0, &dims)
}

/// A rule on data whose channels are the last axis: they are moved to the front and back.
pub(super) fn channels_last(call: &mut Call<'_>, rule: fn(&mut Call<'_>) -> Option<()>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let rank = dims.len();
    if rank < 3 {
        return None;
    }
    let channels = dims.remove(rank - 1);
    dims.insert(1, channels);
    let shape = call.sym.shape(&dims);
    call.inputs.first_mut()?.as_mut()?.shape = shape;
    let stopped = rule(call);
    for output in 0..call.outputs.len() {
        let Some(shape) = call.outputs[output].shape else {
            continue;
        };
        let mut dims = call.sym.dims(shape).to_vec();
        if dims.len() == rank {
            let channels = dims.remove(1);
            dims.push(channels);
            call.out(output, &dims);
        }
    }
    stopped
}

/// The same where an attribute says so.
pub(super) fn either_layout(call: &mut Call<'_>, rule: fn(&mut Call<'_>) -> Option<()>) -> Option<()> {
    if call.int_or("channels_last", 0) == 1 {
        channels_last(call, rule)
    } else {
        rule(call)
    }
}

/// Channels in blocks (com.microsoft.nchwc): as many as fill whole blocks. A block has 16 channels, or fewer on some
/// processors, so the number is certain where 16 divides it.
pub(super) fn reorder_input(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    if call.int_or("channels_last", 0) == 1 {
        let channels = dims.pop()?;
        dims.insert(1.min(dims.len()), channels);
    }
    let channels = dims.get_mut(1)?;
    if !matches!(channels, Dim::Known(count) if *count % 16 == 0) {
        *channels = Dim::Unknown;
    }
    call.out(0, &dims)
}
