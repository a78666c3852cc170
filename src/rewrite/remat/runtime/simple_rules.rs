//! Heuristics that need no graph walk: DTR-Local, LRU, Largest, Random.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, own_cost};
use super::storage_state::StorageState;

/// Own cost / (bytes * staleness).
pub(super) struct DtrLocal;

impl Rule for DtrLocal {
    const FORM: Form = Form::PerByteAndStaleness;

    fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool) {
        // A new view adds to the cost of its storage.
        if let Change::Called(op) = change {
            for storage in states.wiring.writes.of(op as usize) {
                pool.set(*storage, own_cost(states, *storage));
            }
        }
    }

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.cost[storage as usize].into()
    }
}

/// The time of the last access; the oldest is evicted.
pub(super) struct Lru;

impl Rule for Lru {
    const FORM: Form = Form::LastAccess;

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.last_access[storage as usize].into()
    }
}

/// 1 / bytes.
pub(super) struct Largest;

impl Rule for Largest {
    const FORM: Form = Form::Inverse;

    fn bound(&mut self, _states: &StorageState<'_>, _storage: u32) -> Bound {
        Bound { firm: 1.0, fading: 0.0 }
    }

    fn numerator(&mut self, _states: &StorageState<'_>, _pool: &mut Pool, _storage: u32) -> i128 {
        1
    }
}

/// Draws a storage of the pool, uniformly, by splitmix64 from any seed.
pub(super) struct Random(pub(super) u64);

impl Random {
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

    fn numerator(&mut self, states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        states.cost[storage as usize].into()
    }

    fn draw(&mut self, pool: &mut Pool) -> Option<u32> {
        let scaled = u128::from(self.next()) * pool.len() as u128;
        pool.ranked(usize::try_from(scaled >> 64).unwrap_or(0))
    }
}
