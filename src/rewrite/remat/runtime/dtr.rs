//! DTR: (own cost + evicted neighbourhood along children + the same along parents) / (bytes * staleness).

use super::pool::{Bound, Pool};
use super::reach::Reach;
use super::rule::{Change, Form, Rule};
use super::storage_state::StorageState;

/// See the module's header.
pub(super) struct Dtr(Reach);

impl Dtr {
    pub(super) fn new(n_storages: usize, n_ops: usize) -> Self {
        Self(Reach::new(n_storages, n_ops, true))
    }
}

impl Rule for Dtr {
    const FORM: Form = Form::PerByteAndStaleness;

    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        self.0.bound(states, storage)
    }

    fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool) {
        self.0.changed(states, change, pool);
    }

    fn prepare(&mut self, _world: &StorageState<'_>, _pool: &mut Pool) -> f64 {
        self.0.offset()
    }

    fn numerator(&mut self, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> i128 {
        self.0.numerator(states, pool, storage)
    }
}
