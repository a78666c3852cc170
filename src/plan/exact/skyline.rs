//! What is placed so far, seen from above: a lower bound of each unplaced shape's offset, and for each section the least
//! of these bounds, its *floor*. Nothing that is still to come stands below a floor.
//!
//! ```text
//!        +---+
//!   +----+ b |  . . .  floor: the least bound of the unplaced shapes that live here,
//!   | a      +--+         at least the top of what is placed; a valley is a run of
//!   +-----------+------   equal floors with higher ones on both sides
//! ```
//!
//! Two steps lead on, each with the bounds that follow from it; both say `false` when no plan is left:
//! * [`Skyline::place`] puts a shape at its bound. All that meet it have to stand above.
//! * [`Skyline::leave`] leaves the floor of a section empty. Everything there stands higher, and because some plan of
//!   least total offset exists if any plan does, nothing floats: a shape above its bound rests on an unplaced one.
//!
//! Both are judged by the sum rule: floor plus unplaced sizes within the capacity, in every section.

use super::height::Height;
use super::part::Part;

/// Most neighbors looked at to find where the shapes of one section can rest; beyond, one bound serves all.
const MOST_RESTS: usize = 8_000_000;

/// A point to return to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    bounds: usize,
    floors: usize,
}

/// The skyline of a partition.
pub(super) struct Skyline<'a, T> {
    pub(super) part: &'a Part<T>,
    /// In units, rounded up; `last` says more.
    pub(super) capacity: T,
    /// The highest offset of each shape within the capacity.
    last: Vec<T>,
    /// The shapes that are live in each section, unplaced ones in front: see `n_unplaced`.
    live: Vec<u32>,
    n_unplaced: Vec<u32>,
    /// The least offset of each unplaced shape; [`Height::MAX`] once it is placed.
    pub(super) bounds: Vec<T>,
    /// Where each placed shape stands.
    pub(super) offsets: Vec<T>,
    /// The least bound of the unplaced shapes in each section.
    pub(super) floors: Vec<T>,
    /// How many unplaced shapes have it.
    pub(super) holders: Vec<u32>,
    /// The sum of unplaced sizes in each section.
    pub(super) rest: Vec<T>,
    /// How many unplaced shapes live on both sides of the start of each section.
    pub(super) crossings: Vec<u32>,
    /// How often each section was the one in which a step failed.
    pub(super) failures: Vec<u32>,
    /// Inner operations so far, for whoever looks at flags now and then.
    pub(super) work: usize,
    old_bounds: Vec<(u32, T)>,
    old_floors: Vec<(u32, T)>,
    rests: Vec<(u32, T)>,
}

