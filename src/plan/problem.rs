//! The planner's vocabulary: problems, limits, plans.

use super::better::{Better, Watch};
use super::engine::{Region, Segment, SegmentRule, segments};
use highwater_model::progress::{Cancel, Cancelled, Progress};
use highwater_model::units::{Bytes, counted};
use highwater_model::workload::{AllocationOrder, RecordedPlan, Shapes};

pub use highwater_model::workload::{Buffer, Gap, PlacementProblem, ProblemError};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the problem's buffers.
    pub offsets: Vec<u64>,
    /// The highest offset plus size.
    pub footprint: Bytes,
}

impl Plan {
    pub fn new(problem: &PlacementProblem, offsets: Vec<u64>) -> Self {
        let footprint = problem
            .buffers
            .iter()
            .zip(&offsets)
            .map(|(buffer, offset)| offset.saturating_add(buffer.size.get()))
            .max()
            .unwrap_or(0);
        Self {
            offsets,
            footprint: Bytes(footprint),
        }
    }
}

/// Reads a clock of the caller, in nanoseconds from any start. The engine reads no clock itself.
pub type Clock<'a> = &'a (dyn Fn() -> u64 + Sync);

/// Limits of a search.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Feasibility at this capacity: a search stops at the first plan that fits, or when it has proved that none can.
    /// `None` seeks the smallest footprint.
    pub capacity: Option<Bytes>,
    /// Most nodes of a search, summed over its threads.
    pub nodes: u64,
    /// Whether any optimal plan is acceptable, so that the first thread to find one wins. Footprint and proof stay the
    /// same where the search ends within its nodes; offsets and node counts may differ from run to run.
    pub race: bool,
    /// Once set, searches end with their best plan. For deadlines.
    pub stop: Option<&'a Cancel>,
    /// Measures the time of each strategy.
    pub clock: Option<Clock<'a>>,
    /// Gets smaller plans while a search runs.
    pub watch: Option<Watch<'a>>,
}

impl Limits<'_> {
    /// Nodes unless the user sets them.
    pub const DEFAULT_NODES: u64 = 4_000_000;

    /// Whether searches should end with their best plan.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(Cancel::is_cancelled)
    }
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            capacity: None,
            nodes: Self::DEFAULT_NODES,
            race: false,
            stop: None,
            clock: None,
            watch: None,
        }
    }
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("capacity", &self.capacity)
            .field("nodes", &self.nodes)
            .field("race", &self.race)
            .finish_non_exhaustive()
    }
}

/// Input of a strategy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) problem: &'a PlacementProblem,
    /// The problem's shapes; strategies choose their offsets.
    pub(super) shapes: &'a Shapes,
    /// The shapes' lower bound.
    pub(super) bound: u64,
    /// The plan recorded in the file.
    pub(super) recorded: Option<&'a RecordedPlan>,
    /// The order of allocations and frees, where more is known than their steps.
    pub(super) order: Option<&'a AllocationOrder>,
    pub(super) limits: &'a Limits<'a>,
    /// Reports smaller plans; `None` without a watch.
    pub(super) better: Option<&'a Better<'a>>,
    pub(super) progress: &'a Progress<'a>,
}

impl Task<'_> {
    /// The footprint at which a search may end: the capacity, or the lower bound.
    pub(super) fn target(&self) -> u64 {
        let capacity = self.limits.capacity.map_or(0, Bytes::get);
        self.bound.max(capacity)
    }

    /// Reports a plan of the shapes, if it is smaller than those before, with the best proved lower bound so far.
    pub(super) fn offer(&self, offsets: &[u64], bound: u64) {
        if let Some(better) = self.better {
            better.offer(self, offsets, bound);
        }
    }

    pub(super) fn quiet(&self) -> QuietTask<'_> {
        QuietTask {
            problem: self.problem,
            shapes: self.shapes,
            bound: self.bound,
            recorded: self.recorded,
            order: self.order,
            limits: self.limits,
            better: self.better,
            cancel: self.progress.cancel_flag(),
        }
    }
}

