//! DTR-Local: own cost / (bytes * staleness).

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::storage_state::StorageState;

/// See the module's header.
pub(super) struct DtrLocal;

impl Rule for DtrLocal {
    const FORM: Form = Form::PerByteAndStaleness;

    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        own_cost(states, storage)
    }

    fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool) {
        // A new view makes its storage cost more.
        if let Change::Called(op) = change {
            for storage in states.wiring.writes.of(op) {
                pool.set(*storage, own_cost(states, *storage));
            }
        }
    }

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.cost[storage as usize].into()
    }
}
