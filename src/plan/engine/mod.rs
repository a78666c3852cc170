//! The memory planner of the vendor's engine: blocks reused over time, smaller ones nested in larger ones.
//!
//! ```text
//! level 1   |--a--|--c--|--f--|     a block is reused by buffers of one size class
//! level 2   |====== p ======|       blocks that live while p does not are placed within p's bytes:
//!              |-j-|    |-k-|       whole, or split where only some members do
//! ```
//!
//! In: a problem, and the order in which its buffers are allocated and freed where that is known ([`AllocationOrder`]);
//! without one, file order within a step. Out: an [`EnginePlan`]. Two assigners plan everything: *binary-block*
//! (classes are sizes rounded up, then nesting) and *max-block* (one class for all); the smaller plan wins,
//! binary-block on a tie.
//!
//! All sizes count in units of 512 bytes where the problem's alignments are 512 or divide it; generally the unit is the
//! least common multiple of the alignments, so that a problem without alignment is planned to the byte. Shapes with
//! gaps and groups count as their bounding rectangles, and free ones are above the highest fixed end: such problems,
//! which the engine does not have, get a valid plan. Streams share no memory.
//!
//! Sorting is stable; the engine's own sort may exchange equal elements, at equal totals.

mod arena;
mod block_reuse;
mod demand;
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

/// The assigners that plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigner {
    /// Both; the smaller total wins.
    Default,
    Binary,
    Max,
    NoReuse,
}

/// Strategies of the table that are assigners, by name.
pub const ASSIGNERS: &[(&str, Assigner)] = &[
    ("ge_default", Assigner::Default),
    ("ge_binary", Assigner::Binary),
    ("ge_max", Assigner::Max),
    ("ge_no_reuse", Assigner::NoReuse),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineBlock {
    pub offset: u64,
    /// Its bytes: the largest member or the sum of its children, in whole units.
    pub size: u64,
    /// Whether it is nested in another.
    pub is_child: bool,
    /// Whether it is a graph input or output, behind the arena.
    pub is_io: bool,
}

/// The plan with the figures that the engine states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnginePlan {
    /// `Binary` or `Max`.
    pub winner: Assigner,
    /// By buffer of the problem.
    pub offsets: Vec<u64>,
    /// By entry of [`AllocationOrder::io`].
    pub io_offsets: Vec<u64>,
    /// Bytes of the arena: blocks, and behind them separate buffers.
    pub arena: Bytes,
    /// Bytes of graph inputs and outputs behind it.
    pub io: Bytes,
    /// Lower bound with perfect reuse: `no_reuse` plus the peak of reusable live bytes.
    pub theory_min: Bytes,
    /// Bytes that take no part in reuse: graph inputs and outputs, separate buffers; all bytes without reuse.
    pub no_reuse: Bytes,
    /// Sum of all requests.
    pub sum: Bytes,
    /// All blocks in the final order of the list.
    pub blocks: Vec<EngineBlock>,
    /// The top-level parts of the arena, ascending.
    pub regions: Vec<Region>,
}

impl EnginePlan {
    /// The arena with graph inputs and outputs.
    pub fn total(&self) -> Bytes {
        self.arena + self.io
    }

    /// The segments of the plan; the last one holds graph inputs and outputs.
    pub fn segments(&self, limit: Bytes) -> Vec<Segment> {
        let rule = SegmentRule { limit, io: self.io };
        segments::of_regions(&self.regions, self.arena.get(), rule)
    }
}

/// Plans a problem as the engine does.
///
/// # Errors
/// [`PlanError`]: the problem is contradictory, its sizes in whole units exceed 62 bits, or the user cancelled.
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
        let mut blocks = block_reuse::binary_blocks(demand, reuses);
        if reuses {
            nesting::nest(demand, &mut blocks, progress)?;
        }
        Ok(Arena::new(demand, blocks, Assigner::Binary))
    };
    let max = || Arena::new(demand, block_reuse::max_blocks(demand), Assigner::Max);
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

/// Where whole units exceed 62 bits nothing is shared: the engine has no such alignments, but a plan is still wanted
/// when all strategies are tried.
pub(super) fn place(task: &Task<'_>, assigner: Assigner) -> Result<Placement, PlanError> {
    let Ok(demand) = Demand::new(task.shapes, task.order) else {
        return naive::place(task);
    };
    let arena = run(&demand, assigner, task.progress)?;
    Ok(Placement {
        regions: arena.regions.clone(),
        ..Placement::of(arena.item_offsets(&demand))
    })
}

/// The unit of placement, checked by [`Demand`].
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
