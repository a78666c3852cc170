//! Request and answer of a run under a budget, common to all engines.

use super::eager::FreeNeighbors;
use super::heuristics::Heuristic;
use highwater_model::units::{Bytes, Nanos};

/// `DTRConfig` without its threshold; the static planner reads every field, the eager interpreter the minimum size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DtrFactors {
    /// Tensors below this size are never evicted.
    pub evictee_minimum_size: Bytes,
    /// Exponent of the memory of recomputation.
    pub recomp_memory_factor: f64,
    /// Exponent of the time of recomputation.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// No limit: nothing is evicted to make room.
    Unlimited,
    /// Bytes, as the engine counts them.
    Bytes(Bytes),
    /// A fraction of the engine's own unlimited peak, rounded down.
    Ratio(f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RematRequest {
    pub heuristic: &'static Heuristic,
    /// The budget in bytes (for the static planner and the eager interpreter the eviction threshold); `None` is no limit.
    pub budget: Option<Bytes>,
    /// The other fields of `DTRConfig`.
    pub factors: DtrFactors,
    /// Source of the adjacent free bytes in the eager interpreter's score.
    pub free_neighbors: FreeNeighbors,
    /// Stop as thrashing once recomputation costs more than this times the baseline; `None` never stops.
    pub thrash_limit: Option<f64>,
    /// Seed of the heuristic `random`.
    pub seed: u64,
}

impl RematRequest {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RematKind {
    Compute,
    /// Brought in by the caller.
    Put,
    /// Freed for good.
    Free,
    /// Evicted to make room.
    Evict,
    /// Evicted because the caller released it; it can still be recomputed.
    EagerEvict,
    Rematerialize,
    /// Resident from here on.
    Pin,
    /// Released by the caller, kept as a recipe for others.
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

    /// Whether memory is freed.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Free | Self::Evict | Self::EagerEvict | Self::Drop)
    }
}

/// No entry in [`RematRun::choices`].
pub const NO_CHOICE: u32 = u32::MAX;

/// One event. Events of one op are in chronological order; evictions for it come first. A sibling result that becomes
/// resident with the requested tensor has its own event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematEvent {
    /// The op that is computed for the first time (or whose inputs are brought back); after the last op the number of
    /// ops.
    pub step: u32,
    pub kind: RematKind,
    /// The tensor; for evictions the root of the storage.
    pub tensor: u32,
    /// Version: 0 for the first computation, incremented by each recomputation.
    pub copy: u32,
    /// For `Rematerialize`: the number of ops recomputed to bring it back, itself included; otherwise 0.
    pub chain: u32,
    /// The engine's clock after the event: nanoseconds (runtime), steps (static planner), bytes moved (eager
    /// interpreter).
    pub clock: u64,
    /// Bytes in use after the event, as the engine counts them.
    pub memory_after: Bytes,
    /// Index in [`RematRun::choices`] for `Evict`; otherwise [`NO_CHOICE`].
    pub choice: u32,
    /// For `Compute` and `Rematerialize`: another result of an op that already has its event.
    pub is_sibling: bool,
}

