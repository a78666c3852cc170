//! The descent from a known plan to the lower bound, in rounds.
//!
//! A round searches at the least capacity that is not excluded, then bisects the distance to the best plan, treating
//! "not found" as "not in this round". The next round has twice the nodes per search. A plan lowers the height, a proof
//! raises the bound; where they are equal, the plan is optimal.

use super::height::Height;
use super::part::Part;
use super::race::{Answer, Lanes, Ledger, try_orders};
use highwater_model::progress::Cancelled;

/// Nodes of an order in the first round, per shape.
const NODES_PER_SHAPE: u64 = 4;

/// Plus this many per order.
const NODES_AT_LEAST: u64 = 200;

/// State of a partition between rounds.
pub(super) struct Partition {
    /// The problem's items.
    pub(super) items: Vec<u32>,
    pub(super) round: u64,
    /// The height of the best plan, in bytes.
    pub(super) height: u64,
    /// Proved lower bound, in bytes.
    pub(super) bound: u64,
    /// It is too large to search.
    pub(super) is_beyond: bool,
}

impl Partition {
    /// Runs one round towards `goal` bytes; lower heights do not count. With `is_only_goal`, no other capacity is
    /// tried. Returns the offsets of a better plan, in bytes by item.
    pub(super) fn descend<T: Height>(
        &mut self,
        part: &Part<T>,
        lanes: &mut Lanes<'_, T>,
        goal: u64,
        is_only_goal: bool,
        ledger: &mut Ledger<'_>,
    ) -> Result<Vec<(u32, u64)>, Cancelled> {
        let goal = goal / part.grain;
        let bound = self.bound.div_ceil(part.grain);
        let mut round = Round {
            part,
            lanes,
            number: self.round,
            nodes: (NODES_PER_SHAPE * part.n_shapes() as u64 + NODES_AT_LEAST) << self.round.min(40),
            low: bound.max(goal),
            high: (self.height - 1) / part.grain,
            bound,
            found: None,
        };
        round.run(goal, is_only_goal, ledger)?;
        self.bound = self.bound.max(round.bound * part.grain);
        self.round += 1;
        let Some(offsets) = round.found else {
            return Ok(Vec::new());
        };
        self.height = height(part, &offsets);
        let offsets = offsets.iter().map(|offset| offset.wide() * part.unit);
        Ok(part.items.iter().copied().zip(offsets).collect())
    }
}

/// The capacities of a round, and its result.
struct Round<'a, 'l, T> {
    part: &'a Part<T>,
    lanes: &'a mut Lanes<'l, T>,
    number: u64,
    nodes: u64,
    /// Lower capacities were not found in this round. In grains, like the following fields.
    low: u64,
    /// The best plan is higher than this.
    high: u64,
    bound: u64,
    found: Option<Vec<T>>,
}

impl<T: Height> Round<'_, '_, T> {
    fn try_capacity(&mut self, capacity: u64, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        let bytes = capacity * self.part.grain;
        match try_orders(self.lanes, bytes, self.number, self.nodes, ledger)? {
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

    fn run(&mut self, goal: u64, is_only_goal: bool, ledger: &mut Ledger<'_>) -> Result<(), Cancelled> {
        if is_only_goal {
            if goal < self.bound {
                return Ok(());
            }
            return self.try_capacity(goal, ledger);
        }
        if self.low <= self.high {
            self.try_capacity(self.low, ledger)?;
        }
        // Later rounds take finer steps.
        let distance = self.high.saturating_sub(self.low);
        let step = distance >> (4 + self.number.min(59));
        while self.low <= self.high && !ledger.is_over() {
            let distance = self.high - self.low;
            if distance < step {
                break;
            }
            self.try_capacity(self.low + distance / 2, ledger)?;
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
