//! Each block of a taker's tree has a cursor: the next position of the list that it may take. Only positions with a cursor are
//! offered, so few offers are refused by all blocks.
//!
//! A block's gaps never change and its room only shrinks, so a cursor never moves back. Only the lowest cursor is moved.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::next_offer::{Free, NextOffer};

/// Cursors that are moved for an offer. With more of them it is cheaper to make an offer that all may refuse.
const MOST_MOVES: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Cursors {
    /// By position: where the search for a block goes on, and the block.
    heap: BinaryHeap<Reverse<(usize, u32)>>,
}

impl Cursors {
    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Adds a block, which takes nothing before a position.
    pub(super) fn add(&mut self, block: u32, from: usize) {
        self.heap.push(Reverse((from, block)));
    }

    /// The first position at or after `from` that some block may take, or one before it. Adds the looks at the list to `work`.
    pub(super) fn next<'a>(
        &mut self,
        from: usize,
        list: &mut NextOffer,
        free: impl Fn(u32) -> Free<'a>,
        work: &mut usize,
    ) -> Option<usize> {
        for _ in 0..MOST_MOVES {
            let mut lowest = self.heap.peek_mut()?;
            let Reverse((at, block)) = *lowest;
            let free = free(block);
            if at >= from && list.is_taken(at, &free) {
                return Some(at);
            }
            let (found, n_looks) = list.from(at.max(from), &free);
            *work += n_looks;
            match found {
                None => {
                    PeekMut::pop(lowest);
                }
                Some(found) => {
                    lowest.0.0 = found;
                    // No other cursor can find an earlier position.
                    if found == from {
                        return Some(found);
                    }
                }
            }
        }
        Some(from)
    }
}
