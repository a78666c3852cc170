//! Reuse edges: buffers that take over the bytes of earlier ones.
//!
//! ```text
//! offset
//!   |   +-earlier-+..gone..+--later--+      the shared bytes pass over the gap to the right;
//!   |   |         |--------|>        |      a holder in between takes the edge instead
//!   |   +---------+        +---------+
//!   +---------------------------------> step
//! ```
//!
//! The rule, for one byte of a buffer: among its earlier holders (by birth, then by position) the edge comes from the
//! one that ends last, the later of equal ones; if that one is still live, the byte is shared and there is no edge. So
//! buffers of one address group pass bytes on only where they are not live together. A buffer with gaps is several
//! rectangles of one owner: a buffer in a gap reuses the owner's bytes, and the owner reuses the borrower's afterwards;
//! bytes that return to their owner unused are no edge.
//!
//! In: rectangles in any order. Out: an index of 24 bytes per edge and 8 per rectangle. O((n + edges) log n) where
//! rectangles never overlap; a rectangle that is born within others' bytes is visited again by every later birth there.

mod sweep;

use super::problem::{PlacementProblem, Plan};
use highwater_model::units::{Bytes, Step};
use sweep::{Change, sweep};

/// Steps `start..end` on which a buffer holds `bytes` at an offset. Half-open in steps and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rectangle {
    pub start: u32,
    pub end: u32,
    pub offset: u64,
    pub bytes: u64,
}

impl Rectangle {
    /// The first byte above it.
    pub const fn top(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether it has no bytes or no steps.
    pub const fn is_empty(&self) -> bool {
        self.start >= self.end || self.bytes == 0
    }
}

/// A contiguous range of bytes that passes from one holder to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReuseEdge {
    /// Position of the previous holder.
    pub earlier: u32,
    /// Position of the holder that reuses the bytes.
    pub later: u32,
    pub offset: u64,
    pub bytes: Bytes,
}

/// All reuse edges among rectangles, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseIndex {
    edges: Vec<ReuseEdge>,
    /// By later holder: the start of its edges in `incoming`, and one entry more.
    by_later: Vec<u32>,
    incoming: Vec<u32>,
    /// By earlier holder: the start of its edges in `outgoing`, and one entry more.
    by_earlier: Vec<u32>,
    outgoing: Vec<u32>,
}

impl ReuseIndex {
    /// Positions in edges are positions in the slice.
    pub fn new(rectangles: &[Rectangle]) -> Self {
        let owner = |position: u32| position;
        Self::with_owners(rectangles, owner, rectangles.len())
    }

    /// `plan` must be valid; positions in edges are those of the problem's buffers.
    pub fn of_plan(problem: &PlacementProblem, plan: &Plan) -> Self {
        let (rectangles, owners) = pieces(problem, plan);
        Self::with_owners(&rectangles, |piece| owners[piece as usize], problem.buffers.len())
    }

    fn with_owners(rectangles: &[Rectangle], owner: impl Fn(u32) -> u32, n_owners: usize) -> Self {
        let mut edges: Vec<ReuseEdge> = Vec::with_capacity(rectangles.len());
        each_edge(rectangles, owner, |edge| edges.push(edge));
        let (by_later, incoming) = rows(&edges, n_owners, |edge| edge.later);
        let (by_earlier, outgoing) = rows(&edges, n_owners, |edge| edge.earlier);
        Self {
            edges,
            by_later,
            incoming,
            by_earlier,
            outgoing,
        }
    }

    /// All edges, by the later holder's birth, then its position, then offset.
    pub fn edges(&self) -> &[ReuseEdge] {
        &self.edges
    }

    /// The edges into a rectangle, in the order of its pieces and offsets. O(1 + answer).
    pub fn before(&self, later: u32) -> impl ExactSizeIterator<Item = &ReuseEdge> + '_ {
        self.of(row(&self.by_later, &self.incoming, later))
    }

    /// The edges out of a rectangle, in the order of the later holders' births. O(1 + answer).
    pub fn after(&self, earlier: u32) -> impl ExactSizeIterator<Item = &ReuseEdge> + '_ {
        self.of(row(&self.by_earlier, &self.outgoing, earlier))
    }

    fn of<'a>(&'a self, edges: &'a [u32]) -> impl ExactSizeIterator<Item = &'a ReuseEdge> + 'a {
        edges.iter().map(|edge| &self.edges[*edge as usize])
    }
}

