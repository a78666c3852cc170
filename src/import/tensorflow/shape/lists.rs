//! Lists of tensors: `TensorList`s, whose handles are variants, and `TensorArray`s.
//!
//! The tensors of a list are counted where they are computed. Facts of their shape travel with the handle, and with
//! the flow of an array, which joins its two ends.

use std::rc::Rc;

use super::elementwise::common;
use crate::shape::call::Call;
use crate::shape::fact::{Handle, Num, Value, common_shape};
use highwater_model::graph::{DType, Dim, DimOp};

/// The shape of the elements of a list at an input, joined with the shape that another input lists.
fn element(call: &Call<'_>, list: usize, named: Option<usize>) -> Option<Vec<Dim>> {
    let known = call.handle(list).and_then(|handle| handle.shape);
    let known = known.map(|shape| call.sym.dims(shape).to_vec());
    let named = named.and_then(|input| call.listed_dims(input));
    common([known, named].into_iter().flatten().collect())
}

/// The elements of a new list.
enum Elements {
    Unset,
    /// To items of this shape; `None` where it is not known.
    SetTo(Option<Vec<Dim>>),
}

/// A new list. Its elements have the declared shape and, where they are set, that of what they are set to.
fn make(call: &mut Call<'_>, declared: Option<Vec<Dim>>, elements: Elements, length: Dim) -> Option<()> {
    let dtype = call.node.attributes.dtype("element_dtype").unwrap_or(DType::Unknown);
    let (is_unset, item) = match elements {
        Elements::Unset => (true, None),
        Elements::SetTo(item) => (false, item),
    };
    let both = [item, declared.clone()];
    let shape = common(both.into_iter().flatten().collect());
    let handle = Handle {
        dtype,
        shape: shape.and_then(|dims| call.sym.shape(&dims)),
        length,
        declared: declared.and_then(|dims| call.sym.shape(&dims)),
        is_unset,
    };
    call.set_handle(0, handle)
}

/// A list without elements, or with empty places.
pub(super) fn empty(call: &mut Call<'_>) -> Option<()> {
    let length = match call.kind {
        "TensorListReserve" => call.scalar_dim(1),
        _ => Dim::Known(0),
    };
    make(call, call.listed_dims(0), Elements::Unset, length)
}

/// The rows of a tensor.
pub(super) fn from_tensor(call: &mut Call<'_>) -> Option<()> {
    let length = call.rows(0);
    make(call, call.listed_dims(1), Elements::SetTo(call.row(0)), length)
}

/// Rows of a tensor at places that indices name.
pub(super) fn scattered(call: &mut Call<'_>) -> Option<()> {
    make(call, call.listed_dims(2), Elements::SetTo(call.row(0)), Dim::Unknown)
}

/// Parts of a tensor, of any length.
pub(super) fn split(call: &mut Call<'_>) -> Option<()> {
    let length = call.rows(2);
    make(call, call.listed_dims(1), Elements::SetTo(None), length)
}

/// A list with one element more, or with one or some set.
pub(super) fn put(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let handle = call.handle(0)?;
    let (item, step) = match call.kind {
        "TensorListPushBack" => (call.dims(1), 1),
        "TensorListSetItem" => (call.dims(2), 0),
        _ => (call.row(1), 0),
    };
    let declared = handle.declared.map(|shape| call.sym.dims(shape).to_vec());
    let item = common([item, declared].into_iter().flatten().collect());
    let item = item.and_then(|dims| call.sym.shape(&dims));
    // An index beyond the end may make the list longer.
    let grows = call.node.attributes.flag("resize_if_index_out_of_bounds") == Some(true);
    let length = if grows {
        Dim::Unknown
    } else {
        call.sym.with(DimOp::Add, handle.length, step)
    };
    let shape = if handle.is_unset {
        item
    } else {
        common_shape(handle.shape, item, call.sym)
    };
    let handle = Handle {
        shape,
        length,
        is_unset: false,
        ..(*handle).clone()
    };
    call.set_handle(0, handle)
}

/// The last element, and the list without it.
pub(super) fn pop(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    if let Some(handle) = call.handle(0) {
        let length = call.sym.with(DimOp::Sub, handle.length, 1);
        call.set_handle(
            0,
            Handle {
                length,
                ..(*handle).clone()
            },
        );
    }
    let dims = element(call, 0, Some(1))?;
    call.out(1, &dims)
}

