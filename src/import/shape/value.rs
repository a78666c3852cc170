//! Small values under ops that move elements. `None` where a result has more than [`MAX_ELEMENTS`] or the numbers do
//! not suit it.

use highwater_model::graph::Dim;

use super::fact::{Elem, MAX_ELEMENTS, Num, Value};
use super::sym::axis;

impl Value {
    /// The sizes of dimensions as elements of a vector.
    pub(crate) fn of_dims(dims: &[Dim]) -> Self {
        Self::vector(dims.iter().map(|dim| Num::of(*dim).into()).collect())
    }

    /// Whether the value has exactly these dimensions.
    pub(crate) fn fits(&self, dims: &[Dim]) -> bool {
        dims.len() == self.dims.len()
            && dims
                .iter()
                .zip(&self.dims)
                .all(|(dim, size)| *dim == Dim::Known(*size as u64))
    }

    /// The elements under other dimensions, if those are known and as many.
    pub(crate) fn resized(&self, dims: &[Dim]) -> Option<Self> {
        let sizes = known(dims)?;
        let count = sizes
            .iter()
            .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
        (count == self.items.len()).then(|| Self {
            dims: sizes,
            items: self.items.clone(),
        })
    }

    /// The elements with their axes in another order, which is a permutation of them.
    pub(crate) fn transposed(&self, order: &[usize]) -> Self {
        let sizes: Vec<usize> = order.iter().map(|from| self.dims[*from]).collect();
        let items = (0..self.items.len())
            .map(|position| {
                let mut rest = position;
                let mut coordinates = vec![0; order.len()];
                for (axis, from) in order.iter().enumerate().rev() {
                    coordinates[*from] = rest % sizes[axis];
                    rest /= sizes[axis];
                }
                let index = coordinates
                    .iter()
                    .zip(&self.dims)
                    .fold(0, |index, (at, size)| index * size + at);
                self.items[index]
            })
            .collect();
        Self { dims: sizes, items }
    }

    /// The rows of axis `at` that `wanted` lists.
    pub(crate) fn gathered(&self, wanted: &Self, at: usize) -> Option<Self> {
        let rows = *self.dims.get(at)?;
        let inner: usize = self.dims[at + 1..].iter().product();
        let outer: usize = self.dims[..at].iter().product();
        if outer.checked_mul(wanted.items.len())?.checked_mul(inner)? > MAX_ELEMENTS {
            return None;
        }
        let mut items = Vec::new();
        for block in 0..outer {
            for index in wanted.ints()? {
                let row = axis(index, rows)?;
                let start = (block * rows + row) * inner;
                items.extend_from_slice(self.items.get(start..start + inner)?);
            }
        }
        let mut dims = self.dims[..at].to_vec();
        dims.extend_from_slice(&wanted.dims);
        dims.extend_from_slice(&self.dims[at + 1..]);
        Some(Self { dims, items })
    }

    /// `count` rows of axis `at` from `first` on, `step` apart.
    pub(crate) fn strided(&self, at: usize, first: i64, count: u64, step: i64) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        let rows = *self.dims.get(at)?;
        let inner: usize = self.dims[at + 1..].iter().product();
        let outer: usize = self.dims[..at].iter().product();
        let mut items = Vec::new();
        for block in 0..outer {
            for turn in 0..count {
                let row = i64::try_from(turn).ok()?.checked_mul(step)?.checked_add(first)?;
                let begin = (block * rows + usize::try_from(row).ok()?) * inner;
                items.extend_from_slice(self.items.get(begin..begin + inner)?);
            }
        }
        let mut dims = self.dims.clone();
        dims[at] = count;
        Some(Self { dims, items })
    }
}

/// The sizes of dimensions, if all are known.
pub(crate) fn known(dims: &[Dim]) -> Option<Vec<usize>> {
    dims.iter()
        .map(|dim| match dim {
            Dim::Known(size) => usize::try_from(*size).ok(),
            _ => None,
        })
        .collect()
}

/// The elements of two values at each position.
pub(crate) type Pairs = Vec<(Elem, Elem)>;

/// Broadcasts two small values against each other.
pub(crate) fn pair_up(a: &Value, b: &Value) -> Option<(Vec<usize>, Pairs)> {
    let rank = a.dims.len().max(b.dims.len());
    let size = |dims: &[usize], position: usize| match (position + dims.len()).checked_sub(rank) {
        Some(inside) => dims[inside],
        None => 1,
    };
    let mut dims = Vec::with_capacity(rank);
    for position in 0..rank {
        dims.push(match (size(&a.dims, position), size(&b.dims, position)) {
            (1, other) | (other, 1) => other,
            (x, y) if x == y => x,
            _ => return None,
        });
    }
    let count = dims
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    if count > MAX_ELEMENTS {
        return None;
    }
    let at = |value: &Value, position: usize| {
        let (mut rest, mut index, mut stride) = (position, 0, 1);
        for axis in (0..rank).rev() {
            let coordinate = rest % dims[axis];
            rest /= dims[axis];
            let own = size(&value.dims, axis);
            if own > 1 {
                index += coordinate * stride;
            }
            stride *= own;
        }
        value.items.get(index).copied()
    };
    let pairs: Option<Vec<_>> = (0..count)
        .map(|position| Some((at(a, position)?, at(b, position)?)))
        .collect();
    Some((dims, pairs?))
}
