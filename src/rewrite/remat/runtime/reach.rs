//! DTR and MSPS: own cost plus the own costs of the evicted storages that are reached through evicted ones.
//!
//! DTR: (own + sum along children + sum along parents) / (bytes * staleness). MSPS: (own + sum along parents) / bytes.
//!
//! In: changes. Out: exact sums on demand, each by one walk, and bounds that hold without a walk. Why they hold: an
//! eviction only increases sums. When a storage becomes resident, the inputs of its op are resident, so no walk along
//! parents passes through it: sums along parents lose at most its own cost (they fade: the own costs of all returned
//! storages add up to the offset), and sums along children change for its parents only. Otherwise (a storage with views
//! that have other parents) all bounds are reset.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, rounded};
use super::storage_state::StorageState;

/// Cap of sums along parents in bounds: floats are exact up to twice this.
const MAX_FADING: u64 = 1 << 52;

/// DTR where sums along children count too, otherwise MSPS.
pub(super) struct Reach<const CHILDREN: bool> {
    /// Incremented by every change that may change a sum.
    epoch: u64,
    /// The epoch of each storage's last exact numerator.
    exact_at: Vec<u64>,
    exact: Vec<i128>,
    bounds: Vec<Bound>,
    /// Sum of the own costs of returned storages.
    offset: u64,
    /// Exact numerators so far, and their count at the last call of an op.
    n_sums: u64,
    n_sums_at_call: u64,
    walk: Walk,
}

impl<const CHILDREN: bool> Reach<CHILDREN> {
    pub(super) fn new(n_storages: usize, n_ops: usize) -> Self {
        Self {
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

    fn returned(&mut self, states: &StorageState<'_>, storage: u32, pool: &mut Pool) {
        let is_new = states.links().makers.of(storage as usize).first() == states.n_called.checked_sub(1).as_ref();
        if is_new && self.n_sums == self.n_sums_at_call {
            return;
        }
        self.offset = self.offset.saturating_add(states.cost[storage as usize]);
        if self.offset > MAX_FADING || states.parents(storage).any(|parent| states.is_evicted(parent)) {
            self.reset_bounds(states, pool);
            return;
        }
        if CHILDREN {
            for parent in states.parents(storage) {
                self.bounds[parent as usize].firm = 0.0;
                pool.set(parent, self.known_bound(states, parent));
            }
        }
    }

    fn reset_bounds(&mut self, states: &StorageState<'_>, pool: &mut Pool) {
        self.offset = 0;
        self.bounds.fill(Bound::default());
        for slot in 0..pool.n_slots() {
            if let Some(storage) = pool.storage(slot) {
                pool.set(storage, self.known_bound(states, storage));
            }
        }
    }

    fn known_bound(&self, states: &StorageState<'_>, storage: u32) -> Bound {
        let known = self.bounds[storage as usize];
        let own = rounded(states.cost[storage as usize]);
        Bound {
            firm: if known.firm > own { known.firm } else { own },
            fading: known.fading,
        }
    }
}

impl<const CHILDREN: bool> Rule for Reach<CHILDREN> {
    const FORM: Form = if CHILDREN {
        Form::PerByteAndStaleness
    } else {
        Form::PerByte
    };

    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        self.known_bound(states, storage)
    }

    fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool) {
        self.epoch += 1;
        match change {
            Change::Called(op) => {
                self.n_sums_at_call = self.n_sums;
                for storage in states.wiring.writes.of(op as usize) {
                    pool.set(*storage, self.known_bound(states, *storage));
                }
            }
            // An evicted storage was in the pool: its numerator is reset when it returns.
            Change::Evicted(storage) => self.bounds[storage as usize] = Bound::default(),
            Change::Returned(storage) => self.returned(states, storage, pool),
            Change::Lost(_) => self.reset_bounds(states, pool),
        }
    }

    fn prepare(&mut self, _states: &StorageState<'_>, _pool: &mut Pool) -> f64 {
        rounded(self.offset)
    }

    fn numerator(&mut self, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> i128 {
        let number = storage as usize;
        if self.exact_at[number] == self.epoch {
            return self.exact[number];
        }
        self.n_sums += 1;
        let own = i128::from(states.cost[number]);
        let children = if CHILDREN {
            self.walk.sum(states, storage, true)
        } else {
            0
        };
        let parents = self.walk.sum(states, storage, false);
        self.exact_at[number] = self.epoch;
        self.exact[number] = own.saturating_add(children).saturating_add(parents);
        let fading = u64::try_from(parents).unwrap_or(u64::MAX).min(MAX_FADING);
        self.bounds[number] = Bound {
            firm: rounded(own + children),
            fading: rounded(fading + self.offset),
        };
        pool.set(storage, self.bounds[number]);
        self.exact[number]
    }
}

/// A walk over storages and ops that visits each once.
struct Walk {
    seen: Vec<u64>,
    seen_ops: Vec<u64>,
    mark: u64,
    stack: Vec<u32>,
}

impl Walk {
    /// The sum of the costs of evicted children, or of evicted parents.
    fn sum(&mut self, states: &StorageState<'_>, from: u32, is_down: bool) -> i128 {
        let links = states.links();
        let (ops_of, others_of) = if is_down {
            (&links.readers, &states.wiring.writes)
        } else {
            (&links.makers, &links.reads)
        };
        self.mark += 1;
        self.stack.clear();
        self.stack.push(from);
        let mut sum = 0;
        while let Some(storage) = self.stack.pop() {
            for op in states.called(ops_of, storage) {
                if std::mem::replace(&mut self.seen_ops[op as usize], self.mark) != self.mark {
                    sum += self.visit(states, others_of.of(op as usize));
                }
            }
        }
        sum
    }

    /// Continues with the evicted ones of `storages`; returns the sum of their costs.
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
