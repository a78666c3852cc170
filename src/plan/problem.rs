//! The planner's vocabulary: what is asked, what limits the search, what comes out.

use super::engine::{Region, Segment, SegmentRule, segments};
use highwater_model::progress::{Cancel, Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationOrder, RecordedPlan, Shapes};

pub use highwater_model::workload::{Buffer, Gap, PlacementProblem, ProblemError};

/// An offset for each buffer of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Offsets in the order of the problem's buffers.
    pub offsets: Vec<u64>,
    /// The highest offset plus size.
    pub footprint: Bytes,
}

impl Plan {
    /// The plan of these offsets, with its footprint.
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

/// Reads a clock that the caller owns, in nanoseconds from any start. The engine has none of its own.
pub type Clock<'a> = &'a (dyn Fn() -> u64 + Sync);

/// How far a search may go.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// "Does it fit in so many bytes": a search stops at the first plan that does, or when it has proved that none
    /// can. `None` asks for the smallest footprint.
    pub capacity: Option<Bytes>,
    /// Most nodes of a search, in sum over its threads.
    pub nodes: u64,
    /// Whether any optimal plan will do, so that whichever thread finds one first wins. Footprint and proof stay the
    /// same where the search ends within its nodes; offsets and node counts may differ from run to run.
    pub race: bool,
    /// Once set, searches end and give the best plan they have. For deadlines.
    pub stop: Option<&'a Cancel>,
    /// For the time that each strategy takes.
    pub clock: Option<Clock<'a>>,
}

impl Limits<'_> {
    /// Nodes unless the user says otherwise.
    pub const DEFAULT_NODES: u64 = 4_000_000;

    /// Whether searches should end with what they have.
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

/// What a strategy gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) problem: &'a PlacementProblem,
    /// The problem's shapes; offsets are chosen for these.
    pub(super) shapes: &'a Shapes,
    /// The shapes' lower bound.
    pub(super) bound: u64,
    /// The plan that the file carries.
    pub(super) recorded: Option<&'a RecordedPlan>,
    /// The order in which buffers come and go, where more is known than their steps.
    pub(super) order: Option<&'a AllocationOrder>,
    pub(super) limits: &'a Limits<'a>,
    pub(super) progress: &'a Progress<'a>,
}

impl Task<'_> {
    /// The footprint at which a search may end: the capacity, or the bound, under which no plan is.
    pub(super) fn target(&self) -> u64 {
        let capacity = self.limits.capacity.map_or(0, Bytes::get);
        self.bound.max(capacity)
    }
}

/// What a strategy gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// Offsets of the shapes (see `by_buffer`).
    pub(super) offsets: Vec<u64>,
    /// Whether `offsets` are those of the buffers instead.
    pub(super) by_buffer: bool,
    /// A proved lower bound of the footprint; 0 where nothing was proved.
    pub(super) bound: u64,
    /// Search nodes.
    pub(super) nodes: u64,
    /// What other strategies gave on the way.
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
    /// Its name.
    pub strategy: &'static str,
    /// Its footprint.
    pub footprint: Bytes,
    /// Its search nodes.
    pub nodes: u64,
    /// How long it took; `None` without a clock.
    pub elapsed_ns: Option<u64>,
}

/// Whether a plan fits in a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The plan fits.
    Fits,
    /// No plan fits: proved.
    Impossible,
    /// No plan that fits was found; there may be one.
    NotFound,
}

/// A plan, the strategy that made it, and what is known about how good it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Its plan.
    pub plan: Plan,
    /// The largest sum of sizes that are live at once (or the highest fixed end).
    pub lower_bound: Bytes,
    /// The best bound that is proved: at least `lower_bound`. Any plan needs so much.
    pub proved_bound: Bytes,
    /// Search nodes.
    pub nodes: u64,
    /// What the strategies that it tried gave, in the order of the table.
    pub tried: Vec<Tried>,
    /// The top-level parts of the plan as its maker knows them, ascending; empty where the maker has none.
    pub regions: Vec<Region>,
}

impl Planned {
    /// Whether no plan can be smaller.
    pub fn is_optimal(&self) -> bool {
        self.plan.footprint <= self.proved_bound
    }

    /// The segments in which the arena is placed on a device, and behind them that of graph inputs and outputs. Where
    /// the maker of the plan has no top-level parts, an address that no buffer crosses parts it. O(n log n).
    pub fn segments(&self, problem: &PlacementProblem, rule: SegmentRule) -> Vec<Segment> {
        segments(problem, &self.plan, &self.regions, rule)
    }

    /// Whether it fits in `capacity`, and how sure a "no" is.
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
        /// The name as given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The file carries no plan.
    #[error("the source carries no offsets, so there is no plan \"as dumped\"; choose another strategy")]
    NoRecordedPlan,
    /// The problem contradicts itself or is beyond every device.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The user stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
