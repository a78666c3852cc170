//! A placement problem as input of planners: rigid shapes, each with one offset to choose.
//!
//! A buffer without gaps is a rectangle, one piece. A buffer with gaps is several pieces at one offset; so is a group,
//! whose pieces have the size of the largest live member. Two shapes collide where pieces of both are live on one step
//! and overlap in bytes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::progress::{Cancel, Cancelled, Progress};
use crate::units::{Bytes, Step};

use super::problem::{PlacementProblem, ProblemError, lcm};

/// Buffers or pieces between two checks of the cancel flag.
const CHUNK: usize = 32_768;

/// Steps `lower..upper` on which a shape has size `size`, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First step, inclusive.
    pub lower: u32,
    /// Last step, exclusive.
    pub upper: u32,
    pub size: u64,
}

/// One shape. Its pieces are disjoint and ascending; a buffer of no bytes has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// First step of its first piece.
    pub lower: u32,
    /// End of its last piece.
    pub upper: u32,
    /// The largest size of any piece.
    pub size: u64,
    /// Divisor of the offset.
    pub alignment: u64,
    /// Given offset.
    pub fixed: Option<u64>,
    /// Index of its first piece in [`Shapes::pieces`].
    pub first_piece: u32,
    pub n_pieces: u32,
}

/// All shapes of a problem, in the order of their first buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    pub items: Vec<Item>,
    /// Grouped by item.
    pub pieces: Vec<Piece>,
    /// The shape of each buffer.
    pub item_of: Vec<u32>,
    /// Whether every shape is one free rectangle (or empty): no gap, no group, no fixed offset.
    pub is_plain: bool,
}

impl Shapes {
    /// The buffers, gaps and groups of `problem` must be valid. O(n log n).
    pub fn new(problem: &PlacementProblem) -> Self {
        // This flag is never set.
        Self::of(problem, &Progress::silent(&Cancel::new())).unwrap_or_default()
    }

