//! DTR-Local: own cost / (bytes * staleness).

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::world::World;

/// See the module's header.
pub(super) struct DtrLocal;

impl Rule for DtrLocal {
    const FORM: Form = Form::PerByteAndStaleness;

    fn bound(&mut self, world: &World<'_>, storage: u32) -> Bound {
        own_cost(world, storage)
    }

    fn changed(&mut self, world: &World<'_>, change: Change, pool: &mut Pool) {
        // A new view makes its storage cost more.
        if let Change::Called(op) = change {
            for storage in world.wiring.writes.of(op) {
                pool.set(*storage, own_cost(world, *storage));
            }
        }
    }

    fn numerator(&mut self, world: &World<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        world.cost[storage as usize].into()
    }
}
