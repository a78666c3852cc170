//! The search at one capacity: branches on which shape is at the floor of a section.
//!
//! A node chooses one section at the bottom of a valley: every plan has there either one of the unplaced shapes whose
//! bound is the floor, or an empty floor. These are the branches, so no plan is reached twice, and any section may be
//! chosen: the one with the fewest branches relative to its failures comes first. A shape at the floor of a valley lies
//! within the valley, so nothing can be below it. (Shapes with gaps may lie in several valleys, so for them only the
//! lowest floors are branched on.)
//!
//! The remaining shapes fall into *components* that no unplaced shape connects. They are solved one after the other,
//! the one with the least slack first; where one has no plan, the search backtracks to the step that separated it, past
//! all steps of its siblings. Failed states are remembered (see [`super::failed`]).
//!
//! Pruning: the sum rule and supports (see [`super::skyline`]), equal shapes in one order only, and a rectangle across
//! a whole flat component goes to the bottom (shapes below it in a plan can be moved above it).

use super::failed::{Failed, Key, key};
use super::flags::EndFlags;
use super::height::Height;
use super::order::Order;
use super::part::{Part, Sections};
use super::skyline::{Mark, Skyline};

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The offsets are a plan.
    Found,
    /// Proved: no plan within the capacity.
    Impossible,
    OutOfNodes,
    /// The caller ended it.
    Ended,
}

/// Limits of a search.
pub(super) struct Budget<'a> {
    pub(super) nodes: u64,
    /// Whether to end at once; called at every branch.
    pub(super) is_over: &'a dyn Fn() -> bool,
}

/// Most inner operations per node: where components are large, or thousands of branches fail at once, more nodes are
/// counted than were opened, so that nodes bound the time.
pub(super) const WORK_PER_NODE: usize = 50_000;

/// A pending component: a linked list in a vector, so that backtracking truncates it.
#[derive(Clone, Copy)]
struct PendingComponent {
    component: Sections,
    /// The node whose step separated it.
    parent: Option<usize>,
    next: Option<usize>,
}

struct Node {
    component: Sections,
    parent: Option<usize>,
    /// Pending components besides this one.
    pending: Option<usize>,
    section: usize,
    /// Shapes of this rank and above are not tried yet.
    next_rank: u32,
    /// The only shape to try.
    forced: Option<usize>,
    /// Whether the empty floor is still to be tried.
    may_leave: bool,
    placed: Option<usize>,
    key: Key,
    mark: Mark,
    n_pending: usize,
}

/// Consecutive searches of a partition; failed states are kept between them.
pub(super) struct Search<'a, T> {
    pub(super) skyline: Skyline<'a, T>,
    pub(super) failed: Failed,
    /// Opened nodes.
    n_opened: u64,
    /// The skyline's work before this search.
    work_before: usize,
    /// In bytes.
    capacity: u64,
    rank: Vec<u32>,
    previous_equal: Vec<u32>,
    is_slack_first: bool,
    stack: Vec<Node>,
    pending: Vec<PendingComponent>,
    parts: Vec<(T, Sections)>,
}

