//! Many names in one allocation.
//!
//! In: texts, in order. Out: each by its position. A name costs its bytes and an end offset.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// Distinct names for buffers: an empty or repeated one gets its position as suffix, or the next number that is
    /// unique. O(n log n).
    pub fn unique(names: &[&str]) -> Self {
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_unstable_by_key(|position| (names[*position], *position));
        let mut is_taken = vec![false; names.len()];
        for pair in order.windows(2) {
            is_taken[pair[1]] = names[pair[0]] == names[pair[1]];
        }
        let given: BTreeSet<&str> = names.iter().copied().filter(|name| name.contains('#')).collect();
        let mut nexts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut unique = Self::default();
        for (position, name) in names.iter().enumerate() {
            if is_taken[position] || name.is_empty() {
                let next = nexts.entry(name).or_default();
                let mut number = position.max(*next);
                let mut free = format!("{name}#{number}");
                while given.contains(free.as_str()) {
                    number += 1;
                    free = format!("{name}#{number}");
                }
                *next = number + 1;
                unique.push(&free);
            } else {
                unique.push(name);
            }
        }
        unique
    }

    pub fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Empty where there is none.
    pub fn get(&self, position: usize) -> &str {
        let Some(end) = self.ends.get(position) else { return "" };
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..*end]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl<'a> FromIterator<&'a str> for Names {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut all = Self::default();
        for name in names {
            all.push(name);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_are_the_same() {
        for (names, expected) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "a", ""], &["a", "a#1", "#2"]),
            (&["a", "a", "a#1"], &["a", "a#2", "a#1"]),
            (&["a", "a", "a", "a#1", "a#2"], &["a", "a#3", "a#4", "a#1", "a#2"]),
            (&["a#1", "a", "a", "a#1", "a#2"], &["a#1", "a", "a#3", "a#1#3", "a#2"]),
        ] {
            let unique = Names::unique(names);
            let found: Vec<&str> = (0..unique.len()).map(|position| unique.get(position)).collect();
            assert_eq!(found, expected, "{names:?}");
        }
    }
}
