//! Placement of segments: first fit by decreasing size into existing blocks, then joining of adjacent segments.
//!
//! ```text
//! segments   [ 20 ][   90 ][ 40 ]        by size: 90, 40, 20
//! block 0    |  90   | 20 |...|          blocks by total size; used from their start
//! block 1    | 40 |......|
//! ```
//!
//! In: segments in logical order, blocks. Out: an address for each segment that fits; adjacent segments joined.
//! Invariant: of equal segments the earlier one is placed first.

use super::super::{Address, ArenaBlock, ArenaSegment, JoinedSegment};
use highwater_model::units::Bytes;

/// The gap before a segment in logical addresses.
const LOGICAL_GAP: u64 = 2 << 20;

/// Places segments at the ends of blocks, largest block first, and updates `used`. O((segments + blocks) log segments).
pub(super) fn place(segments: &[ArenaSegment], blocks: &mut [ArenaBlock]) -> Vec<Option<Address>> {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|segment| std::cmp::Reverse(segments[*segment].bytes));
    let mut waiting = Waiting::new(order.len());
    let mut places = vec![None; segments.len()];
    for block in blocks {
        let mut from = 0;
        loop {
            let rest = block.total.get().saturating_sub(block.used.get());
            let fitting = order.partition_point(|segment| segments[*segment].bytes.get() > rest);
            from = waiting.first_from(fitting.max(from));
            let Some(segment) = order.get(from) else { break };
            places[*segment] = Some(block.at.plus(block.used.get()));
            block.used += segments[*segment].bytes;
            waiting.remove(from);
        }
    }
    places
}

/// Positions not yet removed; finding the next one is nearly O(1).
#[derive(Debug)]
struct Waiting {
    /// By position: a later position at or before the next remaining one.
    next: Vec<usize>,
}

impl Waiting {
    fn new(count: usize) -> Self {
        Self {
            next: (0..=count).collect(),
        }
    }

    /// The first remaining position from `position` on, or the count.
    fn first_from(&mut self, position: usize) -> usize {
        let mut root = position;
        while self.next[root] != root {
            root = self.next[root];
        }
        let mut at = position;
        while self.next[at] != root {
            at = std::mem::replace(&mut self.next[at], root);
        }
        root
    }

    fn remove(&mut self, position: usize) {
        self.next[position] = position + 1;
    }
}

/// One or several segments that get memory together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    /// Its address is set once known.
    pub(super) piece: JoinedSegment,
    pub(super) by_caller: bool,
}

/// Joins each segment with the previous one, where it is the engine's own, not zero-copy, follows without a gap, and
/// both still need memory or it was placed directly behind the other.
pub(super) fn join(segments: &[ArenaSegment], places: &[Option<Address>]) -> Vec<Joined> {
    let mut joined: Vec<Joined> = Vec::new();
    let mut logical = 0_u64;
    for (segment, at) in segments.iter().zip(places) {
        if segment.has_gap {
            logical = logical.saturating_add(LOGICAL_GAP);
        }
        let is_own = !segment.by_caller && !segment.is_zero_copy && !segment.has_gap;
        match joined.last_mut() {
            Some(before) if is_own && stand_together(before, *at) => before.piece.bytes += segment.bytes,
            _ => joined.push(Joined {
                piece: JoinedSegment {
                    logical,
                    bytes: segment.bytes,
                    at: *at,
                },
                by_caller: segment.by_caller,
            }),
        }
        logical = logical.saturating_add(segment.bytes.get());
    }
    joined
}

fn stand_together(before: &Joined, at: Option<Address>) -> bool {
    match (before.piece.at, at) {
        (None, None) => !before.by_caller,
        (Some(start), Some(at)) => start.plus(before.piece.bytes.get()) == at,
        _ => false,
    }
}

/// The sum of used bytes. Saturates.
pub(super) fn used(blocks: &[ArenaBlock]) -> Bytes {
    blocks.iter().map(|block| block.used).sum()
}

#[cfg(test)]
mod tests {
    use super::super::super::test_support::plain;
    use super::*;

    fn block(offset: u64, total: u64) -> ArenaBlock {
        ArenaBlock {
            at: Address::device(offset),
            total: Bytes::mib(total),
            used: Bytes::ZERO,
            is_new: false,
        }
    }

    fn mib(at: Option<Address>) -> Option<u64> {
        at.map(|at| at.offset() >> 20)
    }

    #[test]
    fn segments_go_by_size_into_blocks_by_size() {
        let mut blocks = [block(0, 120), block(1 << 30, 60)];
        let places = place(&plain(&[20, 90, 40, 15, 70]), &mut blocks);
        let places: Vec<Option<u64>> = places.into_iter().map(mib).collect();
        assert_eq!(places, [Some(90), Some(0), Some(1024), Some(1064), None]);
        assert_eq!(used(&blocks), Bytes::mib(165));
    }

    #[test]
    fn of_equal_segments_the_earlier_one_is_first() {
        let mut blocks = [block(0, 5)];
        let places = place(&plain(&[2, 2, 2]), &mut blocks);
        assert_eq!(
            places.into_iter().map(mib).collect::<Vec<_>>(),
            [Some(0), Some(2), None]
        );
    }

    #[test]
    fn neighbours_are_joined_where_logic_and_addresses_agree() {
        let mut segments = plain(&[1, 2, 3, 4, 5, 6]);
        segments[3].has_gap = true;
        segments[5].is_zero_copy = true;
        let at = |mib: u64| Some(Address::device(mib << 20));
        let joined = join(&segments, &[None, None, at(50), at(53), at(57), at(62)]);
        let found: Vec<(u64, u64, Option<u64>)> = joined
            .iter()
            .map(|one| (one.piece.logical >> 20, one.piece.bytes.get() >> 20, mib(one.piece.at)))
            .collect();
        assert_eq!(
            found,
            [(0, 3, None), (3, 3, Some(50)), (8, 9, Some(53)), (17, 6, Some(62))]
        );
    }
}
