//! The placed shapes, seen from above: a lower bound of each unplaced shape's offset, and for each section the least of
//! these bounds, its *floor*. No unplaced shape goes below a floor.
//!
//! ```text
//!        +---+
//!   +----+ b |  . . .  floor: the least bound of the unplaced shapes that live here,
//!   | a      +--+         at least the top of the placed ones; a valley is a run of
//!   +-----------+------   equal floors with higher ones on both sides
//! ```
//!
//! Two steps, each with the bounds that follow from it; both return `false` when no plan is left:
//! * [`Skyline::place`] puts a shape at its bound. All neighbours must be above it.
//! * [`Skyline::leave`] (in [`super::interval_propagation`]) leaves the floor of a section empty. Everything there is
//!   higher, and because a plan of least total offset exists if any plan does, nothing floats: a shape above its bound is
//!   on top of an unplaced one.
//!
//! Both are checked by the sum rule: floor plus unplaced sizes within the capacity, in every section.
//!
//! A step may read every pair of a section and a shape, so the flags are checked during it. Once one is set
//! ([`Skyline::is_over`]), every step returns `false` and the state is invalid.

use super::flags::{EndFlags, WORK_PER_CHECK};
use super::height::Height;
use super::part::{Neighbours, Part, Sections};

/// A position of the trail.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    bounds: usize,
    floors: usize,
}

pub(super) struct Skyline<'a, T> {
    pub(super) part: &'a Part<T>,
    /// In units, rounded up; `last` is exact.
    pub(super) capacity: T,
    /// By shape: the highest offset within the capacity.
    last: Vec<T>,
    /// By section: the live shapes, unplaced ones first (`n_unplaced`).
    live: Vec<u32>,
    n_unplaced: Vec<u32>,
    /// By unplaced shape: the least offset; [`Height::MAX`] once placed.
    pub(super) bounds: Vec<T>,
    /// By placed shape.
    pub(super) offsets: Vec<T>,
    /// By section: the least bound of the unplaced shapes.
    pub(super) floors: Vec<T>,
    /// By section: the number of unplaced shapes at the floor.
    pub(super) holders: Vec<u32>,
    /// By section: the sum of unplaced sizes.
    pub(super) unplaced_bytes: Vec<T>,
    /// By section: the unplaced shapes that live on both sides of its start.
    pub(super) crossings: Vec<u32>,
    /// By section: failed steps.
    pub(super) failures: Vec<u32>,
    /// Inner operations so far.
    pub(super) work: usize,
    next_check: usize,
    flags: EndFlags<'a>,
    /// A flag is set: steps were left unfinished.
    pub(super) is_over: bool,
    old_bounds: Vec<(u32, T)>,
    old_floors: Vec<(u32, T)>,
    pub(super) supports: Vec<(u32, T)>,
}

impl<'a, T: Height> Skyline<'a, T> {
    pub(super) fn new(part: &'a Part<T>, flags: EndFlags<'a>) -> Self {
        let (n_shapes, n_sections) = (part.n_shapes(), part.n_sections());
        let mut skyline = Self {
            part,
            capacity: T::ZERO,
            last: vec![T::ZERO; n_shapes],
            live: part.live.values.clone(),
            n_unplaced: vec![0; n_sections],
            bounds: (0..n_shapes)
                .map(|shape| part.fixed(shape).unwrap_or(T::ZERO))
                .collect(),
            offsets: vec![T::ZERO; n_shapes],
            floors: vec![T::ZERO; n_sections],
            holders: vec![0; n_sections],
            unplaced_bytes: part.totals.clone(),
            crossings: vec![0; n_sections + 1],
            failures: vec![0; n_sections],
            work: 0,
            next_check: 0,
            flags,
            is_over: false,
            old_bounds: Vec::new(),
            old_floors: Vec::new(),
            supports: Vec::new(),
        };
        for shape in 0..n_shapes {
            if !skyline.spend((part.upper[shape] - part.lower[shape]) / 4) {
                return skyline;
            }
            for section in part.lower[shape] + 1..part.upper[shape] {
                skyline.crossings[section] += 1;
            }
        }
        for section in 0..n_sections {
            if skyline.is_over {
                return skyline;
            }
            skyline.n_unplaced[section] = u32::try_from(part.live.of(section).len()).unwrap_or(u32::MAX);
            skyline.find_floor(section);
        }
        skyline
    }

