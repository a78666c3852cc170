//! Ops that make tensors: constants, random numbers, windows; and those whose sizes only data decide.

use crate::shape::call::Call;
use crate::shape::fact::{Elem, Num, Value};
use crate::shape::generate;
use crate::shape::sym::axis;
use highwater_model::graph::{DType, Dim, DimOp};

pub(super) fn constant(call: &mut Call<'_>) -> Option<()> {
    let value = if let Some(tensor) = call.tensor("value").or_else(|| call.tensor("sparse_value")) {
        call.set_dtype(0, tensor.dtype);
        return generate::constant(call, tensor);
    } else if let Some(number) = call.int("value_int") {
        call.set_dtype(0, DType::Int64);
        Value::scalar(Elem::int(number))
    } else if let Some(numbers) = call.list("value_ints") {
        call.set_dtype(0, DType::Int64);
        Value::vector(numbers.iter().copied().map(Elem::int).collect())
    } else if let Some(numbers) = call.floats("value_floats") {
        call.set_dtype(0, DType::Float32);
        Value::vector(numbers.iter().copied().map(Elem::float).collect())
    } else if let Some(numbers) = call.floats("value_float") {
        call.set_dtype(0, DType::Float32);
        Value::scalar(Elem::float(*numbers.first()?))
    } else if call.has_attr("value_string") {
        call.set_dtype(0, DType::Text);
        return call.out(0, &[]);
    } else {
        let count = call.node.attributes.n_texts("value_strings")?;
        call.set_dtype(0, DType::Text);
        return call.out(0, &[Dim::Known(u64::from(count))]);
    };
    call.set_value(0, value)
}

/// `ConstantOfShape`: one element everywhere; a float zero by default.
pub(super) fn constant_of_shape(call: &mut Call<'_>) -> Option<()> {
    let item = call.tensor("value");
    call.set_dtype(0, item.map_or(DType::Float32, |item| item.dtype));
    let dims = call.listed_dims(0)?;
    let item = match item {
        Some(item) => item.value().and_then(|value| value.items.first().copied()),
        None => Some(Elem::int(0)),
    };
    generate::fill(call, &dims, item)
}

/// Random tensors whose shape is an attribute.
pub(super) fn random(call: &mut Call<'_>) -> Option<()> {
    let sizes = call.list("shape")?.iter();
    let dims: Vec<Dim> = sizes.map(|size| Num::Int(*size).dim()).collect();
    call.out(0, &dims)
}

pub(super) fn multinomial(call: &mut Call<'_>) -> Option<()> {
    let rows = *call.dims(0)?.first()?;
    let samples = Num::Int(call.int_or("sample_size", 1)).dim();
    call.out(0, &[rows, samples])
}

/// Mel weights: half the spectrum by the number of bins.
pub(super) fn mel_weights(call: &mut Call<'_>) -> Option<()> {
    let bins = call.value(0)?.items.first()?.dim();
    let length = call.value(1)?.items.first()?.dim();
    let half = call.sym.with(DimOp::FloorDiv, length, 2);
    let rows = call.sym.with(DimOp::Add, half, 1);
    call.out(0, &[rows, bins])
}

/// Indices of elements that are not zero.
pub(super) fn non_zero(call: &mut Call<'_>) -> Option<()> {
    let rank = call.dims(0)?.len();
    let found = call
        .ints(0)
        .map(|items| items.iter().filter(|item| **item != 0).count());
    let count = found.map_or(Dim::Unknown, |count| Dim::Known(count as u64));
    call.out(0, &[Dim::Known(rank as u64), count])
}

/// Unique elements, and three lists of indices.
pub(super) fn unique(call: &mut Call<'_>) -> Option<()> {
    for output in 1..4 {
        call.out(output, &[Dim::Unknown]);
    }
    if call.has_attr("axis") {
        let mut dims = call.dims(0)?;
        let at = call.axis_attr("axis", 0, dims.len())?;
        call.out(2, &[dims[at]]);
        dims[at] = Dim::Unknown;
        return call.out(0, &dims);
    }
    call.out_rank(1);
    let dims = call.dims(0)?;
    let count = call.sym.product(&dims).map_or(Dim::Unknown, Num::dim);
    call.out(2, &[count])
}

/// Frequencies: the last dimension holds real and imaginary parts. One side alone has half of the frequencies, whose
/// inverse is real.
pub(super) fn dft(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let at = if call.has(2) {
        *call.ints(2)?.first()?
    } else {
        call.int_or("axis", if call.node.opset >= 20 { -2 } else { 1 })
    };
    let at = axis(at, dims.len())?;
    let is_inverse = call.int_or("inverse", 0) == 1;
    let is_onesided = call.int_or("onesided", 0) == 1;
    if call.has(1) {
        dims[at] = call.scalar_dim(1);
    } else if is_inverse && is_onesided {
        let steps = call.sym.with(DimOp::Sub, dims[at], 1);
        dims[at] = call.sym.with(DimOp::Mul, steps, 2);
    }
    if is_onesided && !is_inverse {
        dims[at] = one_side(call, dims[at]);
    }
    *dims.last_mut()? = Dim::Known(if is_onesided && is_inverse { 1 } else { 2 });
    call.out(0, &dims)
}

fn one_side(call: &mut Call<'_>, length: Dim) -> Dim {
    let half = call.sym.with(DimOp::FloorDiv, length, 2);
    call.sym.with(DimOp::Add, half, 1)
}

/// Frequencies of frames of a signal.
pub(super) fn stft(call: &mut Call<'_>) -> Option<()> {
    let signal = call.dims(0)?;
    let (batch, length) = (*signal.first()?, *signal.get(1)?);
    let frame = if call.has(3) {
        call.scalar_dim(3)
    } else if call.has(2) {
        *call.dims(2)?.first()?
    } else {
        length
    };
    let free = call.sym.dim(DimOp::Sub, length, frame);
    let step = call.scalar_dim(1);
    let steps = call.sym.dim(DimOp::FloorDiv, free, step);
    let frames = call.sym.with(DimOp::Add, steps, 1);
    let bins = if call.int_or("onesided", 1) == 1 {
        one_side(call, frame)
    } else {
        frame
    };
    call.out(0, &[batch, frames, bins, Dim::Known(2)])
}

/// Weights of n-grams: the highest of their places decides how many there are.
pub(super) fn tf_idf(call: &mut Call<'_>) -> Option<()> {
    let mut dims = call.dims(0)?;
    let highest = call.list("ngram_indexes")?.iter().max()?.checked_add(1)?;
    *dims.last_mut()? = Num::Int(highest).dim();
    call.out(0, &dims)
}

/// A filled tensor of the first operator sets: its shape is an attribute or an input.
pub(super) fn given_fill(call: &mut Call<'_>) -> Option<()> {
    let mut dims = match call.list("shape") {
        _ if call.int_or("input_as_shape", 0) == 1 => call.listed_dims(0)?,
        Some(sizes) => sizes.iter().map(|size| Num::Int(*size).dim()).collect(),
        None => call.dims(0)?,
    };
    let extra = call.list("extra_shape").unwrap_or(&[]);
    dims.extend(extra.iter().map(|size| Num::Int(*size).dim()));
    call.out(0, &dims)
}
