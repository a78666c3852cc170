//! How far the list is read for each block of a taker's tree: up to the next block that it may take. A block is offered to the tree
//! only where a cursor stands on it, so that offers which all blocks refuse are rare.
//!
//! When a block is free does not change while it is in a tree, and its room only shrinks: a cursor never moves back, and it moves
//! only where it is the first one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::next_offer::{Free, NextOffer};

#[derive(Debug, Default)]
pub(super) struct Cursors {
    /// The first position that a block may take, or one before it; and the block.
    first: BinaryHeap<Reverse<(usize, u32)>>,
}

impl Cursors {
    pub(super) fn clear(&mut self) {
        self.first.clear();
    }

    /// Adds a block, which takes nothing before a position.
    pub(super) fn add(&mut self, block: u32, from: usize) {
        self.first.push(Reverse((from, block)));
    }

    /// The first position from one on that some block may take. Adds what was looked at to `work`.
    pub(super) fn next<'a>(
        &mut self,
        from: usize,
        list: &mut NextOffer,
        free: impl Fn(u32) -> Free<'a>,
        work: &mut usize,
    ) -> Option<usize> {
        while let Some(mut first) = self.first.peek_mut() {
            let Reverse((at, block)) = *first;
            let free = free(block);
            if at >= from && list.is_taken(at, &free) {
                return Some(at);
            }
            let (found, n_looks) = list.from(at.max(from), &free);
            *work += n_looks;
            match found {
                None => {
                    PeekMut::pop(first);
                }
                // None is before it.
                Some(found) if found == from => {
                    first.0.0 = found;
                    return Some(found);
                }
                Some(found) => first.0.0 = found,
            }
        }
        None
    }
}
