//! Sequences of tensors and optionals. They count no bytes; facts of their elements travel with them: each one where
//! all are known, else a common type and shape, and their number.

use std::rc::Rc;

use crate::element_types::ONNX;
use crate::shape::call::Call;
use crate::shape::fact::{Fact, Handle, Num, Value};
use crate::shape::sizes::reduced;
use crate::shape::sym::{Sym, axis};
use highwater_model::graph::{Dim, DimOp};

/// The most elements that are followed one by one.
pub(super) const MAX_ITEMS: usize = 128;

/// The room that an element takes of those that a file has for small values.
const ITEM_PRICE: usize = 4;

/// A fact as an element: elements are tensors, so nothing nests in damaged files.
fn item(fact: Fact) -> Fact {
    if fact.is_container() { Fact::UNKNOWN } else { fact }
}

/// A sequence of these elements.
pub(super) fn of_items(items: Vec<Fact>, sym: &mut Sym) -> Fact {
    let items: Vec<Fact> = items.into_iter().map(item).collect();
    let mut common = items.first().cloned().unwrap_or(Fact::UNKNOWN);
    for item in &items {
        common = common.merged(item, sym);
    }
    let is_listed = items.len() <= MAX_ITEMS && sym.take_elements(items.len() * ITEM_PRICE);
    let handle = Handle::new(common.dtype, common.shape, Dim::Known(items.len() as u64));
    Fact {
        handle: Some(Rc::new(handle)),
        items: is_listed.then(|| items.into()),
        ..Fact::UNKNOWN
    }
}

/// A sequence of elements of one shape.
pub(super) fn of_equal(element: &Fact, length: Dim) -> Fact {
    let handle = Handle::new(element.dtype, element.shape, length);
    Fact {
        handle: Some(Rc::new(handle)),
        ..Fact::UNKNOWN
    }
}

/// What holds for each element of a sequence.
pub(super) fn element(sequence: &Fact) -> Option<Fact> {
    let handle = sequence.handle.as_ref()?;
    Some(Fact {
        shape: handle.shape,
        ..Fact::of_type(handle.dtype)
    })
}

fn set(call: &mut Call<'_>, fact: Fact) -> Option<()> {
    *call.outputs.first_mut()? = fact;
    Some(())
}

fn set_items(call: &mut Call<'_>, items: Vec<Fact>) -> Option<()> {
    let sequence = of_items(items, call.sym);
    set(call, sequence)
}

pub(super) fn construct(call: &mut Call<'_>) -> Option<()> {
    let items: Option<Vec<Fact>> = call.inputs.iter().cloned().collect();
    set_items(call, items?)
}

pub(super) fn empty(call: &mut Call<'_>) -> Option<()> {
    let mut handle = Handle::new(ONNX.of_code(call.int_or("dtype", 1)), None, Dim::Known(0));
    // What a loop appends to it decides the shape.
    handle.is_unset = true;
    let fact = Fact {
        handle: Some(Rc::new(handle)),
        items: Some(Rc::new([])),
        ..Fact::UNKNOWN
    };
    set(call, fact)
}

/// The position that an input names among `count`, which may count from the end.
fn position(call: &Call<'_>, input: usize, count: usize) -> Option<usize> {
    axis(call.scalar_int(input)?, count)
}

/// A tensor at a position, else at the end.
pub(super) fn insert(call: &mut Call<'_>) -> Option<()> {
    let (sequence, tensor) = (call.input(0)?.clone(), call.input(1)?.clone());
    if let Some(items) = &sequence.items {
        let at = if call.has(2) {
            position(call, 2, items.len() + 1)
        } else {
            Some(items.len())
        };
        if let Some(at) = at {
            let mut items = items.to_vec();
            items.insert(at, tensor);
            return set_items(call, items);
        }
    }
    let handle = sequence.handle.as_ref()?;
    let one = of_equal(&tensor, Dim::Known(1));
    let both = sequence.merged(&one, call.sym);
    let length = call.sym.with(DimOp::Add, handle.length, 1);
    let element = if handle.length == Dim::Known(0) {
        tensor
    } else {
        element(&both)?
    };
    set(call, of_equal(&element, length))
}

/// Without the tensor at a position, else without the last.
pub(super) fn erase(call: &mut Call<'_>) -> Option<()> {
    let sequence = call.input(0)?.clone();
    if let Some(items) = &sequence.items {
        let at = if call.has(1) {
            position(call, 1, items.len())
        } else {
            items.len().checked_sub(1)
        };
        if let Some(at) = at {
            let mut items = items.to_vec();
            items.remove(at);
            return set_items(call, items);
        }
    }
    let length = call.sym.with(DimOp::Sub, sequence.handle.as_ref()?.length, 1);
    set(call, of_equal(&element(&sequence)?, length))
}

pub(super) fn at(call: &mut Call<'_>) -> Option<()> {
    let sequence = call.input(0)?.clone();
    let item = sequence.items.as_ref().and_then(|items| {
        let at = position(call, 1, items.len())?;
        items.get(at).cloned()
    });
    let fact = item.or_else(|| element(&sequence))?;
    set(call, fact)
}

pub(super) fn length(call: &mut Call<'_>) -> Option<()> {
    call.out(0, &[]);
    let length = call.handle(0)?.length;
    call.add_value(0, Value::scalar(Num::of(length).into()))
}

