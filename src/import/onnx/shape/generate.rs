//! Ops that make tensors: constants, ranges, random numbers, windows; and those whose sizes only data decide.

use crate::onnx::types;
use highwater_model::graph::{DType, Dim, DimOp};

use super::call::{Call, value_of};
use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use super::sym::axis;

/// Constant, in all its forms.
pub(super) fn constant(call: &mut Call<'_>) -> Option<()> {
    if let Some(tensor) = call.tensor("value").or_else(|| call.tensor("sparse_value")) {
        let dims: Vec<Dim> = tensor.dims.iter().map(|dim| Dim::Known(*dim)).collect();
        call.set(0, tensor.dtype, &dims);
        let value = value_of(tensor)?;
        call.add_value(0, value);
    } else if let Some(number) = call.int("value_int") {
        call.set_value(0, DType::Int64, Value::scalar(Elem::int(number)));
    } else if let Some(numbers) = call.int_list("value_ints") {
        let items = numbers.into_iter().map(Elem::int).collect();
        call.set_value(0, DType::Int64, Value::vector(items));
    } else if let Some(numbers) = call.float_list("value_floats") {
        let items = numbers
            .into_iter()
            .map(|number| Elem::float(f64::from(number)))
            .collect();
        call.set_value(0, DType::Float32, Value::vector(items));
    } else if let Some(numbers) = call.float_list("value_float") {
        let number = f64::from(*numbers.first()?);
        call.set_value(0, DType::Float32, Value::scalar(Elem::float(number)));
    } else if call.has_attr("value_string") {
        call.set(0, DType::Text, &[]);
    } else if let Some(count) = call.n_texts("value_strings") {
        call.set(0, DType::Text, &[Dim::Known(u64::from(count))]);
    }
    Some(())
}

/// The dimensions that an input's elements name; only their number where the elements are unknown.
fn named_dims(call: &Call<'_>, input: usize) -> Option<Vec<Dim>> {
    if let Some(value) = call.value(input) {
        return Some(value.items.iter().map(|item| item.dim()).collect());
    }
    match *call.dims(input)? {
        [Dim::Known(rank)] if rank <= 64 => Some(vec![Dim::Unknown; usize::try_from(rank).ok()?]),
        _ => None,
    }
}

/// `ConstantOfShape`: one element everywhere; a float zero by default.
pub(super) fn constant_of_shape(call: &mut Call<'_>) -> Option<()> {
    let fill = call.tensor("value");
    let dtype = fill.map_or(DType::Float32, |fill| fill.dtype);
    call.set_dtype(0, dtype);
    let dims = named_dims(call, 0)?;
    call.set(0, dtype, &dims);
    let item = match fill {
        Some(fill) => value_of(fill)?.items.first().copied()?,
        None => Elem::int(0),
    };
    let sizes: Option<Vec<usize>> = dims
        .iter()
        .map(|dim| match dim {
            Dim::Known(size) => usize::try_from(*size).ok(),
            _ => None,
        })
        .collect();
    let sizes = sizes?;
    let count = sizes
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    if count <= MAX_ELEMENTS {
        let items = vec![item; count];
        call.add_value(0, Value { dims: sizes, items });
    }
    Some(())
}

/// Range: as many elements as steps fit between start and limit.
pub(super) fn range(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set(0, dtype, &[Dim::Unknown]);
    let item = |input: usize| call.value(input).and_then(|value| value.items.first().copied());
    let (start, limit, delta) = (item(0)?, item(1)?, item(2)?);
    let (Some(start), Some(limit), Some(Num::Int(step))) = (start.num(), limit.num(), delta.num()) else {
        return float_range(call, [start, limit, delta]);
    };
    if step == 0 {
        return None;
    }
    let (from, to) = if step > 0 { (start, limit) } else { (limit, start) };
    let sym = &mut *call.sym;
    let span = sym.op(DimOp::Sub, Some(to), Some(from));
    let span = sym.op(DimOp::Max, span, Some(Num::Int(0)));
    let count = sym.op(DimOp::CeilDiv, span, step.checked_abs().map(Num::Int))?;
    call.set(0, dtype, &[count.dim()]);
    if let (Num::Int(start), Num::Int(count @ 0..=1024)) = (start, count) {
        let items: Option<Vec<Elem>> = (0..count)
            .map(|turn| turn.checked_mul(step)?.checked_add(start).map(Elem::int))
            .collect();
        call.add_value(0, Value::vector(items?));
    }
    Some(())
}

fn float_range(call: &mut Call<'_>, [start, limit, delta]: [Elem; 3]) -> Option<()> {
    let float = |item: Elem| match item {
        Elem::Float(value) => Some(value),
        #[expect(clippy::cast_precision_loss, reason = "the format computes such ranges in floats")]
        Elem::Num(Num::Int(value)) => Some(value as f64),
        _ => None,
    };
    let count = ((float(limit)? - float(start)?) / float(delta)?).ceil().max(0.0);
    let dim = Elem::float(count).dim();
    let dtype = call.dtype(0);
    call.set(0, dtype, &[dim]);
    Some(())
}