impl<'a, T: Height> Skyline<'a, T> {
    /// Nothing is placed.
    pub(super) fn new(part: &'a Part<T>) -> Self {
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
            rest: part.totals.clone(),
            crossings: vec![0; n_sections + 1],
            failures: vec![0; n_sections],
            work: 0,
            old_bounds: Vec::new(),
            old_floors: Vec::new(),
            rests: Vec::new(),
        };
        for shape in 0..n_shapes {
            for section in part.lower[shape] + 1..part.upper[shape] {
                skyline.crossings[section] += 1;
            }
        }
        for section in 0..n_sections {
            skyline.n_unplaced[section] = u32::try_from(part.live.of(section).len()).unwrap_or(u32::MAX);
            skyline.find_floor(section);
        }
        skyline
    }

    /// Begins a search within `bytes`, with nothing placed; `false` if a shape or a section's sum is too large.
    pub(super) fn begin(&mut self, bytes: u64) -> bool {
        let part = self.part;
        self.capacity = T::of(bytes.div_ceil(part.unit));
        self.failures.fill(0);
        self.live.copy_from_slice(&part.live.values);
        for shape in 0..part.n_shapes() {
            let Some(room) = bytes.checked_sub(part.bytes[shape]) else {
                return false;
            };
            self.last[shape] = T::of(room / part.unit);
            if self.bounds[shape] > self.last[shape] {
                return false;
            }
        }
        (0..self.rest.len()).all(|section| self.slack(section).is_some())
    }

    /// The unplaced shapes that are live in a section, in no particular order.
    pub(super) fn unplaced(&self, section: usize) -> &[u32] {
        let start = self.part.live.starts()[section];
        &self.live[start..start + self.n_unplaced[section] as usize]
    }

    /// What may still be left empty in a section; `None` where the sum rule is broken.
    pub(super) fn slack(&self, section: usize) -> Option<T> {
        let (rest, floor) = (self.rest[section], self.floors[section]);
        if rest == T::ZERO {
            return Some(self.capacity);
        }
        let room = (rest <= self.capacity).then(|| self.capacity - rest)?;
        (floor <= room).then(|| room - floor)
    }

    /// Puts an unplaced shape at its bound. `component` is the run of sections that its component covers.
    pub(super) fn place(&mut self, shape: usize, component: (usize, usize)) -> bool {
        let part = self.part;
        let offset = self.bounds[shape];
        self.offsets[shape] = offset;
        for span in part.spans.of(shape) {
            for section in span.lower..span.upper {
                self.rest[section] -= span.size;
                self.remove(section, shape);
            }
        }
        for crossing in &mut self.crossings[part.lower[shape] + 1..part.upper[shape]] {
            *crossing -= 1;
        }
        self.lift(shape, T::MAX);
        self.work += part.neighbors.of(shape).len();
        for (other, distance) in part.neighbors.of(shape) {
            if self.bounds[*other as usize] < offset + *distance && !self.raise(*other as usize, offset + *distance) {
                return false;
            }
        }
        self.settle(component)
    }

    /// Leaves the floor of a section empty.
    pub(super) fn leave(&mut self, section: usize, component: (usize, usize)) -> bool {
        let part = self.part;
        let Some(slack) = self.slack(section) else { return false };
        let floor = self.floors[section];
        let (least, is_costly) = self.least_rest(section, component);
        if least > floor && least - floor > slack {
            return false;
        }
        let mut next = T::MAX;
        self.rests.clear();
        for position in 0..self.unplaced(section).len() {
            let number = self.unplaced(section)[position];
            let shape = number as usize;
            if self.bounds[shape] > floor {
                next = next.min(self.bounds[shape]);
                continue;
            }
            if part.fixed(shape).is_some() {
                return false;
            }
            let (rest, first) = if is_costly {
                (least, least)
            } else {
                self.lowest_rest(shape, section)
            };
            self.rests.push((number, rest));
            next = next.min(first);
        }
        if next == T::MAX || next - floor > slack {
            return false;
        }
        let rests = std::mem::take(&mut self.rests);
        let mut is_open = true;
        for (number, rest) in &rests {
            is_open = is_open && self.raise(*number as usize, next.max(*rest));
        }
        self.rests = rests;
        is_open && self.settle(component)
    }

    /// No floor of a section that is left empty rises to less than this: the lowest of the higher bounds there and of
    /// the tops of shapes next to it in its valley. And whether looking at each shape's neighbors would be costly.
    fn least_rest(&mut self, section: usize, (lower, upper): (usize, usize)) -> (T, bool) {
        let part = self.part;
        if !part.is_plain() {
            return (T::ZERO, false);
        }
        let floor = self.floors[section];
        let (mut start, mut end) = (section, section + 1);
        while start > lower && self.floors[start - 1] == floor {
            start -= 1;
        }
        while end < upper && self.floors[end] == floor {
            end += 1;
        }
        let mut least = T::MAX;
        for shape in part.starts[lower]..part.starts[end] {
            let bound = self.bounds[shape];
            let is_here = part.lower[shape] <= section && section < part.upper[shape];
            if part.upper[shape] <= start || bound == T::MAX {
                continue;
            }
            if !is_here {
                least = least.min(bound + self.distance(shape, shape));
            } else if bound > floor {
                least = least.min(bound);
            }
        }
        let n_shapes = part.starts[upper] - part.starts[lower];
        self.work += n_shapes;
        let shapes = self
            .unplaced(section)
            .iter()
            .map(|shape| part.neighbors.of(*shape as usize).len());
        (least, shapes.sum::<usize>() > MOST_RESTS)
    }

    /// The lowest offset above its bound at which a shape can rest on an unplaced one, and the same if it is the
    /// lowest in a section.
    fn lowest_rest(&mut self, shape: usize, section: usize) -> (T, T) {
        let part = self.part;
        let (mut any, mut first) = (T::MAX, T::MAX);
        self.work += part.neighbors.of(shape).len();
        for (other, _) in part.neighbors.of(shape) {
            let below = *other as usize;
            if self.bounds[below] == T::MAX {
                continue;
            }
            let top = self.bounds[below] + self.distance(below, shape);
            any = any.min(top);
            let spans = part.spans.of(below);
            if !spans.iter().any(|span| span.lower <= section && section < span.upper) {
                first = first.min(top);
            }
        }
        let align = |top: T| if top == T::MAX { top } else { part.align_up(shape, top) };
        (align(any), align(first))
    }

    /// How far `above` stands above `below` at least.
    fn distance(&self, below: usize, above: usize) -> T {
        let spans = self.part.spans.of(below);
        if let [span] = spans {
            return span.size;
        }
        let neighbors = self.part.neighbors.of(below);
        let position = neighbors.partition_point(|(other, _)| (*other as usize) < above);
        neighbors.get(position).map_or(T::ZERO, |(_, distance)| *distance)
    }

    /// Raises a bound to `offset` or the next at which the shape may stand.
    fn raise(&mut self, shape: usize, offset: T) -> bool {
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
        true
    }

    fn lift(&mut self, shape: usize, offset: T) {
        let before = std::mem::replace(&mut self.bounds[shape], offset);
        self.old_bounds.push((u32::try_from(shape).unwrap_or(u32::MAX), before));
        for span in self.part.spans.of(shape) {
            self.work += (span.upper - span.lower) / 4;
            let floors = &self.floors[span.lower..span.upper];
            for (holders, floor) in self.holders[span.lower..span.upper].iter_mut().zip(floors) {
                *holders -= u32::from(*floor == before);
            }
        }
    }

    /// Finds the floors that nobody holds any more.
    fn settle(&mut self, (lower, upper): (usize, usize)) -> bool {
        self.work += upper - lower;
        for section in lower..upper {
            if self.holders[section] == 0 && self.floors[section] != T::MAX {
                let number = u32::try_from(section).unwrap_or(u32::MAX);
                self.old_floors.push((number, self.floors[section]));
                self.find_floor(section);
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
        // Where nothing is left, nobody holds the floor.
        let holders = bounds.map(|bound| u32::from(bound == floor)).sum();
        self.work += self.unplaced(section).len();
        self.floors[section] = floor;
        self.holders[section] = holders;
    }

    /// Moves a shape behind the unplaced ones of a section. Steps are taken back in reverse, so counting one more is
    /// enough to have it back.
    fn remove(&mut self, section: usize, shape: usize) {
        let start = self.part.live.starts()[section];
        self.n_unplaced[section] -= 1;
        let last = start + self.n_unplaced[section] as usize;
        if let Some(position) = self.live[start..last].iter().position(|other| *other as usize == shape) {
            self.live.swap(start + position, last);
        }
    }

    /// Where the trail stands, before a step.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            bounds: self.old_bounds.len(),
            floors: self.old_floors.len(),
        }
    }

    /// Takes back the step after `mark`: the placement of a shape, or a floor that was left.
    pub(super) fn undo(&mut self, mark: Mark, placed: Option<usize>) {
        let part = self.part;
        // A floor is found anew when nobody holds it any more, so nobody held the old one.
        for (section, before) in self.old_floors.drain(mark.floors..).rev() {
            self.floors[section as usize] = before;
            self.holders[section as usize] = 0;
        }
        for (shape, before) in self.old_bounds.drain(mark.bounds..).rev() {
            self.bounds[shape as usize] = before;
            for span in part.spans.of(shape as usize) {
                let floors = &self.floors[span.lower..span.upper];
                for (holders, floor) in self.holders[span.lower..span.upper].iter_mut().zip(floors) {
                    *holders += u32::from(*floor == before);
                }
            }
        }
        let Some(shape) = placed else { return };
        for span in part.spans.of(shape) {
            for section in span.lower..span.upper {
                self.rest[section] += span.size;
                self.n_unplaced[section] += 1;
            }
        }
        for crossing in &mut self.crossings[part.lower[shape] + 1..part.upper[shape]] {
            *crossing += 1;
        }
    }
}
