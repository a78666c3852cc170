//! One partition as the search sees it: flat arrays of shapes and sections, heights in units of the greatest common
//! divisor. [`super::build`] makes them.

use super::height::Height;
use super::lists::Lists;

/// A run of sections on which a shape is `size` high.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<T> {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) size: T,
}

/// One partition. Shapes are numbered by ascending first section.
#[derive(Debug)]
pub(super) struct Part<T> {
    /// Bytes of one unit of height.
    pub(super) unit: u64,
    /// The problem's item of each shape.
    pub(super) items: Vec<u32>,
    /// Where each shape is live, and how high.
    pub(super) spans: Lists<Span<T>>,
    /// The first section of each shape.
    pub(super) lower: Vec<usize>,
    /// The end of each shape's sections.
    pub(super) upper: Vec<usize>,
    /// The largest size of each shape, in bytes and not rounded up: what ends within the capacity.
    pub(super) bytes: Vec<u64>,
    /// Divides every height that a plan can have, in bytes.
    pub(super) grain: u64,
    /// No plan is lower, in bytes.
    pub(super) bound: u64,
    /// Divisors of the offsets, in units; empty where all are 1.
    pub(super) alignments: Vec<T>,
    /// Offsets that are given; empty where none is.
    pub(super) fixed: Vec<Option<T>>,
    /// Shapes that can stand in for each other have the same number.
    pub(super) twins: Vec<u32>,
    /// The shapes that are live in each section.
    pub(super) live: Lists<u32>,
    /// Where a shape is more than one rectangle: the shapes that each one meets, with the distance that the other
    /// keeps if it stands above. Without any list otherwise: see [`Met`].
    pub(super) pairs: Lists<(u32, T)>,
    /// For each section, the first shape that begins there or later; one more at the end.
    pub(super) starts: Vec<usize>,
    /// The sum of sizes in each section.
    pub(super) totals: Vec<T>,
    /// The largest of these sums in the range of each shape.
    pub(super) peaks: Vec<T>,
    /// Whether a shape has sections in its range in which it is not live.
    pub(super) has_gaps: bool,
    /// Whether a size was rounded up.
    pub(super) is_padded: bool,
}

/// The shapes that one shape meets.
pub(super) enum Met<'a, T> {
    /// Of rectangles: those that are live in its first section, itself among them, and those that begin in a later
    /// one of its sections. So no pair needs to be kept.
    Rectangle(&'a [u32], std::ops::Range<usize>),
    /// With the distance that the other keeps if it stands above.
    Pairs(&'a [(u32, T)]),
}

impl<T: Height> Part<T> {
    pub(super) fn n_shapes(&self) -> usize {
        self.items.len()
    }

    pub(super) fn n_sections(&self) -> usize {
        self.totals.len()
    }

    /// The next offset at which a shape may stand, from `offset` on.
    pub(super) fn align_up(&self, shape: usize, offset: T) -> T {
        match self.alignments.get(shape) {
            Some(alignment) => offset.align_up(*alignment),
            None => offset,
        }
    }

    pub(super) fn fixed(&self, shape: usize) -> Option<T> {
        self.fixed.get(shape).copied().flatten()
    }

    /// The shapes that one shape meets.
    pub(super) fn met(&self, shape: usize) -> Met<'_, T> {
        if self.is_rectangles() {
            let first = self.starts[self.lower[shape] + 1];
            let later = first..self.starts[self.upper[shape]].max(first);
            Met::Rectangle(self.live.of(self.lower[shape]), later)
        } else {
            Met::Pairs(self.pairs.of(shape))
        }
    }

    /// How many there are, or one more.
    pub(super) fn n_met(&self, shape: usize) -> usize {
        match self.met(shape) {
            Met::Rectangle(live, later) => live.len() + later.len(),
            Met::Pairs(pairs) => pairs.len(),
        }
    }

    /// How far `above` stands above `below` at least.
    pub(super) fn distance(&self, below: usize, above: usize) -> T {
        if let [span] = self.spans.of(below) {
            return span.size;
        }
        let pairs = self.pairs.of(below);
        let position = pairs.partition_point(|(other, _)| (*other as usize) < above);
        pairs.get(position).map_or(T::ZERO, |(_, distance)| *distance)
    }

    /// Whether every shape is one rectangle.
    pub(super) fn is_rectangles(&self) -> bool {
        self.spans.values.len() == self.items.len()
    }

    /// Whether the shapes are rectangles that may stand anywhere.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_gaps && !self.is_padded && self.alignments.is_empty() && self.fixed.is_empty() && self.is_rectangles()
    }
}
