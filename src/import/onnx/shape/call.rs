//! Attributes of ONNX nodes, for shape rules.

use crate::onnx::model::{Attribute, Model, RawGraph, RawNode, TensorInfo};
use crate::shape::call::{self, Format};
use crate::shape::fact::Value;
use crate::shape::sym::axis;
use highwater_model::graph::DType;

pub(super) struct Onnx;

impl Format for Onnx {
    type Node<'a> = Node<'a>;
}

#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) model: &'a Model,
    pub(super) graph: &'a RawGraph,
    pub(super) raw: &'a RawNode,
}

pub(super) type Call<'a> = call::Call<'a, Onnx>;

impl<'a> Call<'a> {
    fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        let Node { model, graph, raw } = self.node;
        model.attribute(graph, raw, name)
    }

    pub(super) fn has_attr(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// A list of numbers; a single number is one.
    pub(super) fn list(&self, name: &str) -> Option<&'a [i64]> {
        match self.attribute(name)? {
            Attribute::Ints(values) => Some(values),
            Attribute::Int(value) => Some(std::slice::from_ref(value)),
            _ => None,
        }
    }

    /// A list of floats; a single float is one.
    pub(super) fn floats(&self, name: &str) -> Option<&'a [f64]> {
        match self.attribute(name)? {
            Attribute::Floats(values) => Some(values),
            Attribute::Float(value) => Some(std::slice::from_ref(value)),
            _ => None,
        }
    }

    pub(super) fn n_texts(&self, name: &str) -> Option<u32> {
        match self.attribute(name)? {
            Attribute::Texts(count) => Some(*count),
            _ => None,
        }
    }

    /// A text, empty where it is left out.
    pub(super) fn text(&self, name: &str) -> &'a str {
        match self.attribute(name) {
            Some(Attribute::Text(value)) => self.node.model.names.text(*value),
            _ => "",
        }
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&'a TensorInfo> {
        match self.attribute(name)? {
            Attribute::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Numbers that are an attribute in old operator sets and an input in new ones. `Some(None)`: neither is given.
    #[expect(
        clippy::option_option,
        reason = "not given, and given but unknown, are different answers"
    )]
    pub(super) fn attr_or_input(&self, name: &str, input: usize) -> Option<Option<Vec<i64>>> {
        if self.has_attr(name) {
            return self.list(name).map(|list| Some(list.to_vec()));
        }
        if self.has(input) {
            return self.ints(input).map(Some);
        }
        Some(None)
    }

    pub(super) fn axis_attr(&self, name: &str, default: i64, rank: usize) -> Option<usize> {
        axis(self.int_or(name, default), rank)
    }

    pub(super) fn set_dtype(&mut self, output: usize, dtype: DType) {
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.dtype = dtype;
        }
    }
}

/// The elements of a tensor in the file, if they are few.
pub(super) fn value_of(tensor: &TensorInfo) -> Option<Value> {
    tensor
        .data
        .value(tensor.dims.iter().map(|dim| usize::try_from(*dim).ok()))
}
