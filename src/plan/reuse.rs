//! Reuse edges: who took whose bytes.
//!
//! ```text
//! offset
//!   |   +--donor--+..gone..+--heir---+      the shared bytes pass over the gap to the right;
//!   |   |         |--------|>        |      whoever held them in between takes the edge instead
//!   |   +---------+        +---------+
//!   +---------------------------------> step
//! ```
//!
//! The rule, for one byte of an heir: among the earlier holders of that byte (earlier by birth, then by position) the
//! one that ends last is its donor, the later of equals; if that one is still live, the byte is shared and passes to
//! nobody. So buffers of one address group pass bytes on only where they are not live together. A buffer with gaps is
//! several rectangles of one owner: a borrower is the owner's heir, and the owner the borrower's afterwards; what
//! comes back to its own owner untouched is no edge.
//!
//! In: rectangles in any order. Out: an index of 24 bytes an edge and 4 a rectangle both ways. O((n + edges) log n)
//! where rectangles never overlap; each that is born within others' bytes is met again by whoever is born there later.

mod history;
mod sweep;

pub use history::{AddressHistory, Holder};

use super::problem::{PlacementProblem, Plan};
use highwater_model::units::{Bytes, Step};
use sweep::{Change, sweep};

/// Steps `start..end` on which somebody holds `bytes` at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rectangle {
    /// First step, inclusive.
    pub start: u32,
    /// Last step, exclusive.
    pub end: u32,
    /// First byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Rectangle {
    /// The first byte above it.
    pub const fn top(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether it holds nothing at any time.
    pub const fn is_empty(&self) -> bool {
        self.start >= self.end || self.bytes == 0
    }
}

/// A contiguous range of bytes that passes from one holder to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReuseEdge {
    /// Position of the one that held the bytes before.
    pub donor: u32,
    /// Position of the one that took them.
    pub heir: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: Bytes,
}

/// All reuse edges among rectangles, both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseIndex {
    edges: Vec<ReuseEdge>,
    /// By heir: where its edges begin in `incoming`, and one entry more.
    heirs: Vec<u32>,
    incoming: Vec<u32>,
    /// By donor: where its edges begin in `outgoing`, and one entry more.
    donors: Vec<u32>,
    outgoing: Vec<u32>,
}

impl ReuseIndex {
    /// The edges among rectangles; positions in edges are positions in the slice.
    pub fn new(rectangles: &[Rectangle]) -> Self {
        let owner = |position: u32| position;
        Self::with_owners(rectangles, owner, rectangles.len())
    }

    /// The edges of a valid plan; positions in edges are those of the problem's buffers.
    pub fn of_plan(problem: &PlacementProblem, plan: &Plan) -> Self {
        let (rectangles, owners) = pieces(problem, plan);
        Self::with_owners(&rectangles, |piece| owners[piece as usize], problem.buffers.len())
    }

    fn with_owners(rectangles: &[Rectangle], owner: impl Fn(u32) -> u32, n_owners: usize) -> Self {
        let mut edges: Vec<ReuseEdge> = Vec::with_capacity(rectangles.len());
        sweep(rectangles, |change| {
            let Change::Taken { donor, heir, low, high } = change else {
                return;
            };
            let (donor, heir) = (owner(donor), owner(heir));
            if donor == heir {
                return;
            }
            if let Some(last) = edges.last_mut()
                && (last.donor, last.heir) == (donor, heir)
                && last.offset + last.bytes.get() == low
            {
                last.bytes = Bytes(high - last.offset);
                return;
            }
            edges.push(ReuseEdge {
                donor,
                heir,
                offset: low,
                bytes: Bytes(high - low),
            });
        });
        let (heirs, incoming) = rows(&edges, n_owners, |edge| edge.heir);
        let (donors, outgoing) = rows(&edges, n_owners, |edge| edge.donor);
        Self {
            edges,
            heirs,
            incoming,
            donors,
            outgoing,
        }
    }

    /// All edges, by the heir's birth, then its position, then offset.
    pub fn edges(&self) -> &[ReuseEdge] {
        &self.edges
    }

    /// Who had the bytes of a rectangle before, in order of the heir's pieces and offsets. O(1 + answer).
    pub fn before(&self, heir: u32) -> impl ExactSizeIterator<Item = &ReuseEdge> + '_ {
        self.of(row(&self.heirs, &self.incoming, heir))
    }

    /// Who took the bytes of a rectangle afterwards, in order of the heirs' births. O(1 + answer).
    pub fn after(&self, donor: u32) -> impl ExactSizeIterator<Item = &ReuseEdge> + '_ {
        self.of(row(&self.donors, &self.outgoing, donor))
    }

    fn of<'a>(&'a self, edges: &'a [u32]) -> impl ExactSizeIterator<Item = &'a ReuseEdge> + 'a {
        edges.iter().map(|edge| &self.edges[*edge as usize])
    }
}

/// All reuse edges of a valid plan, by heir's birth, then offset.
pub fn reuse_edges(problem: &PlacementProblem, plan: &Plan) -> Vec<ReuseEdge> {
    ReuseIndex::of_plan(problem, plan).edges
}

/// The rectangles of a plan, each with its buffer: one a buffer, or one between any two of its gaps. O(n log gaps).
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

/// The bytes of rectangles through time, cut so that none overlap. O((n + cuts) log n).
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

/// Compressed rows: where the edges of each key begin, and the edges, each row in their order. O(n + edges).
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
