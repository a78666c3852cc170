//! The pool of free names in the original's order, with an index for the first fit.
//!
//! Order: entries with an unknown first dimension first; within each kind by elements, equal ones by arrival (version
//! 1: by arrival only). The first fit of a variable is the first entry in that order of equal shape (level 0), or with
//! enough elements and the same kind of first dimension (level 1), and of an equal data type where the version requires
//! it.

use std::collections::BTreeMap;

use super::lookup::{Found, Lookup, Phase};
use super::versions::{TypeRule, VersionRules};

/// A position in the pool's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    is_behind_batch: bool,
    elements: u128,
    arrival: u64,
}

/// A free name, with its shape on entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: u32,
    pub(super) shape: u32,
    is_batch: bool,
    elements: u128,
}

/// The rules of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolRules {
    is_level_1: bool,
    looks_at_types: bool,
    sorts: bool,
}

impl PoolRules {
    pub(super) fn new(rules: &VersionRules, level: i64) -> Self {
        let is_level_1 = level == 1;
        Self {
            is_level_1,
            looks_at_types: match rules.types {
                TypeRule::Equal => true,
                TypeRule::EqualAtLevel0 => !is_level_1,
                TypeRule::Any => false,
            },
            sorts: rules.traits.sorts_pool,
        }
    }

    /// Attributes in which entries must agree to be candidates.
    fn bucket(self, found: Found, shape: u32, is_batch: bool) -> (u32, u32) {
        let dtype = if self.looks_at_types { found.dtype } else { 0 };
        (dtype, if self.is_level_1 { u32::from(is_batch) } else { shape })
    }
}

/// Result of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// An entry to reuse.
    Hit(Place, Entry),
    /// The variable's own name.
    SameName(Place),
    /// No entry.
    Miss,
}

#[derive(Debug)]
pub(super) struct Pool {
    rules: PoolRules,
    entries: BTreeMap<Place, Entry>,
    /// By bucket: entries as declared for ops of the current phase.
    index: BTreeMap<((u32, u32), Place), Entry>,
    /// By name.
    by_name: Vec<Vec<(u32, Place)>>,
    n_arrivals: u64,
}

impl Pool {
    pub(super) fn new(rules: PoolRules, n_names: usize) -> Self {
        Self {
            rules,
            entries: BTreeMap::new(),
            index: BTreeMap::new(),
            by_name: vec![Vec::new(); n_names],
            n_arrivals: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Place, &Entry)> {
        self.entries.iter()
    }

    /// Adds a name that has just died, unless the pool has it with that shape. O(log n).
    pub(super) fn fill(&mut self, name: u32, found: Found) {
        if self.by_name[name as usize]
            .iter()
            .any(|(shape, _)| *shape == found.shape)
        {
            return;
        }
        let place = Place {
            is_behind_batch: self.rules.sorts && !found.is_batch,
            elements: if self.rules.sorts { found.elements } else { 0 },
            arrival: self.n_arrivals,
        };
        self.n_arrivals += 1;
        let entry = Entry {
            name,
            shape: found.shape,
            is_batch: found.is_batch,
            elements: found.elements,
        };
        self.entries.insert(place, entry);
        self.by_name[name as usize].push((found.shape, place));
        self.put_in_index(place, entry, found);
    }

    fn put_in_index(&mut self, place: Place, entry: Entry, found: Found) {
        let bucket = self.rules.bucket(found, entry.shape, entry.is_batch);
        self.index.insert((bucket, place), entry);
    }

    /// Rebuilds the index: ops of another phase may find other declarations. O(n log n), once per graph.
    pub(super) fn rebuild_index(&mut self, lookup: &mut Lookup<'_>, phase: Phase) {
        self.index.clear();
        let entries: Vec<(Place, Entry)> = self.entries.iter().map(|(place, entry)| (*place, *entry)).collect();
        for (place, entry) in entries {
            if let Some(found) = lookup.find(entry.name, phase) {
                self.put_in_index(place, entry, found);
            }
        }
    }

    /// Result of the original's scan from the front, for a variable with its declaration. O(log n); in version 1 at
    /// level 1 O(entries).
    pub(super) fn scan(&self, name: u32, found: Found) -> Scan {
        let bucket = self.rules.bucket(found, found.shape, found.is_batch);
        let start = Place {
            is_behind_batch: self.rules.sorts && !found.is_batch,
            elements: if self.rules.sorts { found.elements } else { 0 },
            arrival: 0,
        };
        let mut fits = self
            .index
            .range((bucket, start)..)
            .take_while(|(key, _)| key.0 == bucket);
        let hit = fits.find(|(_, entry)| !self.rules.is_level_1 || found.elements <= entry.elements);
        let own = self.by_name[name as usize].iter().map(|(_, place)| *place).min();
        match (hit, own) {
            (Some(((_, place), _)), Some(own)) if own <= *place => Scan::SameName(own),
            (Some(((_, place), entry)), _) => Scan::Hit(*place, *entry),
            (None, Some(own)) => Scan::SameName(own),
            (None, None) => Scan::Miss,
        }
    }

    /// Removes an entry. O(log n).
    pub(super) fn take(&mut self, place: Place, found: Option<Found>) {
        let Some(entry) = self.entries.remove(&place) else {
            return;
        };
        self.by_name[entry.name as usize].retain(|(_, other)| *other != place);
        if let Some(found) = found {
            let bucket = self.rules.bucket(found, entry.shape, entry.is_batch);
            self.index.remove(&(bucket, place));
        }
    }
}
