//! States that are known to have no plan: a bounded hash table.
//!
//! A state is the set of unplaced shapes of a component with their bounds, and the capacity. What follows from it does
//! not depend on how it was reached, so a state that failed once fails again, whatever the order. A state is known by
//! 128 bits of hash; a failure at some capacity holds for every smaller one.

/// Most entries.
const MOST_SLOTS: usize = 1 << 20;

/// Slots looked at for one key.
const PROBES: usize = 4;

/// 128 bits that stand for a state.
pub(super) type Key = (u64, u64);

#[derive(Clone, Copy, Default)]
struct Slot {
    key: Key,
    /// 0 where the slot is empty.
    capacity: u64,
}

/// The table. It grows up to [`MOST_SLOTS`]; from then on a new entry takes the place of the first it meets.
#[derive(Default)]
pub(super) struct Failed {
    slots: Vec<Slot>,
    n_used: usize,
}

impl Failed {
    /// Whether the state is known to have no plan within `capacity`.
    pub(super) fn contains(&self, key: Key, capacity: u64) -> bool {
        self.probe(key)
            .any(|idx| self.slots[idx].key == key && self.slots[idx].capacity >= capacity)
    }

    /// Remembers that it has none.
    pub(super) fn insert(&mut self, key: Key, capacity: u64) {
        if self.n_used * 2 >= self.slots.len() && self.slots.len() < MOST_SLOTS {
            self.grow();
        }
        let found = self
            .probe(key)
            .find(|idx| self.slots[*idx].capacity == 0 || self.slots[*idx].key == key);
        let Some(idx) = found.or_else(|| self.probe(key).next()) else {
            return;
        };
        let slot = &mut self.slots[idx];
        let before = if slot.key == key { slot.capacity } else { 0 };
        self.n_used += usize::from(slot.capacity == 0);
        *slot = Slot {
            key,
            capacity: capacity.max(before),
        };
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn probe(&self, key: Key) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().wrapping_sub(1);
        let n_probes = if self.slots.is_empty() { 0 } else { PROBES };
        #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
        let first = key.0 as usize;
        (0..n_probes).map(move |step| first.wrapping_add(step) & mask)
    }

    fn grow(&mut self) {
        let n_slots = (self.slots.len() * 2).max(1 << 10);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); n_slots]);
        self.n_used = 0;
        for slot in before.into_iter().filter(|slot| slot.capacity > 0) {
            self.insert(slot.key, slot.capacity);
        }
    }
}

/// Mixes a number and its place in a state to 64 bits that look random (the finalizer of `SplitMix64`).
pub(super) fn mix(place: u64, number: u64) -> u64 {
    let mut x = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