    /// [`Self::new`] with a cancel flag.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn of(problem: &PlacementProblem, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let mut shapes = Self {
            item_of: vec![u32::MAX; problem.buffers.len()],
            is_plain: problem.gaps.is_empty() && problem.groups.is_empty(),
            ..Self::default()
        };
        let mut group_of: Vec<(u32, u32)> = (0_u32..)
            .zip(&problem.groups)
            .map(|(idx, group)| (group.first().copied().unwrap_or(u32::MAX), idx))
            .collect();
        group_of.sort_unstable();
        shapes.items.reserve(problem.buffers.len());
        shapes.pieces.reserve(problem.buffers.len());
        for idx in 0..problem.buffers.len() {
            if idx.is_multiple_of(CHUNK) {
                progress.check()?;
            }
            if shapes.item_of[idx] != u32::MAX {
                continue;
            }
            let position = u32::try_from(idx).unwrap_or(u32::MAX);
            let group = group_of.binary_search_by_key(&position, |(first, _)| *first);
            let single = [position];
            let members = match group {
                Ok(found) => &problem.groups[group_of[found].1 as usize][..],
                Err(_) => &single[..],
            };
            shapes.add(problem, members);
        }
        Ok(shapes)
    }

    fn add(&mut self, problem: &PlacementProblem, members: &[u32]) {
        let number = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let first_piece = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let (mut alignment, mut fixed) = (1, None);
        let mut pieces: Vec<Piece> = Vec::new();
        for member in members {
            self.item_of[*member as usize] = number;
            let buffer = &problem.buffers[*member as usize];
            alignment = lcm(alignment, buffer.alignment.max(1)).unwrap_or(u64::MAX);
            fixed = fixed.or(buffer.offset);
            let mut lower = buffer.lower.0;
            let ends = problem
                .gaps_of(*member as usize)
                .iter()
                .map(|gap| (gap.lower.0, gap.upper.0));
            for (start, end) in ends.chain([(buffer.upper.0, buffer.upper.0)]) {
                if start > lower && buffer.size.get() > 0 {
                    let size = buffer.size.get();
                    pieces.push(Piece {
                        lower,
                        upper: start,
                        size,
                    });
                }
                lower = end;
            }
        }
        self.is_plain &= fixed.is_none();
        if members.len() > 1 {
            pieces = highest(pieces);
        } else {
            join_equal(&mut pieces);
        }
        self.items.push(Item {
            lower: pieces.first().map_or(0, |piece| piece.lower),
            upper: pieces.last().map_or(0, |piece| piece.upper),
            size: pieces.iter().map(|piece| piece.size).max().unwrap_or(0),
            alignment,
            fixed,
            first_piece,
            n_pieces: u32::try_from(pieces.len()).unwrap_or(u32::MAX),
        });
        self.pieces.append(&mut pieces);
    }

    pub fn pieces_of(&self, item: u32) -> &[Piece] {
        let item = &self.items[item as usize];
        let first = item.first_piece as usize;
        &self.pieces[first..first + item.n_pieces as usize]
    }

    /// The least distance from the offset of `below` to that of `above`: the largest size of `below` on the steps on
    /// which both are live; 0 where they never overlap in time. O(pieces).
    pub fn separation(&self, below: u32, above: u32) -> u64 {
        let mut largest = 0;
        let (mut low, mut high) = (self.pieces_of(below).iter(), self.pieces_of(above).iter());
        let (mut a, mut b) = (low.next(), high.next());
        while let (Some(x), Some(y)) = (a, b) {
            if x.lower < y.upper && y.lower < x.upper {
                largest = largest.max(x.size);
            }
            if x.upper <= y.upper {
                a = low.next();
            } else {
                b = high.next();
            }
        }
        largest
    }

    /// Whether fixed shapes overlap. Live pieces are kept by offset, so a new one is compared with one below and one
    /// above: O(pieces log pieces).
    pub(super) fn check_fixed(&self) -> Result<(), ProblemError> {
        let fixed = (0_u32..)
            .zip(&self.items)
            .filter_map(|(idx, item)| Some((idx, item.fixed?)));
        let mut pieces: Vec<(u32, u32, u64, u64, u32)> = fixed
            .flat_map(|(idx, at)| {
                let pieces = self.pieces_of(idx).iter();
                pieces.map(move |piece| (piece.lower, piece.upper, at, at + piece.size, idx))
            })
            .collect();
        pieces.sort_unstable_by_key(|(lower, _, _, _, idx)| (*lower, *idx));
        // Live pieces: by start the end and shape; and their ends.
        let mut live: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        let mut ends: BinaryHeap<Reverse<(u32, u64)>> = BinaryHeap::new();
        for (lower, upper, start, end, idx) in pieces {
            while let Some(Reverse((_, gone))) = ends.peek().filter(|gone| gone.0.0 <= lower).copied() {
                ends.pop();
                live.remove(&gone);
            }
            let below = live.range(..end).next_back().filter(|(_, (top, _))| *top > start);
            if let Some((other_start, (_, other))) = below {
                return Err(ProblemError::FixedCollide {
                    first: self.first_member(*other),
                    second: self.first_member(idx),
                    offset: start.max(*other_start),
                    step: Step(lower),
                });
            }
            live.insert(start, (end, idx));
            ends.push(Reverse((upper, start)));
        }
        Ok(())
    }

    /// Position of a shape's first buffer. O(n).
    pub fn first_member(&self, item: u32) -> usize {
        self.item_of.iter().position(|of| *of == item).unwrap_or(0)
    }

    /// The peak of live bytes, or the highest end of a fixed shape. O(pieces + steps), or O(pieces log pieces) where
    /// steps are far apart.
    pub fn lower_bound(&self) -> Bytes {
        // This flag is never set.
        self.bound(&Progress::silent(&Cancel::new())).unwrap_or_default()
    }

    /// [`Self::lower_bound`] with a cancel flag.
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn bound(&self, progress: &Progress<'_>) -> Result<Bytes, Cancelled> {
        let peak = self.peak_live(progress)?.get();
        let ends = self
            .items
            .iter()
            .filter_map(|item| Some(item.fixed?.saturating_add(item.size)));
        Ok(Bytes(ends.max().unwrap_or(0).max(peak)))
    }

    /// The most bytes that are live at one time, whatever offsets are fixed. The cost is that of [`Self::bound`].
    ///
    /// # Errors
    /// [`Cancelled`] once the flag is set.
    pub fn peak_live(&self, progress: &Progress<'_>) -> Result<Bytes, Cancelled> {
        progress.check()?;
        let last = self.pieces.iter().map(|piece| piece.upper).max().unwrap_or(0) as usize;
        let peak = if last <= self.pieces.len() * 8 + 1024 {
            self.peak_by_step(last, progress)?
        } else {
            self.peak_by_order(progress)?
        };
        Ok(Bytes(peak))
    }

    fn peak_by_step(&self, last: usize, progress: &Progress<'_>) -> Result<u64, Cancelled> {
        let mut change = vec![(0_u64, 0_u64); last + 1];
        for pieces in self.pieces.chunks(CHUNK) {
            progress.check()?;
            for piece in pieces {
                let born = &mut change[piece.lower as usize].0;
                *born = born.saturating_add(piece.size);
                let dead = &mut change[piece.upper as usize].1;
                *dead = dead.saturating_add(piece.size);
            }
        }
        let lives = change.iter().scan(0_u64, |live, (born, dead)| {
            *live = live.saturating_add(*born).saturating_sub(*dead);
            Some(*live)
        });
        Ok(lives.max().unwrap_or(0))
    }

    fn peak_by_order(&self, progress: &Progress<'_>) -> Result<u64, Cancelled> {
        let mut changes: Vec<(u32, bool, u64)> = Vec::with_capacity(self.pieces.len() * 2);
        for piece in &self.pieces {
            changes.push((piece.lower, true, piece.size));
            changes.push((piece.upper, false, piece.size));
        }
        progress.check()?;
        // Ends sort before births on the same step, because ranges are half-open.
        let (mut live, mut peak) = (0_u64, 0_u64);
        for (_, is_birth, size) in progress.sorted(changes)? {
            live = if is_birth {
                live.saturating_add(size)
            } else {
                live.saturating_sub(size)
            };
            peak = peak.max(live);
        }
        Ok(peak)
    }

    /// The offset of each buffer, given that of each shape.
    pub fn spread(&self, of_items: &[u64]) -> Vec<u64> {
        self.item_of.iter().map(|item| of_items[*item as usize]).collect()
    }
}

