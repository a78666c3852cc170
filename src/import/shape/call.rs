//! The op that a shape rule works on: facts of its inputs, facts of its outputs, arithmetic.
//!
//! The types of the outputs are known before a rule runs; shapes are unknown until the rule states them. A rule
//! returns `None` as soon as something that it needs is missing; what it stated before stays. Functions that state
//! something return `Some(())`, with which rules end.

#![expect(
    clippy::unnecessary_wraps,
    reason = "statements have the form of rules, which end with them"
)]

use std::rc::Rc;

use super::attribute::{Attributes, TensorInfo, dims_of};
use super::fact::{Elem, Fact, Handle, MAX_ELEMENTS, Num, Value};
use super::sym::{Sym, axis};
use highwater_model::graph::{DType, Dim};

/// The node of a call, whatever its file.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) name: &'a str,
    /// The version of the operator set; 0 where the format has none.
    pub(crate) opset: i64,
    pub(crate) attributes: Attributes<'a>,
}

pub(crate) struct Call<'a> {
    pub(crate) node: Node<'a>,
    /// The op's type, such as `MatMul`.
    pub(crate) kind: &'a str,
    /// `None` where an optional input is left out.
    pub(crate) inputs: Vec<Option<Fact>>,
    pub(crate) outputs: Vec<Fact>,
    pub(crate) sym: &'a mut Sym,
}

