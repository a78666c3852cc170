//! What is told of a run under a budget: marks, columns of them, gaps, ops computed anew, counters.

use crate::Selected;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_rewrite::remat::{RematEvent, RematKind};

/// What a mark tells; the most telling last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RematMarkKind {
    /// Evicted to make room.
    Evict,
    /// Computed anew because it was needed.
    Rematerialize,
    /// Came back beside another result of the same op.
    Sibling,
    /// Given up: nothing was left to evict.
    OutOfMemory,
    /// Given up: computing anew cost more than the limit.
    Thrash,
}

impl RematMarkKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Evict,
        Self::Rematerialize,
        Self::Sibling,
        Self::OutOfMemory,
        Self::Thrash,
    ];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Evict => "evicted",
            Self::Rematerialize => "computed anew",
            Self::Sibling => "back beside another",
            Self::OutOfMemory => "out of memory",
            Self::Thrash => "thrash",
        }
    }

    pub(super) const fn of(event: &RematEvent) -> Option<Self> {
        match event.kind {
            RematKind::Evict => Some(Self::Evict),
            RematKind::Rematerialize if event.is_sibling => Some(Self::Sibling),
            RematKind::Rematerialize => Some(Self::Rematerialize),
            _ => None,
        }
    }
}

/// Counts by kind, in the order of [`RematMarkKind::ALL`].
pub type RematMarkCounts = [u32; RematMarkKind::ALL.len()];

/// One thing that happened to a tensor, or the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematMark {
    /// On the common axis.
    pub step: Step,
    /// What.
    pub kind: RematMarkKind,
    /// Position of the run.
    pub run: u32,
    /// The tensor, by the root of its storage; `None` for the end of a run.
    pub tensor: Option<Selected>,
    /// Its bytes; of an end without memory what was short.
    pub bytes: Bytes,
    /// Position in the run's events; `u32::MAX` for the end of a run.
    pub(super) event: u32,
}

/// A pixel column with marks in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematColumn {
    /// From the left edge.
    pub column: u32,
    /// First and last step with marks.
    pub steps: (Step, Step),
    /// How many of each kind.
    pub counts: RematMarkCounts,
}

impl RematColumn {
    /// All marks.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// How many of a kind.
    pub const fn count(&self, kind: RematMarkKind) -> u32 {
        self.counts[kind as usize]
    }
}

/// Steps over which a storage is away: from its eviction to its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RematGap {
    /// The storage, by its root.
    pub tensor: Selected,
    /// The step of the eviction.
    pub from: Step,
    /// The step on which it is back.
    pub to: Step,
}

/// An op that is computed anew on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recomputed {
    /// On the common axis.
    pub step: Step,
    /// Position of the run.
    pub run: u32,
    /// The op of the run's tape.
    pub op: u32,
    /// What it costs.
    pub time: Nanos,
}

/// How much happened in a run up to and with a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RematCounters {
    /// Evictions to make room.
    pub evictions: u32,
    /// Ops computed anew.
    pub recomputed: u32,
    /// What they cost.
    pub time: Nanos,
    /// That over the cost of the program itself.
    pub share: f64,
    /// The share at which the run is given up.
    pub limit: Option<f64>,
}
