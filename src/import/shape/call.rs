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

use super::fact::{Elem, Fact, MAX_ELEMENTS, Num, Value};
use super::sym::Sym;
use highwater_model::graph::{DType, Dim};

/// A file format; its rules read attributes from its own nodes.
pub(crate) trait Format {
    type Node<'a>;
}

pub(crate) struct Call<'a, F: Format> {
    pub(crate) node: F::Node<'a>,
    /// The op's type, such as `MatMul`.
    pub(crate) kind: &'a str,
    /// `None` where an optional input is left out.
    pub(crate) inputs: Vec<Option<Fact>>,
    pub(crate) outputs: Vec<Fact>,
    pub(crate) sym: &'a mut Sym,
}

impl<F: Format> Call<'_, F> {
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
