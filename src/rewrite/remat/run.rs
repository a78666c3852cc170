//! What a run under a budget is asked and what it answers; the same for all engines.

use super::eager::FreeNeighbors;
use super::heuristics::Heuristic;
use highwater_model::units::{Bytes, Nanos};

/// `DTRConfig` without its threshold; the static planner reads all of it, the eager interpreter the minimum size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DtrFactors {
    /// Tensors below this size are never evicted.
    pub evictee_minimum_size: Bytes,
    /// Exponent of the memory of computing anew.
    pub recomp_memory_factor: f64,
    /// Exponent of the time of computing anew.
    pub recomp_time_factor: f64,
}

impl Default for DtrFactors {
    fn default() -> Self {
        Self {
            evictee_minimum_size: Bytes::mib(1),
            recomp_memory_factor: 1.0,
            recomp_time_factor: 1.0,
        }
    }
}

/// How much memory there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// No limit: nothing is evicted to make room.
    Unlimited,
    /// Bytes, as the engine counts them.
    Bytes(Bytes),
    /// A part of the engine's own unlimited peak, rounded down.
    Ratio(f64),
}

/// One run to make.
#[derive(Clone, Debug, PartialEq)]
pub struct RematRequest {
    /// What is evicted.
    pub heuristic: &'static Heuristic,
    /// The budget in bytes (for the static planner and the eager interpreter the eviction threshold); `None` is no limit.
    pub budget: Option<Bytes>,
    /// `DTRConfig`'s other fields.
    pub factors: DtrFactors,
    /// Where the eager interpreter takes its allocator's free neighbours from.
    pub free_neighbors: FreeNeighbors,
    /// Stop as thrashing once computing anew costs more than this times the baseline; `None` never stops.
    pub thrash_limit: Option<f64>,
    /// Seed of the heuristic `random`.
    pub seed: u64,
}

impl RematRequest {
    /// A run without a budget.
    pub fn unlimited(heuristic: &'static Heuristic) -> Self {
        Self {
            heuristic,
            budget: None,
            factors: DtrFactors::default(),
            free_neighbors: FreeNeighbors::Zero,
            thrash_limit: Some(1.0),
            seed: 0,
        }
    }
}

/// What happened to a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RematKind {
    /// Computed for the first time.
    Compute,
    /// Brought in from outside.
    Put,
    /// Released for good at the end of its life.
    Free,
    /// Evicted to make room.
    Evict,
    /// Evicted because the caller let go of it; it can still be computed anew.
    EagerEvict,
    /// Computed anew.
    Rematerialize,
    /// Resident for ever from here on.
    Pin,
    /// Let go by the caller, kept as a recipe for others.
    Drop,
}

impl RematKind {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Put => "put",
            Self::Free => "free",
            Self::Evict => "evict",
            Self::EagerEvict => "eager_evict",
            Self::Rematerialize => "rematerialize",
            Self::Pin => "pin",
            Self::Drop => "drop",
        }
    }

    /// Whether memory is held from here on.
    pub const fn begins(self) -> bool {
        matches!(self, Self::Compute | Self::Put | Self::Rematerialize)
    }

    /// Whether memory is given back.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Free | Self::Evict | Self::EagerEvict | Self::Drop)
    }
}

/// No entry in [`RematRun::choices`].
pub const NO_CHOICE: u32 = u32::MAX;

