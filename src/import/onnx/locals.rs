//! The names of one graph, numbered from 0: first its own, then those that it captures.
//!
//! Tables about a graph's names are plain vectors by these numbers. A graph that owns a good part of the file's
//! names looks them up in a dense list, 4 bytes a name; small bodies use a map.

use indexmap::IndexMap;

use crate::names::NameIdx;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Locals {
    dense: Vec<u32>,
    sparse: IndexMap<NameIdx, u32>,
    n_own: u32,
    n_all: u32,
}

impl Locals {
    /// No name yet; about `expected` of the file's `n_names` will come.
    pub(super) fn new(expected: usize, n_names: usize) -> Self {
        let is_dense = expected >= 64 && expected.saturating_mul(4) >= n_names;
        Self {
            dense: if is_dense { vec![NONE; n_names] } else { Vec::new() },
            ..Self::default()
        }
    }

    /// Adds a name of the graph itself. Empty names stay out.
    pub(super) fn own(&mut self, name: NameIdx) {
        if self.add(name) {
            self.n_own = self.n_all;
        }
    }

    /// Adds a name from outside, after all of the graph's own; `false` where it is known already.
    pub(super) fn capture(&mut self, name: NameIdx) -> bool {
        self.add(name)
    }

    pub(super) const fn len(&self) -> usize {
        self.n_all as usize
    }

    pub(super) fn get(&self, name: NameIdx) -> Option<usize> {
        if self.dense.is_empty() {
            return self.sparse.get(&name).map(|number| *number as usize);
        }
        let number = self.dense.get(name.0 as usize).copied()?;
        (number != NONE).then_some(number as usize)
    }

    /// The number of a name that the graph defines itself.
    pub(super) fn get_own(&self, name: NameIdx) -> Option<usize> {
        self.get(name).filter(|number| *number < self.n_own as usize)
    }

    fn add(&mut self, name: NameIdx) -> bool {
        if name.is_empty() || self.get(name).is_some() {
            return false;
        }
        match self.dense.get_mut(name.0 as usize) {
            Some(slot) => *slot = self.n_all,
            None => {
                self.sparse.insert(name, self.n_all);
            }
        }
        self.n_all += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_names_are_numbered_alike() {
        for expected in [1, 1000] {
            let mut locals = Locals::new(expected, 1000);
            locals.own(NameIdx(7));
            locals.own(NameIdx(0));
            locals.own(NameIdx(3));
            assert!(locals.capture(NameIdx(5)) && !locals.capture(NameIdx(3)));
            assert_eq!(
                [7, 3, 5, 6].map(|name| locals.get(NameIdx(name))),
                [Some(0), Some(1), Some(2), None]
            );
            assert_eq!((locals.get_own(NameIdx(5)), locals.len()), (None, 3));
        }
    }
}
