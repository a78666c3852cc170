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
    /// The height of the best plan, in bytes.
    height: u64,
    /// Proved: no plan is lower. In grains.
    bound: u64,
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
    /// Gives back the memory of what failed.
    fn forget(&mut self);
    /// Writes the offsets that were found, in bytes, by item.
    fn write(&self, offsets: &mut [u64]);
}

impl<T: Height> Descent<T> {
    /// A partition with a plan of `height` bytes.
    pub(super) fn new(part: Part<T>, height: u64) -> Self {
        Self {
            bound: part.bound.div_ceil(part.grain),
            part,
            failed: <[Failed; 2]>::default(),
            round: 0,
            offsets: Vec::new(),
            height,
        }
    }
}

/// The capacities that a round still looks at, and the state that it changes.
struct Round<'a, T> {
    part: &'a Part<T>,
    lanes: Lanes<'a, T>,
    number: u64,
    nodes: u64,
    /// Plans below were not found in this round. This and what follows in grains.
    low: u64,
    /// The best plan has more than this.
    high: u64,
    bound: u64,
    found: Option<Vec<T>>,
}

impl<T: Height> Round<'_, T> {
    fn ask(&mut self, capacity: u64, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let bytes = capacity * self.part.grain;
        match ask(&mut self.lanes, bytes, (self.number, self.nodes), ledger)? {
            Answer::Plan(offsets) => {
                self.high = (height(self.part, &offsets) / self.part.grain).saturating_sub(1);
                self.found = Some(offsets);
            }
            Answer::Impossible => {
                self.bound = self.bound.max(capacity + 1);
                self.low = self.low.max(self.bound);
            }
            Answer::Unknown => self.low = capacity + 1,
        }
        Ok(())
    }
}

/// The highest end, in bytes.
fn height<T: Height>(part: &Part<T>, offsets: &[T]) -> u64 {
    let ends = offsets.iter().zip(&part.bytes);
    ends.map(|(offset, size)| offset.wide() * part.unit + size)
        .max()
        .unwrap_or(0)
}

impl<T: Height> Descend for Descent<T> {
    fn round(&self) -> u64 {
        self.round
    }

    fn height(&self) -> u64 {
        self.height
    }

    fn bound(&self) -> u64 {
        self.bound * self.part.grain
    }

    fn descend(&mut self, goal: u64, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let goal = goal / self.part.grain;
        let n_shapes = self.part.n_shapes() as u64;
        let mut round = Round {
            part: &self.part,
            lanes: lanes(&self.part, std::mem::take(&mut self.failed)),
            number: self.round,
            nodes: (NODES_PER_SHAPE * n_shapes + NODES_AT_LEAST) << self.round.min(40),
            low: self.bound.max(goal),
            high: (self.height - 1) / self.part.grain,
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
            self.height = height(&self.part, &offsets);
            self.offsets = offsets;
        }
        outcome
    }

    fn forget(&mut self) {
        self.failed = <[Failed; 2]>::default();
    }

    fn write(&self, offsets: &mut [u64]) {
        for (item, offset) in self.part.items.iter().zip(&self.offsets) {
            offsets[*item as usize] = offset.wide() * self.part.unit;
        }
    }
}

impl<T: Height> Round<'_, T> {
    fn run(&mut self, goal: u64, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
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
        let distance = self.high.saturating_sub(self.low);
        let step = distance >> (4 + self.number.min(59));
        while self.low <= self.high && !ledger.is_over() {
            let distance = self.high - self.low;
            if distance < step {
                break;
            }
            self.ask(self.low + distance / 2, ledger)?;
        }
        Ok(())
    }
}
