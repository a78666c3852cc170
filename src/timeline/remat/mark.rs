//! Marks of rematerialization, their columns, eviction intervals, recomputed ops, counters.

use crate::Selected;
use crate::tally::EventColumn;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_rewrite::remat::{RematEvent, RematKind};

/// In ascending order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RematMarkKind {
    Evict,
    Rematerialize,
    /// Returned together with another result of the same op.
    Sibling,
    /// The run ended: nothing was left to evict.
    OutOfMemory,
    /// The run ended: recomputation cost more than the limit.
    Thrash,
}

impl RematMarkKind {
    pub const ALL: [Self; 5] = [
        Self::Evict,
        Self::Rematerialize,
        Self::Sibling,
        Self::OutOfMemory,
        Self::Thrash,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::Evict => "evicted",
            Self::Rematerialize => "recomputed",
            Self::Sibling => "recomputed next to another",
            Self::OutOfMemory => "out of memory",
            Self::Thrash => "thrash",
        }
    }

    pub(super) const fn of(event: &RematEvent) -> Option<Self> {
        match event.kind {
            RematKind::Evict => Some(Self::Evict),
            RematKind::Rematerialize if event.is_sibling => Some(Self::Sibling),
            RematKind::Rematerialize => Some(Self::Rematerialize),
            RematKind::Compute
            | RematKind::Put
            | RematKind::Free
            | RematKind::EagerEvict
            | RematKind::Pin
            | RematKind::Drop => None,
        }
    }
}

/// In the order of [`RematMarkKind::ALL`].
pub type RematMarkCounts = [u32; RematMarkKind::ALL.len()];

/// An event of a tensor, or the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematMark {
    /// On the common axis.
    pub step: Step,
    pub kind: RematMarkKind,
    pub run: u32,
    /// By the root of its storage; `None` for the end of a run.
    pub tensor: Option<Selected>,
    /// Of the storage; for an out-of-memory end the missing bytes.
    pub bytes: Bytes,
    /// Position in the run's events; `u32::MAX` for the end of a run.
    pub(super) event: u32,
}

pub type RematColumn = EventColumn<{ RematMarkKind::ALL.len() }>;

impl RematColumn {
    pub const fn count(&self, kind: RematMarkKind) -> u32 {
        self.counts[kind as usize]
    }
}

/// An eviction and the recomputation that follows it, as positions in [`super::LaneRemat::marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    pub evicted: usize,
    pub recomputed: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecomputationCost {
    pub n_ops: u32,
    pub time: Nanos,
}

/// The steps from the eviction of a storage to its recomputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvictionInterval {
    /// The storage, by its root.
    pub tensor: Selected,
    pub from: Step,
    pub to: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recomputed {
    /// On the common axis.
    pub step: Step,
    pub run: u32,
    /// In the run's tape.
    pub op: u32,
    pub time: Nanos,
}

/// Counters of a run up to and including a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RematCounters {
    /// To make room.
    pub evictions: u32,
    pub recomputed: u32,
    pub time: Nanos,
    /// `time` relative to the computation time of the program.
    pub share: f64,
    /// The share at which the run is given up.
    pub limit: Option<f64>,
}
