//! Attributes of nodes, as far as shapes depend on them, and the constants among them.

use super::constant::Data;
use super::fact::{Num, Value};
use crate::names::{Interner, NameIdx};
use highwater_model::graph::{DType, Dim};

/// A graph of a file: the main one, a body or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GraphIdx(pub(crate) usize);

/// The shape of a tensor as the file states it: `None` where the number of dimensions is unknown, -1 for a dimension that
/// is.
pub(crate) type RawShape = Option<Box<[i64]>>;

/// A constant, without its data unless it is small.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorInfo {
    pub(crate) name: NameIdx,
    pub(crate) dtype: DType,
    pub(crate) shape: RawShape,
    /// Its elements, where there are few and the file has them.
    pub(crate) data: Data,
    pub(crate) at: u64,
}

impl TensorInfo {
    pub(crate) fn dims(&self) -> Option<Vec<Dim>> {
        Some(dims_of(self.shape.as_ref()?))
    }

    /// Its elements, if they are few.
    pub(crate) fn value(&self) -> Option<Value> {
        let dims = self.shape.as_ref()?.iter();
        self.data.value(dims.map(|dim| usize::try_from(*dim).ok()))
    }
}

/// Stated dimensions; a negative one is unknown.
pub(crate) fn dims_of(stated: &[i64]) -> Vec<Dim> {
    stated.iter().map(|size| Num::Int(*size).dim()).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Int(i64),
    Bool(bool),
    Float(f64),
    Text(NameIdx),
    Type(DType),
    Shape(RawShape),
    Tensor(Box<TensorInfo>),
    Function(NameIdx),
    /// A list of any kind without elements.
    Empty,
    Ints(Box<[i64]>),
    Floats(Box<[f64]>),
    /// The number of texts.
    Texts(u32),
    Types(Box<[DType]>),
    /// Shapes, such as those of `_output_shapes`.
    Shapes(Box<[RawShape]>),
    Functions(Box<[NameIdx]>),
    Graphs(Box<[GraphIdx]>),
    /// A value that the caller of a function gives under this name.
    Reference(NameIdx),
    /// A value that matters for no shape: another kind, or a list or text that is too long.
    Other,
}

impl Attribute {
    /// Names of functions, whether the file has them or not.
    pub(crate) fn functions(&self) -> &[NameIdx] {
        match self {
            Self::Function(name) => std::slice::from_ref(name),
            Self::Functions(names) => names,
            _ => &[],
        }
    }
}

/// The attributes of a node by name. A value of another kind than asked for is none.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'a> {
    pub(crate) names: &'a Interner,
    pub(crate) all: &'a [(NameIdx, Attribute)],
}

impl<'a> Attributes<'a> {
    pub(crate) fn get(self, name: &str) -> Option<&'a Attribute> {
        self.names.find(self.all, name)
    }

    pub(crate) fn int(self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn flag(self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Attribute::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A text; empty where it is left out.
    pub(crate) fn text(self, name: &str) -> &'a str {
        match self.get(name) {
            Some(Attribute::Text(value)) => self.names.text(*value),
            _ => "",
        }
    }

    /// A list of numbers; a single number is one, and so is an empty list of any kind.
    pub(crate) fn list(self, name: &str) -> Option<&'a [i64]> {
        match self.get(name)? {
            Attribute::Ints(values) => Some(values),
            Attribute::Int(value) => Some(std::slice::from_ref(value)),
            Attribute::Empty => Some(&[]),
            _ => None,
        }
    }

    /// A list of floats; a single float is one.
    pub(crate) fn floats(self, name: &str) -> Option<&'a [f64]> {
        match self.get(name)? {
            Attribute::Floats(values) => Some(values),
            Attribute::Float(value) => Some(std::slice::from_ref(value)),
            _ => None,
        }
    }

    pub(crate) fn n_texts(self, name: &str) -> Option<u32> {
        match self.get(name)? {
            Attribute::Texts(count) => Some(*count),
            _ => None,
        }
    }

    pub(crate) fn dtype(self, name: &str) -> Option<DType> {
        match self.get(name)? {
            Attribute::Type(dtype) => Some(*dtype),
            _ => None,
        }
    }

    pub(crate) fn shape(self, name: &str) -> Option<&'a RawShape> {
        match self.get(name)? {
            Attribute::Shape(shape) => Some(shape),
            _ => None,
        }
    }

    pub(crate) fn shapes(self, name: &str) -> Option<&'a [RawShape]> {
        match self.get(name)? {
            Attribute::Shapes(shapes) => Some(shapes),
            _ => None,
        }
    }

    pub(crate) fn tensor(self, name: &str) -> Option<&'a TensorInfo> {
        match self.get(name)? {
            Attribute::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}
