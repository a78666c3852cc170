//! State of every storage that heuristics may read.
//!
//! In: changes by the machine. Out: states, costs and bytes by storage (the number of its root tensor). Invariants: a
//! storage counts as evicted from the moment at which its op is first called; before that it is neither resident nor
//! evicted.

use super::wiring::{Links, Wiring};
use highwater_model::lists::Lists;
use highwater_model::workload::Tape;

/// Place of a storage's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its op has not been called.
    Future,
    /// Not resident, and computable.
    Evicted,
    /// In memory.
    Resident,
    /// Lost for good.
    Gone,
}

#[derive(Debug)]
pub(super) struct StorageState<'a> {
    pub(super) tape: &'a Tape,
    /// By tensor.
    roots: Vec<u32>,
    pub(super) wiring: Wiring,
    /// Ops called so far, the current one included.
    pub(super) n_called: u32,
    /// Nanoseconds, from 1 on.
    pub(super) clock: u64,
    pub(super) state: Vec<State>,
    /// Own cost: the time of the ops of the root and of all views so far, each once.
    pub(super) cost: Vec<u64>,
    pub(super) bytes: Vec<u64>,
    pub(super) last_access: Vec<u64>,
}

impl<'a> StorageState<'a> {
    pub(super) fn new(tape: &'a Tape) -> Self {
        let n = tape.tensors.len();
        let is_own = |tensor: &highwater_model::workload::TapeTensor| {
            !tensor.is_external || tape.ops[tensor.op as usize].is_source
        };
        let bytes = tape.tensors.iter().enumerate().map(|(number, tensor)| {
            // Writes into memory of the caller allocate nothing.
            let is_root = tensor.storage as usize == number;
            if is_root && is_own(tensor) {
                tensor.bytes.get()
            } else {
                0
            }
        });
        Self {
            bytes: bytes.collect(),
            roots: tape.tensors.iter().map(|tensor| tensor.storage).collect(),
            wiring: Wiring::new(tape),
            tape,
            n_called: 0,
            clock: 1,
            state: vec![State::Future; n],
            cost: vec![0; n],
            last_access: vec![0; n],
        }
    }

    pub(super) fn links(&self) -> &Links {
        self.wiring.links(self.tape)
    }

    pub(super) fn root(&self, tensor: u32) -> u32 {
        self.roots[tensor as usize]
    }

    pub(super) fn state(&self, storage: u32) -> State {
        self.state[storage as usize]
    }

    pub(super) fn is_evicted(&self, storage: u32) -> bool {
        self.state(storage) == State::Evicted
    }

    /// Time since its last use.
    pub(super) fn staleness(&self, storage: u32) -> u64 {
        self.clock.saturating_sub(self.last_access[storage as usize])
    }

    /// The ops of a storage's list that were called so far.
    pub(super) fn called<'l>(&'l self, ops: &'l Lists<u32>, storage: u32) -> impl Iterator<Item = u32> + 'l {
        let ops = ops.of(storage as usize).iter().copied();
        ops.take_while(|op| *op < self.n_called)
    }

    /// The storages that a storage is made from, with repetitions; for views also the storage itself.
    pub(super) fn parents(&self, storage: u32) -> impl Iterator<Item = u32> + '_ {
        self.called(&self.links().makers, storage)
            .flat_map(|op| self.links().reads.of(op as usize).iter().copied())
    }

    /// The storages made from a storage, with repetitions; for views also the storage itself.
    pub(super) fn children(&self, storage: u32) -> impl Iterator<Item = u32> + '_ {
        self.called(&self.links().readers, storage)
            .flat_map(|op| self.wiring.writes.of(op as usize).iter().copied())
    }
}
