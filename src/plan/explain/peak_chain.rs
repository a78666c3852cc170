//! The stack of buffers that fixes the footprint.
//!
//! From the highest buffer downwards each link is followed by the highest buffer below it that it overlaps in time
//! (itself or a member of its group), with a gap between them where they do not touch, down to offset 0. So sizes and
//! gaps add up to the footprint. Ties: of buffers with equal ends the one that is live on the step of the peak, then
//! the larger, then the earlier position. O(n log n + n x gaps): each buffer is read once, because the next link ends
//! below the start of the previous one.

use super::super::problem::{PlacementProblem, Plan};
use super::{groups_of, live_parts, movers, overlap, peak_live};
use highwater_model::units::{Bytes, Step};

/// One buffer of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLink {
    pub buffer: u32,
    pub offset: u64,
    pub size: Bytes,
    /// Free bytes between it and the next link (or the bottom), while both are live.
    pub gap_below: Bytes,
    /// Whether it is live on the step of the peak.
    pub is_live_at_peak: bool,
}

/// From the top down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakChain {
    pub links: Vec<ChainLink>,
    /// The first step of the live peak; `None` where there is none.
    pub peak_step: Option<Step>,
    pub peak_live: Bytes,
    /// Bytes of the stack's buffers that are live on that step.
    pub live_at_peak: Bytes,
    /// Sum of the stack's gaps.
    pub gap_bytes: Bytes,
}

pub fn peak_chain(problem: &PlacementProblem, plan: &Plan) -> PeakChain {
    let (peak_live, peak_step) = peak_live(problem);
    let end = |idx: u32| plan.offsets[idx as usize].saturating_add(problem.buffers[idx as usize].size.get());
    let is_live = |idx: u32| {
        let mut parts = live_parts(problem, idx as usize);
        peak_step.is_some_and(|step| parts.any(|(lower, upper)| (lower..upper).contains(&step.0)))
    };
    // Empty buffers are no links.
    let mut order: Vec<u32> = (0_u32..)
        .zip(&problem.buffers)
        .filter(|(_, buffer)| buffer.size.get() > 0)
        .map(|(idx, _)| idx)
        .collect();
    order.sort_by_cached_key(|idx| {
        let size = problem.buffers[*idx as usize].size;
        (
            std::cmp::Reverse(end(*idx)),
            !is_live(*idx),
            std::cmp::Reverse(size),
            *idx,
        )
    });
    let groups = groups_of(problem);
    let mut chain = PeakChain {
        peak_step,
        peak_live,
        ..PeakChain::default()
    };
    let mut rest = order.into_iter();
    let mut next = rest.next();
    while let Some(buffer) = next {
        let offset = plan.offsets[buffer as usize];
        let alone = [buffer];
        let members = movers(problem, groups[buffer as usize], &alone);
        let carries = |other: u32| {
            let mut overlapping = members.iter();
            overlapping.any(|member| overlap(problem, *member as usize, other as usize).is_some())
        };
        next = rest.find(|other| end(*other) <= offset && carries(*other));
        let link = ChainLink {
            buffer,
            offset,
            size: problem.buffers[buffer as usize].size,
            gap_below: Bytes(offset - next.map_or(0, end)),
            is_live_at_peak: is_live(buffer),
        };
        chain.gap_bytes += link.gap_below;
        if link.is_live_at_peak {
            chain.live_at_peak += link.size;
        }
        chain.links.push(link);
    }
    chain
}
