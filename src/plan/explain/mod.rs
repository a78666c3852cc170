//! Explanations of a plan: what keeps a buffer up ([`placement_reason`]), the stack that fixes the footprint
//! ([`peak_chain`]), and its gaps ([`fragmentation`]).
//!
//! In: a problem and a plan that passes [`verify`](super::verify()). Out: positions of buffers, bytes and steps;
//! callers add names and words. Every tie has a rule, so that equal plans have equal explanations.

mod fragmentation;
mod peak_chain;
mod placement_reason;

pub use fragmentation::{Fragmentation, StepGap, StepGaps, fragmentation};
pub use peak_chain::{ChainLink, PeakChain, peak_chain};
pub use placement_reason::{Blocker, PlacementReason, placement_reason};

use super::problem::PlacementProblem;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Shapes;

/// The ranges on which a buffer is live: its own without its gaps.
fn live_parts(problem: &PlacementProblem, buffer: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
    let whole = &problem.buffers[buffer];
    let gaps = problem.gaps_of(buffer).iter().map(|gap| (gap.lower.0, gap.upper.0));
    let mut lower = whole.lower.0;
    gaps.chain([(whole.upper.0, whole.upper.0)])
        .filter_map(move |(until, next)| {
            let part = (lower, until);
            lower = next;
            (part.0 < part.1).then_some(part)
        })
}

/// The first steps `lower..upper` on which both are live. O(gaps of both).
fn overlap(problem: &PlacementProblem, one: usize, other: usize) -> Option<(Step, Step)> {
    if !problem.buffers[one].overlaps(&problem.buffers[other]) {
        return None;
    }
    let mut others = live_parts(problem, other).peekable();
    for (lower, upper) in live_parts(problem, one) {
        while others.next_if(|(_, end)| *end <= lower).is_some() {}
        if let Some((start, end)) = others.peek().filter(|(start, _)| *start < upper) {
            return Some((Step(lower.max(*start)), Step(upper.min(*end))));
        }
    }
    None
}

/// By buffer.
fn groups_of(problem: &PlacementProblem) -> Vec<Option<u32>> {
    let mut groups = vec![None; problem.buffers.len()];
    for (number, group) in (0_u32..).zip(&problem.groups) {
        for member in group {
            groups[*member as usize] = Some(number);
        }
    }
    groups
}

/// The buffers that move with a buffer, itself included.
fn movers<'a>(problem: &'a PlacementProblem, group: Option<u32>, alone: &'a [u32]) -> &'a [u32] {
    group.map_or(alone, |group| &problem.groups[group as usize])
}

/// The peak of live bytes, and its first step; a group counts its largest live member. Unlike
/// [`PlacementProblem::lower_bound`] it ignores fixed offsets. O(n log n).
pub fn peak_live(problem: &PlacementProblem) -> (Bytes, Option<Step>) {
    let shapes = Shapes::new(problem);
    let mut changes: Vec<(u32, bool, u64)> = Vec::with_capacity(shapes.pieces.len() * 2);
    for piece in &shapes.pieces {
        changes.push((piece.lower, true, piece.size));
        changes.push((piece.upper, false, piece.size));
    }
    // Ends before births, because ranges are half-open.
    changes.sort_unstable();
    let (mut live, mut most) = (Bytes::ZERO, (Bytes::ZERO, None));
    for (step, is_birth, size) in changes {
        live = if is_birth {
            live + Bytes(size)
        } else {
            live - Bytes(size)
        };
        if live > most.0 {
            most = (live, Some(Step(step)));
        }
    }
    most
}
