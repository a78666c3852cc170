//! The interface of heuristics: a numerator for every storage, and the form of the cost.
//!
//! In: every change of a storage. Out: exact numerators on demand, and lower bounds (up to rounding) that hold at any
//! time, so that only candidates for the lowest cost are computed exactly.

use super::pool::{Bound, Pool};
use super::storage_state::StorageState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// numerator / (bytes * staleness)
    PerByteAndStaleness,
    /// numerator / bytes
    PerByte,
    /// 1 / bytes
    Inverse,
    /// Time of the last access.
    LastAccess,
}

/// A change of a storage that has taken place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// An op is called: its new storages count as evicted, its views add cost and links to their storages.
    Called(u32),
    Evicted(u32),
    /// A storage became resident, for the first time or by recomputation.
    Returned(u32),
    /// An evicted storage can no longer be recomputed.
    Lost(u32),
}

/// A heuristic; one value runs one tape.
pub(super) trait Rule {
    const FORM: Form;

    /// The bound with which a storage enters the pool.
    fn bound(&mut self, states: &StorageState<'_>, storage: u32) -> Bound {
        own_cost(states, storage)
    }

    fn changed(&mut self, _states: &StorageState<'_>, _change: Change, _pool: &mut Pool) {}

    /// Runs before a choice: updates bounds and returns the offset of their fading parts.
    fn prepare(&mut self, _states: &StorageState<'_>, _pool: &mut Pool) -> f64 {
        0.0
    }

    /// The exact numerator of a storage in the pool.
    fn numerator(&mut self, states: &StorageState<'_>, pool: &mut Pool, storage: u32) -> i128;

    /// A drawn storage, for rules without costs.
    fn draw(&mut self, _pool: &mut Pool) -> Option<u32> {
        None
    }
}

/// A bound; decisions are made with whole numbers.
#[expect(clippy::cast_precision_loss, reason = "rounds to the nearest")]
pub(super) fn rounded(number: impl Into<i128>) -> f64 {
    number.into() as f64
}

/// The bound of a numerator that is the storage's own cost.
pub(super) fn own_cost(states: &StorageState<'_>, storage: u32) -> Bound {
    Bound {
        firm: rounded(states.cost[storage as usize]),
        fading: 0.0,
    }
}