    /// Counts operations; `false` once a flag is set.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work += work;
        if self.work >= self.next_check {
            self.next_check = self.work + WORK_PER_CHECK;
            self.is_over |= self.flags.is_set();
        }
        !self.is_over
    }

    /// Begins a search within `bytes`; `false` if a shape or a section's sum is too large.
    pub(super) fn begin(&mut self, bytes: u64) -> bool {
        let part = self.part;
        self.capacity = T::of(bytes.div_ceil(part.unit));
        self.failures.fill(0);
        let lists = part.live.values.chunks(WORK_PER_CHECK);
        for (position, list) in lists.enumerate() {
            if !self.spend(list.len() / 4) {
                return false;
            }
            let start = position * WORK_PER_CHECK;
            self.live[start..start + list.len()].copy_from_slice(list);
        }
        for shape in 0..part.n_shapes() {
            let Some(room) = bytes.checked_sub(part.bytes[shape]) else {
                return false;
            };
            self.last[shape] = T::of(room / part.unit);
            if self.bounds[shape] > self.last[shape] {
                return false;
            }
        }
        (0..self.unplaced_bytes.len()).all(|section| self.slack(section).is_some())
    }

    /// The unplaced shapes that are live in a section, unordered.
    pub(super) fn unplaced(&self, section: usize) -> &[u32] {
        let start = self.part.live.starts()[section];
        &self.live[start..start + self.n_unplaced[section] as usize]
    }

    /// Bytes that may stay empty in a section; `None` where the sum rule is violated.
    pub(super) fn slack(&self, section: usize) -> Option<T> {
        let (unplaced_bytes, floor) = (self.unplaced_bytes[section], self.floors[section]);
        if unplaced_bytes == T::ZERO {
            return Some(self.capacity);
        }
        let room = (unplaced_bytes <= self.capacity).then(|| self.capacity - unplaced_bytes)?;
        (floor <= room).then(|| room - floor)
    }

    /// Puts an unplaced shape at its bound. `component` is the run of sections of its component.
    pub(super) fn place(&mut self, shape: usize, component: Sections) -> bool {
        let part = self.part;
        let offset = self.bounds[shape];
        self.offsets[shape] = offset;
        for span in part.spans.of(shape) {
            for section in span.lower..span.upper {
                self.unplaced_bytes[section] -= span.size;
                self.remove(section, shape);
                if self.is_over {
                    return false;
                }
            }
        }
        for crossing in &mut self.crossings[part.lower[shape] + 1..part.upper[shape]] {
            *crossing -= 1;
        }
        self.lift(shape, T::MAX);
        self.spend(part.n_neighbours(shape)) && self.raise_all(shape, offset) && self.settle(component)
    }

    /// Raises all neighbours of a shape placed at `offset`.
    fn raise_all(&mut self, shape: usize, offset: T) -> bool {
        match self.part.neighbours(shape) {
            Neighbours::Rectangle(live, later) => {
                let top = offset + self.part.distance(shape, shape);
                let first = live.iter().map(|other| *other as usize);
                first.chain(later).all(|other| self.raise_to(other, top))
            }
            Neighbours::Pairs(pairs) => {
                let mut pairs = pairs.iter();
                pairs.all(|(other, distance)| self.raise_to(*other as usize, offset + *distance))
            }
        }
    }

    fn raise_to(&mut self, shape: usize, offset: T) -> bool {
        self.bounds[shape] >= offset || self.raise(shape, offset)
    }

    /// Raises a bound to the next aligned `offset`.
    pub(super) fn raise(&mut self, shape: usize, offset: T) -> bool {
        if offset == T::MAX {
            return false;
        }
        let part = self.part;
        let offset = part.align_up(shape, offset);
        if offset <= self.bounds[shape] {
            return true;
        }
        if part.fixed(shape).is_some() || offset > self.last[shape] {
            self.failures[part.lower[shape]] += 1;
            return false;
        }
        self.lift(shape, offset);
        !self.is_over
    }

    fn lift(&mut self, shape: usize, offset: T) {
        let before = std::mem::replace(&mut self.bounds[shape], offset);
        self.old_bounds.push((u32::try_from(shape).unwrap_or(u32::MAX), before));
        for span in self.part.spans.of(shape) {
            self.spend((span.upper - span.lower) / 4);
            let floors = &self.floors[span.lower..span.upper];
            for (holders, floor) in self.holders[span.lower..span.upper].iter_mut().zip(floors) {
                *holders -= u32::from(*floor == before);
            }
        }
    }

    /// Recomputes the floors without shapes.
    pub(super) fn settle(&mut self, Sections { lower, upper }: Sections) -> bool {
        self.spend(upper - lower);
        for section in lower..upper {
            if self.holders[section] == 0 && self.floors[section] != T::MAX {
                let number = u32::try_from(section).unwrap_or(u32::MAX);
                self.old_floors.push((number, self.floors[section]));
                self.find_floor(section);
                if self.is_over {
                    return false;
                }
                if self.slack(section).is_none() {
                    self.failures[section] += 1;
                    return false;
                }
            }
        }
        true
    }

    fn find_floor(&mut self, section: usize) {
        let bounds = self.unplaced(section).iter().map(|shape| self.bounds[*shape as usize]);
        let floor = bounds.clone().fold(T::MAX, T::min);
        // Without unplaced shapes the floor has no holders.
        let holders = bounds.map(|bound| u32::from(bound == floor)).sum();
        self.spend(self.n_unplaced[section] as usize);
        self.floors[section] = floor;
        self.holders[section] = holders;
    }

    /// Moves a shape behind the unplaced ones of a section. Steps are undone in reverse, so incrementing the count
    /// restores it.
    fn remove(&mut self, section: usize, shape: usize) {
        let start = self.part.live.starts()[section];
        self.n_unplaced[section] -= 1;
        let last = start + self.n_unplaced[section] as usize;
        let found = self.live[start..last].iter().position(|other| *other as usize == shape);
        self.spend(found.unwrap_or(last - start) / 4);
        if let Some(position) = found {
            self.live.swap(start + position, last);
        }
    }

    /// The position of the trail before a step.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            bounds: self.old_bounds.len(),
            floors: self.old_floors.len(),
        }
    }

    /// Undoes the step after `mark`: the placement of a shape, or an empty floor.
    pub(super) fn undo(&mut self, mark: Mark, placed: Option<usize>) {
        let part = self.part;
        // A floor is recomputed when its last holder is gone, so the old one had no holders.
        for (section, before) in self.old_floors.drain(mark.floors..).rev() {
            self.floors[section as usize] = before;
            self.holders[section as usize] = 0;
        }
        let mut work = 0;
        for (shape, before) in self.old_bounds.drain(mark.bounds..).rev() {
            self.bounds[shape as usize] = before;
            for span in part.spans.of(shape as usize) {
                work += (span.upper - span.lower) / 4;
                let floors = &self.floors[span.lower..span.upper];
                for (holders, floor) in self.holders[span.lower..span.upper].iter_mut().zip(floors) {
                    *holders += u32::from(*floor == before);
                }
            }
        }
        self.spend(work);
        let Some(shape) = placed else { return };
        for span in part.spans.of(shape) {
            for section in span.lower..span.upper {
                self.unplaced_bytes[section] += span.size;
                self.n_unplaced[section] += 1;
            }
        }
        for crossing in &mut self.crossings[part.lower[shape] + 1..part.upper[shape]] {
            *crossing += 1;
        }
    }
}
