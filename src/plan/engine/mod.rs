//! The memory planner of the vendor's engine: blocks that are handed on over time, smaller ones nested in larger ones.
//!
//! ```text
//! level 1   |--a--|--c--|--f--|     a block is handed on between buffers of one class of size
//! level 2   |====== p ======|       what lives while p does not stands within p's bytes:
//!              |-j-|    |-k-|       whole, or split where only some of its members do
//! ```
//!
//! In: a problem, and the order in which its buffers come and go where that is known ([`AllocationOrder`]); without one,
//! file order within a step. Out: an [`EnginePlan`]. Two assigners plan everything: *binary-block* (classes are sizes
//! rounded up, then nesting) and *max-block* (one class for all); the smaller plan wins, binary-block on a tie.
//!
//! All sizes count in units of 512 bytes where the problem's alignments are 512 or divide it into such; generally the
//! unit is the least common multiple of the alignments, so that a problem without alignment is planned to the byte.
//! Shapes with gaps and groups count as the rectangles around them, and what is free stands above the highest fixed
//! end: such problems get a valid plan, of which the engine knows nothing. Streams share no memory.
//!
//! Where the engine sorts, equals keep their order; its own sort lets some of them change places, at equal totals.

mod arena;
mod demand;
mod handing_on;
mod nesting;
mod segments;

pub use segments::{Region, SEGMENT_LIMIT, SEGMENT_LIMIT_OF_PARTS, Segment, SegmentRule, segments};

use super::naive;
use super::problem::{Placement, PlanError, Task};
use arena::Arena;
use demand::Demand;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationOrder, PlacementProblem, Shapes};

/// Which assigners plan, and whether they may reuse memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigner {
    /// Both; the smaller total wins.
    Default,
    /// Binary-block alone.
    Binary,
    /// Max-block alone.
    Max,
    /// Nothing is reused.
    NoReuse,
}

/// The strategies of the table that are assigners, by name.
pub const ASSIGNERS: &[(&str, Assigner)] = &[
    ("ge_default", Assigner::Default),
    ("ge_binary", Assigner::Binary),
    ("ge_max", Assigner::Max),
    ("ge_no_reuse", Assigner::NoReuse),
];

/// One block of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineBlock {
    /// Where it starts.
    pub offset: u64,
    /// Its bytes: the largest member or the sum of its children, in whole units.
    pub size: u64,
    /// Whether it stands within another.
    pub is_child: bool,
    /// Whether it is a graph input or output, behind the arena.
    pub is_io: bool,
}

/// The plan as the engine states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnginePlan {
    /// Which assigner made it: `Binary` or `Max`.
    pub winner: Assigner,
    /// The offset of each buffer of the problem.
    pub offsets: Vec<u64>,
    /// The offset of each of [`AllocationOrder::io`].
    pub io_offsets: Vec<u64>,
    /// Bytes of the arena: blocks, and behind them what is kept apart.
    pub arena: Bytes,
    /// Bytes of graph inputs and outputs behind it.
    pub io: Bytes,
    /// What a perfect reuse would need: `no_reuse` and the largest sum of reusable bytes that live at once.
    pub theory_min: Bytes,
    /// Bytes that take no part in reuse: graph inputs and outputs, what is kept apart; all of them without reuse.
    pub no_reuse: Bytes,
    /// Bytes of everything that was asked for.
    pub sum: Bytes,
    /// All blocks in the final order of the list.
    pub blocks: Vec<EngineBlock>,
    /// The top-level parts of the arena, ascending.
    pub regions: Vec<Region>,
}

impl EnginePlan {
    /// The arena and what stands behind it.
    pub fn total(&self) -> Bytes {
        self.arena + self.io
    }

    /// The segments of the plan, with that of graph inputs and outputs as the last.
    pub fn segments(&self, limit: Bytes) -> Vec<Segment> {
        let rule = SegmentRule { limit, io: self.io };
        segments::of_regions(&self.regions, self.arena.get(), rule)
    }
}

/// Plans a problem as the engine does.
///
/// # Errors
/// [`PlanError`]: the problem contradicts itself, its sizes in whole units leave 62 bits, or the user stopped it.
pub fn engine_plan(
    problem: &PlacementProblem,
    order: Option<&AllocationOrder>,
    assigner: Assigner,
    progress: &Progress<'_>,
) -> Result<EnginePlan, PlanError> {
    let shapes = problem.checked(progress)??;
    let demand = Demand::new(&shapes, order)?;
    let arena = run(&demand, assigner, progress)?;
    let statistics = demand.statistics(assigner != Assigner::NoReuse);
    Ok(EnginePlan {
        winner: arena.winner,
        offsets: shapes.spread(&arena.item_offsets(&demand)),
        io_offsets: arena.io_offsets.clone(),
        arena: Bytes(arena.end),
        io: Bytes(arena.total - arena.end),
        theory_min: statistics.theory_min,
        no_reuse: statistics.no_reuse,
        sum: statistics.sum,
        blocks: arena.listed_blocks(),
        regions: arena.regions,
    })
}

/// The winner's arena.
fn run(demand: &Demand, assigner: Assigner, progress: &Progress<'_>) -> Result<Arena, PlanError> {
    let binary = |reuses: bool| -> Result<Arena, PlanError> {
        let mut blocks = handing_on::binary_blocks(demand, reuses);
        if reuses {
            nesting::nest(demand, &mut blocks, progress)?;
        }
        Ok(Arena::new(demand, blocks, Assigner::Binary))
    };
    let max = || Arena::new(demand, handing_on::max_blocks(demand), Assigner::Max);
    progress.check()?;
    match assigner {
        Assigner::NoReuse => binary(false),
        Assigner::Binary => binary(true),
        Assigner::Max => Ok(max()),
        Assigner::Default => {
            let (binary, max) = (binary(true)?, max());
            Ok(if max.total < binary.total { max } else { binary })
        }
    }
}

/// Where whole units leave 62 bits nothing is shared: such a problem has alignments that the engine has never seen, and
/// those who try all strategies want a plan.
fn place(task: &Task<'_>, assigner: Assigner) -> Result<Placement, PlanError> {
    let Ok(demand) = Demand::new(task.shapes, task.order) else {
        return naive::place(task);
    };
    let arena = run(&demand, assigner, task.progress)?;
    Ok(Placement {
        regions: arena.regions.clone(),
        ..Placement::of(arena.item_offsets(&demand))
    })
}

/// Both assigners.
pub(super) fn default(task: &Task<'_>) -> Result<Placement, PlanError> {
    place(task, Assigner::Default)
}

/// Binary-block.
pub(super) fn binary(task: &Task<'_>) -> Result<Placement, PlanError> {
    place(task, Assigner::Binary)
}

/// Max-block.
pub(super) fn max(task: &Task<'_>) -> Result<Placement, PlanError> {
    place(task, Assigner::Max)
}

/// No reuse.
pub(super) fn no_reuse(task: &Task<'_>) -> Result<Placement, PlanError> {
    place(task, Assigner::NoReuse)
}

/// The unit in which shapes are placed, which [`Demand`] checks.
fn unit_of(shapes: &Shapes) -> Option<u64> {
    let free = shapes.items.iter().filter(|item| item.fixed.is_none());
    free.clone().try_fold(1_u64, |unit, item| {
        let (mut a, mut b) = (unit, item.alignment.max(1));
        while b != 0 {
            (a, b) = (b, a % b);
        }
        unit.checked_mul(item.alignment.max(1) / a)
    })
}
