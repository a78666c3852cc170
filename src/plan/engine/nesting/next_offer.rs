//! The next block in the list that a taker is offered: those that are closed, or would be refused for certain, are passed over.
//!
//! A segment tree over positions of the list: O(log n) per step.

/// What the search needs to know of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The least last step.
    end: u64,
    /// The largest first step; -1 where there is none.
    begin: i64,
}

impl Span {
    /// Never offered.
    pub(super) const CLOSED: Self = Self {
        end: u64::MAX,
        begin: -1,
    };

    /// Offered to every taker.
    pub(super) const ALWAYS: Self = Self {
        end: 0,
        begin: i64::MAX,
    };

    /// Offered to takers that do not live on its steps, both inclusive.
    pub(super) fn within(begin: u32, end: u32) -> Self {
        Self {
            end: end.into(),
            begin: begin.into(),
        }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            end: self.end.min(other.end),
            begin: self.begin.max(other.begin),
        }
    }

    /// Whether a block here is offered to a taker that lives on these steps.
    const fn offers(self, taker: Self) -> bool {
        // A taker with several members is offered all.
        self.end < taker.end || self.begin > taker.begin
    }
}

/// The steps of a taker as [`NextOffer::from`] compares them.
pub(super) fn taker_span(begin: u32, end: u32, is_single: bool) -> Span {
    if is_single {
        Span {
            end: begin.into(),
            begin: end.into(),
        }
    } else {
        Span {
            end: u64::MAX,
            begin: i64::MAX,
        }
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

    /// The first position from one on that a taker is offered.
    pub(super) fn from(&self, at: usize, taker: Span) -> Option<usize> {
        if at >= self.n_leaves {
            return None;
        }
        let mut node = self.n_leaves + at;
        while !self.spans[node].offers(taker) {
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
            if !self.spans[node].offers(taker) {
                node += 1;
            }
        }
        Some(node - self.n_leaves)
    }
}