impl<'a> Call<'a> {
    pub(crate) fn has_attr(&self, name: &str) -> bool {
        self.node.attributes.get(name).is_some()
    }

    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.node.attributes.int(name)
    }

    pub(crate) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// A truth value; false where it is left out.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.node.attributes.flag(name).unwrap_or(false)
    }

    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.node.attributes.text(name)
    }

    pub(crate) fn list(&self, name: &str) -> Option<&'a [i64]> {
        self.node.attributes.list(name)
    }

    pub(crate) fn floats(&self, name: &str) -> Option<&'a [f64]> {
        self.node.attributes.floats(name)
    }

    pub(crate) fn tensor(&self, name: &str) -> Option<&'a TensorInfo> {
        self.node.attributes.tensor(name)
    }

    /// A stated shape; unknown dimensions stay so.
    pub(crate) fn shape_of(&self, name: &str) -> Option<Vec<Dim>> {
        Some(dims_of(self.node.attributes.shape(name)?.as_ref()?))
    }

    /// Numbers that are an attribute in old operator sets and an input in new ones. `Some(None)`: neither is given.
    #[expect(
        clippy::option_option,
        reason = "not given, and given but unknown, are different answers"
    )]
    pub(crate) fn attr_or_input(&self, name: &str, input: usize) -> Option<Option<Vec<i64>>> {
        if self.has_attr(name) {
            return self.list(name).map(|list| Some(list.to_vec()));
        }
        if self.has(input) {
            return self.ints(input).map(Some);
        }
        Some(None)
    }

    pub(crate) fn axis_attr(&self, name: &str, default: i64, rank: usize) -> Option<usize> {
        axis(self.int_or(name, default), rank)
    }

    /// The position of an axis that an input's only element names.
    pub(crate) fn axis_at(&self, input: usize, rank: usize) -> Option<usize> {
        axis(self.scalar_int(input)?, rank)
    }

    pub(crate) fn has(&self, input: usize) -> bool {
        self.input(input).is_some()
    }

    pub(crate) fn input(&self, input: usize) -> Option<&Fact> {
        self.inputs.get(input)?.as_ref()
    }

    /// An input's element type; unknown where there is no such input.
    pub(crate) fn dtype(&self, input: usize) -> DType {
        self.input(input).map_or(DType::Unknown, |fact| fact.dtype)
    }

    pub(crate) fn handle(&self, input: usize) -> Option<Rc<Handle>> {
        self.input(input)?.handle.clone()
    }

    /// The size of an input's first axis.
    pub(crate) fn rows(&self, input: usize) -> Dim {
        let dims = self.dims(input);
        dims.and_then(|dims| dims.first().copied()).unwrap_or(Dim::Unknown)
    }

    /// The dimensions of an input's rows.
    pub(crate) fn row(&self, input: usize) -> Option<Vec<Dim>> {
        Some(self.dims(input)?.get(1..)?.to_vec())
    }

    pub(crate) fn dims(&self, input: usize) -> Option<Vec<Dim>> {
        let shape = self.input(input)?.shape?;
        Some(self.sym.dims(shape).to_vec())
    }

    pub(crate) fn value(&self, input: usize) -> Option<Rc<Value>> {
        self.input(input)?.value.clone()
    }

    /// An input's elements, where all are numbers.
    pub(crate) fn ints(&self, input: usize) -> Option<Vec<i64>> {
        self.value(input)?.ints()
    }

    pub(crate) fn scalar(&self, input: usize) -> Option<Num> {
        self.value(input)?.items.first()?.num()
    }

    /// An input's first element, where it is a number.
    pub(crate) fn scalar_int(&self, input: usize) -> Option<i64> {
        match self.scalar(input)? {
            Num::Int(value) => Some(value),
            Num::Expr(_) => None,
        }
    }

    /// The dimension whose size is an input's first element.
    pub(crate) fn scalar_dim(&self, input: usize) -> Dim {
        self.scalar(input).map_or(Dim::Unknown, Num::dim)
    }

    /// The dimensions that an input lists (-1 is unknown); only their number where the elements are unknown.
    pub(crate) fn listed_dims(&self, input: usize) -> Option<Vec<Dim>> {
        if let Some(value) = self.value(input) {
            // A scalar in place of a list means a shape of unknown rank.
            return (value.dims.len() == 1).then(|| value.items.iter().map(|item| item.dim()).collect());
        }
        match *self.dims(input)? {
            [Dim::Known(rank)] if rank <= 64 => Some(vec![Dim::Unknown; usize::try_from(rank).ok()?]),
            _ => None,
        }
    }

    pub(crate) fn set_dtype(&mut self, output: usize, dtype: DType) {
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.dtype = dtype;
        }
    }

    /// States the target of an output's handle; the handle is a scalar.
    pub(crate) fn set_handle(&mut self, output: usize, handle: Handle) -> Option<()> {
        self.out(output, &[]);
        self.outputs.get_mut(output)?.handle = Some(Rc::new(handle));
        Some(())
    }

    /// States an output's dimensions.
    pub(crate) fn out(&mut self, output: usize, dims: &[Dim]) -> Option<()> {
        let shape = self.sym.shape(dims);
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.shape = shape;
        }
        Some(())
    }

    /// States the dimensions of all outputs from `first` on.
    pub(crate) fn out_from(&mut self, first: usize, dims: &[Dim]) -> Option<()> {
        for output in first..self.outputs.len() {
            self.out(output, dims);
        }
        Some(())
    }

    /// States that outputs from `first` on are scalars: ranges of quantized tensors and the like.
    pub(crate) fn out_scalars(&mut self, first: usize) -> Option<()> {
        self.out_from(first, &[])
    }

    /// States the rank of output 0 alone.
    pub(crate) fn out_rank(&mut self, rank: usize) -> Option<()> {
        self.out(0, &vec![Dim::Unknown; rank])
    }

    /// States that an output has the shape of an input.
    pub(crate) fn like(&mut self, output: usize, input: usize) -> Option<()> {
        let shape = self.input(input)?.shape?;
        self.outputs.get_mut(output)?.shape = Some(shape);
        Some(())
    }

    /// States an output's elements, and its dimensions from them.
    pub(crate) fn set_value(&mut self, output: usize, value: Value) -> Option<()> {
        let dims: Vec<Dim> = value.dims.iter().map(|size| Dim::Known(*size as u64)).collect();
        self.out(output, &dims);
        self.add_value(output, value)
    }

    /// States an output's elements where its dimensions are stated already; dropped where they do not fit them.
    pub(crate) fn add_value(&mut self, output: usize, value: Value) -> Option<()> {
        let is_void = !value.items.is_empty() && value.items.iter().all(|item| *item == Elem::Unknown);
        if !is_void
            && value.items.len() <= MAX_ELEMENTS
            && let Some(fact) = self.outputs.get_mut(output)
        {
            let fits = fact.shape.is_some_and(|shape| value.fits(self.sym.dims(shape)));
            if fits && self.sym.take_elements(value.items.len()) {
                fact.value = Some(Rc::new(value));
            }
        }
        Some(())
    }
}
