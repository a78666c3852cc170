//! LRU: the time of the last access; the oldest is evicted.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::storage_state::StorageState;

/// See the module's header.
pub(super) struct Lru;

impl Rule for Lru {
    const FORM: Form = Form::LastAccess;

    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        own_cost(states, storage)
    }

    fn changed(&mut self, _world: &StorageState<'_>, _change: Change, _pool: &mut Pool) {}

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.last_access[storage as usize].into()
    }
}
