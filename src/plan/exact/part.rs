//! One partition as the search sees it: flat arrays of shapes and sections, heights in units of the greatest common
//! divisor. Built by [`super::build`].

use super::height::Height;
use super::lists::Lists;

/// A run of sections on which a shape has height `size`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<T> {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) size: T,
}

/// Consecutive sections, half-open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections {
    pub(super) lower: usize,
    pub(super) upper: usize,
}

/// Shapes are numbered by ascending first section.
#[derive(Debug)]
pub(super) struct Part<T> {
    /// Bytes of one unit of height.
    pub(super) unit: u64,
    /// By shape: the problem's item.
    pub(super) items: Vec<u32>,
    /// By shape: the sections in which it is live, and its height.
    pub(super) spans: Lists<Span<T>>,
    /// By shape: the first section.
    pub(super) lower: Vec<usize>,
    /// By shape: the end of its sections.
    pub(super) upper: Vec<usize>,
    /// By shape: the largest size, in bytes and not rounded up, which must end within the capacity.
    pub(super) bytes: Vec<u64>,
    /// Divides every possible height, in bytes.
    pub(super) grain: u64,
    /// Lower bound of plans, in bytes.
    pub(super) bound: u64,
    /// Divisors of the offsets, in units; empty where all are 1.
    pub(super) alignments: Vec<T>,
    /// Given offsets; empty where none is.
    pub(super) fixed: Vec<Option<T>>,
    /// Interchangeable shapes have the same number.
    pub(super) twins: Vec<u32>,
    /// By section: the live shapes.
    pub(super) live: Lists<u32>,
    /// Where a shape is more than one rectangle: by shape its neighbours, with the distance that the neighbour keeps
    /// above it. Otherwise empty: see [`Neighbours`].
    pub(super) pairs: Lists<(u32, T)>,
    /// By section: the first shape that begins there or later; one more at the end.
    pub(super) starts: Vec<usize>,
    /// By section: the sum of sizes.
    pub(super) totals: Vec<T>,
    /// By shape: the largest of these sums in its range.
    pub(super) peaks: Vec<T>,
    /// Whether a shape is not live in a section of its range.
    pub(super) has_gaps: bool,
    /// Whether a size was rounded up.
    pub(super) is_padded: bool,
}

/// The shapes that overlap one shape in time.
pub(super) enum Neighbours<'a, T> {
    /// For rectangles: those live in its first section, itself included, and those that begin in a later one of its
    /// sections. No pair is stored.
    Rectangle(&'a [u32], std::ops::Range<usize>),
    /// With the distance that the other keeps above it.
    Pairs(&'a [(u32, T)]),
}

impl<T: Height> Part<T> {
    pub(super) fn n_shapes(&self) -> usize {
        self.items.len()
    }

    pub(super) fn n_sections(&self) -> usize {
        self.totals.len()
    }

    /// The lowest aligned offset from `offset` on.
    pub(super) fn align_up(&self, shape: usize, offset: T) -> T {
        match self.alignments.get(shape) {
            Some(alignment) => offset.align_up(*alignment),
            None => offset,
        }
    }

    pub(super) fn fixed(&self, shape: usize) -> Option<T> {
        self.fixed.get(shape).copied().flatten()
    }

    pub(super) fn neighbours(&self, shape: usize) -> Neighbours<'_, T> {
        if self.is_rectangles() {
            let first = self.starts[self.lower[shape] + 1];
            let later = first..self.starts[self.upper[shape]].max(first);
            Neighbours::Rectangle(self.live.of(self.lower[shape]), later)
        } else {
            Neighbours::Pairs(self.pairs.of(shape))
        }
    }

    /// Their number, or one more.
    pub(super) fn n_neighbours(&self, shape: usize) -> usize {
        match self.neighbours(shape) {
            Neighbours::Rectangle(live, later) => live.len() + later.len(),
            Neighbours::Pairs(pairs) => pairs.len(),
        }
    }

    /// The least distance from the bottom of `below` to the bottom of `above`.
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

    /// Whether the shapes are rectangles without constraints.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_gaps && !self.is_padded && self.alignments.is_empty() && self.fixed.is_empty() && self.is_rectangles()
    }
}