/// Parts along an axis: of listed sizes, of one size (the last may be smaller), or single rows without their axis.
pub(super) fn split(call: &mut Call<'_>) -> Option<()> {
    let dtype = call.dtype(0);
    let dims = call.dims(0)?;
    let at = call.axis_attr("axis", 0, dims.len())?;
    let size = match dims[at] {
        Dim::Known(size) => usize::try_from(size).ok(),
        _ => None,
    };
    let shape = |call: &mut Call<'_>, part: Dim| {
        let mut dims = dims.clone();
        dims[at] = part;
        Fact {
            shape: call.sym.shape(&dims),
            ..Fact::of_type(dtype)
        }
    };
    if !call.has(1) {
        let keeps = call.int_or("keepdims", 1) != 0;
        let row = Fact {
            shape: call.sym.shape(&reduced(&dims, &[at], keeps)),
            ..Fact::of_type(dtype)
        };
        return match size.filter(|size| *size <= MAX_ITEMS) {
            Some(size) => set_items(call, vec![row; size]),
            None => set(call, of_equal(&row, dims[at])),
        };
    }
    let parts = call.value(1);
    let sizes: Option<Vec<usize>> = match (parts, size) {
        (Some(parts), _) if parts.dims.len() == 1 => {
            let sizes = parts.ints()?;
            sizes.into_iter().map(|size| usize::try_from(size).ok()).collect()
        }
        (Some(parts), Some(size)) => {
            let each = usize::try_from(*parts.ints()?.first()?).ok().filter(|each| *each > 0)?;
            let count = size.div_ceil(each);
            (count <= MAX_ITEMS).then(|| (0..count).map(|turn| each.min(size - turn * each)).collect())
        }
        _ => None,
    };
    if let Some(sizes) = sizes {
        let items = sizes.iter().map(|size| shape(call, Dim::Known(*size as u64))).collect();
        return set_items(call, items);
    }
    let part = shape(call, Dim::Unknown);
    set(call, of_equal(&part, Dim::Unknown))
}

/// The elements one behind the other, or on a new axis.
pub(super) fn concat(call: &mut Call<'_>) -> Option<()> {
    let sequence = call.input(0)?.clone();
    let handle = sequence.handle.as_ref()?;
    call.set_dtype(0, handle.dtype);
    let is_new = call.int_or("new_axis", 0) == 1;
    let listed: Option<Vec<Vec<Dim>>> = sequence.items.as_ref().and_then(|items| {
        let dims = |item: &Fact| Some(call.sym.dims(item.shape?).to_vec());
        items.iter().map(dims).collect()
    });
    let (mut dims, others) = match listed {
        Some(mut listed) if !listed.is_empty() => (listed.remove(0), listed),
        _ => (call.sym.dims(handle.shape?).to_vec(), Vec::new()),
    };
    let rank = dims.len() + usize::from(is_new);
    let at = call.axis_attr("axis", 0, rank)?;
    if is_new {
        dims.insert(at, handle.length);
        return call.out(0, &dims);
    }
    if others.is_empty() {
        dims[at] = call.sym.dim(DimOp::Mul, dims[at], handle.length);
        return call.out(0, &dims);
    }
    for other in others {
        dims[at] = call.sym.dim(DimOp::Add, dims[at], *other.get(at)?);
    }
    call.out(0, &dims)
}

/// An optional holds its input.
pub(super) fn optional(call: &mut Call<'_>) -> Option<()> {
    let content = call.input(0)?.clone();
    let is_optional = content.handle.is_none() && content.items.is_some();
    if is_optional {
        return None;
    }
    let fact = holding(content, call.sym)?;
    set(call, fact)
}

/// An optional that holds this.
pub(super) fn holding(content: Fact, sym: &mut Sym) -> Option<Fact> {
    sym.take_elements(ITEM_PRICE).then(|| Fact {
        items: Some(Rc::new([content])),
        ..Fact::UNKNOWN
    })
}

/// The content of an optional; what is none is passed on.
pub(super) fn content(call: &mut Call<'_>) -> Option<()> {
    let fact = call.input(0)?.clone();
    let content = match (&fact.handle, &fact.items) {
        (None, Some(items)) => items.first()?.clone(),
        _ => fact,
    };
    set(call, content)
}

/// The inputs of a body that sees one element of each sequence: by element, where all are known.
pub(super) fn turns(inputs: &[Option<Fact>]) -> Option<Vec<Vec<Fact>>> {
    let length = inputs.first()?.as_ref()?.items.as_ref()?.len();
    let seed = |input: &Option<Fact>, turn: usize| {
        let fact = input.as_ref()?;
        match (&fact.handle, &fact.items) {
            (Some(_), Some(items)) => items.get(turn).cloned(),
            (Some(_), None) => None,
            _ => Some(fact.clone()),
        }
    };
    (0..length)
        .map(|turn| inputs.iter().map(|input| seed(input, turn)).collect())
        .collect()
}

/// The same for an element of which only the common type and shape are known.
pub(super) fn any_turn(inputs: &[Option<Fact>]) -> Vec<Fact> {
    let seed = |input: &Option<Fact>| {
        let fact = input.clone().unwrap_or(Fact::UNKNOWN);
        element(&fact).unwrap_or(fact)
    };
    inputs.iter().map(seed).collect()
}
