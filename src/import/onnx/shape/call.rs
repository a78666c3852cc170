//! What a shape rule sees of a node, and where it puts its answer.
//!
//! In: the node's attributes and the facts of its inputs. Out: facts of its outputs, unknown until a rule sets
//! them. A rule returns `None` as soon as something that it needs is missing; what it set before stays.

use std::rc::Rc;

use crate::onnx::model::{Attribute, Data, Model, RawGraph, RawNode, TensorInfo};
use highwater_model::graph::{DType, Dim};

use super::fact::{Elem, Fact, MAX_ELEMENTS, Value};
use super::sym::{Sym, axis};

/// One use of a rule.
pub(super) struct Call<'a> {
    pub(super) model: &'a Model,
    pub(super) graph: &'a RawGraph,
    pub(super) node: &'a RawNode,
    /// Facts of the inputs; `None` where an optional one is left out.
    pub(super) inputs: Vec<Option<Fact>>,
    /// Facts of the outputs.
    pub(super) outputs: Vec<Fact>,
    /// Arithmetic.
    pub(super) sym: &'a mut Sym,
}

impl<'a> Call<'a> {
    /// The operator's type.
    pub(super) fn kind(&self) -> &'a str {
        self.model.names.text(self.node.kind)
    }

    /// Whether an input is there.
    pub(super) fn has(&self, input: usize) -> bool {
        self.inputs.get(input).is_some_and(Option::is_some)
    }

    fn fact(&self, input: usize) -> Option<&Fact> {
        self.inputs.get(input)?.as_ref()
    }

    /// An input's element type; unknown where it is left out.
    pub(super) fn dtype(&self, input: usize) -> DType {
        self.fact(input).map_or(DType::Unknown, |fact| fact.dtype)
    }

    /// An input's dimensions.
    pub(super) fn dims(&self, input: usize) -> Option<Vec<Dim>> {
        let shape = self.fact(input)?.shape?;
        Some(self.sym.dims(shape).to_vec())
    }

    /// An input's elements.
    pub(super) fn value(&self, input: usize) -> Option<Rc<Value>> {
        self.fact(input)?.value.clone()
    }

    /// An input's elements, where all are numbers.
    pub(super) fn ints(&self, input: usize) -> Option<Vec<i64>> {
        self.value(input)?.ints()
    }

    fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.graph
            .attributes_of(self.node)
            .iter()
            .find(|(key, _)| self.model.names.text(*key) == name)
            .map(|(_, value)| value)
    }

    /// Whether an attribute is there.
    pub(super) fn has_attr(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// A number.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A number, or what its absence means.
    pub(super) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    /// A list of numbers.
    pub(super) fn int_list(&self, name: &str) -> Option<Vec<i64>> {
        match self.attribute(name)? {
            Attribute::Ints(values) => Some(values.to_vec()),
            Attribute::Int(value) => Some(vec![*value]),
            _ => None,
        }
    }

    /// A list of floats.
    pub(super) fn float_list(&self, name: &str) -> Option<Vec<f32>> {
        match self.attribute(name)? {
            Attribute::Floats(values) => Some(values.to_vec()),
            Attribute::Float(value) => Some(vec![*value]),
            _ => None,
        }
    }

    /// How many texts an attribute's list holds.
    pub(super) fn n_texts(&self, name: &str) -> Option<u32> {
        match self.attribute(name)? {
            Attribute::Texts(count) => Some(*count),
            _ => None,
        }
    }

    /// A text, empty where it is not there.
    pub(super) fn text(&self, name: &str) -> &'a str {
        match self.attribute(name) {
            Some(Attribute::Text(value)) => self.model.names.text(*value),
            _ => "",
        }
    }

    /// A constant.
    pub(super) fn tensor(&self, name: &str) -> Option<&'a TensorInfo> {
        match self.attribute(name)? {
            Attribute::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Numbers that are an attribute in old operator sets and an input in new ones. `Some(None)`: neither is there.
    #[expect(
        clippy::option_option,
        reason = "not given, and given but unknown, are different answers"
    )]
    pub(super) fn attr_or_input(&self, name: &str, input: usize) -> Option<Option<Vec<i64>>> {
        if self.has_attr(name) {
            return self.int_list(name).map(Some);
        }
        if self.has(input) {
            return self.ints(input).map(Some);
        }
        Some(None)
    }

    /// The position of an axis attribute.
    pub(super) fn axis_attr(&self, name: &str, default: i64, rank: usize) -> Option<usize> {
        axis(self.int_or(name, default), rank)
    }

    /// States an output's type and dimensions.
    pub(super) fn set(&mut self, output: usize, dtype: DType, dims: &[Dim]) {
        let shape = self.sym.shape(dims);
        if let Some(fact) = self.outputs.get_mut(output) {
            *fact = Fact {
                dtype,
                shape,
                value: None,
            };
        }
    }

    /// States an output's type alone.
    pub(super) fn set_dtype(&mut self, output: usize, dtype: DType) {
        if let Some(fact) = self.outputs.get_mut(output) {
            fact.dtype = dtype;
        }
    }

    /// States an output's elements, and its dimensions from them.
    pub(super) fn set_value(&mut self, output: usize, dtype: DType, value: Value) {
        let dims: Vec<Dim> = value.dims.iter().map(|size| Dim::Known(*size as u64)).collect();
        self.set(output, dtype, &dims);
        self.add_value(output, value);
    }

    /// States an output's elements where its dimensions are stated already; dropped where they do not fit them.
    pub(super) fn add_value(&mut self, output: usize, value: Value) {
        if value.items.len() > MAX_ELEMENTS || value.items.iter().all(|item| *item == Elem::Unknown) {
            return;
        }
        if let Some(fact) = self.outputs.get_mut(output) {
            let fits = fact.shape.is_some_and(|shape| {
                let dims = self.sym.dims(shape);
                dims.len() == value.dims.len()
                    && dims
                        .iter()
                        .zip(&value.dims)
                        .all(|(dim, size)| *dim == Dim::Known(*size as u64))
            });
            if fits && self.sym.take_elements(value.items.len()) {
                fact.value = Some(Rc::new(value));
            }
        }
    }
}

/// The elements of a tensor in the file, if they are few.
pub(super) fn value_of(tensor: &TensorInfo) -> Option<Value> {
    let items: Vec<Elem> = match &tensor.data {
        Data::Ints(items) if items.len() <= MAX_ELEMENTS => items.iter().map(|item| Elem::int(*item)).collect(),
        Data::Floats(items) => items.iter().map(|item| Elem::float(*item)).collect(),
        _ => return None,
    };
    let dims: Option<Vec<usize>> = tensor.dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    Some(Value { dims: dims?, items })
}
