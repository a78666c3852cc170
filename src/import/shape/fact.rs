//! The facts of a value: type, shape, the elements of small integer tensors, and what a handle refers to.
//!
//! Elements matter because exporters compute shapes with ops (Shape, Gather, Concat, Reshape). They serve shape
//! inference alone: no byte is counted by them. Handles (resources, variants of TensorFlow) have no size; reads of
//! variables and lists take their shapes from what the handle refers to.

use std::rc::Rc;

use super::sym::Sym;
use highwater_model::graph::{DType, Dim, ExprId, ShapeId};

/// The most elements that are followed through the graph.
pub(crate) const MAX_ELEMENTS: usize = 1024;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) dtype: DType,
    /// `None` where the rank is unknown.
    pub(crate) shape: Option<ShapeId>,
    /// Elements, where they are known and few.
    pub(crate) value: Option<Rc<Value>>,
    pub(crate) handle: Option<Rc<Handle>>,
    /// The elements of a sequence of tensors, where each is known; the content of an optional.
    pub(crate) items: Option<Rc<[Self]>>,
}

/// The target of a resource or list handle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handle {
    /// The type of the variable or of the list's elements.
    pub(crate) dtype: DType,
    /// The shape of the variable, or the one that all elements of the list share.
    pub(crate) shape: Option<ShapeId>,
    /// The number of elements of a list.
    pub(crate) length: Dim,
    /// What the elements of a list must have, set or not.
    pub(crate) declared: Option<ShapeId>,
    /// Whether no element of a list is set: `shape` is then the declared one.
    pub(crate) is_unset: bool,
}

impl Handle {
    /// A variable, or a list whose elements are set.
    pub(crate) const fn new(dtype: DType, shape: Option<ShapeId>, length: Dim) -> Self {
        Self {
            dtype,
            shape,
            length,
            declared: None,
            is_unset: false,
        }
    }
}

impl Fact {
    pub(crate) const UNKNOWN: Self = Self {
        dtype: DType::Unknown,
        shape: None,
        value: None,
        handle: None,
        items: None,
    };

    /// Whether it is no tensor itself.
    pub(crate) const fn is_container(&self) -> bool {
        self.handle.is_some() || self.items.is_some()
    }

    pub(crate) const fn of_type(dtype: DType) -> Self {
        Self { dtype, ..Self::UNKNOWN }
    }

    /// The part on which two facts agree.
    pub(crate) fn merged(&self, other: &Self, sym: &mut Sym) -> Self {
        if self == other {
            return self.clone();
        }
        let handle = match (&self.handle, &other.handle) {
            (Some(a), Some(b)) if a.dtype == b.dtype => Some(Rc::new(Handle {
                dtype: a.dtype,
                // What is not set does not constrain the shape of what is.
                shape: match (a.is_unset, b.is_unset) {
                    (true, false) => b.shape,
                    (false, true) => a.shape,
                    _ => common_shape(a.shape, b.shape, sym),
                },
                length: if a.length == b.length { a.length } else { Dim::Unknown },
                declared: common_shape(a.declared, b.declared, sym),
                is_unset: a.is_unset && b.is_unset,
            })),
            _ => None,
        };
        let value = match (&self.value, &other.value) {
            (Some(a), Some(b)) if a == b => Some(Rc::clone(a)),
            _ => None,
        };
        let items = match (&self.items, &other.items) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                let pairs = a.iter().zip(b.iter());
                Some(pairs.map(|(a, b)| a.merged(b, sym)).collect())
            }
            _ => None,
        };
        Self {
            dtype: if self.dtype == other.dtype {
                self.dtype
            } else {
                DType::Unknown
            },
            shape: common_shape(self.shape, other.shape, sym),
            value,
            handle,
            items,
        }
    }
}

/// The dimensions that two shapes share; unknown where they differ.
pub(crate) fn common_shape(a: Option<ShapeId>, b: Option<ShapeId>, sym: &mut Sym) -> Option<ShapeId> {
    let (a, b) = (a?, b?);
    if a == b {
        return Some(a);
    }
    let (x, y) = (sym.dims(a), sym.dims(b));
    if x.len() != y.len() {
        return None;
    }
    let pairs = x.iter().zip(y);
    let dims: Vec<Dim> = pairs.map(|(x, y)| if x == y { *x } else { Dim::Unknown }).collect();
    sym.shape(&dims)
}

/// Elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// None for a scalar.
    pub(crate) dims: Vec<usize>,
    /// As many as the product of the dimensions.
    pub(crate) items: Vec<Elem>,
}

impl Value {
    pub(crate) fn scalar(item: Elem) -> Self {
        Self {
            dims: Vec::new(),
            items: vec![item],
        }
    }

    pub(crate) fn vector(items: Vec<Elem>) -> Self {
        Self {
            dims: vec![items.len()],
            items,
        }
    }

    /// All elements as numbers, if they are.
    pub(crate) fn ints(&self) -> Option<Vec<i64>> {
        self.items
            .iter()
            .map(|item| match item {
                Elem::Num(Num::Int(value)) => Some(*value),
                _ => None,
            })
            .collect()
    }
}

/// An integer that is known now or once the symbols are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Num {
    Int(i64),
    Expr(ExprId),
}

impl Num {
    pub(crate) fn of(dim: Dim) -> Option<Self> {
        match dim {
            Dim::Known(size) => i64::try_from(size).ok().map(Self::Int),
            Dim::Expr(id) => Some(Self::Expr(id)),
            Dim::Unknown => None,
        }
    }

    /// Unknown where it is negative.
    pub(crate) fn dim(self) -> Dim {
        match self {
            Self::Int(value) => u64::try_from(value).map_or(Dim::Unknown, Dim::Known),
            Self::Expr(id) => Dim::Expr(id),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Elem {
    /// An integer, in an integer or a float tensor.
    Num(Num),
    /// A symbolic quotient that is not rounded yet.
    Ratio(ExprId, ExprId),
    /// A float that is no integer.
    Float(f64),
    Unknown,
}

impl Elem {
    pub(crate) const fn int(value: i64) -> Self {
        Self::Num(Num::Int(value))
    }

    /// A float, as an integer where it is one.
    pub(crate) fn float(value: f64) -> Self {
        // Below 2^53 every integer is exact.
        if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
            #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
            return Self::int(value as i64);
        }
        if value.is_nan() {
            Self::Unknown
        } else {
            Self::Float(value)
        }
    }

    pub(crate) const fn num(self) -> Option<Num> {
        match self {
            Self::Num(num) => Some(num),
            _ => None,
        }
    }

    pub(crate) fn dim(self) -> Dim {
        self.num().map_or(Dim::Unknown, Num::dim)
    }
}

impl From<Option<Num>> for Elem {
    fn from(num: Option<Num>) -> Self {
        num.map_or(Self::Unknown, Self::Num)
    }
}

/// Whether elements are integers or truth values.
pub(crate) const fn is_integer(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::Bool
            | DType::Int2
            | DType::Uint2
            | DType::Int4
            | DType::Uint4
            | DType::Int8
            | DType::Uint8
            | DType::Int16
            | DType::Uint16
            | DType::Int32
            | DType::Uint32
            | DType::Int64
            | DType::Uint64
    )
}
