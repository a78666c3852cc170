//! What cannot be computed again: the results of ops that must not run twice, and what depended on such a result when it
//! was given up.
//!
//! In: a resident storage of that kind that the caller let go of. Out: it is free, unless something evicted that the
//! caller still refers to could not be computed without it; then it stays until that is resident or let go of. When it
//! goes, evicted storages behind it go with it, and resident ones are not evicted any more. This is how the paper's
//! banishing works, made to go on: without it one dropout mask would keep every mask of the run, or come back wrong.

use super::machine::Machine;
use super::rule::{Change, Rule};
use super::storage_state::State;

/// What lies behind a storage.
struct Behind {
    evicted: Vec<u32>,
    resident: Vec<u32>,
}

impl<R: Rule> Machine<'_, R> {
    /// Frees a storage that cannot be computed again, now or as soon as nobody needs it.
    pub(super) fn give_up(&mut self, storage: u32) {
        match self.behind(storage) {
            Err(keeper) => self.kept_back.push((storage, keeper)),
            Ok(behind) => {
                self.free(storage);
                for evicted in behind.evicted {
                    self.states.state[evicted as usize] = State::Gone;
                    self.rule.changed(&self.states, Change::Lost(evicted), &mut self.pool);
                }
                for resident in behind.resident {
                    self.stick(resident);
                }
            }
        }
    }

    /// Frees what was kept back for a storage that is resident or let go of by now.
    pub(super) fn look_after_kept_back(&mut self) {
        if self.kept_back.is_empty() {
            return;
        }
        for (storage, keeper) in std::mem::take(&mut self.kept_back) {
            let is_wanted = self.holds[storage as usize].references > 0;
            if is_wanted || self.states.state(storage) != State::Resident {
                continue;
            }
            if self.keeps_back(keeper) {
                self.kept_back.push((storage, keeper));
            } else {
                self.give_up(storage);
            }
        }
    }

    /// The caller refers to a storage of which something is not there.
    fn keeps_back(&self, storage: u32) -> bool {
        let hold = &self.holds[storage as usize];
        hold.references > 0 && hold.n_defined < hold.n_computed
    }

    /// The storages that are made from one, through evicted ones; or the first that needs it.
    fn behind(&mut self, storage: u32) -> Result<Behind, u32> {
        self.seen.resize(self.holds.len(), 0);
        self.n_walks = self.n_walks.wrapping_add(1);
        self.seen[storage as usize] = self.n_walks;
        let mut behind = Behind {
            evicted: Vec::new(),
            resident: Vec::new(),
        };
        let mut stack = vec![storage];
        while let Some(at) = stack.pop() {
            for child in self.states.children(at) {
                if std::mem::replace(&mut self.seen[child as usize], self.n_walks) == self.n_walks {
                    continue;
                }
                if self.keeps_back(child) {
                    return Err(child);
                }
                match self.states.state(child) {
                    State::Evicted => {
                        behind.evicted.push(child);
                        stack.push(child);
                    }
                    State::Resident => behind.resident.push(child),
                    State::Future | State::Gone => {}
                }
            }
        }
        Ok(behind)
    }
}
