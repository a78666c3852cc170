//! A buffer assignment: allocations, and the values that XLA put into each, whichever form it was read from.
//!
//! ```text
//! Allocation   bytes that are held as one; kinds: parameter, maybe-live-out, constant, thread-local, else preallocated-temp
//! Value        what an instruction yields, at an offset within an allocation
//! phi          a value that only joins others (a loop's state), at the same place as they
//! share        two values that the heap simulator put at one address on purpose
//! ```

use std::collections::BTreeSet;

/// The purpose of an allocation, which may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Parameter,
    /// May be read after the run.
    LiveOut,
    Constant,
    /// Of an element-wise computation, held per thread.
    ThreadLocal,
    Temp,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::LiveOut => "maybe-live-out",
            Self::Constant => "constant",
            Self::ThreadLocal => "thread-local",
            Self::Temp => "preallocated-temp",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// By which the dump names it.
    pub(super) id: u64,
    /// Its instruction, with the path of the element where that yields a tuple.
    pub(super) name: String,
    pub(super) size: u64,
    /// Relative to the allocation.
    pub(super) offset: u64,
    /// Whether it only joins other values.
    pub(super) is_phi: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Allocation {
    pub(super) index: u64,
    pub(super) size: u64,
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) values: Vec<Value>,
}

impl Allocation {
    /// Its name: number and kinds.
    pub(super) fn title(&self) -> String {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        format!("allocation {} ({})", self.index, kinds.join(", "))
    }
}

/// An action of the heap simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Alloc(u64),
    Free(u64),
    /// Put it where another value is.
    Share(u64, u64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Allocations in the order of the dump.
    pub(super) allocations: Vec<Allocation>,
    /// The actions of the heap simulator, in its order; empty where the dump lacks them.
    pub(super) events: Vec<Event>,
}

impl Assignment {
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let sum = |wanted: Option<Kind>| {
            let of_kind = self
                .allocations
                .iter()
                .filter(|one| wanted.is_none_or(|kind| one.kinds.contains(&kind)));
            of_kind.fold(0_u64, |sum, one| sum.saturating_add(one.size))
        };
        let mut facts = vec![
            ("allocations".to_owned(), self.allocations.len().to_string()),
            ("allocations bytes".to_owned(), sum(None).to_string()),
        ];
        for kind in [
            Kind::Parameter,
            Kind::LiveOut,
            Kind::Constant,
            Kind::ThreadLocal,
            Kind::Temp,
        ] {
            facts.push((format!("{} bytes", kind.name()), sum(Some(kind)).to_string()));
        }
        let temp = || {
            let temp = self.allocations.iter().filter(|one| one.kinds.contains(&Kind::Temp));
            temp.flat_map(|one| &one.values)
        };
        let values = || temp().filter(|value| !value.is_phi);
        let bytes = values().fold(0_u64, |sum, value| sum.saturating_add(value.size));
        facts.push(("preallocated-temp values".to_owned(), values().count().to_string()));
        facts.push(("preallocated-temp bytes of values".to_owned(), bytes.to_string()));
        facts.push((
            "preallocated-temp joins of values (phi)".to_owned(),
            temp().filter(|value| value.is_phi).count().to_string(),
        ));
        facts
    }
}
