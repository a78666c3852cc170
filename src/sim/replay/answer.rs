//! Answers of a replay: per command, and at the end.

use super::super::alloc::{
    Address, ArenaFigures, Call, CallCounts, Grant, LegacyFigures, LoadedSegments, PoolFigures, PoolKey, RunError,
};
use highwater_model::units::Bytes;
use highwater_model::workload::TraceCommand;

/// Status of a run of a static graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatus(pub Result<(), RunError>);

impl RunStatus {
    /// The engine's status of a run that cannot get its pages: its check for success gives every reason this one.
    pub const FAILED: u32 = 1_343_225_857;

    /// The engine's number; 0 is success.
    pub const fn number(self) -> u32 {
        match self.0 {
            Ok(()) => 0,
            Err(RunError::MemoryInUse | RunError::Shortage(_)) => Self::FAILED,
        }
    }
}

/// The effect of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, without a result.
    Done,
    /// Contradictory, and without effect.
    Skipped,
    /// A block of a pool; with the slots of its pages where it is stitched.
    Allocated(Grant, Vec<u32>),
    /// Out of memory in a pool.
    NotAllocated,
    Loaded(LoadedSegments),
    /// The segments placed before the failure.
    NotLoaded(LoadedSegments),
    /// A run, or its first half.
    Ran {
        status: RunStatus,
        /// Number of calls that prepared the run; later ones ended it.
        calls_before: usize,
        /// Device bytes in use during the run.
        in_use: Bytes,
    },
    /// Weights or fixed memory; `None` where no memory was needed.
    Placed(Option<Address>),
    /// Weights or fixed memory failed.
    NotPlaced,
}

impl Outcome {
    /// Whether a request failed.
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::NotAllocated | Self::NotLoaded(_) | Self::NotPlaced => true,
            Self::Ran { status, .. } => status.0.is_err(),
            Self::Done | Self::Skipped | Self::Allocated(..) | Self::Loaded(_) | Self::Placed(_) => false,
        }
    }
}

/// Everything about one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'r> {
    /// Index among the answered commands, from 0.
    pub index: u32,
    pub command: TraceCommand,
    pub outcome: Outcome,
    /// Driver calls of the command, in order.
    pub calls: &'r [Call],
    /// Device bytes in use.
    pub in_use: Bytes,
    /// Of these, physical pages.
    pub pages: Bytes,
    /// The pool concerned: a freed block's own, otherwise the current one.
    pub pool: PoolKey,
    /// `None` where the pool does not exist, and for the legacy allocator.
    pub pool_figures: Option<PoolFigures>,
    pub device_pool: Option<PoolFigures>,
    /// Figures of the arena, where static graphs share one.
    pub arena: Option<ArenaFigures>,
    /// Figures of the legacy allocator, if used.
    pub legacy: Option<LegacyFigures>,
    /// Bytes of fixed feature memory.
    pub fixed: Bytes,
}

/// Final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Pools that were not destroyed, by number.
    pub pools: Vec<(PoolKey, PoolFigures)>,
    pub device_pool: Option<PoolFigures>,
    /// Peak of device bytes in use.
    pub peak: Bytes,
    /// Device bytes in use.
    pub in_use: Bytes,
    pub calls: CallCounts,
}

/// Counts of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaySummary {
    /// Executed commands.
    pub commands: u32,
    /// Failed requests.
    pub failed: u64,
    /// Position of the first of them in the trace.
    pub first_failure: Option<u32>,
    /// Peak of device bytes in use.
    pub peak_reserved: Bytes,
    /// Device bytes in use at the end.
    pub reserved: Bytes,
    /// The peak of requested bytes of blocks, weights, fixed memory and running graphs.
    pub peak_live: Bytes,
    pub calls: CallCounts,
}
