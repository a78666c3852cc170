//! Attributes of TensorFlow nodes, for shape rules. The types of outputs are the model's.

use std::rc::Rc;

use crate::shape::call::{self, Format};
use crate::shape::fact::{Handle, Num, Value};
use crate::shape::sym::axis;
use crate::tensorflow::model::{Attribute, Model, RawGraph, RawNode, TensorInfo};
use highwater_model::graph::{DType, Dim};

pub(super) struct TensorFlow;

impl Format for TensorFlow {
    type Node<'a> = Node<'a>;
}

#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) model: &'a Model,
    pub(super) graph: &'a RawGraph,
    pub(super) raw: &'a RawNode,
}

pub(super) type Call<'a> = call::Call<'a, TensorFlow>;

impl<'a> Call<'a> {
    pub(super) fn handle(&self, input: usize) -> Option<Rc<Handle>> {
        self.input(input)?.handle.clone()
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.node.model.attribute(self.node.graph, self.node.raw, name)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.node.model.int(self.node.graph, self.node.raw, name)
    }

    /// A truth value; false where it is left out.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    pub(super) fn flag_or(&self, name: &str, default: bool) -> bool {
        let Node { model, graph, raw } = self.node;
        model.flag(graph, raw, name).unwrap_or(default)
    }

    /// A text; empty where it is left out.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.node.model.text(self.node.graph, self.node.raw, name).unwrap_or("")
    }

    pub(super) fn list(&self, name: &str) -> Option<&'a [i64]> {
        self.node.model.ints(self.node.graph, self.node.raw, name)
    }

    pub(super) fn type_of(&self, name: &str) -> Option<DType> {
        self.node.model.dtype(self.node.graph, self.node.raw, name)
    }

    /// A shape; unknown dimensions stay so.
    pub(super) fn shape_of(&self, name: &str) -> Option<Vec<Dim>> {
        match self.attribute(name)? {
            Attribute::Shape(Some(dims)) => Some(dims.iter().map(|dim| Num::Int(*dim).dim()).collect()),
            _ => None,
        }
    }

    /// The size of an input's first axis.
    pub(super) fn rows(&self, input: usize) -> Dim {
        let dims = self.dims(input);
        dims.and_then(|dims| dims.first().copied()).unwrap_or(Dim::Unknown)
    }

    /// The dimensions of an input's rows.
    pub(super) fn row(&self, input: usize) -> Option<Vec<Dim>> {
        Some(self.dims(input)?.get(1..)?.to_vec())
    }

    /// The position of an axis that an input's only element names.
    pub(super) fn axis_at(&self, input: usize, rank: usize) -> Option<usize> {
        axis(self.scalar_int(input)?, rank)
    }

    /// States that outputs from `first` on are scalars: ranges of quantized tensors and the like.
    pub(super) fn out_scalars(&mut self, first: usize) -> Option<()> {
        self.out_from(first, &[])
    }

    /// States the target of an output's handle; the handle is a scalar.
    pub(super) fn set_handle(&mut self, output: usize, handle: Handle) -> Option<()> {
        self.out(output, &[]);
        self.outputs.get_mut(output)?.handle = Some(Rc::new(handle));
        Some(())
    }
}

/// The elements of a constant, if they are few.
pub(super) fn value_of(tensor: &TensorInfo) -> Option<Value> {
    let dims = tensor.shape.as_ref()?.iter();
    tensor.data.value(dims.map(|dim| usize::try_from(*dim).ok()))
}
