//! Fragmentation: gaps below live buffers, step by step, and their share of the footprint.
//!
//! ```text
//! offset   +-----+  <- top        a gap is a free range below the top of the live buffers
//!   |      |  c  |                on that step; bytes above the top are no gap
//!   |  +---+-----+
//!   |  | a | gap |
//!   +--+---+-----+----> step
//! ```
//!
//! A sweep over changes of the live set with the live blocks ordered by offset and a count of gaps by size: O(n log n).

use std::collections::BTreeMap;

use super::super::problem::{PlacementProblem, Plan};
use super::{live_parts, peak_live};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Shapes;

/// The live set from one step to the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepGaps {
    /// The first step of this live set.
    pub step: Step,
    /// Live bytes.
    pub live: Bytes,
    /// The highest end of a live buffer.
    pub top: Bytes,
    /// Gaps below `top`.
    pub n_gaps: u32,
    /// The largest of them.
    pub largest_gap: Bytes,
}

impl StepGaps {
    /// Sum of all gaps.
    pub fn gap_bytes(&self) -> Bytes {
        self.top - self.live
    }
}

/// One gap and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepGap {
    pub offset: u64,
    pub size: Bytes,
    /// The buffer that ends at its start; `None` at the bottom.
    pub below: Option<u32>,
    /// The buffer that starts at its end.
    pub above: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// One entry for each step on which the live set changes, ascending.
    pub steps: Vec<StepGaps>,
    pub footprint: Bytes,
    pub peak_live: Bytes,
    pub peak_step: Option<Step>,
    /// Position in `steps` of the entry whose top is the footprint; of several the one with most live bytes, the first
    /// on a tie.
    pub at_footprint: Option<usize>,
    /// The gaps of that step, largest first, the lower on a tie.
    pub gaps: Vec<StepGap>,
}

impl Fragmentation {
    /// Footprint less peak live bytes.
    pub fn lost(&self) -> Bytes {
        self.footprint - self.peak_live
    }
}

/// `plan` must be valid.
pub fn fragmentation(problem: &PlacementProblem, plan: &Plan) -> Fragmentation {
    let (peak_live, peak_step) = peak_live(problem);
    let steps = steps(problem, plan);
    let at_top = steps.iter().enumerate().filter(|(_, at)| at.top == plan.footprint);
    let at_footprint = at_top
        .max_by_key(|(position, at)| (at.live, std::cmp::Reverse(*position)))
        .map(|(position, _)| position);
    let gaps = at_footprint.map_or_else(Vec::new, |position| step_gaps(problem, plan, steps[position].step));
    Fragmentation {
        steps,
        footprint: plan.footprint,
        peak_live,
        peak_step,
        at_footprint,
        gaps,
    }
}

/// Bytes that become live or free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    step: u32,
    /// Ends come first, because ranges are half-open.
    is_birth: bool,
    start: u64,
    end: u64,
}

fn steps(problem: &PlacementProblem, plan: &Plan) -> Vec<StepGaps> {
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

/// Live blocks by offset, and the gaps between them by size.
#[derive(Debug, Default)]
struct Blocks {
    /// Start to end; disjoint.
    live: BTreeMap<u64, u64>,
    /// Size to count.
    gaps: BTreeMap<u64, u32>,
    bytes: u64,
    n_gaps: u32,
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

    /// The end of the block below, and the start of the one above.
    fn around(&self, start: u64) -> (u64, Option<u64>) {
        let below = self.live.range(..start).next_back().map_or(0, |(_, end)| *end);
        (below, self.live.range(start..).next().map(|(start, _)| *start))
    }

    fn open(&mut self, from: u64, to: u64) {
        if from < to {
            *self.gaps.entry(to - from).or_default() += 1;
            self.n_gaps += 1;
        }
    }

    fn fill(&mut self, from: u64, to: u64) {
        if from < to
            && let Some(count) = self.gaps.get_mut(&(to - from))
        {
            *count -= 1;
            self.n_gaps -= 1;
            if *count == 0 {
                self.gaps.remove(&(to - from));
            }
        }
    }

    fn describe(&self, step: Step) -> StepGaps {
        StepGaps {
            step,
            live: Bytes(self.bytes),
            top: Bytes(self.live.last_key_value().map_or(0, |(_, end)| *end)),
            n_gaps: self.n_gaps,
            largest_gap: Bytes(self.gaps.last_key_value().map_or(0, |(size, _)| *size)),
        }
    }
}

/// The gaps of one step. O(n log n).
fn step_gaps(problem: &PlacementProblem, plan: &Plan, step: Step) -> Vec<StepGap> {
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
    let mut gaps = Vec::new();
    let mut below: Option<(u64, u32)> = None;
    for (start, end, idx) in live {
        let from = below.map_or(0, |(end, _)| end);
        if from < start {
            gaps.push(StepGap {
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
    gaps.sort_unstable_by_key(|gap| (std::cmp::Reverse(gap.size), gap.offset));
    gaps
}
