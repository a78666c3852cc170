//! Banishing: freeing storages that cannot be recomputed, which are results of non-recomputable ops and results that
//! depend on banished storages.
//!
//! In: such a resident storage that the caller released. Out: it is free, unless an evicted storage that the caller
//! still references depends on it; then it stays until that storage is resident or released. Evicted descendants of a
//! banished storage are lost with it, and resident ones are excluded from eviction. This is the paper's banishing,
//! repeated until it succeeds: otherwise one dropout mask would keep every mask of the run, or come back with wrong
//! values.

use super::machine::Machine;
use super::rule::{Change, Rule};
use super::storage_state::State;

/// Descendants of a storage.
struct Descendants {
    evicted: Vec<u32>,
    resident: Vec<u32>,
}

impl<R: Rule> Machine<'_, R> {
    /// Frees a storage that cannot be recomputed, now or once no evicted storage needs it.
    pub(super) fn banish(&mut self, storage: u32) {
        match self.descendants(storage) {
            Err(keeper) => self.deferred.push((storage, keeper)),
            Ok(descendants) => {
                self.free(storage);
                for evicted in descendants.evicted {
                    self.states.state[evicted as usize] = State::Gone;
                    self.rule.changed(&self.states, Change::Lost(evicted), &mut self.pool);
                }
                for resident in descendants.resident {
                    self.exclude_from_eviction(resident);
                }
            }
        }
    }

    /// Retries deferred banishments whose blocking storage is resident or released by now.
    pub(super) fn retry_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        for (storage, keeper) in std::mem::take(&mut self.deferred) {
            let is_wanted = self.holds[storage as usize].references > 0;
            if is_wanted || self.states.state(storage) != State::Resident {
                continue;
            }
            if self.needs_recomputation(keeper) {
                self.deferred.push((storage, keeper));
            } else {
                self.banish(storage);
            }
        }
    }

    /// Whether the caller references a storage that is not fully resident.
    fn needs_recomputation(&self, storage: u32) -> bool {
        let hold = &self.holds[storage as usize];
        hold.references > 0 && hold.n_defined < hold.n_computed
    }

    /// The storages made from one, through evicted ones; or the first that needs it.
    fn descendants(&mut self, storage: u32) -> Result<Descendants, u32> {
        self.seen.resize(self.holds.len(), 0);
        self.n_walks = self.n_walks.wrapping_add(1);
        self.seen[storage as usize] = self.n_walks;
        let mut descendants = Descendants {
            evicted: Vec::new(),
            resident: Vec::new(),
        };
        let mut stack = vec![storage];
        while let Some(at) = stack.pop() {
            for child in self.states.children(at) {
                if std::mem::replace(&mut self.seen[child as usize], self.n_walks) == self.n_walks {
                    continue;
                }
                if self.needs_recomputation(child) {
                    return Err(child);
                }
                match self.states.state(child) {
                    State::Evicted => {
                        descendants.evicted.push(child);
                        stack.push(child);
                    }
                    State::Resident => descendants.resident.push(child),
                    State::Future | State::Gone => {}
                }
            }
        }
        Ok(descendants)
    }
}
