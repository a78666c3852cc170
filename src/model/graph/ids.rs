//! Typed ids and the vector that is indexed by them.
//!
//! An id is a `u32` position in one flat vector of one graph; ids of different kinds do not mix.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// # Panics
    /// Above 2^32 - 2 positions; builders refuse such inputs earlier.
    fn from_idx(idx: usize) -> Self;
    fn idx(self) -> usize;
}

/// Declares a typed id.
#[macro_export]
macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $crate::graph::Id for $name {
            fn from_idx(idx: usize) -> Self {
                Self(u32::try_from(idx).expect("a graph has fewer than 2^32 items of a kind"))
            }
            fn idx(self) -> usize {
                self.0 as usize
            }
        }
    };
}

typed_id!(
    /// An op; the id is also its step, because a finished graph stores ops in execution order.
    OpId
);
typed_id!(TensorId);
typed_id!(
    /// The memory that one or several tensors share.
    StorageId
);
typed_id!(NameId);
typed_id!(
    /// Equal shapes share one id.
    ShapeId
);
typed_id!(
    /// Equal expressions share one id.
    ExprId
);

#[derive(Clone, PartialEq, Eq)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn() -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            id: PhantomData,
        }
    }

    pub fn push(&mut self, item: T) -> I {
        let id = I::from_idx(self.items.len());
        self.items.push(item);
        id
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// `None` for an id of another graph.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.idx())
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub fn iter_ids(&self) -> impl ExactSizeIterator<Item = (I, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(idx, item)| (I::from_idx(idx), item))
    }

    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + Clone + use<I, T> {
        (0..self.items.len()).map(I::from_idx)
    }

    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, id: PhantomData }
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self::from(iter.into_iter().collect::<Vec<_>>())
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.idx()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.idx()]
    }
}
