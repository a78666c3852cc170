//! The pool of evictable storages, in the order of becoming evictable, with the inputs of costs in flat columns.
//!
//! In: storages that enter, leave or change. Out: the columns, and a lower bound of every cost in one pass. Invariants:
//! a storage occurs at most once; new ones are appended; removal keeps the order. A removed storage leaves a gap whose
//! cost is infinite; when there are more gaps than storages they are closed.

use super::rule::{Form, rounded};

/// No storage, or no slot.
const NONE: u32 = u32::MAX;

/// Gaps that are always allowed.
const FEW_GAPS: usize = 64;

/// Clocks up to here are exact as floats.
const EXACT_CLOCK: u64 = 1 << 53;

/// Number of parallel minima, for instruction-level parallelism.
const LANES: usize = 8;

/// Lower bound of a numerator: a fixed part, and a part that counts only as far as it exceeds an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bound {
    pub(super) firm: f64,
    pub(super) fading: f64,
}

#[derive(Debug)]
pub(super) struct Pool {
    slots: Vec<u32>,
    slot_of: Vec<u32>,
    n_live: usize,
    firm: Vec<f64>,
    fading: Vec<f64>,
    bytes: Vec<f64>,
    last_access: Vec<f64>,
    /// Costs of the last [`Self::scan`].
    costs: Vec<f64>,
}

