//! LRU: the time of the last access; the oldest is evicted.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::world::World;

/// See the module's header.
pub(super) struct Lru;

impl Rule for Lru {
    const FORM: Form = Form::LastAccess;

    fn bound(&mut self, world: &World<'_>, storage: u32) -> Bound {
        own_cost(world, storage)
    }

    fn changed(&mut self, _world: &World<'_>, _change: Change, _pool: &mut Pool) {}

    fn numerator(&mut self, world: &World<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        world.last_access[storage as usize].into()
    }
}
