//! Live ranges without the tensors whose bytes the oracle does not know.

use highwater_model::graph::TensorId;
use highwater_model::units::Bytes;
use highwater_model::workload::Lifetimes;

/// Live ranges of those tensors alone that the oracle knows the bytes of.
pub(crate) fn known_alone(live: &Lifetimes, is_known: impl Fn(TensorId) -> bool) -> Lifetimes {
    let mut live = live.clone();
    for item in &mut live.items {
        if !is_known(item.tensor) {
            item.bytes = Bytes::ZERO;
        }
    }
    live
}
