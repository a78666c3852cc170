//! Sums of own costs over the evicted storages that can be reached through evicted ones: what DTR and MSPS count.
//!
//! In: changes. Out: exact sums on demand, each by one walk; and bounds that hold without a walk. Why the bounds hold:
//! when something is evicted, sums only grow. When a storage becomes resident, the op that computes it has all its inputs
//! there, so it is reached along parents by nothing further up: sums along parents lose at most its own cost (they fade:
//! all own costs that returned add up to the offset), and sums along children change for its parents alone. Where that
//! is not so (a storage with views that have other parents), all bounds start anew.

use super::pool::{Bound, Pool};
use super::rule::Change;
use super::storage_state::StorageState;

/// Sums along parents that are larger are taken for this in bounds: up to twice this floats are exact.
const MOST_FADING: u64 = 1 << 52;

/// See the module's header.
pub(super) struct Reach {
    /// Whether sums along children count too.
    has_children: bool,
    /// Counts changes after which a sum may be another one.
    epoch: u64,
    /// When each storage's numerator was worked out last.
    exact_at: Vec<u64>,
    exact: Vec<i128>,
    bounds: Vec<Bound>,
    /// Own costs that returned.
    offset: u64,
    /// Numerators worked out so far, and how many these were when the last op was called.
    n_sums: u64,
    n_sums_at_call: u64,
    walk: Walk,
}

impl Reach {
    pub(super) fn new(n_storages: usize, n_ops: usize, has_children: bool) -> Self {
        Self {
            has_children,
            epoch: 1,
            exact_at: vec![0; n_storages],
            exact: vec![0; n_storages],
            bounds: vec![Bound::default(); n_storages],
            offset: 0,
            n_sums: 0,
            n_sums_at_call: 0,
            walk: Walk {
                seen: vec![0; n_storages],
                seen_ops: vec![0; n_ops],
                mark: 0,
                stack: Vec::new(),
            },
        }
    }

    pub(super) fn bound(&self, states: &StorageState<'_>, storage: u32) -> Bound {
        let known = self.bounds[storage as usize];
        let own = float(states.cost[storage as usize]);
        Bound {
            firm: if known.firm > own { known.firm } else { own },
            fading: known.fading,
        }
    }

    pub(super) fn offset(&self) -> f64 {
        float(self.offset)
    }

    pub(super) fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool) {
        self.epoch += 1;
        match change {
            Change::Called(op) => {
                self.n_sums_at_call = self.n_sums;
                for storage in states.wiring.writes.of(op) {
                    pool.set(*storage, self.bound(states, *storage));
                }
            }
            // What is evicted was in the pool: its numerator starts anew when it returns.
            Change::Evicted(storage) => self.bounds[storage as usize] = Bound::default(),
            Change::Returned(storage) => self.returned(states, storage, pool),
            Change::Lost(_) => self.start_anew(states, pool),
        }
    }

    fn returned(&mut self, states: &StorageState<'_>, storage: u32, pool: &mut Pool) {
        let is_new = states.wiring.makers.of(storage).first() == states.n_called.checked_sub(1).as_ref();
        if is_new && self.n_sums == self.n_sums_at_call {
            return;
        }
        self.offset = self.offset.saturating_add(states.cost[storage as usize]);
        if self.offset > MOST_FADING || states.parents(storage).any(|parent| states.is_evicted(parent)) {
            self.start_anew(states, pool);
            return;
        }
        if self.has_children {
            for parent in states.parents(storage) {
                self.bounds[parent as usize].firm = 0.0;
                pool.set(parent, self.bound(states, parent));
            }
        }
    }

    fn start_anew(&mut self, states: &StorageState<'_>, pool: &mut Pool) {
        self.offset = 0;
        self.bounds.fill(Bound::default());
        for slot in 0..pool.n_slots() {
            if let Some(storage) = pool.storage(slot) {
                pool.set(storage, self.bound(states, storage));
            }
        }
    }

    /// Own cost and sums of a storage.
    pub(super) fn numerator(&mut self, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> i128 {
        let number = storage as usize;
        if self.exact_at[number] == self.epoch {
            return self.exact[number];
        }
        self.n_sums += 1;
        let own = i128::from(states.cost[number]);
        let children = if self.has_children {
            self.walk.children(states, storage)
        } else {
            0
        };
        let parents = self.walk.parents(states, storage);
        self.exact_at[number] = self.epoch;
        self.exact[number] = own.saturating_add(children).saturating_add(parents);
        let fading = u64::try_from(parents).unwrap_or(u64::MAX).min(MOST_FADING);
        #[expect(
            clippy::cast_precision_loss,
            reason = "a bound; decisions are made with whole numbers"
        )]
        let firm = (own + children) as f64;
        self.bounds[number] = Bound {
            firm,
            fading: float(fading + self.offset),
        };
        pool.set(storage, self.bounds[number]);
        self.exact[number]
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a bound; decisions are made with whole numbers"
)]
fn float(number: u64) -> f64 {
    number as f64
}

/// One walk at a time, over storages and ops, each visited once.
struct Walk {
    seen: Vec<u64>,
    seen_ops: Vec<u64>,
    mark: u64,
    stack: Vec<u32>,
}

impl Walk {
    fn children(&mut self, states: &StorageState<'_>, from: u32) -> i128 {
        self.start(from);
        let mut sum = 0;
        while let Some(storage) = self.stack.pop() {
            for op in states.readers(storage) {
                if self.is_first(op) {
                    sum += self.visit(states, states.wiring.writes.of(op));
                }
            }
        }
        sum
    }

    fn parents(&mut self, states: &StorageState<'_>, from: u32) -> i128 {
        self.start(from);
        let mut sum = 0;
        while let Some(storage) = self.stack.pop() {
            for op in states.makers(storage) {
                if self.is_first(op) {
                    sum += self.visit(states, states.wiring.reads.of(op));
                }
            }
        }
        sum
    }

    fn start(&mut self, from: u32) {
        self.mark += 1;
        self.stack.clear();
        self.stack.push(from);
    }

    fn is_first(&mut self, op: u32) -> bool {
        std::mem::replace(&mut self.seen_ops[op as usize], self.mark) != self.mark
    }

    /// Goes on with the evicted ones among storages; returns what they cost.
    fn visit(&mut self, states: &StorageState<'_>, storages: &[u32]) -> i128 {
        let mut sum = 0;
        for storage in storages {
            let number = *storage as usize;
            if states.is_evicted(*storage) && self.seen[number] != self.mark {
                self.seen[number] = self.mark;
                sum += i128::from(states.cost[number]);
                self.stack.push(*storage);
            }
        }
        sum
    }
}
