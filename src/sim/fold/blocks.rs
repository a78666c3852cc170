//! Who stood where, and how long.
//!
//! In: a log. Out: every tensor's stays in the order of allocation. One pass.

use crate::sim::event::{EventKind, RegionId, Simulation, SubjectId};
use crate::units::{Bytes, Step};

/// A tensor's stay at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First step, inclusive.
    pub start: Step,
    /// Last step, exclusive; the end of the axis where it is never freed.
    pub end: Step,
    /// Where.
    pub region: RegionId,
    /// Offset in the region.
    pub offset: u64,
    /// Bytes occupied, after rounding.
    pub bytes: Bytes,
    /// For whom.
    pub subject: SubjectId,
}

/// Every tensor's stay, in the order of allocation. O(events).
pub fn blocks(simulation: &Simulation) -> Vec<Block> {
    let mut open: Vec<Option<usize>> = vec![None; simulation.subjects.len()];
    let mut blocks: Vec<Block> = Vec::new();
    for event in &simulation.events {
        let slot = event.subject.0 as usize;
        match event.kind {
            EventKind::Alloc => {
                open[slot] = Some(blocks.len());
                blocks.push(Block {
                    start: event.step,
                    end: Step(simulation.n_steps),
                    region: event.region,
                    offset: event.offset,
                    bytes: event.bytes,
                    subject: event.subject,
                });
            }
            EventKind::Free => {
                if let Some(block) = open[slot].take() {
                    blocks[block].end = event.step;
                }
            }
            _ => {}
        }
    }
    blocks
}
