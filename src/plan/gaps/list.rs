//! A list of placed shapes that is sorted lazily.
//!
//! Changes are buffered in two vectors. A read merges them: one by one where there are few, otherwise by merging sorted
//! runs. Adding and removing: O(1) amortized; a read after k changes: O(list + k log k).

use super::Placed;

/// Up to this many changes are merged one by one.
const FEW: usize = 8;

/// Placed shapes by ascending offset, then shape.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    sorted: Vec<Placed>,
    added: Vec<Placed>,
    /// Each of them is also in one of the others.
    removed: Vec<Placed>,
    /// Entries moved or skipped by merging.
    #[cfg(test)]
    pub(super) moved: usize,
}

fn key(placed: &Placed) -> (u64, u32) {
    (placed.offset, placed.item)
}

impl List {
    pub(super) fn add(&mut self, placed: Placed) {
        self.added.push(placed);
    }

    pub(super) fn remove(&mut self, placed: Placed) {
        self.removed.push(placed);
        // A list that is never read must not grow without bound.
        if self.removed.len() > 64 + self.sorted.len().midpoint(self.added.len()) {
            self.settle();
        }
    }

    pub(super) fn in_order(&mut self) -> &[Placed] {
        if !(self.added.is_empty() && self.removed.is_empty()) {
            self.settle();
        }
        &self.sorted
    }

    fn settle(&mut self) {
        #[cfg(test)]
        {
            self.moved += self.sorted.len() + self.added.len();
        }
        if self.added.len() + self.removed.len() <= FEW {
            for placed in self.added.drain(..) {
                let position = self.sorted.partition_point(|other| key(other) < key(&placed));
                self.sorted.insert(position, placed);
            }
            for placed in self.removed.drain(..) {
                let position = self.sorted.partition_point(|other| key(other) < key(&placed));
                if self
                    .sorted
                    .get(position)
                    .is_some_and(|other| key(other) == key(&placed))
                {
                    self.sorted.remove(position);
                }
            }
            return;
        }
        // Two runs, which a stable sort merges.
        self.added.sort_unstable_by_key(key);
        self.sorted.append(&mut self.added);
        self.sorted.sort_by_key(key);
        if !self.removed.is_empty() {
            self.removed.sort_unstable_by_key(key);
            let mut gone = self.removed.drain(..).peekable();
            self.sorted
                .retain(|placed| gone.next_if(|gone| key(gone) == key(placed)).is_none());
        }
        // Frees the memory for other lists.
        self.added = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_in_order_whenever_it_is_looked_at() {
        let mut list = List::default();
        let mut plain: Vec<Placed> = Vec::new();
        let mut state = 5_u32;
        let mut below = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % limit
        };
        for round in 0..400_u32 {
            // Short and long bursts, some of them larger than the list.
            for number in 0..below(if round % 3 == 0 { 60 } else { 5 }) {
                if below(2) == 0 || plain.is_empty() {
                    let offset = u64::from(below(40));
                    let placed = Placed {
                        offset,
                        end: offset + 1,
                        lower: 0,
                        upper: 1,
                        item: round * 64 + number,
                    };
                    list.add(placed);
                    plain.push(placed);
                } else {
                    let gone = plain.swap_remove(below(u32::try_from(plain.len()).expect("few")) as usize);
                    list.remove(gone);
                    if number % 4 == 0 {
                        list.add(gone);
                        plain.push(gone);
                    }
                }
            }
            plain.sort_unstable_by_key(key);
            if below(3) > 0 {
                assert_eq!(list.in_order(), plain);
            }
        }
    }
}
