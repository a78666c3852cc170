//! Random: any storage of the pool, drawn with a seed. The same seed draws the same ones.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::storage_state::StorageState;

/// See the module's header. The generator is splitmix64.
pub(super) struct Random(u64);

impl Random {
    /// Any seed will do.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Rule for Random {
    const FORM: Form = Form::LastAccess;

    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        own_cost(states, storage)
    }

    fn changed(&mut self, _world: &StorageState<'_>, _change: Change, _pool: &mut Pool) {}

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.cost[storage as usize].into()
    }

    fn draw(&mut self, pool: &mut Pool) -> Option<u32> {
        let scaled = u128::from(self.next()) * pool.len() as u128;
        pool.ranked(usize::try_from(scaled >> 64).unwrap_or(0))
    }
}
