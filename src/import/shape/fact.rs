//! What is known of a value: type, shape and, for small integer tensors, its elements.
//!
//! Elements matter because exporters compute shapes with ops (Shape, Gather, Concat, Reshape). They serve shape
//! inference alone: no byte is counted by them.

use std::rc::Rc;

use highwater_model::graph::{DType, Dim, ExprId, ShapeId};

/// The most elements that are followed through the graph.
pub(crate) const MAX_ELEMENTS: usize = 1024;

/// A known value's type, shape and elements.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// The type of its elements.
    pub(crate) dtype: DType,
    /// Its shape; `None` where the rank is unknown.
    pub(crate) shape: Option<ShapeId>,
    /// Its elements, where they are known and few.
    pub(crate) value: Option<Rc<Value>>,
}

impl Fact {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        dtype: DType::Unknown,
        shape: None,
        value: None,
    };
}

/// Elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// Its dimensions; none for a scalar.
    pub(crate) dims: Vec<usize>,
    /// The elements, as many as the product of the dimensions.
    pub(crate) items: Vec<Elem>,
}

impl Value {
    /// One element without dimensions.
    pub(crate) fn scalar(item: Elem) -> Self {
        Self {
            dims: Vec::new(),
            items: vec![item],
        }
    }

    /// A vector.
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
    /// A number.
    Int(i64),
    /// An expression.
    Expr(ExprId),
}

impl Num {
    /// The number of a dimension.
    pub(crate) fn of(dim: Dim) -> Option<Self> {
        match dim {
            Dim::Known(size) => i64::try_from(size).ok().map(Self::Int),
            Dim::Expr(id) => Some(Self::Expr(id)),
            Dim::Unknown => None,
        }
    }

    /// The dimension of a number; unknown where it is negative.
    pub(crate) fn dim(self) -> Dim {
        match self {
            Self::Int(value) => u64::try_from(value).map_or(Dim::Unknown, Dim::Known),
            Self::Expr(id) => Dim::Expr(id),
        }
    }
}

/// An element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Elem {
    /// An integer, in an integer or a float tensor.
    Num(Num),
    /// A symbolic quotient that is not rounded yet.
    Ratio(ExprId, ExprId),
    /// A float that is no integer.
    Float(f64),
    /// Not known.
    Unknown,
}

impl Elem {
    /// A number.
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

    /// The integer, if it is one.
    pub(crate) const fn num(self) -> Option<Num> {
        match self {
            Self::Num(num) => Some(num),
            _ => None,
        }
    }

    /// The dimension of this size.
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