/// Overlapping pieces as disjoint ones, each as high as the highest. O(k log k).
fn highest(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut cuts: Vec<u32> = pieces.iter().flat_map(|piece| [piece.lower, piece.upper]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    pieces.sort_unstable_by_key(|piece| piece.lower);
    let mut out: Vec<Piece> = Vec::new();
    // The highest on top; ended pieces are popped when they reach it.
    let mut live: BinaryHeap<(u64, u32)> = BinaryHeap::new();
    let mut next = pieces.into_iter().peekable();
    for pair in cuts.windows(2) {
        while let Some(piece) = next.next_if(|piece| piece.lower <= pair[0]) {
            live.push((piece.size, piece.upper));
        }
        while live.peek().is_some_and(|(_, upper)| *upper <= pair[0]) {
            live.pop();
        }
        if let Some((size, _)) = live.peek() {
            out.push(Piece {
                lower: pair[0],
                upper: pair[1],
                size: *size,
            });
        }
    }
    join_equal(&mut out);
    out
}

/// Joins adjacent pieces of equal height.
fn join_equal(pieces: &mut Vec<Piece>) {
    pieces.dedup_by(|piece, before| {
        let joins = before.upper == piece.lower && before.size == piece.size;
        if joins {
            before.upper = piece.upper;
        }
        joins
    });
}
