//! Eviction choice: the lowest value, of equal ones the first in the order of becoming resident.
//!
//! ```text
//! value(v) = (f(v) b(v))^time_factor m(v)^memory_factor / size(v) / next(v)
//! ```
//!
//! Candidates are in a list in the order of becoming resident; removed ones are marked and compacted occasionally, so
//! the order is stable. The part of the value that does not depend on the step (all except next) is cached until its
//! costs change.

use super::costs::{Copy, Costs, State};
use super::model::{Model, NONE};
use crate::remat::run::{Choice, DtrFactors};
use highwater_model::units::Bytes;

/// Steps until the next use of a variable without one: the original's "never".
pub(super) const NEVER: u64 = u64::MAX - 1;

/// One entry of the list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`NONE`] once it left.
    variable: u32,
    /// The value without the division by next.
    weight: f64,
    /// The step of its next use, as far as known; [`NONE`] is never.
    next: u32,
}

/// The candidates and their weights.
#[derive(Debug)]
pub(super) struct Search {
    factors: DtrFactors,
    entries: Vec<Entry>,
    position: Vec<u32>,
    n_left: usize,
    cursor: Vec<u32>,
}

impl Search {
    pub(super) fn new(n_variables: usize, factors: DtrFactors) -> Self {
        Self {
            factors,
            entries: Vec::new(),
            position: vec![NONE; n_variables],
            n_left: 0,
            cursor: vec![0; n_variables],
        }
    }

    pub(super) fn enter(&mut self, model: &Model, variable: u32) {
        let info = &model.variables[variable as usize];
        let is_non_recomputable = model.steps[info.producer as usize].is_non_recomputable;
        if is_non_recomputable || info.bytes == 0 || info.bytes < self.factors.evictee_minimum_size.0 {
            return;
        }
        self.position[variable as usize] = u32::try_from(self.entries.len()).unwrap_or(NONE);
        self.entries.push(Entry {
            variable,
            weight: f64::NAN,
            next: 0,
        });
    }

    pub(super) fn leave(&mut self, variable: u32) {
        let position = std::mem::replace(&mut self.position[variable as usize], NONE);
        if position == NONE {
            return;
        }
        self.entries[position as usize].variable = NONE;
        self.n_left += 1;
        if self.n_left * 2 > self.entries.len() {
            self.n_left = 0;
            self.entries.retain(|entry| entry.variable != NONE);
            for (position, entry) in (0_u32..).zip(&self.entries) {
                self.position[entry.variable as usize] = position;
            }
        }
    }

    /// The variable to evict at a step.
    pub(super) fn find(
        &mut self,
        model: &Model,
        costs: &mut Costs,
        states: &[State],
        copies: &[Copy],
        pins: &[u32],
        step: u32,
    ) -> Option<(u32, Choice)> {
        let mut best: Option<(u32, f64, u64)> = None;
        let (mut candidates, mut ties) = (0, 0);
        for entry in &mut self.entries {
            let variable = entry.variable;
            if variable == NONE || pins[variable as usize] > 0 {
                continue;
            }
            candidates += 1;
            if !costs.knows(variable) || entry.weight.is_nan() {
                let (cost, memory) = costs.of(model, states, copies, variable);
                entry.weight = weigh(cost, memory, model.variables[variable as usize].bytes, &self.factors);
            }
            if entry.next <= step {
                entry.next = next_use(model, &mut self.cursor[variable as usize], variable, step);
            }
            let next = if entry.next == NONE {
                NEVER
            } else {
                u64::from(entry.next - step)
            };
            #[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
            let value = entry.weight / next as f64;
            match best {
                #[expect(clippy::float_cmp, reason = "a tie is equality")]
                Some((_, lowest, _)) if value == lowest => ties += 1,
                Some((_, lowest, _)) if value >= lowest || value.is_nan() => {}
                _ => {
                    best = Some((variable, value, next));
                    ties = 0;
                }
            }
        }
        let (variable, score, staleness) = best?;
        let (compute, memory) = costs.of(model, states, copies, variable);
        let choice = Choice {
            score,
            compute,
            memory,
            staleness,
            bytes: Bytes(model.variables[variable as usize].bytes),
            candidates,
            ties,
        };
        Some((variable, choice))
    }
}

/// The step of the first use after a step, [`NONE`] where there is none.
fn next_use(model: &Model, cursor: &mut u32, variable: u32, step: u32) -> u32 {
    let readers = &model.variables[variable as usize].readers;
    while readers.get(*cursor as usize).is_some_and(|reader| *reader <= step) {
        *cursor += 1;
    }
    readers.get(*cursor as usize).copied().unwrap_or(NONE)
}

#[expect(clippy::cast_precision_loss, reason = "the original weighs in floating point")]
fn weigh(cost: f64, memory: f64, bytes: u64, factors: &DtrFactors) -> f64 {
    power(cost, factors.recomp_time_factor) * power(memory, factors.recomp_memory_factor) / bytes as f64
}

/// A power; common exponents are exact and need no logarithm.
#[expect(clippy::float_cmp, reason = "these exponents exactly")]
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 1.0 { base } else { base.powf(exponent) }
}
