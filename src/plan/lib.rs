//! Lifetimes -> Plan: static offsets in one arena.
//!
//! In: a [`PlacementProblem`] (half-open live ranges, sizes, alignments). Out: a [`Plan`] (one offset per buffer) with
//! its footprint. [`verify`] checks any plan by brute force, independently of strategies. One strategy is one file and
//! one row of [`STRATEGIES`].

mod arena_gaps;
mod as_dumped;
mod best;
mod best_fit;
mod better;
mod breadth;
mod engine;
mod exact;
mod explain;
mod field;
mod gap_fit;
mod gaps;
mod hill_climb;
mod improve;
mod naive;
mod problem;
mod random;
mod ranks;
mod reuse;
mod shared;
mod skyline;
mod strategies;
mod verify;

pub use arena_gaps::{ArenaGap, ArenaGapRule, arena_gaps};
pub use better::Watch;
pub use engine::{
    ASSIGNERS, Assigner, EngineBlock, EnginePlan, Region, SEGMENT_LIMIT, SEGMENT_LIMIT_OF_PARTS, Segment, SegmentRule,
    engine_plan, segments,
};
pub use explain::{
    Blocker, ChainLink, Fragmentation, PeakChain, PlacementReason, StepGap, StepGaps, fragmentation, peak_chain,
    peak_live, placement_reason,
};
pub use problem::{Buffer, Clock, Fit, Gap, Limits, PlacementProblem, Plan, PlanError, Planned, ProblemError, Tried};
pub use reuse::{Rectangle, ReuseEdge, ReuseIndex, each_reuse_edge, pieces, reuse_edges};
pub use strategies::{
    AS_DUMPED, AS_LOGGED, BEST, DEFAULT, EXACT, Effort, NO_REUSE, PlanRequest, STRATEGIES, Strategy, default_strategy,
    find, plan, recorded_name,
};
pub use verify::{PlanDefect, verify, verify_with};
