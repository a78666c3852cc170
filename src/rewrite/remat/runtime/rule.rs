//! What a heuristic is to the machine: a numerator for every storage, and a form that makes a cost of it.
//!
//! In: every change of a storage. Out: exact numerators on demand, and bounds of them that are good at any time, so that
//! only those that could be the lowest are worked out. A bound is never above the numerator but for rounding.

use super::pool::{Bound, Pool};
use super::storage_state::StorageState;

/// How a cost is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// numerator / (bytes * staleness)
    PerByteAndStaleness,
    /// numerator / bytes
    PerByte,
    /// 1 / bytes
    Inverse,
    /// The time of the last access itself.
    LastAccess,
}

/// What happened to a storage; it has happened already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// An op is called: its new storages count as evicted, its views cost their storages more and link them anew.
    Called(u32),
    /// A resident storage was evicted.
    Evicted(u32),
    /// A storage became resident, for the first time or again.
    Returned(u32),
    /// An evicted storage was given up.
    Lost(u32),
}

/// See the module's header. One value runs one tape.
pub(super) trait Rule {
    /// How the cost is formed.
    const FORM: Form;

    /// The bound with which a storage enters the pool.
    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound;

    /// Follows a change of a storage.
    fn changed(&mut self, states: &StorageState<'_>, change: Change, pool: &mut Pool);

    /// Comes before a choice: brings bounds up to date; returns the offset of what fades.
    fn prepare(&mut self, _world: &StorageState<'_>, _pool: &mut Pool) -> f64 {
        0.0
    }

    /// The exact numerator of a storage in the pool.
    fn numerator(&mut self, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> i128;

    /// A storage drawn instead of chosen, for rules without costs.
    fn draw(&mut self, _pool: &mut Pool) -> Option<u32> {
        None
    }
}

/// The bound of a numerator that is the storage's own cost.
#[expect(
    clippy::cast_precision_loss,
    reason = "a bound; decisions are made with whole numbers"
)]
pub(super) fn own_cost(states: &StorageState<'_>, storage: u32) -> Bound {
    Bound {
        firm: states.cost[storage as usize] as f64,
        fading: 0.0,
    }
}
