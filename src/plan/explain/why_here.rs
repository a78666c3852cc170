//! What keeps a buffer from a lower offset.
//!
//! ```text
//! offset  +---+                 each neighbour refuses the offsets between its own offset
//!   |     | x |<- stands here   minus the buffer's size and its end; a chain of neighbours
//!   |  +--+-+-+                 that refuse every offset below the buffer's, each taking over
//!   |  |  b |                   where the one before ends, is the answer
//!   +--+----+----> step
//! ```
//!
//! Of several neighbours that refuse an offset the one is named that refuses longest, the earlier buffer on a tie.
//! O(n log n + gaps).

use super::super::problem::{PlacementProblem, Plan};
use super::{groups_of, meeting, movers};
use highwater_model::units::{Bytes, Step};

/// A neighbour that refuses offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// Its position.
    pub buffer: u32,
    /// Its offset.
    pub offset: u64,
    /// Its size.
    pub size: Bytes,
    /// Whom it would collide with: the buffer itself, or the member of its group that is largest beside it.
    pub against: u32,
    /// The lowest offset that it refuses.
    pub from: u64,
    /// The first offset above that it does not refuse: its end.
    pub to: u64,
    /// The first steps on which both are live: the first, inclusive.
    pub lower: Step,
    /// The last, exclusive.
    pub upper: Step,
}

/// Why a buffer stands where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyHere {
    /// The buffer's position.
    pub buffer: u32,
    /// Its offset.
    pub offset: u64,
    /// Whether the problem fixes it there.
    pub is_fixed: bool,
    /// Who stands at the same address and would have to move too.
    pub moves_with: Vec<u32>,
    /// Neighbours that together refuse every lower offset (up to `could_stand_at`), by ascending offsets refused.
    pub blockers: Vec<Blocker>,
    /// The lowest offset, below its own, that nobody refuses.
    pub could_stand_at: Option<u64>,
}

/// Which neighbours keep the buffer at a position from a lower offset; `None` where there is no such buffer.
pub fn why_here(problem: &PlacementProblem, plan: &Plan, buffer: usize) -> Option<WhyHere> {
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
    let (blockers, could_stand_at) = chain(&blockers, alignment, offset);
    Some(WhyHere {
        buffer: position,
        offset,
        is_fixed: members
            .iter()
            .any(|member| problem.buffers[*member as usize].offset.is_some()),
        moves_with: members.iter().copied().filter(|member| *member != position).collect(),
        blockers,
        could_stand_at,
    })
}

/// What `other` refuses to those who move, if it is ever live with one of them.
fn blocker(problem: &PlacementProblem, plan: &Plan, other: u32, members: &[u32]) -> Option<Blocker> {
    let neighbour = &problem.buffers[other as usize];
    let size_of = |member: u32| problem.buffers[member as usize].size.get();
    let met = members.iter().filter(|member| size_of(**member) > 0);
    let met = met.filter_map(|member| Some((*member, meeting(problem, *member as usize, other as usize)?)));
    let (against, (lower, upper)) = met.max_by_key(|(member, _)| (size_of(*member), std::cmp::Reverse(*member)))?;
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

/// The neighbours that cover every multiple of `alignment` below `offset`, and the first that nobody covers.
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
