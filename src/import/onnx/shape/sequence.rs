//! Recurrent layers, and ops on images: Resize, grids.

use crate::shape::arith;
use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num};
use crate::shape::sym::axes;
use highwater_model::graph::Dim;

/// RNN, GRU and LSTM: all states, the last one, and the cell's last state.
pub(super) fn recurrent(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    for output in 0..call.outputs.len() {
        call.set_dtype(output, dtype);
    }
    let [first, second, _] = call.dims(0)?[..] else {
        return None;
    };
    let directions = Dim::Known(if call.text("direction") == "bidirectional" {
        2
    } else {
        1
    });
    let hidden = match call.int("hidden_size") {
        Some(size) => Num::Int(size).dim(),
        None => *call.dims(2)?.get(2)?,
    };
    let is_batch_first = call.int_or("layout", 0) == 1;
    let (all, last) = if is_batch_first {
        (vec![first, second, directions, hidden], vec![first, directions, hidden])
    } else {
        (
            vec![first, directions, second, hidden],
            vec![directions, second, hidden],
        )
    };
    call.out(0, &all);
    call.out(1, &last);
    call.out(2, &last)
}

/// Resize and Upsample: sizes, or scales rounded down.
pub(super) fn resize(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let axes: Vec<usize> = match call.list("axes") {
        Some(listed) => axes(listed, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let scales_at = if call.inputs.len() <= 2 { 1 } else { 2 };
    if call.has(3) {
        let sizes = call.value(3);
        let stated = |position: usize| {
            let item = sizes.as_ref().and_then(|sizes| sizes.items.get(position)).copied();
            item.unwrap_or(Elem::Unknown)
        };
        let sizes: Vec<Elem> = (0..axes.len()).map(stated).collect();
        keep_ratio(call, &mut dims, &axes, &sizes)?;
    } else {
        let scales: Vec<Elem> = match call.floats("scales") {
            Some(scales) => scales.iter().copied().map(Elem::float).collect(),
            None if call.has_attr("height_scale") => {
                let scale = |name| {
                    let scale = call.floats(name).and_then(<[f64]>::first);
                    scale.map_or(Elem::Unknown, |scale| Elem::float(*scale))
                };
                vec![Elem::int(1), Elem::int(1), scale("height_scale"), scale("width_scale")]
            }
            None => call
                .value(scales_at)
                .map_or_else(|| vec![Elem::Unknown; axes.len()], |value| value.items.clone()),
        };
        for (position, at) in axes.iter().enumerate() {
            let scale = scales.get(position).copied().unwrap_or(Elem::Unknown);
            dims[*at] = scaled(call, dims[*at], scale);
        }
    }
    call.out(0, &dims)
}

/// The stated sizes, or the largest that keep the ratio.
fn keep_ratio(call: &mut Call<'_>, dims: &mut [Dim], axes: &[usize], sizes: &[Elem]) -> Option<()> {
    let policy = call.text("keep_aspect_ratio_policy");
    if matches!(policy, "" | "stretch") {
        for (at, size) in axes.iter().zip(sizes) {
            dims[*at] = size.dim();
        }
        return Some(());
    }
    let mut best: Option<(u64, u64)> = None;
    for (at, size) in axes.iter().zip(sizes) {
        let (Dim::Known(old @ 1..), Dim::Known(new)) = (dims[*at], size.dim()) else {
            return None;
        };
        let is_better = best.is_none_or(|(top, bottom)| {
            let (here, there) = (u128::from(new) * u128::from(bottom), u128::from(top) * u128::from(old));
            if policy == "not_larger" {
                here < there
            } else {
                here > there
            }
        });
        if is_better {
            best = Some((new, old));
        }
    }
    let (top, bottom) = best?;
    for at in axes {
        if let Dim::Known(old) = dims[*at] {
            // Rounded to the nearest, halves upwards.
            let doubled = (u128::from(old) * u128::from(top) * 2 + u128::from(bottom)) / (u128::from(bottom) * 2);
            dims[*at] = u64::try_from(doubled).map_or(Dim::Unknown, Dim::Known);
        }
    }
    Some(())
}

/// A dimension times a scale, rounded down; single precision where both are known.
fn scaled(call: &mut Call<'_>, dim: Dim, scale: Elem) -> Dim {
    if let (Dim::Known(size), Elem::Float(scale)) = (dim, scale) {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "the format multiplies floats"
        )]
        let product = (size as f32 * scale as f32).floor();
        return Elem::float(f64::from(product)).dim();
    }
    let product = arith::floats(call.sym, "Mul", Num::of(dim).into(), scale);
    arith::unary(call.sym, "Floor", product).dim()
}

/// Samples of an image at a grid's points.
pub(super) fn grid_sample(call: &mut Call<'_>) -> Option<()> {
    let (data, grid) = (call.dims(0)?, call.dims(1)?);
    let mut dims = data.get(..2)?.to_vec();
    dims.extend_from_slice(grid.get(1..grid.len().checked_sub(1)?)?);
    call.out(0, &dims)
}

/// A grid of points for each image of a batch.
pub(super) fn affine_grid(call: &mut Call<'_>) -> Option<()> {
    let target = call.value(1)?;
    let mut dims: Vec<Dim> = target.items.iter().map(|item| item.dim()).collect();
    if dims.len() < 3 {
        return None;
    }
    dims.remove(1);
    dims.push(Dim::Known(dims.len() as u64 - 1));
    call.out(0, &dims)
}

/// Deformable convolution counts its windows like the offsets that it is given.
pub(super) fn deform_conv(call: &mut Call<'_>) -> Option<()> {
    let (data, weights, offsets) = (call.dims(0)?, call.dims(1)?, call.dims(2)?);
    let mut dims = vec![*data.first()?, *weights.first()?];
    dims.extend_from_slice(offsets.get(2..)?);
    call.out(0, &dims)
}
