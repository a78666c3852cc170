//! Ops that make tensors: constants, placeholders, shapes of others, ranges.

use crate::shape::fact::{Elem, MAX_ELEMENTS, Num, Value};
use crate::shape::value::known;
use crate::tensorflow::model::Attribute;
use highwater_model::graph::{Dim, DimOp};

use super::call::{Call, value_of};
use super::state;

/// A constant.
pub(super) fn constant(call: &mut Call<'_>) -> Option<()> {
    let Some(Attribute::Tensor(tensor)) = call.attribute("value") else {
        return None;
    };
    let dims: Vec<Dim> = tensor.shape.as_ref()?.iter().map(|dim| Num::Int(*dim).dim()).collect();
    call.out(0, &dims);
    let value = value_of(tensor)?;
    call.add_value(0, value);
    Some(())
}

/// An input of the graph: unnamed dimensions get names, `batch` in front, else the op's name and the axis.
pub(super) fn placeholder(call: &mut Call<'_>) -> Option<()> {
    state::outer_handle(call);
    let stated = match call.attribute("shape") {
        Some(Attribute::Shape(Some(dims))) => Some(dims),
        _ => None,
    };
    let stated = match (stated, call.model.stated_shape(call.graph, call.node, 0)) {
        (Some(dims), Some(Some(other))) if dims.is_empty() => other,
        (Some(dims), _) => dims,
        (None, other) => other?.as_ref()?,
    };
    let dims = named(call, stated);
    call.out(0, &dims);
    Some(())
}

/// A batch of a data set, of which nobody says how large it is: like a placeholder.
pub(super) fn next_batch(call: &mut Call<'_>) -> Option<()> {
    let Some(Attribute::Shapes(shapes)) = call.attribute("output_shapes") else {
        return None;
    };
    for (output, shape) in shapes.iter().enumerate() {
        if let Some(shape) = shape {
            let dims = named(call, shape);
            call.out(output, &dims);
        }
    }
    Some(())
}

fn named(call: &mut Call<'_>, stated: &[i64]) -> Vec<Dim> {
    let name = call.model.names.text(call.node.name);
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
    call.out(0, &dims);
    Some(())
}

/// The shape that input 0 names.
pub(super) fn shaped_by_input(call: &mut Call<'_>) -> Option<()> {
    let dims = call.named_dims(0)?;
    call.out(0, &dims);
    Some(())
}

/// One element everywhere, in the shape that input 0 names.
pub(super) fn fill(call: &mut Call<'_>) -> Option<()> {
    let dims = call.named_dims(0)?;
    call.out(0, &dims);
    let sizes = known(&dims)?;
    let count = sizes
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    let item = *call.value(1)?.items.first()?;
    if count <= MAX_ELEMENTS {
        let items = vec![item; count];
        call.add_value(0, Value { dims: sizes, items });
    }
    Some(())
}

/// Zeros or ones like another: elements where there are few.
pub(super) fn like_filled(call: &mut Call<'_>) -> Option<()> {
    call.like(0, 0)?;
    let sizes = known(&call.dims(0)?)?;
    let count = sizes
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    if count <= MAX_ELEMENTS {
        let item = Elem::int(i64::from(call.kind() == "OnesLike"));
        let items = vec![item; count];
        call.add_value(0, Value { dims: sizes, items });
    }
    Some(())
}

/// As many elements as steps fit between start and limit.
pub(super) fn range(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Unknown]);
    let item = |input: usize| call.value(input)?.items.first().copied();
    let items = [item(0)?, item(1)?, item(2)?];
    let [Some(start), Some(limit), Some(Num::Int(step))] = items.map(Elem::num) else {
        return float_range(call, items);
    };
    if step == 0 {
        return None;
    }
    let (from, to) = if step > 0 { (start, limit) } else { (limit, start) };
    let span = call.sym.op(DimOp::Sub, Some(to), Some(from));
    let span = call.sym.op(DimOp::Max, span, Some(Num::Int(0)));
    let count = call.sym.op(DimOp::CeilDiv, span, step.checked_abs().map(Num::Int))?;
    call.out(0, &[count.dim()]);
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
        #[expect(clippy::cast_precision_loss, reason = "the op computes in floats")]
        Elem::Num(Num::Int(value)) => Some(value as f64),
        _ => None,
    };
    let count = ((float(limit)? - float(start)?) / float(delta)?).ceil().max(0.0);
    let dim = Elem::float(count).dim();
    call.out(0, &[dim]);
    Some(())
}

/// As many elements as input 2 says.
pub(super) fn lin_space(call: &mut Call<'_>) -> Option<()> {
    let count = call.scalar_dim(2);
    call.out(0, &[count]);
    Some(())
}

/// The dimensions of every input as a value.
pub(super) fn shape(call: &mut Call<'_>) -> Option<()> {
    for output in 0..call.outputs.len() {
        match call.dims(output) {
            Some(dims) => {
                let items = dims.iter().map(|dim| Num::of(*dim).into()).collect();
                call.set_value(output, Value::vector(items));
            }
            None => call.out(output, &[Dim::Unknown]),
        }
    }
    Some(())
}

/// The number of elements.
pub(super) fn size(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let dims = call.dims(0)?;
    let count = call.sym.product(&dims);
    call.add_value(0, Value::scalar(count.into()));
    Some(())
}

/// The number of dimensions.
pub(super) fn rank(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let rank = i64::try_from(call.dims(0)?.len()).ok()?;
    call.add_value(0, Value::scalar(Elem::int(rank)));
    Some(())
}
