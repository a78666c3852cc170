//! The neighbours that keep a buffer from a lower offset.
//!
//! ```text
//! offset  +---+                 each neighbour excludes the offsets from its own offset minus the
//!   |     | x |<- placed here   buffer's size up to its end; the answer is a chain of neighbours
//!   |  +--+-+-+                 that excludes every offset below the buffer's, each beginning
//!   |  |  b |                   where the previous one ends
//!   +--+----+----> step
//! ```
//!
//! Of several neighbours that exclude an offset the one with the highest end is listed, the earlier buffer on a tie.
//! O(n log n + gaps).

use super::super::problem::{PlacementProblem, Plan};
use super::{groups_of, movers, overlap};
use highwater_model::units::{Bytes, Step};

/// A neighbour that excludes offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub buffer: u32,
    pub offset: u64,
    pub size: Bytes,
    /// The buffer that it collides with: the buffer itself, or the largest overlapping member of its group.
    pub against: u32,
    /// The lowest excluded offset.
    pub from: u64,
    /// The first offset above that is not excluded: its end.
    pub to: u64,
    /// The first steps on which both are live: the first, inclusive.
    pub lower: Step,
    /// The last, exclusive.
    pub upper: Step,
}

/// Why a buffer is at its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementReason {
    pub buffer: u32,
    pub offset: u64,
    pub is_fixed: bool,
    /// Buffers at the same address that would move with it.
    pub moves_with: Vec<u32>,
    /// Neighbours that together exclude every lower offset (down to `lowest_offset`), by ascending offsets.
    pub blockers: Vec<Blocker>,
    /// The lowest offset, below its own, that no neighbour excludes.
    pub lowest_offset: Option<u64>,
}

/// `None` where there is no such buffer.
pub fn placement_reason(problem: &PlacementProblem, plan: &Plan, buffer: usize) -> Option<PlacementReason> {
    let offset = *plan.offsets.get(buffer)?;
    let position = u32::try_from(buffer).ok()?;
    problem.buffers.get(buffer)?;
    let groups = groups_of(problem);
    let alone = [position];
    let members = movers(problem, groups[buffer], &alone);
    let mut blockers: Vec<Blocker> = (0_u32..)
        .zip(&groups)
        .filter(|(other, group)| *other != position && (group.is_none() || **group != groups[buffer]))
        .filter_map(|(other, _)| blocker(problem, plan, other, members))
        .filter(|blocker| blocker.from < offset)
        .collect();
    blockers.sort_unstable_by_key(|blocker| (blocker.from, blocker.buffer));
    let alignment = members.iter().map(|member| problem.buffers[*member as usize].alignment);
    let alignment = alignment.fold(1, common_multiple);
    let (blockers, lowest_offset) = chain(&blockers, alignment, offset);
    Some(PlacementReason {
        buffer: position,
        offset,
        is_fixed: members
            .iter()
            .any(|member| problem.buffers[*member as usize].offset.is_some()),
        moves_with: members.iter().copied().filter(|member| *member != position).collect(),
        blockers,
        lowest_offset,
    })
}

/// The offsets that `other` excludes for `members`, if it is ever live with one of them.
fn blocker(problem: &PlacementProblem, plan: &Plan, other: u32, members: &[u32]) -> Option<Blocker> {
    let neighbour = &problem.buffers[other as usize];
    let size_of = |member: u32| problem.buffers[member as usize].size.get();
    let overlapping = members.iter().filter(|member| size_of(**member) > 0);
    let overlapping =
        overlapping.filter_map(|member| Some((*member, overlap(problem, *member as usize, other as usize)?)));
    let (against, (lower, upper)) =
        overlapping.max_by_key(|(member, _)| (size_of(*member), std::cmp::Reverse(*member)))?;
    let offset = plan.offsets[other as usize];
    (neighbour.size.get() > 0).then(|| Blocker {
        buffer: other,
        offset,
        size: neighbour.size,
        against,
        from: offset.saturating_add(1).saturating_sub(size_of(against)),
        to: offset.saturating_add(neighbour.size.get()),
        lower,
        upper,
    })
}

/// The neighbours that exclude every multiple of `alignment` below `offset`, and the first multiple not excluded.
fn chain(blockers: &[Blocker], alignment: u64, offset: u64) -> (Vec<Blocker>, Option<u64>) {
    let mut chosen = Vec::new();
    let mut candidates = blockers.iter().peekable();
    let mut longest: Option<&Blocker> = None;
    let mut at = 0;
    while at < offset {
        while let Some(candidate) = candidates.next_if(|candidate| candidate.from <= at) {
            if longest.is_none_or(|longest| (candidate.to, longest.buffer) > (longest.to, candidate.buffer)) {
                longest = Some(candidate);
            }
        }
        let Some(blocker) = longest.filter(|blocker| blocker.to > at) else {
            return (chosen, Some(at));
        };
        chosen.push(*blocker);
        at = Bytes(blocker.to).align_up(alignment).get();
    }
    (chosen, None)
}

fn common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other.max(1));
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one / a.max(1)).saturating_mul(other.max(1))
}
