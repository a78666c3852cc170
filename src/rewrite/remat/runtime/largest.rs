//! Largest: 1 / bytes.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule};
use super::storage_state::StorageState;

/// See the module's header.
pub(super) struct Largest;

impl Rule for Largest {
    const FORM: Form = Form::Inverse;

    fn bound(&mut self, _world: &StorageState<'_>, _storage: u32) -> Bound {
        Bound { firm: 1.0, fading: 0.0 }
    }

    fn changed(&mut self, _world: &StorageState<'_>, _change: Change, _pool: &mut Pool) {}

    fn numerator(&mut self, _world: &StorageState<'_>, _pool: &mut Pool, _storage: u32) -> i128 {
        1
    }
}
