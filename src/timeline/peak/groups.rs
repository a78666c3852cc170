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
    /// Its groups by a second attribute, most bytes first; empty where none is asked for.
    pub parts: Vec<GroupPart>,
}

/// A group within a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPart {
    pub text: Box<str>,
    pub bytes: Bytes,
    pub count: u64,
}

/// By group of one attribute the groups by another, most bytes first, then by text. O(items log items).
fn parts(items: &[HeldTensor], keys: &[Option<u32>], within: &Grouping) -> BTreeMap<Option<u32>, Vec<GroupPart>> {
    let mut sums: BTreeMap<(Option<u32>, Option<u32>), (Bytes, u64)> = BTreeMap::new();
    for (held, key) in items.iter().zip(keys) {
        let (bytes, count) = sums.entry((*key, within.group(held))).or_default();
        *bytes += held.bytes;
        *count += 1;
    }
    let mut parts: BTreeMap<Option<u32>, Vec<GroupPart>> = BTreeMap::new();
    for ((group, part), (bytes, count)) in sums {
        let text = part.map_or(UNKNOWN, |part| within.text(part)).into();
        parts.entry(group).or_default().push(GroupPart { text, bytes, count });
    }
    for of_group in parts.values_mut() {
        of_group.sort_by(|a, b| (Reverse(a.bytes), &a.text).cmp(&(Reverse(b.bytes), &b.text)));
    }
    parts
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
pub(super) fn gather(
    items: &[HeldTensor],
    grouping: &Grouping,
    within: Option<&Grouping>,
) -> (Vec<LiveGroup>, Vec<u32>) {
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
            parts: Vec::new(),
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
    for (key, parts) in within.map(|within| parts(items, &keys, within)).unwrap_or_default() {
        if let Some(group) = groups.get_mut(&key) {
            group.parts = parts;
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