/// A task for another thread, which reports no progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuietTask<'a> {
    problem: &'a PlacementProblem,
    shapes: &'a Shapes,
    bound: u64,
    recorded: Option<&'a RecordedPlan>,
    order: Option<&'a AllocationOrder>,
    limits: &'a Limits<'a>,
    better: Option<&'a Better<'a>>,
    cancel: &'a Cancel,
}

impl QuietTask<'_> {
    pub(super) fn run<T>(&self, work: impl FnOnce(&Task<'_>) -> T) -> T {
        work(&Task {
            problem: self.problem,
            shapes: self.shapes,
            bound: self.bound,
            recorded: self.recorded,
            order: self.order,
            limits: self.limits,
            better: self.better,
            progress: &Progress::silent(self.cancel),
        })
    }
}

/// Result of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// Offsets of the shapes (see `by_buffer`).
    pub(super) offsets: Vec<u64>,
    /// Whether `offsets` are those of the buffers instead.
    pub(super) by_buffer: bool,
    /// A proved lower bound of the footprint; 0 without proof.
    pub(super) bound: u64,
    /// Search nodes.
    pub(super) nodes: u64,
    /// Results of other strategies that it ran.
    pub(super) tried: Vec<Tried>,
    /// The top-level parts, where the strategy has such.
    pub(super) regions: Vec<Region>,
}

impl Placement {
    /// Offsets of shapes, without proof or search.
    pub(super) fn of(offsets: Vec<u64>) -> Self {
        Self {
            offsets,
            ..Self::default()
        }
    }
}

/// One strategy's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    pub strategy: &'static str,
    pub footprint: Bytes,
    pub nodes: u64,
    /// `None` without a clock.
    pub elapsed_ns: Option<u64>,
}

/// Whether a plan fits in a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// Proved: no plan fits.
    Impossible,
    /// No fitting plan was found; there may be one.
    NotFound,
}

/// A plan, its strategy, and its proved quality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub strategy: &'static str,
    pub plan: Plan,
    /// The peak of live bytes, whatever offsets are fixed.
    pub lower_bound: Bytes,
    /// The best proved lower bound of any plan with the fixed offsets: at least `lower_bound`.
    pub proved_bound: Bytes,
    /// Buffers whose offsets the problem fixes.
    pub n_fixed: u64,
    /// Search nodes.
    pub nodes: u64,
    /// Results of the strategies that it tried, in the order of the table.
    pub tried: Vec<Tried>,
    /// The top-level parts of the plan, ascending; empty where the strategy has none.
    pub regions: Vec<Region>,
    /// Whether a longer search may find a smaller plan: the search goes on, was stopped, or had no nodes.
    pub is_unfinished: bool,
}

impl Planned {
    /// Whether no plan can be smaller.
    pub fn is_optimal(&self) -> bool {
        self.plan.footprint <= self.proved_bound
    }

    /// That no plan can be smaller, in words; `None` where that is not proved.
    pub fn optimality(&self) -> Option<String> {
        self.is_optimal().then(|| match self.n_fixed {
            0 => "proven optimal: no plan is smaller".to_owned(),
            n_fixed => format!(
                "no plan with the fixed offsets of {} is smaller",
                counted(n_fixed, "buffer")
            ),
        })
    }

    /// The segments in which the arena is placed on a device; the last one holds graph inputs and outputs. Where the
    /// strategy has no top-level parts, addresses that no buffer crosses divide the plan. O(n log n).
    pub fn segments(&self, problem: &PlacementProblem, rule: SegmentRule) -> Vec<Segment> {
        segments(problem, &self.plan, &self.regions, rule)
    }

    /// Whether it fits in `capacity`, and whether a "no" is proved.
    pub fn fit(&self, capacity: Bytes) -> Fit {
        if self.plan.footprint <= capacity {
            Fit::Fits
        } else if self.proved_bound > capacity {
            Fit::Impossible
        } else {
            Fit::NotFound
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No row of that name.
    #[error("no placement strategy \"{name}\"; known: {known}")]
    UnknownStrategy {
        name: String,
        /// The known names.
        known: String,
    },
    /// The file has no plan.
    #[error("the source carries no offsets, so there is no plan \"as dumped\"; choose another strategy")]
    NoRecordedPlan,
    /// The problem is contradictory or beyond every device.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The user cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