pub(super) fn item(call: &mut Call<'_>) -> Option<()> {
    let dims = element(call, 0, Some(2))?;
    call.out(0, &dims)
}

/// All elements as one tensor.
pub(super) fn stack(call: &mut Call<'_>) -> Option<()> {
    let length = match call.int("num_elements").filter(|count| *count >= 0) {
        Some(count) => Num::Int(count).dim(),
        None => call.handle(0).map_or(Dim::Unknown, |handle| handle.length),
    };
    let mut dims = element(call, 0, Some(1))?;
    dims.insert(0, length);
    call.out(0, &dims)
}

/// Some elements as one tensor.
pub(super) fn gather(call: &mut Call<'_>) -> Option<()> {
    let mut dims = element(call, 0, Some(2))?;
    dims.insert(0, call.rows(1));
    call.out(0, &dims)
}

/// All elements end to end, and their lengths.
pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    call.out(1, &[Dim::Unknown]);
    let mut dims = element(call, 0, None)?;
    *dims.first_mut()? = Dim::Unknown;
    call.out(0, &dims)
}

pub(super) fn length(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let length = Num::of(call.handle(0)?.length);
    call.add_value(0, Value::scalar(length.into()))
}

/// A list like the one at input 0, of another length.
pub(super) fn resized(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let handle = call.handle(0)?;
    let length = call.scalar_dim(1);
    call.set_handle(
        0,
        Handle {
            length,
            ..(*handle).clone()
        },
    )
}

/// An array: its handle and its flow.
pub(super) fn array(call: &mut Call<'_>) -> Option<()> {
    let element = call.shape_of("element_shape");
    let dtype = call.node.attributes.dtype("dtype").unwrap_or(DType::Unknown);
    let shape = element.and_then(|dims| call.sym.shape(&dims));
    let handle = Handle::new(dtype, shape, call.scalar_dim(0));
    call.set_handle(0, handle.clone());
    call.set_handle(1, handle)
}

/// An array of gradients: like the array that it belongs to.
pub(super) fn array_gradient(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[Dim::Known(2)]);
    call.out(1, &[]);
    let handle = array_of(call)?;
    call.set_handle(0, (*handle).clone());
    call.set_handle(1, (*handle).clone())
}

/// The facts of an array's elements, from its flow (the last input) or its handle.
fn array_of(call: &Call<'_>) -> Option<Rc<Handle>> {
    let flow = call.handle(call.inputs.len().checked_sub(1)?);
    let own = call.handle(0);
    match (flow, own) {
        (Some(flow), Some(own)) if flow.shape.is_none() => Some(own),
        (Some(flow), _) => Some(flow),
        (None, own) => own,
    }
}

/// A write: the flow, with the facts of the elements after it.
pub(super) fn array_write(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let handle = array_of(call)?;
    let element = match call.kind {
        kind if kind.starts_with("TensorArrayScatter") => call.row(2),
        kind if kind.starts_with("TensorArraySplit") => None,
        _ => call.dims(2),
    };
    let shape = handle.shape.or_else(|| call.sym.shape(&element?));
    call.set_handle(
        0,
        Handle {
            shape,
            ..(*handle).clone()
        },
    )
}

pub(super) fn array_read(call: &mut Call<'_>) -> Option<()> {
    let shape = array_of(call)?.shape?;
    call.outputs.first_mut()?.shape = Some(shape);
    Some(())
}

/// Some elements of an array as one tensor.
pub(super) fn array_gather(call: &mut Call<'_>) -> Option<()> {
    let known = array_of(call).and_then(|handle| handle.shape);
    let known = known.map(|shape| call.sym.dims(shape).to_vec());
    let shapes = [known, call.shape_of("element_shape")];
    let mut dims = common(shapes.into_iter().flatten().collect())?;
    dims.insert(0, call.rows(1));
    call.out(0, &dims)
}

/// All elements of an array end to end, and their lengths.
pub(super) fn array_concat(call: &mut Call<'_>) -> Option<()> {
    call.out(1, &[Dim::Unknown]);
    let mut dims = call.shape_of("element_shape_except0")?;
    dims.insert(0, Dim::Unknown);
    call.out(0, &dims)
}
