//! Blocks: the stays of tensors at addresses.
//!
//! In: a log. Out: every tensor's stays in the order of allocation. One pass.

use crate::event::{EventKind, MemoryChange, RegionId, Simulation, SubjectId};
use highwater_model::units::{Bytes, Step};

/// A tensor's stay at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First step, inclusive.
    pub start: Step,
    /// Last step, exclusive; the end of the axis where it is never freed.
    pub end: Step,
    pub region: RegionId,
    /// Offset in the region.
    pub offset: u64,
    /// Bytes occupied, after rounding.
    pub bytes: Bytes,
    pub subject: SubjectId,
}

/// In the order of allocation. O(events).
pub fn blocks(simulation: &Simulation) -> Vec<Block> {
    const NONE: u32 = u32::MAX;
    let mut open: Vec<u32> = vec![NONE; simulation.subjects.len()];
    let allocations = simulation.events.iter().filter(|event| event.kind == EventKind::Alloc);
    let mut blocks: Vec<Block> = Vec::with_capacity(allocations.count());
    for event in &simulation.events {
        let slot = event.subject.0 as usize;
        match event.kind.block_change() {
            Some(MemoryChange::Take) => {
                open[slot] = u32::try_from(blocks.len()).unwrap_or(NONE);
                blocks.push(Block {
                    start: event.step,
                    end: Step(simulation.n_steps),
                    region: event.region,
                    offset: event.offset,
                    bytes: event.bytes,
                    subject: event.subject,
                });
            }
            Some(MemoryChange::Release) => {
                let block = std::mem::replace(&mut open[slot], NONE);
                if let Some(block) = blocks.get_mut(block as usize) {
                    block.end = event.step;
                }
            }
            None => {}
        }
    }
    blocks
}
