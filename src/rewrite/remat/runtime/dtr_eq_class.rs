//! DTR-EqClass: (own cost + costs of the adjacent classes of evicted storages) / (bytes * staleness).
//!
//! Classes are merged when a storage next to them is evicted, and never split: a returning storage subtracts its own
//! cost from its class, which can leave a negative sum when its views added cost in the meantime. Numerators are
//! cached: a storage in the pool is registered with every class that it counts, and recomputed when one of these or its
//! neighbours change.

use super::pool::{Bound, Pool};
use super::rule::{Change, Form, Rule, rounded};
use super::storage_state::StorageState;

/// No class, or no further registration.
const NONE: u32 = u32::MAX;

/// A storage that counts a class, and the next one in the list.
#[derive(Clone, Copy)]
struct Registration {
    storage: u32,
    next: u32,
}

/// A class of evicted storages, or one that was merged into another.
#[derive(Clone, Copy)]
struct Class {
    parent: u32,
    size: u32,
    cost: i128,
    first: u32,
    /// The numerator that counted it last.
    mark: u64,
}

pub(super) struct DtrEqClass {
    /// By evicted storage: its initial class.
    class_of: Vec<u32>,
    classes: Vec<Class>,
    registrations: Vec<Registration>,
    /// First free registration.
    free: u32,
    numerators: Vec<i128>,
    is_stale: Vec<bool>,
    stale: Vec<u32>,
    mark: u64,
}

impl DtrEqClass {
    pub(super) fn new(n_storages: usize) -> Self {
        Self {
            class_of: vec![NONE; n_storages],
            classes: Vec::new(),
            registrations: Vec::new(),
            free: NONE,
            numerators: vec![0; n_storages],
            is_stale: vec![false; n_storages],
            stale: Vec::new(),
            mark: 0,
        }
    }

    fn find(&mut self, mut class: u32) -> u32 {
        loop {
            let parent = self.classes[class as usize].parent;
            if parent == class {
                return class;
            }
            let above = self.classes[parent as usize].parent;
            self.classes[class as usize].parent = above;
            class = above;
        }
    }

    /// The class of an evicted storage.
    fn class(&mut self, storage: u32) -> Option<u32> {
        let class = self.class_of[storage as usize];
        (class != NONE).then(|| self.find(class))
    }

    fn mark_stale(&mut self, storage: u32) {
        if !std::mem::replace(&mut self.is_stale[storage as usize], true) {
            self.stale.push(storage);
        }
    }

    /// Marks every storage that counts a class as stale.
    fn invalidate(&mut self, class: u32) {
        let mut at = std::mem::replace(&mut self.classes[class as usize].first, NONE);
        while at != NONE {
            let Registration { storage, next } = self.registrations[at as usize];
            self.mark_stale(storage);
            self.registrations[at as usize].next = self.free;
            self.free = at;
            at = next;
        }
    }

    fn register(&mut self, storage: u32, class: u32) {
        let next = std::mem::replace(&mut self.classes[class as usize].first, self.free);
        let new = Registration { storage, next };
        if self.free == NONE {
            self.classes[class as usize].first = number(self.registrations.len());
            self.registrations.push(new);
        } else {
            let place = &mut self.registrations[self.free as usize];
            self.free = place.next;
            *place = new;
        }
    }

    fn evicted(&mut self, states: &StorageState<'_>, storage: u32) {
        let mut merged = number(self.classes.len());
        self.class_of[storage as usize] = merged;
        self.classes.push(Class {
            parent: merged,
            size: 1,
            cost: states.cost[storage as usize].into(),
            first: NONE,
            mark: 0,
        });
        for neighbor in states.parents(storage).chain(states.children(storage)) {
            match self.class(neighbor) {
                Some(class) if class != merged => {
                    self.invalidate(class);
                    merged = self.merge(merged, class);
                }
                Some(_) => {}
                None => self.mark_stale(neighbor),
            }
        }
    }

    /// Merges two roots; returns the root of both.
    fn merge(&mut self, one: u32, other: u32) -> u32 {
        let (big, small) = if self.classes[one as usize].size >= self.classes[other as usize].size {
            (one, other)
        } else {
            (other, one)
        };
        let Class { size, cost, .. } = self.classes[small as usize];
        self.classes[small as usize].parent = big;
        let big_class = &mut self.classes[big as usize];
        big_class.size = big_class.size.saturating_add(size);
        big_class.cost = big_class.cost.saturating_add(cost);
        big
    }

    fn returned(&mut self, states: &StorageState<'_>, storage: u32) {
        let Some(class) = self.class(storage) else { return };
        self.class_of[storage as usize] = NONE;
        let cost = &mut self.classes[class as usize].cost;
        *cost = cost.saturating_sub(states.cost[storage as usize].into());
        self.invalidate(class);
        for neighbor in states.parents(storage).chain(states.children(storage)) {
            self.mark_stale(neighbor);
        }
    }

    /// Computes a numerator, and registers it with its classes.
    fn compute_numerator(&mut self, states: &StorageState<'_>, storage: u32) -> i128 {
        self.mark += 1;
        let mut sum = i128::from(states.cost[storage as usize]);
        for neighbor in states.parents(storage).chain(states.children(storage)) {
            if let Some(class) = self.class(neighbor)
                && self.classes[class as usize].mark != self.mark
            {
                self.classes[class as usize].mark = self.mark;
                sum = sum.saturating_add(self.classes[class as usize].cost);
                self.register(storage, class);
            }
        }
        sum
    }
}

impl Rule for DtrEqClass {
    const FORM: Form = Form::PerByteAndStaleness;

    fn bound(&mut self, _states: &StorageState<'_>, storage: u32) -> Bound {
        self.mark_stale(storage);
        Bound::default()
    }

    fn changed(&mut self, states: &StorageState<'_>, change: Change, _pool: &mut Pool) {
        match change {
            Change::Called(op) => {
                // A view adds cost to its storage, and links it with everything that the op reads.
                let is_view = |storage: &u32| states.links().makers.of(*storage as usize).first() != Some(&op);
                let writes = states.wiring.writes.of(op as usize);
                if writes.iter().any(is_view) {
                    for storage in writes.iter().chain(states.links().reads.of(op as usize)) {
                        self.mark_stale(*storage);
                    }
                }
            }
            Change::Evicted(storage) => self.evicted(states, storage),
            Change::Returned(storage) | Change::Lost(storage) => self.returned(states, storage),
        }
    }

    fn prepare(&mut self, states: &StorageState<'_>, pool: &mut Pool) -> f64 {
        for at in 0..self.stale.len() {
            let storage = self.stale[at];
            self.is_stale[storage as usize] = false;
            if pool.contains(storage) {
                let sum = self.compute_numerator(states, storage);
                self.numerators[storage as usize] = sum;
                let firm = rounded(sum);
                pool.set(storage, Bound { firm, fading: 0.0 });
            }
        }
        self.stale.clear();
        0.0
    }

    fn numerator(&mut self, _states: &StorageState<'_>, _pool: &mut Pool, storage: u32) -> i128 {
        self.numerators[storage as usize]
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
