//! The way down: from a plan that is known to the lower bound, in rounds.
//!
//! A round asks for a plan at the least capacity that is not ruled out, then halves the distance to the best plan,
//! treating "not found" as "not here, this time". The next round has twice the nodes for each question. A plan lowers
//! the height, a proof raises the bound; where they meet, the plan is optimal.

use super::failed::Failed;
use super::height::Height;
use super::part::Part;
use super::race::{Answer, Lanes, Ledger, ask, lanes};
use crate::progress::Cancelled;

/// Nodes of an order in the first round, for each shape.
const NODES_PER_SHAPE: u64 = 4;

/// And for each order, however few shapes there are.
const NODES_AT_LEAST: u64 = 200;

/// A partition on its way down.
pub(super) struct Descent<T> {
    part: Part<T>,
    failed: [Failed; 2],
    round: u64,
    /// Where each shape of the best plan stands; empty as long as the plan is that of the start.
    offsets: Vec<T>,
    /// The height of the best plan; in bytes, because the first plan need not be a multiple of the unit.
    height: u64,
    /// Proved: no plan is lower. In units.
    bound: T,
}

/// What the line of partitions needs to know of each.
pub(super) trait Descend {
    /// Rounds so far.
    fn round(&self) -> u64;
    /// The height of the best plan, in bytes.
    fn height(&self) -> u64;
    /// The least height that is not ruled out, in bytes.
    fn bound(&self) -> u64;
    /// One round towards `goal` bytes; nothing below counts. With `is_only_goal`, no other capacity is asked.
    fn descend(&mut self, goal: u64, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled>;
    /// Writes the offsets that were found, in bytes, by item.
    fn write(&self, offsets: &mut [u64]);
}

impl<T: Height> Descent<T> {
    /// A partition with a plan of `height` bytes.
    pub(super) fn new(part: Part<T>, height: u64) -> Self {
        let sums = part.totals.iter().copied();
        let ends = (0..part.n_shapes()).filter_map(|shape| Some(part.fixed(shape)? + part.size[shape]));
        let bound = sums
            .chain(ends)
            .chain(part.size.iter().copied())
            .max()
            .unwrap_or(T::ZERO);
        Self {
            part,
            failed: <[Failed; 2]>::default(),
            round: 0,
            offsets: Vec::new(),
            height,
            bound,
        }
    }

    /// The highest capacity below the best plan.
    fn next_below(&self) -> T {
        T::of((self.height - 1) / self.part.unit)
    }
}

/// The capacities that a round still looks at, and the state that it changes.
struct Round<'a, T> {
    part: &'a Part<T>,
    lanes: Lanes<'a, T>,
    number: u64,
    nodes: u64,
    /// Plans below were not found in this round.
    low: T,
    /// The best plan has more than this.
    high: T,
    bound: T,
    found: Option<Vec<T>>,
}

impl<T: Height> Round<'_, T> {
    fn ask(&mut self, capacity: T, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let one = T::of(1);
        match ask(&mut self.lanes, capacity, (self.number, self.nodes), ledger)? {
            Answer::Plan(offsets) => {
                let ends = offsets
                    .iter()
                    .zip(&self.part.size)
                    .map(|(offset, size)| *offset + *size);
                let height = ends.max().unwrap_or(T::ZERO);
                self.high = if height > T::ZERO { height - one } else { height };
                self.found = Some(offsets);
            }
            Answer::Impossible => {
                self.bound = self.bound.max(capacity + one);
                self.low = self.low.max(self.bound);
            }
            Answer::Unknown => self.low = capacity + one,
        }
        Ok(())
    }
}

impl<T: Height> Descend for Descent<T> {
    fn round(&self) -> u64 {
        self.round
    }

    fn height(&self) -> u64 {
        self.height
    }

    fn bound(&self) -> u64 {
        self.bound.wide() * self.part.unit
    }

    fn descend(&mut self, goal: u64, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let goal = T::of(goal / self.part.unit);
        let n_shapes = self.part.n_shapes() as u64;
        let mut round = Round {
            part: &self.part,
            lanes: lanes(&self.part, std::mem::take(&mut self.failed)),
            number: self.round,
            nodes: (NODES_PER_SHAPE * n_shapes + NODES_AT_LEAST) << self.round.min(40),
            low: self.bound.max(goal),
            high: self.next_below(),
            bound: self.bound,
            found: None,
        };
        let outcome = round.run(goal, is_only_goal, ledger);
        let Round {
            lanes, found, bound, ..
        } = round;
        self.failed = lanes.map(|search| search.failed);
        self.bound = bound;
        self.round += 1;
        if let Some(offsets) = found {
            let ends = offsets
                .iter()
                .zip(&self.part.size)
                .map(|(offset, size)| *offset + *size);
            self.height = ends.max().unwrap_or(T::ZERO).wide() * self.part.unit;
            self.offsets = offsets;
        }
        outcome
    }

    fn write(&self, offsets: &mut [u64]) {
        for (item, offset) in self.part.items.iter().zip(&self.offsets) {
            offsets[*item as usize] = offset.wide() * self.part.unit;
        }
    }
}

impl<T: Height> Round<'_, T> {
    fn run(&mut self, goal: T, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        if is_only_goal {
            if goal < self.bound {
                return Ok(());
            }
            return self.ask(goal, ledger);
        }
        if self.low <= self.high {
            self.ask(self.low, ledger)?;
        }
        // Fine steps wait for the later rounds.
        let distance = self.high.wide().saturating_sub(self.low.wide());
        let step = distance >> (4 + self.number.min(59));
        while self.low <= self.high && !ledger.is_over() {
            let distance = self.high.wide() - self.low.wide();
            if distance < step {
                break;
            }
            self.ask(T::of(self.low.wide() + distance / 2), ledger)?;
        }
        Ok(())
    }
}