impl<'a, T: Height> Search<'a, T> {
    pub(super) fn new(part: &'a Part<T>, flags: EndFlags<'a>) -> Self {
        Self {
            skyline: Skyline::new(part, flags),
            failed: Failed::default(),
            n_opened: 0,
            work_before: 0,
            capacity: 0,
            rank: Vec::new(),
            previous_equal: Vec::new(),
            is_slack_first: true,
            stack: Vec::new(),
            pending: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Nodes of the last search, at most those of its budget.
    pub(super) fn nodes(&self, budget: &Budget<'_>) -> u64 {
        self.n_opened.max(self.work()).min(budget.nodes)
    }

    /// Work so far, in nodes.
    fn work(&self) -> u64 {
        ((self.skyline.work - self.work_before) / WORK_PER_NODE) as u64
    }

    /// Why a search must end without an answer.
    fn halt(&self, budget: &Budget<'_>) -> Option<Verdict> {
        if self.skyline.is_over || (budget.is_over)() {
            Some(Verdict::Ended)
        } else if self.nodes(budget) >= budget.nodes {
            Some(Verdict::OutOfNodes)
        } else {
            None
        }
    }

    /// Searches for a plan within `capacity` bytes from the start, with its own node count.
    pub(super) fn run(&mut self, capacity: u64, order: &Order, budget: &Budget<'_>) -> Verdict {
        (self.n_opened, self.work_before) = (0, self.skyline.work);
        while let Some(node) = self.stack.last() {
            if self.skyline.is_over || (budget.is_over)() {
                return Verdict::Ended;
            }
            self.skyline.undo(node.mark, node.placed);
            self.stack.pop();
        }
        self.work_before = self.skyline.work;
        self.pending.clear();
        self.rank.clone_from(&order.rank);
        self.previous_equal.clone_from(&order.previous_equal);
        self.is_slack_first = order.is_slack_first;
        self.capacity = capacity;
        let is_open = self.skyline.begin(capacity);
        if let Some(verdict) = self.halt(budget) {
            return verdict;
        }
        if !is_open {
            return Verdict::Impossible;
        }
        let whole = Sections {
            lower: 0,
            upper: self.skyline.part.n_sections(),
        };
        let mut agenda = self.split(whole, None, None);
        while let Some(head) = agenda {
            if let Some(verdict) = self.halt(budget) {
                return verdict;
            }
            let top = match self.open(head) {
                Ok(()) => self.stack.len().checked_sub(1),
                Err(parent) => self.backtrack_to(parent),
            };
            match self.step(top, budget) {
                Ok(pending) => agenda = pending,
                Err(verdict) => return verdict,
            }
        }
        Verdict::Found
    }

    /// Takes the next branch that does not fail at once, at `top` or after backtracking. Returns the pending
    /// components.
    fn step(&mut self, mut top: Option<usize>, budget: &Budget<'_>) -> Result<Option<usize>, Verdict> {
        loop {
            if self.skyline.is_over || (budget.is_over)() {
                return Err(Verdict::Ended);
            }
            if self.work() >= budget.nodes {
                return Err(Verdict::OutOfNodes);
            }
            let idx = top.ok_or(Verdict::Impossible)?;
            let node = &mut self.stack[idx];
            let (component, section) = (node.component, node.section);
            self.skyline.work += self.skyline.unplaced(section).len();
            let is_open = if let Some(shape) = next_branch(node, &self.skyline, &self.rank, &self.previous_equal) {
                node.next_rank = self.rank[shape] + 1;
                node.placed = Some(shape);
                self.skyline.place(shape, component)
            } else if std::mem::replace(&mut node.may_leave, false) {
                node.placed = None;
                self.skyline.leave(section, component)
            } else {
                let (key, parent) = (node.key, node.parent);
                self.failed.insert(key, self.capacity);
                top = self.backtrack_to(parent);
                continue;
            };
            if self.skyline.is_over {
                return Err(Verdict::Ended);
            }
            if is_open {
                let pending = self.stack[idx].pending;
                return Ok(self.split(component, Some(idx), pending));
            }
            self.undo_step(idx);
        }
    }

    /// Pops all nodes above `parent` and undoes its step.
    fn backtrack_to(&mut self, parent: Option<usize>) -> Option<usize> {
        let idx = parent?;
        while self.stack.len() > idx + 1 && !self.skyline.is_over {
            self.undo_step(self.stack.len() - 1);
            self.stack.pop();
        }
        self.undo_step(idx);
        let node = &self.stack[idx];
        self.pending.truncate(node.n_pending);
        Some(idx)
    }

    fn undo_step(&mut self, idx: usize) {
        let node = &mut self.stack[idx];
        self.skyline.undo(node.mark, node.placed.take());
    }

    /// Splits a run of sections where no unplaced shape connects both sides; the components precede `pending`.
    fn split(&mut self, component: Sections, parent: Option<usize>, pending: Option<usize>) -> Option<usize> {
        let Sections { lower, upper } = component;
        self.parts.clear();
        self.skyline.work += upper - lower;
        let skyline = &self.skyline;
        let mut end = lower;
        while end < upper {
            let start = end;
            let mut least = skyline.capacity;
            let mut is_empty = true;
            while end == start || (end < upper && skyline.crossings[end] > 0) {
                is_empty &= skyline.unplaced_bytes[end] == T::ZERO;
                least = least.min(skyline.slack(end).unwrap_or(T::ZERO));
                end += 1;
            }
            if !is_empty {
                self.parts.push((
                    least,
                    Sections {
                        lower: start,
                        upper: end,
                    },
                ));
            }
        }
        self.parts
            .sort_unstable_by_key(|(least, sections)| (*least, sections.lower));
        let mut next = pending;
        for (_, component) in self.parts.iter().rev() {
            self.pending.push(PendingComponent {
                component: *component,
                parent,
                next,
            });
            next = Some(self.pending.len() - 1);
        }
        next
    }

    /// Opens the node of a component; where its state is known to fail, returns the node whose step separated it.
    fn open(&mut self, head: usize) -> Result<(), Option<usize>> {
        let PendingComponent {
            component,
            parent,
            next,
        } = self.pending[head];
        self.n_opened += 1;
        let key = self.key(component);
        if self.failed.contains(key, self.capacity) {
            return Err(parent);
        }
        let section = self.choose(component);
        self.skyline.work += component.upper - component.lower + self.skyline.unplaced(section).len();
        let forced = self.forced(section, component);
        let slack = self.skyline.slack(section);
        self.stack.push(Node {
            component,
            parent,
            pending: next,
            section,
            next_rank: 0,
            forced,
            may_leave: forced.is_none() && slack.is_some_and(|slack| slack > T::ZERO),
            placed: None,
            key,
            mark: self.skyline.mark(),
            n_pending: self.pending.len(),
        });
        Ok(())
    }

    /// A rectangle across a whole flat component, which goes to the bottom.
    fn forced(&self, section: usize, Sections { lower, upper }: Sections) -> Option<usize> {
        let skyline = &self.skyline;
        let part = skyline.part;
        let floor = skyline.floors[section];
        let is_across = |shape: &usize| (part.lower[*shape], part.upper[*shape]) == (lower, upper);
        if !part.is_plain() || skyline.floors[lower..upper].iter().any(|other| *other != floor) {
            return None;
        }
        let shapes = skyline.unplaced(section).iter().map(|shape| *shape as usize);
        shapes
            .filter(|shape| skyline.bounds[*shape] == floor && is_across(shape))
            .min_by_key(|shape| self.rank[*shape])
    }

    /// The section to branch on: in a valley, fewest branches relative to failures.
    fn choose(&mut self, Sections { lower, upper }: Sections) -> usize {
        let skyline = &mut self.skyline;
        skyline.work += upper - lower;
        let floors = &skyline.floors;
        let lowest = skyline
            .part
            .has_gaps
            .then(|| floors[lower..upper].iter().min().copied())
            .flatten();
        let mut best: Option<((u64, T, T), usize)> = None;
        let mut end = lower;
        while end < upper {
            let start = end;
            let floor = floors[start];
            while end < upper && floors[end] == floor {
                end += 1;
            }
            let is_valley = match lowest {
                Some(lowest) => floor == lowest,
                None => (start == lower || floors[start - 1] > floor) && (end == upper || floors[end] > floor),
            };
            if !is_valley || floor == T::MAX {
                continue;
            }
            for section in start..end {
                let slack = skyline.slack(section).unwrap_or(T::ZERO);
                let n_branches = u64::from(skyline.holders[section]) + u64::from(slack > T::ZERO);
                let score = match skyline.failures[section] {
                    0 => n_branches << 20,
                    failures => (n_branches << 20) / u64::from(failures + 1),
                };
                let (second, third) = if self.is_slack_first {
                    (slack, floor)
                } else {
                    (floor, slack)
                };
                if best.is_none_or(|(least, _)| (score, second, third) < least) {
                    best = Some(((score, second, third), section));
                }
            }
        }
        best.map_or(lower, |(_, section)| section)
    }

    /// Hash of the unplaced shapes of a component with their bounds.
    fn key(&mut self, Sections { lower, upper }: Sections) -> Key {
        let skyline = &mut self.skyline;
        let (first, last) = (skyline.part.starts[lower], skyline.part.starts[upper]);
        skyline.work += last - first;
        let bounds = (first as u64..).zip(&skyline.bounds[first..last]);
        let unplaced = bounds.filter(|(_, bound)| **bound != T::MAX);
        key(unplaced.map(|(place, bound)| (place + 1, bound.wide())))
    }
}

/// The next shape to try at the floor of a node's section, by rank. Of equal shapes only the first unplaced one is
/// tried: they are placed by rank and have equal bounds.
fn next_branch<T: Height>(
    node: &Node,
    skyline: &Skyline<'_, T>,
    rank: &[u32],
    previous_equal: &[u32],
) -> Option<usize> {
    if let Some(shape) = node.forced {
        return (node.next_rank == 0).then_some(shape);
    }
    let shapes = skyline.unplaced(node.section).iter().map(|shape| *shape as usize);
    let floor = skyline.floors[node.section];
    let is_first = |shape: usize| {
        let previous_equal = previous_equal[shape] as usize;
        previous_equal == shape || skyline.bounds[previous_equal] == T::MAX
    };
    shapes
        .filter(|shape| rank[*shape] >= node.next_rank && skyline.bounds[*shape] == floor && is_first(*shape))
        .min_by_key(|shape| rank[*shape])
}