/// Why a storage was evicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The lowest score is evicted. May be infinite.
    pub score: f64,
    /// Cost of recomputing it as the heuristic counts it: nanoseconds (runtime), the planner's weight f * b (static
    /// planner), bytes moved by evicted neighbours (eager).
    pub compute: f64,
    /// Bytes that its recomputation needs (static planner), or adjacent free bytes (eager); 0 for the runtime.
    pub memory: f64,
    /// Time since its last use, in units of the clock; for the static planner the steps until its next use.
    pub staleness: u64,
    pub bytes: Bytes,
    /// Number of evictable storages.
    pub candidates: u32,
    /// Number of candidates with the same score.
    pub ties: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RematShortage {
    /// The op whose results did not fit.
    pub op: u32,
    /// Bytes of its results.
    pub requested: Bytes,
    /// Bytes in use then, none of which could be evicted.
    pub in_use: Bytes,
    pub short: Bytes,
    /// Storages that were resident and locked or pinned, largest first.
    pub held: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RematStatus {
    /// Ran to its end.
    Ok,
    /// Stopped: recomputation cost more than the limit.
    Thrash,
    /// Stopped: nothing was left to evict.
    OutOfMemory(RematShortage),
}

impl RematStatus {
    /// The name of how the engine ended.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Thrash => "thrash",
            Self::OutOfMemory(_) => "out_of_memory",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RematCounts {
    /// Chosen by the heuristic.
    pub evictions: u64,
    pub evicted_bytes: Bytes,
    /// Because the caller released the storage.
    pub eager_evictions: u64,
    /// Recomputations of needed tensors.
    pub rematerializations: u64,
    /// Bytes of these computations, siblings included.
    pub rematerialized_bytes: Bytes,
    /// Siblings that came back with them.
    pub collateral: u64,
    pub frees: u64,
    /// Steps that end with usage at or above the budget (eager interpreter: above it).
    pub steps_over_budget: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RematRun {
    pub heuristic: &'static Heuristic,
    pub budget: Option<Bytes>,
    pub status: RematStatus,
    /// The cost of all ops, once each.
    pub base_compute: Nanos,
    /// The cost of recomputation.
    pub remat_compute: Nanos,
    /// Highest usage, as the engine counts it.
    pub peak: Bytes,
    pub peak_step: u32,
    pub counts: RematCounts,
    /// Every decision, in order.
    pub events: Vec<RematEvent>,
    pub choices: Vec<Choice>,
}

impl RematRun {
    /// A run before its first event.
    pub(super) fn new(request: &RematRequest, base_compute: Nanos) -> Self {
        Self {
            heuristic: request.heuristic,
            budget: request.budget,
            status: RematStatus::Ok,
            base_compute,
            remat_compute: Nanos(0),
            peak: Bytes::ZERO,
            peak_step: 0,
            counts: RematCounts::default(),
            events: Vec::new(),
            choices: Vec::new(),
        }
    }

    pub(super) fn raise_peak(&mut self, usage: u64, step: u32) {
        if usage > self.peak.get() {
            (self.peak, self.peak_step) = (Bytes(usage), step);
        }
    }

    /// Records an eviction by the heuristic.
    pub(super) fn evict(&mut self, choice: Choice, event: RematEvent) {
        self.counts.evictions += 1;
        self.counts.evicted_bytes += choice.bytes;
        self.events.push(RematEvent {
            choice: u32::try_from(self.choices.len()).unwrap_or(NO_CHOICE),
            ..event
        });
        self.choices.push(choice);
    }

    /// Adds the time of a recomputed op; whether the sum exceeds `limit` times the baseline.
    #[expect(clippy::cast_precision_loss, reason = "a limit is a factor")]
    pub(super) fn spend(&mut self, time: Nanos, limit: Option<f64>) -> bool {
        self.remat_compute = self.remat_compute + time;
        limit.is_some_and(|limit| self.remat_compute.0 as f64 > limit * self.base_compute.0 as f64)
    }

    /// Whether its peak exceeds the budget, however it ended.
    pub fn is_over_budget(&self) -> bool {
        self.budget.is_some_and(|budget| self.peak > budget)
    }

    /// Whether it ran to its end and never exceeded the budget.
    pub fn is_within_budget(&self) -> bool {
        self.status == RematStatus::Ok && !self.is_over_budget()
    }

    /// The name of the status in files. An answer above its budget is `over_budget`, also where recomputation was given up: that is
    /// [`Self::thrashes`].
    pub fn status_name(&self) -> &'static str {
        match self.status {
            RematStatus::Ok | RematStatus::Thrash if self.is_over_budget() => "over_budget",
            _ => self.status.name(),
        }
    }

    /// The status for people.
    pub fn status_words(&self) -> String {
        match self.status_name() {
            "over_budget" if self.thrashes() => "over the budget, thrash".to_owned(),
            "over_budget" => "over the budget".to_owned(),
            name => name.replace('_', " "),
        }
    }

    /// Whether it was given up because recomputation cost more than the limit.
    pub fn thrashes(&self) -> bool {
        self.status == RematStatus::Thrash
    }

    /// (base + recomputation) / base; 1 where the ops cost nothing.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn overhead(&self) -> f64 {
        if self.base_compute.0 == 0 {
            return 1.0;
        }
        1.0 + self.remat_compute.0 as f64 / self.base_compute.0 as f64
    }
}
