//! Where bytes lie idle: holes below live buffers, step by step, and what the footprint loses to them.
//!
//! ```text
//! offset   +-----+  <- top        a hole is a stretch of bytes below the top of what is live
//!   |      |  c  |                that nobody holds on that step; bytes above the top are none
//!   |  +---+-----+
//!   |  | a | hole
//!   +--+---+----------> step
//! ```
//!
//! A sweep over changes of the live set with the live blocks ordered by offset and a count of holes by size:
//! O(n log n).

use std::collections::BTreeMap;

use super::super::problem::{PlacementProblem, Plan};
use super::{live_parts, peak_live};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Shapes;

/// The live set from one step to the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepHoles {
    /// The first step of this live set.
    pub step: Step,
    /// Bytes that are live.
    pub live: Bytes,
    /// Where the highest live buffer ends.
    pub top: Bytes,
    /// Holes below it.
    pub n_holes: u32,
    /// The largest of them.
    pub largest_hole: Bytes,
}

impl StepHoles {
    /// Bytes of all holes.
    pub fn hole_bytes(&self) -> Bytes {
        self.top - self.live
    }
}

/// One hole, and whom it lies between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepHole {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub size: Bytes,
    /// The buffer that ends where it starts; `None` at the bottom.
    pub below: Option<u32>,
    /// The buffer that starts where it ends.
    pub above: u32,
}

/// Idle bytes of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// One entry for each step on which the live set changes, ascending.
    pub steps: Vec<StepHoles>,
    /// The footprint.
    pub footprint: Bytes,
    /// Most bytes that are live at once.
    pub peak_live: Bytes,
    /// The first step on which they are.
    pub peak_step: Option<Step>,
    /// Of the entries whose top is the footprint the one with most live bytes, the first on a tie: its position in
    /// `steps`.
    pub at_footprint: Option<usize>,
    /// The holes of that step, largest first, the lower on a tie.
    pub holes: Vec<StepHole>,
}

impl Fragmentation {
    /// What the plan needs above the peak of live bytes.
    pub fn lost(&self) -> Bytes {
        self.footprint - self.peak_live
    }
}

/// The idle bytes of a valid plan.
pub fn fragmentation(problem: &PlacementProblem, plan: &Plan) -> Fragmentation {
    let (peak_live, peak_step) = peak_live(problem);
    let steps = steps(problem, plan);
    let at_top = steps.iter().enumerate().filter(|(_, at)| at.top == plan.footprint);
    let at_footprint = at_top
        .max_by_key(|(position, at)| (at.live, std::cmp::Reverse(*position)))
        .map(|(position, _)| position);
    let holes = at_footprint.map_or_else(Vec::new, |position| holes(problem, plan, steps[position].step));
    Fragmentation {
        steps,
        footprint: plan.footprint,
        peak_live,
        peak_step,
        at_footprint,
        holes,
    }
}

/// One block of bytes that comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    step: u32,
    /// Ends come first, because ranges are half-open.
    is_birth: bool,
    start: u64,
    end: u64,
}

fn steps(problem: &PlacementProblem, plan: &Plan) -> Vec<StepHoles> {
    let shapes = Shapes::new(problem);
    let mut offsets = vec![0; shapes.items.len()];
    for (item, offset) in shapes.item_of.iter().zip(&plan.offsets) {
        offsets[*item as usize] = *offset;
    }
    let mut changes = Vec::with_capacity(shapes.pieces.len() * 2);
    for (item, start) in (0_u32..).zip(offsets) {
        for piece in shapes.pieces_of(item) {
            let end = start.saturating_add(piece.size);
            changes.extend(
                [(piece.lower, true), (piece.upper, false)].map(|(step, is_birth)| Change {
                    step,
                    is_birth,
                    start,
                    end,
                }),
            );
        }
    }
    changes.sort_unstable();
    let mut blocks = Blocks::default();
    let mut steps = Vec::new();
    for at_step in changes.chunk_by(|a, b| a.step == b.step) {
        for change in at_step {
            if change.is_birth {
                blocks.add(change.start, change.end);
            } else {
                blocks.remove(change.start);
            }
        }
        steps.push(blocks.describe(Step(at_step[0].step)));
    }
    steps
}

/// Live blocks by offset, and the holes between them by size.
#[derive(Debug, Default)]
struct Blocks {
    /// Start to end; they never overlap.
    live: BTreeMap<u64, u64>,
    /// Size to count.
    holes: BTreeMap<u64, u32>,
    bytes: u64,
    n_holes: u32,
}

impl Blocks {
    fn add(&mut self, start: u64, end: u64) {
        let (before, after) = self.around(start);
        if let Some(after) = after {
            self.fill(before, after);
            self.open(end, after);
        }
        self.open(before, start);
        self.live.insert(start, end);
        self.bytes += end - start;
    }

    fn remove(&mut self, start: u64) {
        let Some(end) = self.live.remove(&start) else { return };
        let (before, after) = self.around(start);
        self.fill(before, start);
        if let Some(after) = after {
            self.fill(end, after);
            self.open(before, after);
        }
        self.bytes -= end - start;
    }

    /// Where the block below ends, and where the one above starts.
    fn around(&self, start: u64) -> (u64, Option<u64>) {
        let below = self.live.range(..start).next_back().map_or(0, |(_, end)| *end);
        (below, self.live.range(start..).next().map(|(start, _)| *start))
    }

    fn open(&mut self, from: u64, to: u64) {
        if from < to {
            *self.holes.entry(to - from).or_default() += 1;
            self.n_holes += 1;
        }
    }

    fn fill(&mut self, from: u64, to: u64) {
        if from < to
            && let Some(count) = self.holes.get_mut(&(to - from))
        {
            *count -= 1;
            self.n_holes -= 1;
            if *count == 0 {
                self.holes.remove(&(to - from));
            }
        }
    }

    fn describe(&self, step: Step) -> StepHoles {
        StepHoles {
            step,
            live: Bytes(self.bytes),
            top: Bytes(self.live.last_key_value().map_or(0, |(_, end)| *end)),
            n_holes: self.n_holes,
            largest_hole: Bytes(self.holes.last_key_value().map_or(0, |(size, _)| *size)),
        }
    }
}

/// The holes of one step. O(n log n).
fn holes(problem: &PlacementProblem, plan: &Plan, step: Step) -> Vec<StepHole> {
    let is_live = |idx: usize| live_parts(problem, idx).any(|(lower, upper)| (lower..upper).contains(&step.0));
    let mut live: Vec<(u64, u64, u32)> = (0_u32..)
        .zip(&problem.buffers)
        .filter(|(idx, buffer)| buffer.size.get() > 0 && is_live(*idx as usize))
        .map(|(idx, buffer)| {
            let start = plan.offsets[idx as usize];
            (start, start.saturating_add(buffer.size.get()), idx)
        })
        .collect();
    live.sort_unstable_by_key(|(start, end, idx)| (*start, std::cmp::Reverse(*end), *idx));
    let mut holes = Vec::new();
    let mut below: Option<(u64, u32)> = None;
    for (start, end, idx) in live {
        let from = below.map_or(0, |(end, _)| end);
        if from < start {
            holes.push(StepHole {
                offset: from,
                size: Bytes(start - from),
                below: below.map(|(_, idx)| idx),
                above: idx,
            });
        }
        if below.is_none_or(|(highest, _)| end > highest) {
            below = Some((end, idx));
        }
    }
    holes.sort_unstable_by_key(|hole| (std::cmp::Reverse(hole.size), hole.offset));
    holes
}
