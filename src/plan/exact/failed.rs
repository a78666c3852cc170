//! States known to have no plan: a bounded hash table.
//!
//! A state is the set of unplaced shapes of a component with their bounds, and the capacity. It does not depend on the
//! path to it, so a state that failed once fails again in any order. States are identified by 128 bits of hash; a
//! failure at a capacity holds for every smaller one.

const MAX_SLOTS: usize = 1 << 20;

/// Slots probed per key.
const PROBES: usize = 4;

/// 128-bit hash of a state.
pub(super) type Key = (u64, u64);

#[derive(Clone, Copy, Default)]
struct Slot {
    key: Key,
    /// 0 where the slot is empty.
    capacity: u64,
}

/// Grows up to [`MAX_SLOTS`]; then a new entry replaces the first probed one.
pub(super) struct Failed {
    slots: Vec<Slot>,
    n_used: usize,
    most: usize,
}

impl Default for Failed {
    fn default() -> Self {
        Self::of_most(MAX_SLOTS)
    }
}

impl Failed {
    /// `most` is a power of two.
    pub(super) fn of_most(most: usize) -> Self {
        Self {
            slots: Vec::new(),
            n_used: 0,
            most,
        }
    }

    /// Whether the state is known to have no plan within `capacity`.
    pub(super) fn contains(&self, key: Key, capacity: u64) -> bool {
        self.probe(key)
            .any(|idx| self.slots[idx].key == key && self.slots[idx].capacity >= capacity)
    }

    pub(super) fn insert(&mut self, key: Key, capacity: u64) {
        if self.n_used * 2 >= self.slots.len() && self.slots.len() < self.most {
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

    pub(super) fn clear(&mut self) {
        *self = Self::of_most(self.most);
    }

    fn probe(&self, key: Key) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().wrapping_sub(1);
        let n_probes = if self.slots.is_empty() { 0 } else { PROBES };
        #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
        let first = key.0 as usize;
        (0..n_probes).map(move |step| first.wrapping_add(step) & mask)
    }

    fn grow(&mut self) {
        let n_slots = (self.slots.len() * 2).max(1 << 10).min(self.most);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); n_slots]);
        self.n_used = 0;
        for slot in before.into_iter().filter(|slot| slot.capacity > 0) {
            self.insert(slot.key, slot.capacity);
        }
    }
}

/// Mixes a number and its place in a state to 64 pseudo-random bits (the finalizer of `SplitMix64`).
pub(super) fn mix(place: u64, number: u64) -> u64 {
    let mut x = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// [`mix`] with other factors and another finalizer (that of `MurmurHash3`), so that collisions of the two are
/// independent.
fn mix_second(place: u64, number: u64) -> u64 {
    let mut x = place.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ number.wrapping_mul(0xA076_1D64_78BD_642F).rotate_left(32);
    x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

/// The key of a state: the sum of the hashes of its numbers.
pub(super) fn key(numbers: impl Iterator<Item = (u64, u64)>) -> Key {
    let mut key = (0_u64, 0_u64);
    for (place, number) in numbers {
        key.0 = key.0.wrapping_add(mix(place, number));
        key.1 = key.1.wrapping_add(mix_second(place, number));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(number: u64) -> Key {
        key([(1, number)].into_iter())
    }

    #[test]
    fn a_full_table_forgets_but_never_makes_anything_up() {
        let mut failed = Failed::default();
        let n_states = 3 * MAX_SLOTS as u64;
        for number in 0..n_states {
            failed.insert(key_of(number), 1 + number % 7);
        }
        assert_eq!(failed.slots.len(), MAX_SLOTS);
        let mut n_known = 0;
        for number in 0..n_states {
            assert!(!failed.contains(key_of(number), 2 + number % 7), "{number}");
            n_known += usize::from(failed.contains(key_of(number), 1 + number % 7));
            assert!(!failed.contains(key_of(n_states + number), 1), "{number}");
        }
        assert!(n_known > MAX_SLOTS / 2 && n_known <= MAX_SLOTS, "{n_known}");
        // The last insertion always has a slot.
        assert!(failed.contains(key_of(n_states - 1), 1 + (n_states - 1) % 7));
        failed.clear();
        assert!(!failed.contains(key_of(n_states - 1), 1));
    }

    #[test]
    fn the_highest_capacity_is_remembered() {
        let mut failed = Failed::default();
        for capacity in [5, 9, 3] {
            failed.insert(key_of(1), capacity);
        }
        assert!(failed.contains(key_of(1), 9) && failed.contains(key_of(1), 3));
        assert!(!failed.contains(key_of(1), 10));
    }

    /// `mix` combines two products into 64 bits, so equal sums are easy to construct; the other half must differ for
    /// them.
    #[test]
    fn the_halves_of_a_key_are_not_equal_together() {
        let inverse = |factor: u64| {
            (0..6).fold(factor, |x, _| {
                x.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(x)))
            })
        };
        let number = |place: u64| {
            // place * A ^ number * B = 7.
            (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 7).wrapping_mul(inverse(0xC2B2_AE3D_27D4_EB4F))
        };
        let keys: Vec<Key> = (1..100)
            .map(|place| key([(place, number(place))].into_iter()))
            .collect();
        for (position, one) in keys.iter().enumerate() {
            assert_eq!(one.0, keys[0].0);
            assert!(keys[..position].iter().all(|other| other.1 != one.1));
        }
    }
}
