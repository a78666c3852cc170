//! Ops that make tensors: constants, placeholders, shapes of others, ranges.

use super::state;
use crate::shape::attribute::RawShape;
use crate::shape::call::Call;
use crate::shape::fact::{Elem, Value};
use crate::shape::generate;
use highwater_model::graph::Dim;

pub(super) fn constant(call: &mut Call<'_>) -> Option<()> {
    let tensor = call.tensor("value")?;
    generate::constant(call, tensor)
}

/// An input of the graph: unnamed dimensions get names, `batch` in front, else the op's name and the axis.
pub(super) fn placeholder(call: &mut Call<'_>) -> Option<()> {
    state::outer_handle(call);
    let attributes = call.node.attributes;
    let shapes = attributes.shapes("_output_shapes");
    let stated = match (attributes.shape("shape"), shapes.and_then(<[RawShape]>::first)) {
        (Some(Some(dims)), Some(Some(other))) if dims.is_empty() => other,
        (Some(Some(dims)), _) => dims,
        (_, other) => other?.as_ref()?,
    };
    let dims = named(call, stated);
    call.out(0, &dims)
}

/// A batch of a data set: like a placeholder, since its size is not stated.
pub(super) fn next_batch(call: &mut Call<'_>) -> Option<()> {
    let shapes = call.node.attributes.shapes("output_shapes")?;
    for (output, shape) in shapes.iter().enumerate() {
        if let Some(shape) = shape {
            let dims = named(call, shape);
            call.out(output, &dims);
        }
    }
    Some(())
}

fn named(call: &mut Call<'_>, stated: &[i64]) -> Vec<Dim> {
    let name = call.node.name;
    let exprs = &mut call.sym.exprs;
    let sizes = stated.iter().enumerate();
    sizes
        .map(|(axis, size)| match u64::try_from(*size) {
            Ok(size) => Dim::Known(size),
            Err(_) if axis == 0 => Dim::Expr(exprs.symbol("batch")),
            Err(_) => Dim::Expr(exprs.symbol(&format!("{name}:{axis}"))),
        })
        .collect()
}

/// A shape that an attribute names.
pub(super) fn shaped(call: &mut Call<'_>) -> Option<()> {
    let dims = call.shape_of("shape")?;
    call.out(0, &dims)
}

/// The shape that an input lists.
pub(super) fn shaped_by(call: &mut Call<'_>, input: usize) -> Option<()> {
    let dims = call.listed_dims(input)?;
    call.out(0, &dims)
}

/// One element everywhere, in the shape that input 0 lists.
pub(super) fn fill(call: &mut Call<'_>) -> Option<()> {
    let dims = call.listed_dims(0)?;
    let item = call.value(1).and_then(|value| value.items.first().copied());
    generate::fill(call, &dims, item)
}

/// Zeros or ones in the shape of input 0.
pub(super) fn like_filled(call: &mut Call<'_>) -> Option<()> {
    let dims = call.dims(0)?;
    let item = Elem::int(i64::from(call.kind == "OnesLike"));
    generate::fill(call, &dims, Some(item))
}

/// The dimensions of every input as a value.
pub(super) fn shape(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        match call.dims(output) {
            Some(dims) => call.set_value(output, Value::of_dims(&dims)),
            None => call.out(output, &[Dim::Unknown]),
        };
    }
    Some(())
}

pub(super) fn rank(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let rank = i64::try_from(call.dims(0)?.len()).ok()?;
    call.add_value(0, Value::scalar(Elem::int(rank)))
}
