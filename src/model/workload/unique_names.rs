//! Unique names: a name that is taken gets a prefix or a number.

use std::collections::{BTreeMap, BTreeSet};

/// Hands out unique names. O(log n) per name.
#[derive(Debug, Default)]
pub struct UniqueNames {
    taken: BTreeSet<String>,
    /// The next number to try. Names are never freed, so smaller numbers stay taken.
    next: BTreeMap<String, u32>,
}

impl UniqueNames {
    /// The name, with the lowest free number where it is taken.
    pub fn take(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        if self.taken.contains(name) {
            let number = self.next.entry(name.to_owned()).or_insert(2);
            while self.taken.contains(&unique) {
                unique = format!("{name} ({number})");
                *number += 1;
            }
        }
        self.taken.insert(unique.clone());
        unique
    }

    /// The name, with a prefix (its file, its graph) where it is taken.
    pub fn take_of(&mut self, name: &str, prefix: &str) -> String {
        if self.taken.contains(name) && !prefix.is_empty() {
            return self.take(&format!("{prefix}: {name}"));
        }
        self.take(name)
    }
}