/// One event. Events of one op's execution stand in the order in which they happen; what is evicted for it precedes it.
/// A tensor that becomes resident beside the one asked for (a sibling result) has an event of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematEvent {
    /// The op that is being computed for the first time (or whose inputs are being brought back), by number; after the
    /// last op the number of ops.
    pub step: u32,
    /// What.
    pub kind: RematKind,
    /// The tensor; of evictions the root of the storage.
    pub tensor: u32,
    /// Which version of it: 0 as first computed, counted up each time it is computed anew.
    pub copy: u32,
    /// Of `Rematerialize`: how many ops were computed anew to bring it back, itself included; otherwise 0.
    pub chain: u32,
    /// The engine's clock after the event: nanoseconds for the runtime, the step for the static planner, bytes moved for
    /// the eager interpreter.
    pub clock: u64,
    /// Bytes in use after the event, as the engine counts them.
    pub memory_after: Bytes,
    /// Position in [`RematRun::choices`] of `Evict`; otherwise [`NO_CHOICE`].
    pub choice: u32,
    /// Of `Compute` and `Rematerialize`: whether this is another result of an op that has its event already.
    pub is_sibling: bool,
}

/// Why a storage was evicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The score; the lowest is evicted. May be infinite.
    pub score: f64,
    /// Cost of computing it anew as the heuristic sees it: nanoseconds (runtime), the planner's weight f * b (static planner), bytes moved by
    /// evicted neighbours (eager).
    pub compute: f64,
    /// Bytes that computing it anew would need (static planner), or free bytes beside it (eager); 0 for the runtime.
    pub memory: f64,
    /// How long it has not been used, in units of the clock; of the static planner the steps until its next use.
    pub staleness: u64,
    /// Its bytes.
    pub bytes: Bytes,
    /// How many could have been evicted.
    pub candidates: u32,
    /// How many of these had the same score.
    pub ties: u32,
}

/// What was missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RematShortage {
    /// The op whose results did not fit.
    pub op: u32,
    /// Bytes that it asked for.
    pub requested: Bytes,
    /// Bytes in use then, none of which could be evicted.
    pub in_use: Bytes,
    /// How much was short.
    pub short: Bytes,
    /// Storages that were resident and locked or pinned, largest first.
    pub held: Vec<u32>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RematStatus {
    /// To its end.
    Ok,
    /// Stopped: computing anew cost more than the limit.
    Thrash,
    /// Stopped: nothing was left to evict.
    OutOfMemory(RematShortage),
}

impl RematStatus {
    /// The name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Thrash => "thrash",
            Self::OutOfMemory(_) => "out_of_memory",
        }
    }
}

/// How often things happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RematCounts {
    /// Evictions chosen by the heuristic.
    pub evictions: u64,
    /// Their bytes.
    pub evicted_bytes: Bytes,
    /// Evictions because the caller let go.
    pub eager_evictions: u64,
    /// Tensors computed anew because they were needed.
    pub rematerializations: u64,
    /// Bytes that these computations took, siblings included.
    pub rematerialized_bytes: Bytes,
    /// Siblings that came back with them.
    pub collateral: u64,
    /// Ends of life.
    pub frees: u64,
    /// Steps at whose end the bytes in use were at or over the budget; over it for the eager interpreter.
    pub steps_over_budget: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RematRun {
    /// By which heuristic.
    pub heuristic: &'static Heuristic,
    /// The budget, as asked.
    pub budget: Option<Bytes>,
    /// How it ended.
    pub status: RematStatus,
    /// The cost of all ops, once each.
    pub base_compute: Nanos,
    /// The cost of what was computed anew.
    pub remat_compute: Nanos,
    /// The highest bytes in use, as the engine counts them.
    pub peak: Bytes,
    /// The step of the peak.
    pub peak_step: u32,
    /// Counts.
    pub counts: RematCounts,
    /// Every decision, in order.
    pub events: Vec<RematEvent>,
    /// The reasons of evictions.
    pub choices: Vec<Choice>,
}

impl RematRun {
    /// Whether it reached its end and never used more than the budget.
    pub fn is_within_budget(&self) -> bool {
        self.status == RematStatus::Ok && self.budget.is_none_or(|budget| self.peak <= budget)
    }

    /// (base + anew) / base; 1 where the ops cost nothing.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn overhead(&self) -> f64 {
        if self.base_compute.0 == 0 {
            return 1.0;
        }
        1.0 + self.remat_compute.0 as f64 / self.base_compute.0 as f64
    }
}
