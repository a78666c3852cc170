//! The next position of the list that a block of a tree may take. Closed positions and those that the block refuses for certain are
//! skipped.
//!
//! A segment tree over runs of the list. A node must tell whether one of its blocks lives within a gap. The largest begin and the
//! least end do not tell: they may belong to two blocks. So it stores, for each part of the steps, the least end of the blocks that
//! begin there or later.

use super::gaps::Gap;
use super::streams::Streams;

/// Positions of a run.
const RUN: usize = 32;

/// Parts of the steps. About equally many blocks begin in each.
const N_PARTS: usize = 32;

/// What the search needs to know of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Never offered.
    Closed,
    /// Offered to every taker.
    Always,
    /// Offered where a block is free on these steps, both inclusive, and has room.
    Within { begin: u32, end: u32, room: i64 },
}

/// What the search needs to know of all positions of a run, or of a part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// Whether a block is offered to every taker.
    is_always: bool,
    /// The least room that a block needs.
    room: i64,
    /// The largest first step.
    begin: u32,
    /// By part: the least last step of the blocks that begin in it or later.
    ends: [u32; N_PARTS],
}

impl Node {
    const CLOSED: Self = Self {
        is_always: false,
        room: i64::MAX,
        begin: 0,
        ends: [u32::MAX; N_PARTS],
    };

    fn of(spans: &[Span], parts: &[u32]) -> Self {
        let mut node = Self::CLOSED;
        for span in spans {
            match *span {
                Span::Closed => {}
                Span::Always => node.is_always = true,
                Span::Within { begin, end, room } => {
                    node.room = node.room.min(room);
                    node.begin = node.begin.max(begin);
                    let least = &mut node.ends[part_of(begin, parts)];
                    *least = end.min(*least);
                }
            }
        }
        for part in (1..N_PARTS).rev() {
            node.ends[part - 1] = node.ends[part - 1].min(node.ends[part]);
        }
        node
    }

    fn joined(&self, other: &Self) -> Self {
        let mut node = Self {
            is_always: self.is_always || other.is_always,
            room: self.room.min(other.room),
            begin: self.begin.max(other.begin),
            ends: self.ends,
        };
        for (end, other) in node.ends.iter_mut().zip(&other.ends) {
            *end = (*end).min(*other);
        }
        node
    }
}

/// The part in which a step is; `parts` are the first steps of all parts but the first.
fn part_of(step: u32, parts: &[u32]) -> usize {
    parts.partition_point(|first| *first <= step)
}

/// A block of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free<'a> {
    /// When it is free.
    pub(super) gaps: &'a [Gap],
    pub(super) room: i64,
    pub(super) stream: u32,
    /// Whether it is the taker, which is offered what is offered to every taker.
    pub(super) is_taker: bool,
}

