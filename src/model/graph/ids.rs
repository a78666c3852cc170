//! Typed ids and the vector that is indexed by them.
//!
//! An id is a `u32` position in one flat vector of one graph; ids of different kinds do not mix.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed position in an [`IdVec`].
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// The id of position `idx`.
    ///
    /// # Panics
    /// Above 2^32 - 2 positions; builders refuse such inputs earlier.
    fn from_idx(idx: usize) -> Self;
    /// The position.
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
typed_id!(
    /// A tensor of a graph.
    TensorId
);
typed_id!(
    /// A storage: the memory that one or several tensors live in.
    StorageId
);
typed_id!(
    /// A text of the graph.
    NameId
);
typed_id!(
    /// A shape; equal shapes share one id.
    ShapeId
);
typed_id!(
    /// A dimension expression; equal expressions share one id.
    ExprId
);

/// A vector indexed by a typed id.
#[derive(Clone, PartialEq, Eq)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn() -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            id: PhantomData,
        }
    }

    /// Appends an item and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_idx(self.items.len());
        self.items.push(item);
        id
    }

    /// How many items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item, or `None` for an id of another graph.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.idx())
    }

    /// Items in id order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Ids and items in id order.
    pub fn iter_ids(&self) -> impl ExactSizeIterator<Item = (I, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(idx, item)| (I::from_idx(idx), item))
    }

    /// All ids in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_idx)
    }

    /// The items as a slice, in id order.
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
