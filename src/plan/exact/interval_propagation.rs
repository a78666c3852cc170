//! Propagation after leaving the floor of a section empty: every remaining shape of the section is higher, on top of an
//! unplaced one. O(neighbours of the shapes at the floor), beyond [`MAX_SUPPORTS`] O(shapes of the component).

use super::height::Height;
use super::part::{Neighbours, Sections};
use super::skyline::Skyline;

/// Most neighbours read to find the supports of a section's shapes; beyond, one bound serves all.
const MAX_SUPPORTS: usize = 8_000_000;

impl<T: Height> Skyline<'_, T> {
    /// Leaves the floor of a section empty; `false` when no plan is left.
    pub(super) fn leave(&mut self, section: usize, component: Sections) -> bool {
        let part = self.part;
        let Some(slack) = self.slack(section) else { return false };
        let floor = self.floors[section];
        let (least, is_costly) = self.least_support(section, component);
        if least > floor && least - floor > slack {
            return false;
        }
        let mut next = T::MAX;
        self.supports.clear();
        for position in 0..self.unplaced(section).len() {
            if !self.spend(1) {
                return false;
            }
            let number = self.unplaced(section)[position];
            let shape = number as usize;
            if self.bounds[shape] > floor {
                next = next.min(self.bounds[shape]);
                continue;
            }
            if part.fixed(shape).is_some() {
                return false;
            }
            let (support, first) = if is_costly {
                (least, least)
            } else {
                self.lowest_support(shape, section)
            };
            self.supports.push((number, support));
            next = next.min(first);
        }
        if next == T::MAX || next - floor > slack {
            return false;
        }
        let supports = std::mem::take(&mut self.supports);
        let mut is_open = true;
        for (number, support) in &supports {
            is_open = is_open && self.raise(*number as usize, next.max(*support));
        }
        self.supports = supports;
        is_open && self.settle(component)
    }

    /// A lower bound of the next floor of a section that is left empty: the lowest of the higher bounds in it and of
    /// the tops of adjacent shapes in its valley. Also returns whether reading each shape's neighbours would be costly.
    fn least_support(&mut self, section: usize, Sections { lower, upper }: Sections) -> (T, bool) {
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
                least = least.min(bound + part.distance(shape, shape));
            } else if bound > floor {
                least = least.min(bound);
            }
        }
        self.spend(part.starts[end] - part.starts[lower] + self.unplaced(section).len());
        let shapes = self
            .unplaced(section)
            .iter()
            .map(|shape| part.n_neighbours(*shape as usize));
        (least, shapes.sum::<usize>() > MAX_SUPPORTS)
    }

    /// The lowest offset above its bound at which a shape can be on top of an unplaced one, and the same for the lowest
    /// shape of a section.
    fn lowest_support(&mut self, shape: usize, section: usize) -> (T, T) {
        let part = self.part;
        let (mut any, mut first) = (T::MAX, T::MAX);
        self.spend(part.n_neighbours(shape));
        let mut consider = |below: usize| {
            if self.bounds[below] == T::MAX || below == shape {
                return;
            }
            let top = self.bounds[below] + part.distance(below, shape);
            any = any.min(top);
            let spans = part.spans.of(below);
            if !spans.iter().any(|span| span.lower <= section && section < span.upper) {
                first = first.min(top);
            }
        };
        match part.neighbours(shape) {
            Neighbours::Rectangle(live, later) => {
                for below in live.iter().map(|below| *below as usize).chain(later) {
                    consider(below);
                }
            }
            Neighbours::Pairs(pairs) => {
                for (below, _) in pairs {
                    consider(*below as usize);
                }
            }
        }
        let align = |top: T| if top == T::MAX { top } else { part.align_up(shape, top) };
        (align(any), align(first))
    }
}
