//! What a replay answers: per command, and at the end.

use super::super::alloc::{
    Address, ArenaFigures, Call, CallCounts, Grant, LegacyFigures, LoadedSegments, PoolFigures, PoolKey, RunError,
};
use highwater_model::units::Bytes;
use highwater_model::workload::TraceCommand;

/// How a run of a static graph ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatus(pub Result<(), RunError>);

impl RunStatus {
    /// The engine's status of pages that serve somebody else.
    pub const PHYSICAL_MEMORY_IN_USE: u32 = 1_343_225_857;

    /// The engine's status of any other failure.
    pub const FAILED: u32 = u32::MAX;

    /// The engine's number; 0 is success.
    pub const fn number(self) -> u32 {
        match self.0 {
            Ok(()) => 0,
            Err(RunError::MemoryInUse) => Self::PHYSICAL_MEMORY_IN_USE,
            Err(RunError::Shortage(_)) => Self::FAILED,
        }
    }
}

/// What a command led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, and there is nothing to tell.
    Done,
    /// It made no sense where it stood, and changed nothing.
    Skipped,
    /// A block of a pool; with the slots of its pages where it is stitched.
    Allocated(Grant, Vec<u32>),
    /// Out of memory in a pool.
    NotAllocated,
    /// A static graph was loaded.
    Loaded(LoadedSegments),
    /// A static graph was not loaded; what was placed until then.
    NotLoaded(LoadedSegments),
    /// A run, or its first half.
    Ran {
        /// How it ended.
        status: RunStatus,
        /// How many calls prepared the run; those behind them ended it.
        calls_before: usize,
        /// Bytes of the device in use while it ran.
        in_use: Bytes,
    },
    /// Weights or fixed memory: where, if anything was needed.
    Placed(Option<Address>),
    /// Weights or fixed memory could not be had.
    NotPlaced,
}

impl Outcome {
    /// Whether something that was asked for could not be had.
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
    /// Position among the answered commands, from 0.
    pub index: u32,
    /// The command.
    pub command: TraceCommand,
    /// What it led to.
    pub outcome: Outcome,
    /// Driver calls that it made, in order.
    pub calls: &'r [Call],
    /// Bytes of the device in use.
    pub in_use: Bytes,
    /// Of these, physical pages.
    pub pages: Bytes,
    /// The pool that it speaks of: a freed block's own, else the current one.
    pub pool: PoolKey,
    /// That pool's figures; `None` where it does not exist, or the legacy allocator answers.
    pub pool_figures: Option<PoolFigures>,
    /// Figures of the device's pool.
    pub device_pool: Option<PoolFigures>,
    /// Figures of the arena, where static graphs share one.
    pub arena: Option<ArenaFigures>,
    /// Figures of the legacy allocator, where it answers.
    pub legacy: Option<LegacyFigures>,
    /// Bytes of fixed feature memory.
    pub fixed: Bytes,
}

/// What is left at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Pools that were not destroyed, by number.
    pub pools: Vec<(PoolKey, PoolFigures)>,
    /// The device's pool.
    pub device_pool: Option<PoolFigures>,
    /// The most bytes of the device that were in use.
    pub peak: Bytes,
    /// Bytes of the device that are in use.
    pub in_use: Bytes,
    /// Driver calls.
    pub calls: CallCounts,
}

/// What a replay counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaySummary {
    /// Commands that were executed.
    pub commands: u32,
    /// Commands that asked for something that could not be had.
    pub failed: u64,
    /// Position of the first of them in the trace.
    pub first_failure: Option<u32>,
    /// The most bytes of the device that were in use.
    pub peak_reserved: Bytes,
    /// Bytes of the device that are in use at the end.
    pub reserved: Bytes,
    /// The most bytes that blocks, weights, fixed memory and running graphs asked for at once.
    pub peak_live: Bytes,
    /// Driver calls.
    pub calls: CallCounts,
}
