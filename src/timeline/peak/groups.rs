//! Bytes by group.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::{Grouping, HeldTensor, Selected};
use super::set::{LiveMember, LiveSet};
use highwater_model::units::Bytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveGroup {
    pub text: Box<str>,
    pub bytes: Bytes,
    pub count: u64,
    /// The largest tensor, the first of equals, and its bytes.
    pub largest: (Selected, Bytes),
    /// Distinct bytes with their counts, the largest sum first.
    pub sizes: Vec<(Bytes, u64)>,
}

/// Live tensors with one label and one size: the largest sum first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualMembers {
    /// Position of the first among the members.
    pub first: u32,
    pub count: u64,
    /// Of all of them.
    pub bytes: Bytes,
}

/// Equal members as one row, by label and bytes. O(members log members).
pub(super) fn equal<'a>(set: &LiveSet, label: impl Fn(&LiveMember) -> Cow<'a, str>) -> Vec<EqualMembers> {
    let mut rows: BTreeMap<(Cow<'a, str>, Bytes), EqualMembers> = BTreeMap::new();
    for (position, member) in (0_u32..).zip(&set.members) {
        let row = rows.entry((label(member), member.bytes)).or_insert(EqualMembers {
            first: position,
            count: 0,
            bytes: Bytes::ZERO,
        });
        row.count += 1;
        row.bytes += member.bytes;
    }
    let mut rows: Vec<EqualMembers> = rows.into_values().collect();
    rows.sort_by_key(|row| (Reverse(row.bytes), row.first));
    rows
}

/// Label for tensors that the sources do not know.
const UNKNOWN: &str = "of no known tensor";

/// Groups, most bytes first, then by text; and by item the position of its group. O(items + groups log groups).
pub(super) fn gather(items: &[HeldTensor], grouping: &Grouping) -> (Vec<LiveGroup>, Vec<u32>) {
    let mut groups: BTreeMap<Option<u32>, LiveGroup> = BTreeMap::new();
    let mut sizes: BTreeMap<(Option<u32>, Bytes), u64> = BTreeMap::new();
    let keys: Vec<Option<u32>> = items.iter().map(|held| grouping.group(held)).collect();
    for (held, key) in items.iter().zip(&keys) {
        let group = groups.entry(*key).or_insert_with(|| LiveGroup {
            text: key.map_or(UNKNOWN, |key| grouping.text(key)).into(),
            bytes: Bytes::ZERO,
            count: 0,
            largest: (held.tensor, held.bytes),
            sizes: Vec::new(),
        });
        group.bytes += held.bytes;
        *sizes.entry((*key, held.bytes)).or_default() += 1;
        group.count += 1;
        if held.bytes > group.largest.1 {
            group.largest = (held.tensor, held.bytes);
        }
    }
    for ((key, bytes), count) in sizes {
        if let Some(group) = groups.get_mut(&key) {
            group.sizes.push((bytes, count));
        }
    }
    for group in groups.values_mut() {
        let sum = |bytes: Bytes, count: u64| u128::from(bytes.get()) * u128::from(count);
        group
            .sizes
            .sort_by_key(|(bytes, count)| Reverse((sum(*bytes, *count), *bytes)));
    }
    let mut sorted: Vec<(Option<u32>, LiveGroup)> = groups.into_iter().collect();
    sorted.sort_by(|(_, a), (_, b)| (Reverse(a.bytes), &a.text).cmp(&(Reverse(b.bytes), &b.text)));
    let places: BTreeMap<Option<u32>, u32> = (0_u32..).zip(&sorted).map(|(place, (key, _))| (*key, place)).collect();
    let of_items = keys.iter().map(|key| places[key]).collect();
    (sorted.into_iter().map(|(_, group)| group).collect(), of_items)
}
