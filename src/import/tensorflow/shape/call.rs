//! What a shape rule sees of a node, and where it puts its answer.
//!
//! In: the node's attributes and the facts of its inputs. Out: facts of its outputs. The types of the outputs are the
//! model's own; shapes are unknown until a rule states them. A rule returns `None` as soon as something
//! that it needs is missing; what it stated before stays.

use std::rc::Rc;

use crate::shape::fact::{Elem, MAX_ELEMENTS, Num, Value};
use crate::shape::sym::{Sym, axis};
use crate::tensorflow::model::{Attribute, Data, Model, RawGraph, RawNode, TensorInfo};
use highwater_model::graph::{DType, Dim};

use super::fact::{Fact, Handle};

/// One use of a rule.
pub(super) struct Call<'a> {
    pub(super) model: &'a Model,
    pub(super) graph: &'a RawGraph,
    pub(super) node: &'a RawNode,
    /// Facts of the inputs, unknown ones included.
    pub(super) inputs: Vec<Fact>,
    /// Facts of the outputs.
    pub(super) outputs: Vec<Fact>,
    /// Arithmetic.
    pub(super) sym: &'a mut Sym,
}

impl<'a> Call<'a> {
    /// The op, such as `MatMul`.
    pub(super) fn kind(&self) -> &'a str {
        self.model.names.text(self.node.kind)
    }

    /// How many inputs there are.
    pub(super) fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// An input's element type; unknown where there is no such input.
    pub(super) fn dtype(&self, input: usize) -> DType {
        self.inputs.get(input).map_or(DType::Unknown, |fact| fact.dtype)
    }

    /// An input's dimensions.
    pub(super) fn dims(&self, input: usize) -> Option<Vec<Dim>> {
        let shape = self.inputs.get(input)?.shape?;
        Some(self.sym.dims(shape).to_vec())
    }

    /// An input's elements.
    pub(super) fn value(&self, input: usize) -> Option<Rc<Value>> {
        self.inputs.get(input)?.value.clone()
    }

    /// An input's elements, where all are numbers.
    pub(super) fn ints(&self, input: usize) -> Option<Vec<i64>> {
        self.value(input)?.ints()
    }

    /// An input's first element.
    pub(super) fn scalar(&self, input: usize) -> Option<Num> {
        self.value(input)?.items.first()?.num()
    }

    /// An input's first element, where it is a number.
    pub(super) fn scalar_int(&self, input: usize) -> Option<i64> {
        match self.scalar(input)? {
            Num::Int(value) => Some(value),
            Num::Expr(_) => None,
        }
    }

    /// The dimension that an input's only element names.
    pub(super) fn scalar_dim(&self, input: usize) -> Dim {
        self.scalar(input).map_or(Dim::Unknown, Num::dim)
    }

    /// The dimensions that an input's elements name (-1 is unknown); only how many there are where nobody knows the
    /// elements.
    pub(super) fn named_dims(&self, input: usize) -> Option<Vec<Dim>> {
        if let Some(value) = self.value(input) {
            // A scalar in place of a list stands for a shape of unknown rank.
            return (value.dims.len() == 1).then(|| value.items.iter().map(|item| item.dim()).collect());
        }
        match *self.dims(input)? {
            [Dim::Known(rank)] if rank <= 64 => Some(vec![Dim::Unknown; usize::try_from(rank).ok()?]),
            _ => None,
        }
    }

    /// What an input's handle stands for.
    pub(super) fn handle(&self, input: usize) -> Option<Rc<Handle>> {
        self.inputs.get(input)?.handle.clone()
    }

    /// An attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.model.attribute(self.graph, self.node, name)
    }

    /// A number among the attributes.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.model.int(self.graph, self.node, name)
    }

    /// A truth value among the attributes; false where it is left out.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.model.flag(self.graph, self.node, name).unwrap_or(false)
    }

    /// A text among the attributes, empty where it is left out.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.model.text(self.graph, self.node, name).unwrap_or("")
    }

    /// Numbers among the attributes.
    pub(super) fn list(&self, name: &str) -> Option<&'a [i64]> {
        self.model.ints(self.graph, self.node, name)
    }

    /// A type among the attributes.
    pub(super) fn type_of(&self, name: &str) -> Option<DType> {
        self.model.dtype(self.graph, self.node, name)
    }

    /// A shape among the attributes; unknown dimensions stay so.
    pub(super) fn shape_of(&self, name: &str) -> Option<Vec<Dim>> {
        match self.attribute(name)? {
            Attribute::Shape(Some(dims)) => Some(dims.iter().map(|dim| Num::Int(*dim).dim()).collect()),
            _ => None,
        }
    }

    /// The position of an axis that an input's only element names.
    pub(super) fn axis_at(&self, input: usize, rank: usize) -> Option<usize> {
        axis(self.scalar_int(input)?, rank)
    }

    /// States an output's dimensions.
    pub(super) fn out(&mut self, output: usize, dims: &[Dim]) {
        let shape = self.sym.shape(dims);
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.shape = shape;
        }
    }

    /// An output has the shape of an input.
    pub(super) fn like(&mut self, output: usize, input: usize) -> Option<()> {
        let shape = self.inputs.get(input)?.shape?;
        self.outputs.get_mut(output)?.shape = Some(shape);
        Some(())
    }

    /// States what an output's handle stands for, and that the handle is one of a shape without dimensions.
    pub(super) fn set_handle(&mut self, output: usize, handle: Handle) {
        self.out(output, &[]);
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.handle = Some(Rc::new(handle));
        }
    }

    /// States an output's elements, and its dimensions from them.
    pub(super) fn set_value(&mut self, output: usize, value: Value) {
        let dims: Vec<Dim> = value.dims.iter().map(|size| Dim::Known(*size as u64)).collect();
        self.out(output, &dims);
        self.add_value(output, value);
    }

    /// States an output's elements where its dimensions are stated already; dropped where they do not fit them.
    pub(super) fn add_value(&mut self, output: usize, value: Value) {
        let says_nothing = !value.items.is_empty() && value.items.iter().all(|item| *item == Elem::Unknown);
        if says_nothing || value.items.len() > MAX_ELEMENTS {
            return;
        }
        if let Some(fact) = self.outputs.get_mut(output) {
            let fits = fact.shape.is_some_and(|shape| fits(self.sym.dims(shape), &value));
            if fits && self.sym.take_elements(value.items.len()) {
                fact.value = Some(Rc::new(value));
            }
        }
    }
}

/// Whether a value has exactly these dimensions.
pub(super) fn fits(dims: &[Dim], value: &Value) -> bool {
    dims.len() == value.dims.len()
        && dims
            .iter()
            .zip(&value.dims)
            .all(|(dim, size)| *dim == Dim::Known(*size as u64))
}

/// The elements of a constant, if they are few.
pub(super) fn value_of(tensor: &TensorInfo) -> Option<Value> {
    let items: Vec<Elem> = match &tensor.data {
        Data::Ints(items) if items.len() <= MAX_ELEMENTS => items.iter().map(|item| Elem::int(*item)).collect(),
        Data::Floats(items) if items.len() <= MAX_ELEMENTS => items.iter().map(|item| Elem::float(*item)).collect(),
        _ => return None,
    };
    let dims = tensor.shape.as_ref()?.iter();
    let dims: Option<Vec<usize>> = dims.map(|dim| usize::try_from(*dim).ok()).collect();
    let value = Value { dims: dims?, items };
    let count = value
        .dims
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size));
    (count == Some(value.items.len())).then_some(value)
}
