//! The eviction choice: the storage with the lowest cost, exactly.
//!
//! In: the pool and a rule. Out: the storage, and its [`Choice`]. Of equal costs the last in the order of the pool
//! wins; the search ends at the first cost of exactly 0. Costs are compared as correctly rounded quotients of integers;
//! a preceding scan in floats selects all candidates within its error of the lowest.

use super::pool::Pool;
use super::quotient::quotient;
use super::rule::{Form, Rule};
use super::storage_state::StorageState;
use crate::remat::Choice;
use highwater_model::units::Bytes;

/// Far above the relative error of a few float roundings.
const MARGIN: f64 = 1.0 / 70_368_744_177_664.0;

/// How often the lowest bound is computed exactly before all sufficiently low ones are.
const TRIES: usize = 8;

struct Exact {
    cost: f64,
    numerator: i128,
}

fn exact<R: Rule>(rule: &mut R, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> Exact {
    let numerator = rule.numerator(states, pool, storage);
    let bytes = u128::from(states.bytes[storage as usize]);
    let cost = match R::FORM {
        Form::PerByteAndStaleness => quotient(numerator, bytes * u128::from(states.staleness(storage))),
        Form::PerByte | Form::Inverse => quotient(numerator, bytes),
        Form::LastAccess => quotient(numerator, 1),
    };
    Exact { cost, numerator }
}

struct Best {
    storage: Option<u32>,
    exact: Exact,
    ties: u32,
}

impl Best {
    fn new() -> Self {
        Self {
            storage: None,
            exact: Exact {
                cost: f64::INFINITY,
                numerator: 0,
            },
            ties: 0,
        }
    }

    /// Considers the next storage in the order.
    fn consider(&mut self, storage: u32, exact: Exact) {
        if exact.cost <= self.exact.cost {
            let is_tie = self.storage.is_some() && exact.cost >= self.exact.cost;
            self.ties = if is_tie { self.ties + 1 } else { 1 };
            self.storage = Some(storage);
            self.exact = exact;
        }
    }

    /// The highest bound that is still considered.
    fn limit(&self) -> f64 {
        self.exact.cost + self.exact.cost.abs() * MARGIN
    }
}

/// `None` where the pool is empty.
pub(super) fn choose<R: Rule>(rule: &mut R, states: &StorageState<'_>, pool: &mut Pool) -> Option<(u32, Choice)> {
    let candidates = u32::try_from(pool.len()).unwrap_or(u32::MAX);
    if candidates == 0 {
        return None;
    }
    let (storage, cost, ties, numerator);
    if let Some(drawn) = rule.draw(pool) {
        (storage, cost, ties) = (drawn, 0.0, 1);
        numerator = rule.numerator(states, pool, drawn);
    } else {
        let offset = rule.prepare(states, pool);
        pool.scan(R::FORM, states.clock, offset, &states.last_access);
        let best = lowest(rule, states, pool);
        // Nothing is found where every cost is infinite: then all are equal.
        if let Some(found) = best.storage {
            (storage, cost, ties, numerator) = (found, best.exact.cost, best.ties, best.exact.numerator);
        } else {
            (storage, cost, ties) = (pool.last()?, f64::INFINITY, candidates);
            numerator = rule.numerator(states, pool, storage);
        }
    }
    let compute = match R::FORM {
        Form::PerByteAndStaleness | Form::PerByte => numerator,
        Form::Inverse | Form::LastAccess => states.cost[storage as usize].into(),
    };
    #[expect(clippy::cast_precision_loss, reason = "an explanation for people")]
    let choice = Choice {
        score: cost,
        compute: compute as f64,
        memory: 0.0,
        staleness: states.staleness(storage),
        bytes: Bytes(states.bytes[storage as usize]),
        candidates,
        ties,
    };
    Some((storage, choice))
}

/// The best of the scanned pool, unless all costs are infinite.
fn lowest<R: Rule>(rule: &mut R, states: &StorageState<'_>, pool: &mut Pool) -> Best {
    let mut known = f64::INFINITY;
    for _ in 0..TRIES {
        let (bound, slot) = pool.lowest();
        if bound.is_infinite() && bound > 0.0 {
            return Best::new();
        }
        if bound <= 0.0 {
            return in_order(rule, states, pool);
        }
        let Some(storage) = pool.storage(slot) else { break };
        let exact = exact(rule, states, pool, storage);
        known = lower(known, exact.cost);
        pool.set_cost(slot, exact.cost);
        // Bounds are exact up to rounding.
        if exact.cost <= bound + bound * MARGIN {
            break;
        }
    }
    let mut best = Best::new();
    let mut limit = known + known.abs() * MARGIN;
    let mut from = 0;
    while let Some(slot) = pool.next_at_most(from, limit) {
        if let Some(storage) = pool.storage(slot) {
            best.consider(storage, exact(rule, states, pool, storage));
            limit = lower(limit, best.limit());
        }
        from = slot + 1;
    }
    best
}

/// The best where costs of 0 or less may occur: in order, up to the first of exactly 0.
fn in_order<R: Rule>(rule: &mut R, states: &StorageState<'_>, pool: &mut Pool) -> Best {
    let mut best = Best::new();
    for slot in 0..pool.n_slots() {
        let bound = pool.cost(slot);
        // A cost above the best can still be the 0 that ends the search.
        if (bound < f64::INFINITY && (bound <= 0.0 || bound <= best.limit()))
            && let Some(storage) = pool.storage(slot)
        {
            let exact = exact(rule, states, pool, storage);
            let is_zero = exact.numerator == 0;
            best.consider(storage, exact);
            if is_zero {
                break;
            }
        }
    }
    best
}

fn lower(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}
