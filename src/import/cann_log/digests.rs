//! A set of digests in little memory: eight bytes each, with room to spare.

const FIRST_SLOTS: usize = 1 << 10;

/// Open addressing; the digest 0 marks an empty slot and counts as 1.
#[derive(Debug, Default)]
pub(super) struct Digests {
    slots: Vec<u64>,
    len: usize,
}

impl Digests {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Adds a digest; whether it is new. O(1) on average.
    pub(super) fn insert(&mut self, digest: u64) -> bool {
        if self.len * 4 >= self.slots.len() * 3 {
            let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
            for known in std::mem::replace(&mut self.slots, vec![0; slots]) {
                if known != 0 {
                    let slot = self.slot(known);
                    self.slots[slot] = known;
                }
            }
        }
        let digest = digest.max(1);
        let slot = self.slot(digest);
        let is_new = self.slots[slot] == 0;
        self.slots[slot] = digest;
        self.len += usize::from(is_new);
        is_new
    }

    /// Of the digest, or the empty one where it belongs.
    fn slot(&self, digest: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = usize::try_from(digest & mask as u64).unwrap_or(0);
        while self.slots[slot] != 0 && self.slots[slot] != digest {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_digest_is_new_once() {
        let mut digests = Digests::default();
        let all = || (0..5000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert!(all().all(|digest| digests.insert(digest)));
        assert!(!all().any(|digest| digests.insert(digest)));
        assert_eq!(digests.len(), 5000);
    }
}
