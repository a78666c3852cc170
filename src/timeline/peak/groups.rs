//! Bytes by group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::{Grouping, HeldTensor, Selected};
use highwater_model::units::Bytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveGroup {
    pub text: Box<str>,
    pub bytes: Bytes,
    pub count: u64,
    /// The largest tensor, the first of equals, and its bytes.
    pub largest: (Selected, Bytes),
}

/// Label for tensors that the sources do not know.
const UNKNOWN: &str = "of no known tensor";

/// Groups, most bytes first, then by text; and by item the position of its group. O(items + groups log groups).
pub(super) fn gather(items: &[HeldTensor], grouping: &Grouping) -> (Vec<LiveGroup>, Vec<u32>) {
    let mut groups: BTreeMap<Option<u32>, LiveGroup> = BTreeMap::new();
    let keys: Vec<Option<u32>> = items.iter().map(|held| grouping.group(held)).collect();
    for (held, key) in items.iter().zip(&keys) {
        let group = groups.entry(*key).or_insert_with(|| LiveGroup {
            text: key.map_or(UNKNOWN, |key| grouping.text(key)).into(),
            bytes: Bytes::ZERO,
            count: 0,
            largest: (held.tensor, held.bytes),
        });
        group.bytes += held.bytes;
        group.count += 1;
        if held.bytes > group.largest.1 {
            group.largest = (held.tensor, held.bytes);
        }
    }
    let mut sorted: Vec<(Option<u32>, LiveGroup)> = groups.into_iter().collect();
    sorted.sort_by(|(_, a), (_, b)| (Reverse(a.bytes), &a.text).cmp(&(Reverse(b.bytes), &b.text)));
    let places: BTreeMap<Option<u32>, u32> = (0_u32..).zip(&sorted).map(|(place, (key, _))| (*key, place)).collect();
    let of_items = keys.iter().map(|key| places[key]).collect();
    (sorted.into_iter().map(|(_, group)| group).collect(), of_items)
}
