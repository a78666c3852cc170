//! Convolutions and pools in every layout, and their gradients.
//!
//! Windows are read per axis from `strides`, `dilations`, `ksize`, `padding` and `explicit_paddings`, which all
//! follow the data format: `NHWC`, `NCHW`, `NDHWC`, `NCDHW`, or `NCHW_VECT_C` with a last dimension of 4 channels.

use crate::shape::call::Call;
use crate::shape::fact::Num;
use crate::shape::window::{Window, count};
use highwater_model::graph::{Dim, DimOp};

#[derive(Clone, Copy)]
struct Layout {
    /// The number of axes along which the window slides.
    n_spatial: usize,
    is_channels_first: bool,
}

impl Layout {
    fn of(call: &Call<'_>, n_spatial: usize) -> Option<Self> {
        let format = call.text("data_format");
        if format.contains("VECT") {
            return None;
        }
        Some(Self {
            n_spatial,
            is_channels_first: format.starts_with("NC"),
        })
    }

    fn channels(self) -> usize {
        if self.is_channels_first { 1 } else { self.n_spatial + 1 }
    }

    fn spatial(self, axis: usize) -> usize {
        if self.is_channels_first { axis + 2 } else { axis + 1 }
    }

    /// The dimensions of an image of these parts.
    fn image(self, batch: Dim, spatial: &[Dim], channels: Dim) -> Vec<Dim> {
        let mut dims = vec![batch];
        dims.extend_from_slice(spatial);
        dims.insert(self.channels(), channels);
        dims
    }
}

/// The window of one axis of the data, from the attributes.
pub(super) fn window(call: &Call<'_>, at: usize, strides: &[i64]) -> Option<Window> {
    let dilations = call.list("dilations").or(call.list("rates")).unwrap_or(&[]);
    let padding = call.text("padding");
    let explicit = call.list("explicit_paddings").unwrap_or(&[]);
    let pad = |side: usize| match padding {
        "EXPLICIT" => explicit.get(at * 2 + side).copied(),
        _ => Some(0),
    };
    let (stride, dilation) = (*strides.get(at)?, dilations.get(at).copied().unwrap_or(1));
    (stride > 0 && dilation > 0).then_some(Window {
        stride,
        dilation,
        pad_start: pad(0)?,
        pad_end: pad(1)?,
        is_same: padding == "SAME",
        ceils: false,
    })
}

/// The number of windows along each axis; `filter` begins with the kernel's sizes.
fn slid(call: &mut Call<'_>, layout: Layout, data: &[Dim], filter: &[Dim]) -> Option<Vec<Dim>> {
    let strides = call.list("strides")?.to_vec();
    (0..layout.n_spatial)
        .map(|axis| {
            let at = layout.spatial(axis);
            let window = window(call, at, &strides)?;
            Some(count(call.sym, *data.get(at)?, *filter.get(axis)?, &window))
        })
        .collect()
}

/// Convolution along some axes; a depthwise one has separate filters for each channel.
pub(super) fn convolve(call: &mut Call<'_>, n_spatial: usize, is_depthwise: bool) -> Option<()> {
    let layout = Layout::of(call, n_spatial)?;
    // One known operand suffices for the number of dimensions.
    let any = || vec![Dim::Unknown; n_spatial + 2];
    let (data, filter) = (call.dims(0).unwrap_or_else(any), call.dims(1).unwrap_or_else(any));
    if data.len() != n_spatial + 2 || filter.len() != n_spatial + 2 {
        return None;
    }
    let spatial = slid(call, layout, &data, &filter)?;
    let channels = if is_depthwise {
        call.sym.dim(DimOp::Mul, filter[n_spatial], filter[n_spatial + 1])
    } else {
        filter[n_spatial + 1]
    };
    let dims = layout.image(data[0], &spatial, channels);
    call.out(0, &dims);
    call.out_scalars(1)
}

/// `Conv`: any number of dimensions, which the rank of the data decides.
pub(super) fn conv_any(call: &mut Call<'_>) -> Option<()> {
    let n_spatial = call.dims(0)?.len().checked_sub(2)?;
    convolve(call, n_spatial, false)
}

/// Dilation: a filter of three dimensions.
pub(super) fn dilation_2d(call: &mut Call<'_>) -> Option<()> {
    let (data, filter) = (call.dims(0)?, call.dims(1)?);
    if data.len() != 4 || filter.len() != 3 {
        return None;
    }
    let layout = Layout {
        n_spatial: 2,
        is_channels_first: false,
    };
    let spatial = slid(call, layout, &data, &filter)?;
    let dims = layout.image(data[0], &spatial, data[3]);
    call.out(0, &dims)
}

/// Gradients, whose dimensions an input lists: of the data and of averages input 0, of the filter input 1.
pub(super) fn gradient(call: &mut Call<'_>, input: usize) -> Option<()> {
    let rank = if call.kind.contains("3D") { 5 } else { 4 };
    let dims = call.listed_dims(input).filter(|dims| dims.len() == rank);
    let Some(mut dims) = dims else {
        call.out_rank(rank);
        return None;
    };
    // The batch of the incoming gradient is that of the data.
    if input == 0 && dims[0] == Dim::Unknown {
        let gradient = call.dims(call.inputs.len().checked_sub(1)?);
        dims[0] = gradient.and_then(|dims| dims.first().copied()).unwrap_or(Dim::Unknown);
    }
    call.out(0, &dims)
}

/// Pools over images and volumes. Newer ones take their window as inputs.
pub(super) fn pool(call: &mut Call<'_>) -> Option<()> {
    let n_spatial = if call.kind.contains("3D") { 3 } else { 2 };
    let layout = Layout::of(call, n_spatial)?;
    let data = call.dims(0)?;
    if data.len() != n_spatial + 2 {
        return None;
    }
    let listed = |name: &str, input: usize| match call.list(name) {
        Some(list) => Some(list.to_vec()),
        None => call.ints(input),
    };
    let (kernel, strides) = (listed("ksize", 1)?, listed("strides", 2)?);
    let mut dims = data.clone();
    // Windows of pools may reach over channels too.
    for (at, dim) in dims.iter_mut().enumerate() {
        let is_spatial = (0..n_spatial).any(|axis| layout.spatial(axis) == at);
        let size = *kernel.get(at)?;
        if is_spatial || size != 1 {
            let window = window(call, at, &strides)?;
            *dim = count(call.sym, *dim, Num::Int(size).dim(), &window);
        }
    }
    call.out(0, &dims);
    if call.kind == "MaxPoolWithArgmax" {
        call.out(1, &dims)
    } else {
        // Quantized pools return their range too.
        call.out_scalars(1)
    }
}

/// The gradient of a bias: one sum per channel.
pub(super) fn bias_gradient(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let channels = if call.text("data_format") == "NCHW" {
        dims.get(1)
    } else {
        dims.last()
    };
    let channels = *channels?;
    call.out(0, &[channels])
}
