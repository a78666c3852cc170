//! The pool of names whose memory is free, in the original's order, with an index that finds the first fit at once.
//!
//! Order: entries with an unknown first dimension first, then the others; within each by elements, an entry behind its
//! equals (version 1: the order of arrival). The first fit of a variable is the first entry in that order of equal shape
//! (level 0), or with enough elements and the same kind of first dimension (level 1), and of an equal data type where
//! the version looks at that.

use std::collections::BTreeMap;

use super::lookup::{Found, Lookup, Phase};
use super::versions::{TypeRule, VersionRules};

/// A place in the pool's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    is_behind_batch: bool,
    elements: u128,
    arrival: u64,
}

/// A free name, with the shape that it was put in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The name.
    pub(super) name: u32,
    /// Its shape.
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

    /// What entries must agree in to come into question at all.
    fn bucket(self, found: Found, shape: u32, is_batch: bool) -> (u32, u32) {
        let dtype = if self.looks_at_types { found.dtype } else { 0 };
        (dtype, if self.is_level_1 { u32::from(is_batch) } else { shape })
    }
}

/// How a scan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// With an entry to take.
    Hit(Place, Entry),
    /// At the variable's own name.
    SameName(Place),
    /// With nothing.
    Miss,
}

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    rules: PoolRules,
    entries: BTreeMap<Place, Entry>,
    /// By what must agree: entries as ops of the current phase find them.
    index: BTreeMap<((u32, u32), Place), Entry>,
    /// By name: its entries.
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

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Place, &Entry)> {
        self.entries.iter()
    }

    /// Puts a name in that has just died, unless it is there with that shape. O(log n).
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

    /// Looks everything up anew: ops of another phase may find other declarations. O(n log n), once a graph.
    pub(super) fn look_up_again(&mut self, lookup: &mut Lookup<'_>, phase: Phase) {
        self.index.clear();
        let entries: Vec<(Place, Entry)> = self.entries.iter().map(|(place, entry)| (*place, *entry)).collect();
        for (place, entry) in entries {
            if let Some(found) = lookup.find(entry.name, phase) {
                self.put_in_index(place, entry, found);
            }
        }
    }

    /// What the original's scan from the front ends with, for a variable with its declaration. O(log n), in version 1 at
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

    /// Takes an entry out. O(log n).
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
