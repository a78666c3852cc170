//! Variables of both generations, and the optimizers that update them.

use super::elementwise::common;
use crate::shape::attribute::{Attribute, dims_of};
use crate::shape::call::Call;
use crate::shape::elementwise::pass;
use crate::shape::fact::{Handle, Value};
use highwater_model::graph::Dim;

/// A resource variable: a handle to a tensor of a stated shape.
pub(super) fn handle(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let dtype = call.node.attributes.dtype("dtype")?;
    let shape = call.shape_of("shape").and_then(|dims| call.sym.shape(&dims));
    call.set_handle(0, Handle::new(dtype, shape, Dim::Unknown))
}

/// A resource from outside the graph; some files state its type and shape.
pub(super) fn outer_handle(call: &mut Call<'_>) -> Option<()> {
    let attributes = call.node.attributes;
    let (Some(Attribute::Types(types)), Some(Attribute::Shapes(shapes))) =
        (attributes.get("_handle_dtypes"), attributes.get("_handle_shapes"))
    else {
        return None;
    };
    let (dtype, dims) = (*types.first()?, shapes.first()?.as_ref()?);
    let shape = call.sym.shape(&dims_of(dims));
    call.set_handle(0, Handle::new(dtype, shape, Dim::Unknown))
}

/// The value of a variable.
pub(super) fn read(call: &mut Call<'_>) -> Option<()> {
    let shape = call.handle(0)?.shape?;
    call.outputs.first_mut()?.shape = Some(shape);
    Some(())
}

/// The shape of a variable or of the elements of a list, as a value.
pub(super) fn target_shape(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Unknown]);
    let shape = call.handle(0)?.shape?;
    let dims = call.sym.dims(shape).to_vec();
    call.set_value(0, Value::of_dims(&dims))
}

/// An update of a variable of the first generation returns the variable, which has the value's shape too.
pub(super) fn assign(call: &mut Call<'_>) -> Option<()> {
    let is_free = call.kind == "Assign" && !call.node.attributes.flag("validate_shape").unwrap_or(true);
    let shapes = if is_free {
        vec![call.dims(1)]
    } else {
        vec![call.dims(0), call.dims(1)]
    };
    let dims = common(shapes.into_iter().flatten().collect())?;
    call.out(0, &dims)
}

/// Other updates return the variable.
pub(super) fn update(call: &mut Call<'_>) -> Option<()> {
    pass(call, 0, 0)?;
    call.outputs.first_mut()?.value = None;
    Some(())
}
