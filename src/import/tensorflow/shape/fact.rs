//! What is known of an output: type, shape, small values, and what a handle stands for.
//!
//! Handles (resources, variants) have no size of their own. What lies behind them is kept here because reads of
//! variables and lists take their shapes from it.

use std::rc::Rc;

use crate::shape::fact::Value;
use crate::shape::sym::Sym;
use highwater_model::graph::{DType, Dim, ShapeId};

/// What is known of one output of a node.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::tensorflow) struct Fact {
    /// The type of its elements.
    pub(in crate::tensorflow) dtype: DType,
    /// Its shape; `None` where the rank is unknown.
    pub(in crate::tensorflow) shape: Option<ShapeId>,
    /// Its elements, where they are known and few.
    pub(super) value: Option<Rc<Value>>,
    /// What a handle stands for.
    pub(super) handle: Option<Rc<Handle>>,
}

/// What a resource or a list holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handle {
    /// The type of the variable or of the list's elements.
    pub(super) dtype: DType,
    /// The shape of the variable, or the one that all elements of the list share.
    pub(super) shape: Option<ShapeId>,
    /// How many elements a list has.
    pub(super) length: Dim,
}

impl Fact {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        dtype: DType::Unknown,
        shape: None,
        value: None,
        handle: None,
    };

    /// The type alone.
    pub(super) const fn of_type(dtype: DType) -> Self {
        Self { dtype, ..Self::UNKNOWN }
    }

    /// What two facts agree on.
    pub(super) fn merged(&self, other: &Self, sym: &mut Sym) -> Self {
        if self == other {
            return self.clone();
        }
        let handle = match (&self.handle, &other.handle) {
            (Some(a), Some(b)) if a.dtype == b.dtype => Some(Rc::new(Handle {
                dtype: a.dtype,
                shape: match (a.length, b.length) {
                    // A list without elements says nothing of them.
                    (Dim::Known(0), _) if b.shape.is_some() => b.shape,
                    (_, Dim::Known(0)) if a.shape.is_some() => a.shape,
                    _ => common(a.shape, b.shape, sym),
                },
                length: if a.length == b.length { a.length } else { Dim::Unknown },
            })),
            _ => None,
        };
        let value = match (&self.value, &other.value) {
            (Some(a), Some(b)) if a == b => Some(Rc::clone(a)),
            _ => None,
        };
        Self {
            dtype: if self.dtype == other.dtype {
                self.dtype
            } else {
                DType::Unknown
            },
            shape: common(self.shape, other.shape, sym),
            value,
            handle,
        }
    }
}

/// The dimensions that two shapes share; unknown where they differ.
pub(super) fn common(a: Option<ShapeId>, b: Option<ShapeId>, sym: &mut Sym) -> Option<ShapeId> {
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