/// `OneHot`: a new axis of the depth; the type of the two values.
pub(super) fn one_hot(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(2);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    let at = axis(call.int_or("axis", -1), dims.len() + 1)?;
    let depth = call.value(1).and_then(|value| value.items.first().copied());
    dims.insert(at, depth.map_or(Dim::Unknown, Elem::dim));
    call.set(0, dtype, &dims);
    Some(())
}

/// Random tensors whose shape is an attribute.
pub(super) fn random(call: &mut Call<'_>) -> Option<()> {
    let dtype = types::from_code(call.int_or("dtype", 1));
    call.set_dtype(0, dtype);
    let dims: Vec<Dim> = call
        .int_list("shape")?
        .into_iter()
        .map(|size| Num::Int(size).dim())
        .collect();
    call.set(0, dtype, &dims);
    Some(())
}

/// Multinomial: samples per row.
pub(super) fn multinomial(call: &mut Call<'_>) -> Option<()> {
    let dtype = types::from_code(call.int_or("dtype", 6));
    call.set_dtype(0, dtype);
    let rows = *call.dims(0)?.first()?;
    let samples = Num::Int(call.int_or("sample_size", 1)).dim();
    call.set(0, dtype, &[rows, samples]);
    Some(())
}

/// Windows of signal processing.
pub(super) fn window(call: &mut Call<'_>) -> Option<()> {
    let dtype = types::from_code(call.int_or("output_datatype", 1));
    call.set(0, dtype, &[Dim::Unknown]);
    let size = call.value(0)?.items.first()?.dim();
    call.set(0, dtype, &[size]);
    Some(())
}

/// Mel weights: half the spectrum by the number of bins.
pub(super) fn mel_weights(call: &mut Call<'_>) -> Option<()> {
    let dtype = types::from_code(call.int_or("output_datatype", 1));
    call.set_dtype(0, dtype);
    let bins = call.value(0)?.items.first()?.dim();
    let length = call.value(1)?.items.first()?.dim();
    let half = call.sym.with(DimOp::FloorDiv, length, 2);
    let rows = call.sym.with(DimOp::Add, half, 1);
    call.set(0, dtype, &[rows, bins]);
    Some(())
}

/// Indices of elements that are not zero.
pub(super) fn non_zero(call: &mut Call<'_>) -> Option<()> {
    call.set_dtype(0, DType::Int64);
    let rank = call.dims(0)?.len();
    call.set(0, DType::Int64, &[Dim::Known(rank as u64), Dim::Unknown]);
    Some(())
}

/// Boxes that survive suppression.
#[expect(clippy::unnecessary_wraps, reason = "the form of a rule")]
pub(super) fn suppression(call: &mut Call<'_>) -> Option<()> {
    call.set(0, DType::Int64, &[Dim::Unknown, Dim::Known(3)]);
    Some(())
}

/// Unique elements, and three lists of indices.
pub(super) fn unique(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    for output in 1..4 {
        call.set(output, DType::Int64, &[Dim::Unknown]);
    }
    if call.has_attr("axis") {
        call.set_dtype(0, dtype);
        let mut dims = call.dims(0)?;
        let at = call.axis_attr("axis", 0, dims.len())?;
        if let Some(fact) = call.outputs.get_mut(2) {
            fact.shape = None;
        }
        let length = dims[at];
        call.set(2, DType::Int64, &[length]);
        dims[at] = Dim::Unknown;
        call.set(0, dtype, &dims);
        return Some(());
    }
    call.set(0, dtype, &[Dim::Unknown]);
    let dims = call.dims(0)?;
    let count = call.sym.product(&dims).map_or(Dim::Unknown, Num::dim);
    call.set(2, DType::Int64, &[count]);
    Some(())
}

/// One truth value.
#[expect(clippy::unnecessary_wraps, reason = "the form of a rule")]
pub(super) fn one_bool(call: &mut Call<'_>) -> Option<()> {
    call.set(0, DType::Bool, &[]);
    Some(())
}

/// One number.
#[expect(clippy::unnecessary_wraps, reason = "the form of a rule")]
pub(super) fn one_int(call: &mut Call<'_>) -> Option<()> {
    call.set(0, DType::Int64, &[]);
    Some(())
}

/// Frequencies: the last dimension holds real and imaginary parts.
pub(super) fn dft(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    call.set_dtype(0, dtype);
    let mut dims = call.dims(0)?;
    let at = if call.has(2) {
        *call.ints(2)?.first()?
    } else {
        call.int_or("axis", if call.model.opset >= 20 { -2 } else { 1 })
    };
    let at = axis(at, dims.len())?;
    if call.has(1) {
        dims[at] = call
            .value(1)
            .and_then(|value| value.items.first().copied())
            .map_or(Dim::Unknown, Elem::dim);
    }
    let is_inverse = call.int_or("inverse", 0) == 1;
    let is_onesided = call.int_or("onesided", 0) == 1;
    if is_onesided && !is_inverse {
        let half = call.sym.with(DimOp::FloorDiv, dims[at], 2);
        dims[at] = call.sym.with(DimOp::Add, half, 1);
    } else if is_onesided {
        return None;
    }
    *dims.last_mut()? = Dim::Known(2);
    call.set(0, dtype, &dims);
    Some(())
}

/// A sequence or an optional: not a tensor.
pub(super) fn no_tensor(_call: &mut Call<'_>) -> Option<()> {
    None
}
