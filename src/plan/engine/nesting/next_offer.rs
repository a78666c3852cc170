//! The next block in the list that a taker is offered: those that are closed, or would be refused for certain, are passed over.
//!
//! A segment tree over positions of the list.

/// What the search needs to know of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The least last step.
    end: u64,
    /// The largest first step; -1 where there is none.
    begin: i64,
    /// The least room that a block here needs.
    room: i64,
}

impl Span {
    /// Never offered.
    pub(super) const CLOSED: Self = Self {
        end: u64::MAX,
        begin: -1,
        room: i64::MAX,
    };

    /// Offered to every taker.
    pub(super) const ALWAYS: Self = Self {
        end: 0,
        begin: i64::MAX,
        room: i64::MIN,
    };

    /// Offered to takers that do not live on its steps, both inclusive, and have room.
    pub(super) fn within(begin: u32, end: u32, room: i64) -> Self {
        Self {
            end: end.into(),
            begin: begin.into(),
            room,
        }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            end: self.end.min(other.end),
            begin: self.begin.max(other.begin),
            room: self.room.min(other.room),
        }
    }
}

/// What decides whether a taker is offered a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taker {
    /// Its steps, both inclusive; `None` for a taker of several members, to which steps do not matter.
    pub(super) steps: Option<(u32, u32)>,
    /// The most room in its tree.
    pub(super) room: i64,
}

impl Taker {
    fn is_apart_from(self, span: Span) -> bool {
        self.steps
            .is_none_or(|(begin, end)| span.end < begin.into() || span.begin > end.into())
    }

    const fn has_room_for(self, span: Span) -> bool {
        span.room <= self.room
    }
}

#[derive(Debug, Default)]
pub(super) struct NextOffer {
    spans: Vec<Span>,
    n_leaves: usize,
}

impl NextOffer {
    /// Replaces the positions from one on; all of them where the list has outgrown the tree. O(replaced).
    pub(super) fn rebuild(&mut self, first: usize, n: usize, span: impl Fn(usize) -> Span) {
        let mut first = first.min(n);
        if n > self.n_leaves {
            self.n_leaves = n.next_power_of_two();
            self.spans.clear();
            self.spans.resize(2 * self.n_leaves, Span::CLOSED);
            first = 0;
        }
        for at in first..n {
            self.spans[self.n_leaves + at] = span(at);
        }
        let (mut from, mut to) = (self.n_leaves + first, self.n_leaves + n);
        while from > 1 {
            (from, to) = (from / 2, to.div_ceil(2));
            for node in from..to {
                self.spans[node] = self.spans[2 * node].joined(self.spans[2 * node + 1]);
            }
        }
    }

    pub(super) fn close(&mut self, at: usize) {
        let mut node = self.n_leaves + at;
        self.spans[node] = Span::CLOSED;
        while node > 1 {
            node /= 2;
            self.spans[node] = self.spans[2 * node].joined(self.spans[2 * node + 1]);
        }
    }

    /// The first position from one on that a taker is offered. O(log n) where room is needed in descending order, as in the sorted
    /// list.
    pub(super) fn from(&self, mut at: usize, taker: Taker) -> Option<usize> {
        loop {
            let roomy = self.first(at, |span| taker.has_room_for(span))?;
            let found = self.first(roomy, |span| taker.is_apart_from(span))?;
            if taker.has_room_for(self.spans[self.n_leaves + found]) {
                return Some(found);
            }
            at = found + 1;
        }
    }

    /// The first position from one on where something holds that holds for a joined span where it does for one of its parts.
    fn first(&self, at: usize, holds: impl Fn(Span) -> bool) -> Option<usize> {
        if at >= self.n_leaves {
            return None;
        }
        let mut node = self.n_leaves + at;
        while !holds(self.spans[node]) {
            // To the next subtree on the right.
            while node % 2 == 1 {
                node /= 2;
                if node <= 1 {
                    return None;
                }
            }
            node += 1;
        }
        while node < self.n_leaves {
            node *= 2;
            if !holds(self.spans[node]) {
                node += 1;
            }
        }
        Some(node - self.n_leaves)
    }
}