impl Free<'_> {
    fn may_take(&self, span: Span) -> bool {
        match span {
            Span::Closed => false,
            Span::Always => self.is_taker,
            Span::Within { begin, end, room } => {
                room <= self.room && self.gaps.iter().any(|gap| gap.contains(begin, end))
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct NextOffer {
    spans: Vec<Span>,
    /// The root is node 1; runs begin at node `n_runs`.
    nodes: Vec<Node>,
    n_runs: usize,
    /// The first steps of all parts but the first.
    parts: Vec<u32>,
    streams: Streams,
    /// Gaps of the running search, and the parts in which they begin.
    gaps: Vec<(Gap, usize)>,
}

impl NextOffer {
    /// Replaces the positions at and after `first`, all of them where the list has outgrown the tree. O(replaced), and sorts the steps
    /// where all are replaced.
    pub(super) fn rebuild(
        &mut self,
        first: usize,
        n: usize,
        span: impl Fn(usize) -> Span,
        stream: impl Fn(usize) -> u32,
    ) {
        let mut first = first.min(n);
        self.streams.rebuild(first, n, stream);
        if n > self.n_runs * RUN {
            self.n_runs = n.div_ceil(RUN).next_power_of_two();
            self.nodes.clear();
            self.nodes.resize(2 * self.n_runs, Node::CLOSED);
            first = 0;
        }
        self.spans.truncate(first);
        self.spans.extend((first..n).map(span));
        if first == 0 {
            self.part_steps();
        }
        let (mut from, mut to) = (first / RUN, n.div_ceil(RUN));
        for run in from..to {
            self.nodes[self.n_runs + run] = self.run(run);
        }
        (from, to) = (self.n_runs + from, self.n_runs + to);
        while from > 1 {
            (from, to) = (from / 2, to.div_ceil(2));
            for node in from..to {
                self.join(node);
            }
        }
    }

    /// Chooses the parts of the steps.
    fn part_steps(&mut self) {
        let begins = self.spans.iter().filter_map(|span| match span {
            Span::Within { begin, .. } => Some(*begin),
            Span::Closed | Span::Always => None,
        });
        let mut begins: Vec<u32> = begins.collect();
        begins.sort_unstable();
        let of_part = |part| begins.get(part * begins.len() / N_PARTS).copied();
        self.parts = (1..N_PARTS).filter_map(of_part).collect();
    }

    fn run(&self, run: usize) -> Node {
        let end = self.spans.len().min((run + 1) * RUN);
        Node::of(&self.spans[run * RUN..end], &self.parts)
    }

    fn join(&mut self, node: usize) {
        self.nodes[node] = self.nodes[2 * node].joined(&self.nodes[2 * node + 1]);
    }

    pub(super) fn close(&mut self, at: usize) {
        self.spans[at] = Span::Closed;
        let mut node = self.n_runs + at / RUN;
        self.nodes[node] = self.run(at / RUN);
        while node > 1 {
            node /= 2;
            self.join(node);
        }
    }

    /// Whether a block may take what is at a position.
    pub(super) fn is_taken(&self, at: usize, by: &Free<'_>) -> bool {
        self.spans.get(at).is_some_and(|span| by.may_take(*span))
    }

    /// The first position at or after `at` that a block may take, and the number of looks at positions and nodes: O(log n) in most
    /// lists, O(n) at worst.
    pub(super) fn from(&mut self, mut at: usize, by: &Free<'_>) -> (Option<usize>, usize) {
        let mut n_looks = 0;
        loop {
            let (found, looks) = self.of_any_stream(at, by);
            n_looks += looks + 1;
            let own = found.and_then(|found| self.streams.next(by.stream, found));
            match own {
                Some(behind) if own != found => at = behind,
                _ => return (own, n_looks),
            }
        }
    }

    /// As [`Self::from`], of all streams.
    fn of_any_stream(&mut self, at: usize, by: &Free<'_>) -> (Option<usize>, usize) {
        let end = self.spans.len().min(at.next_multiple_of(RUN));
        if let Some(found) = (at..end).find(|at| by.may_take(self.spans[*at])) {
            return (Some(found), found - at);
        }
        let mut n_looks = end.saturating_sub(at);
        let first = at.div_ceil(RUN);
        if first >= self.n_runs {
            return (None, n_looks);
        }
        self.gaps.clear();
        let parts = &self.parts;
        let with_part = |gap: &Gap| {
            (
                *gap,
                u32::try_from(gap.begin).map_or(N_PARTS - 1, |begin| part_of(begin, parts)),
            )
        };
        self.gaps.extend(by.gaps.iter().map(with_part));
        let mut node = self.n_runs + first;
        loop {
            n_looks += 1;
            if self.may_hold(&self.nodes[node], by) {
                if node < self.n_runs {
                    node *= 2;
                    continue;
                }
                let begin = (node - self.n_runs) * RUN;
                let run = &self.spans[begin..self.spans.len().min(begin + RUN)];
                if let Some(found) = run.iter().position(|span| by.may_take(*span)) {
                    return (Some(begin + found), n_looks + found);
                }
                n_looks += RUN;
            }
            // To the next subtree on the right.
            while node % 2 == 1 {
                node /= 2;
                if node <= 1 {
                    return (None, n_looks);
                }
            }
            node += 1;
        }
    }

    /// Whether a node may have a position that a block takes.
    fn may_hold(&self, node: &Node, by: &Free<'_>) -> bool {
        if by.is_taker && node.is_always {
            return true;
        }
        let may_fit =
            |(gap, part): &(Gap, usize)| gap.begin <= node.begin.into() && u64::from(node.ends[*part]) < gap.end;
        node.room <= by.room && self.gaps.iter().any(may_fit)
    }
}
