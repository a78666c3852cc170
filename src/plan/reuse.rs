//! Reuse edges: who took whose bytes.
//!
//! A donor gives bytes to an heir when the heir starts at or after the donor's end, their offsets
//! overlap, and nobody held the shared bytes in between. Found by a sweep over births with a map from
//! offsets to the last holder: O((n + edges) log n).

use std::collections::BTreeMap;

use super::problem::{Plan, Problem};
use crate::units::Bytes;

/// Bytes that pass from one buffer to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReuseEdge {
    /// Position of the buffer that held the bytes before.
    pub donor: u32,
    /// Position of the buffer that took them.
    pub heir: u32,
    /// How many bytes.
    pub bytes: Bytes,
}

/// All reuse edges of a valid plan, by heir's birth, then offset.
pub fn reuse_edges(problem: &Problem, plan: &Plan) -> Vec<ReuseEdge> {
    let mut order: Vec<u32> = (0_u32..).zip(&problem.buffers).map(|(idx, _)| idx).collect();
    order.sort_unstable_by_key(|idx| (problem.buffers[*idx as usize].lower, *idx));
    // Start offset -> (end offset, last holder); intervals never overlap.
    let mut holders: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    let mut edges = Vec::new();
    for heir in order {
        let start = plan.offsets[heir as usize];
        let end = start.saturating_add(problem.buffers[heir as usize].size.get());
        if start == end {
            continue;
        }
        for (from, to, donor) in take_range(&mut holders, start, end) {
            edges.push(ReuseEdge {
                donor,
                heir,
                bytes: Bytes(to - from),
            });
        }
        holders.insert(start, (end, heir));
    }
    edges
}

/// Removes `start..end` from the map and returns the removed pieces in order.
fn take_range(holders: &mut BTreeMap<u64, (u64, u32)>, start: u64, end: u64) -> Vec<(u64, u64, u32)> {
    let first = holders.range(..=start).next_back().map_or(start, |(from, _)| *from);
    let touched: Vec<(u64, u64, u32)> = holders
        .range(first..end)
        .filter(|(_, (to, _))| *to > start)
        .map(|(from, (to, holder))| (*from, *to, *holder))
        .collect();
    for (from, to, holder) in &touched {
        holders.remove(from);
        if *from < start {
            holders.insert(*from, (start, *holder));
        }
        if *to > end {
            holders.insert(end, (*to, *holder));
        }
    }
    touched
        .into_iter()
        .map(|(from, to, holder)| (from.max(start), to.min(end), holder))
        .collect()
}