impl Pool {
    pub(super) fn new(n_storages: usize) -> Self {
        Self {
            slots: Vec::new(),
            slot_of: vec![NONE; n_storages],
            n_live: 0,
            firm: Vec::new(),
            fading: Vec::new(),
            bytes: Vec::new(),
            last_access: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Number of storages.
    pub(super) fn len(&self) -> usize {
        self.n_live
    }

    pub(super) fn contains(&self, storage: u32) -> bool {
        self.slot_of[storage as usize] != NONE
    }

    pub(super) fn enter(&mut self, storage: u32, bound: Bound, bytes: u64, last_access: u64) {
        self.slot_of[storage as usize] = u32::try_from(self.slots.len()).unwrap_or(NONE);
        self.slots.push(storage);
        self.firm.push(bound.firm);
        self.fading.push(bound.fading);
        self.bytes.push(rounded(bytes));
        self.last_access.push(rounded(last_access));
        self.n_live += 1;
    }

    /// Ignores storages that are not in the pool.
    pub(super) fn leave(&mut self, storage: u32) {
        let slot = std::mem::replace(&mut self.slot_of[storage as usize], NONE);
        if slot == NONE {
            return;
        }
        self.n_live -= 1;
        let slot = slot as usize;
        if slot + 1 == self.slots.len() {
            self.truncate(slot);
            return;
        }
        self.slots[slot] = NONE;
        self.firm[slot] = f64::INFINITY;
        self.bytes[slot] = 0.0;
        self.last_access[slot] = f64::INFINITY;
        if self.slots.len() > 2 * self.n_live + FEW_GAPS {
            self.close_gaps();
        }
    }

    fn truncate(&mut self, length: usize) {
        self.slots.truncate(length);
        self.firm.truncate(length);
        self.fading.truncate(length);
        self.bytes.truncate(length);
        self.last_access.truncate(length);
    }

    fn close_gaps(&mut self) {
        let mut to = 0;
        for from in 0..self.slots.len() {
            let storage = self.slots[from];
            if storage == NONE {
                continue;
            }
            self.slots[to] = storage;
            self.firm[to] = self.firm[from];
            self.fading[to] = self.fading[from];
            self.bytes[to] = self.bytes[from];
            self.last_access[to] = self.last_access[from];
            self.slot_of[storage as usize] = u32::try_from(to).unwrap_or(NONE);
            to += 1;
        }
        self.truncate(to);
    }

    /// Ignores storages that are not in the pool.
    pub(super) fn touch(&mut self, storage: u32, clock: u64) {
        let slot = self.slot_of[storage as usize];
        if slot != NONE {
            self.last_access[slot as usize] = rounded(clock);
        }
    }

    /// Ignores storages that are not in the pool.
    pub(super) fn set(&mut self, storage: u32, bound: Bound) {
        let slot = self.slot_of[storage as usize];
        if slot != NONE {
            self.firm[slot as usize] = bound.firm;
            self.fading[slot as usize] = bound.fading;
        }
    }

    /// Number of slots, gaps included.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn storage(&self, slot: usize) -> Option<u32> {
        Some(self.slots[slot]).filter(|storage| *storage != NONE)
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.slots.iter().rev().copied().find(|storage| *storage != NONE)
    }

    /// The storage of a rank in the order.
    pub(super) fn ranked(&mut self, rank: usize) -> Option<u32> {
        self.close_gaps();
        self.slots.get(rank).copied()
    }

    /// The cost of a slot in the last scan.
    pub(super) fn cost(&self, slot: usize) -> f64 {
        self.costs[slot]
    }

    /// Replaces the cost of a slot until the next scan.
    pub(super) fn set_cost(&mut self, slot: usize, cost: f64) {
        self.costs[slot] = cost;
    }

    /// Computes a lower bound of every cost (up to rounding); gaps cost infinity. `last_accesses` are by storage.
    pub(super) fn scan(&mut self, form: Form, clock: u64, offset: f64, last_accesses: &[u64]) {
        self.costs.resize(self.slots.len(), 0.0);
        match form {
            Form::LastAccess => self.costs.copy_from_slice(&self.last_access),
            Form::PerByte | Form::Inverse => {
                let parts = self.firm.iter().zip(&self.fading).zip(&self.bytes);
                for (cost, ((firm, fading), bytes)) in self.costs.iter_mut().zip(parts) {
                    *cost = ratio(firm + above(*fading, offset), *bytes);
                }
            }
            Form::PerByteAndStaleness if clock < EXACT_CLOCK => {
                #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
                let clock = clock as f64;
                let parts = self
                    .firm
                    .iter()
                    .zip(&self.fading)
                    .zip(&self.bytes)
                    .zip(&self.last_access);
                for (cost, (((firm, fading), bytes), last_access)) in self.costs.iter_mut().zip(parts) {
                    *cost = ratio(firm + above(*fading, offset), *bytes * (clock - last_access));
                }
            }
            Form::PerByteAndStaleness => self.scan_late(clock, offset, last_accesses),
        }
    }

    /// The scan for clocks that are too large for floats.
    #[expect(clippy::cast_precision_loss, reason = "differences are rounded once")]
    fn scan_late(&mut self, clock: u64, offset: f64, last_accesses: &[u64]) {
        for slot in 0..self.slots.len() {
            let last_access = last_accesses.get(self.slots[slot] as usize);
            let staleness = last_access.map_or(0, |last| clock.saturating_sub(*last)) as f64;
            let numerator = self.firm[slot] + above(self.fading[slot], offset);
            self.costs[slot] = ratio(numerator, self.bytes[slot] * staleness);
        }
    }

    /// The lowest cost of the last scan, and its first slot. Infinite where the pool is empty.
    pub(super) fn lowest(&self) -> (f64, usize) {
        let chunks = self.costs.chunks_exact(LANES);
        let mut lowest = chunks.remainder().iter().copied().fold(f64::INFINITY, lower);
        let mut lanes = [f64::INFINITY; LANES];
        for chunk in chunks {
            for (lane, cost) in lanes.iter_mut().zip(chunk) {
                *lane = lower(*lane, *cost);
            }
        }
        lowest = lanes.into_iter().fold(lowest, lower);
        (lowest, self.next_at_most(0, lowest).unwrap_or(0))
    }

    /// The first slot from `from` on whose cost in the last scan is at most `limit`.
    #[expect(clippy::needless_bitwise_bool, reason = "compares a chunk without branches")]
    pub(super) fn next_at_most(&self, mut from: usize, limit: f64) -> Option<usize> {
        while let Some(chunk) = self.costs.get(from..from + LANES) {
            if chunk.iter().fold(false, |any, cost| any | (*cost <= limit)) {
                break;
            }
            from += LANES;
        }
        let rest = self.costs.get(from..)?;
        Some(from + rest.iter().position(|cost| *cost <= limit)?)
    }
}

/// A single instruction, unlike `min`.
fn lower(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

/// The excess of a value over an offset.
fn above(value: f64, offset: f64) -> f64 {
    let rest = value - offset;
    if rest > 0.0 { rest } else { 0.0 }
}

/// Infinite where the denominator is 0.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    let quotient = numerator / denominator;
    if denominator > 0.0 { quotient } else { f64::INFINITY }
}
