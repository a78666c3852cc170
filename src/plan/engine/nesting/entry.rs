//! The engine's list of blocks: entries in the order in which they take and are offered.

use super::super::demand::Demand;
use super::least_room;
use super::next_offer::Span;

/// A block in the list, with its sort key and quick rejection data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) align: u64,
    pub(super) begin: u32,
    /// Last end, inclusive.
    pub(super) end: u32,
    pub(super) block: u32,
    pub(super) n_members: u32,
    pub(super) stream: u32,
    /// Whether it may still be offered, or take: no child, and not after the arena.
    pub(super) is_open: bool,
}

impl Entry {
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let ascending = (self.n_members, self.begin).cmp(&(other.n_members, other.begin));
        other.align.cmp(&self.align).then(ascending)
    }

    pub(super) const fn is_single(&self) -> bool {
        self.n_members == 1
    }

    /// A block of a single member is not split, so that it needs room.
    pub(super) fn span(&self, demand: &Demand) -> Span {
        match (self.is_open, self.is_single()) {
            (false, _) => Span::Closed,
            (true, true) => Span::Within {
                begin: self.begin,
                end: self.end,
                room: least_room(demand, self.align),
            },
            (true, false) => Span::Always,
        }
    }
}