/// Calls `take` with every edge, in the order of [`ReuseIndex::edges`], without storing them.
pub fn each_reuse_edge(rectangles: &[Rectangle], take: impl FnMut(ReuseEdge)) {
    each_edge(rectangles, |position| position, take);
}

fn each_edge(rectangles: &[Rectangle], owner: impl Fn(u32) -> u32, mut take: impl FnMut(ReuseEdge)) {
    // Adjacent bytes of one pair are merged.
    let mut open: Option<ReuseEdge> = None;
    sweep(rectangles, |change| {
        let Change::Taken {
            earlier,
            later,
            low,
            high,
        } = change
        else {
            return;
        };
        let (earlier, later) = (owner(earlier), owner(later));
        if earlier == later {
            return;
        }
        if let Some(last) = &mut open
            && (last.earlier, last.later) == (earlier, later)
            && last.offset + last.bytes.get() == low
        {
            last.bytes = Bytes(high - last.offset);
            return;
        }
        let next = ReuseEdge {
            earlier,
            later,
            offset: low,
            bytes: Bytes(high - low),
        };
        open.replace(next).into_iter().for_each(&mut take);
    });
    open.into_iter().for_each(take);
}

/// All reuse edges of a valid plan, by the later holder's birth, then offset.
pub fn reuse_edges(problem: &PlacementProblem, plan: &Plan) -> Vec<ReuseEdge> {
    ReuseIndex::of_plan(problem, plan).edges
}

/// The rectangles of a plan, each with its buffer: one per buffer, or one between any two of its gaps. O(n log gaps).
pub fn pieces(problem: &PlacementProblem, plan: &Plan) -> (Vec<Rectangle>, Vec<u32>) {
    let mut rectangles = Vec::with_capacity(problem.buffers.len() + problem.gaps.len());
    let mut owners = Vec::with_capacity(rectangles.capacity());
    for ((idx, buffer), offset) in problem.buffers.iter().enumerate().zip(&plan.offsets) {
        let mut add = |start: Step, end: Step| {
            if start < end {
                rectangles.push(Rectangle {
                    start: start.0,
                    end: end.0,
                    offset: *offset,
                    bytes: buffer.size.get(),
                });
                owners.push(u32::try_from(idx).unwrap_or(u32::MAX));
            }
        };
        let mut start = buffer.lower;
        for gap in problem.gaps_of(idx) {
            add(start, gap.lower);
            start = gap.upper;
        }
        add(start, buffer.upper);
    }
    (rectangles, owners)
}

/// The union of rectangles over time, cut so that none overlap. O((n + cuts) log n).
pub(super) fn disjoint(rectangles: &[Rectangle]) -> Vec<Rectangle> {
    let mut cuts = Vec::with_capacity(rectangles.len());
    sweep(rectangles, |change| {
        let Change::Closed {
            holder,
            start,
            end,
            low,
            high,
        } = change
        else {
            return;
        };
        let end = end.min(rectangles[holder as usize].end);
        if start < end {
            cuts.push(Rectangle {
                start,
                end,
                offset: low,
                bytes: high - low,
            });
        }
    });
    cuts
}

/// Compressed rows: the start of each key's edges, and the edges in stable order. O(n + edges).
fn rows(edges: &[ReuseEdge], n_keys: usize, key: impl Fn(&ReuseEdge) -> u32) -> (Vec<u32>, Vec<u32>) {
    let mut ends = vec![0_u32; n_keys + 1];
    for edge in edges {
        ends[key(edge) as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut sorted = vec![0_u32; edges.len()];
    for (position, edge) in edges.iter().enumerate().rev() {
        let place = &mut ends[key(edge) as usize];
        *place -= 1;
        sorted[*place as usize] = u32::try_from(position).unwrap_or(u32::MAX);
    }
    (ends, sorted)
}

fn row<'a>(begins: &[u32], edges: &'a [u32], key: u32) -> &'a [u32] {
    let key = key as usize;
    match (begins.get(key), begins.get(key + 1)) {
        (Some(low), Some(high)) => &edges[*low as usize..*high as usize],
        _ => &[],
    }
}
