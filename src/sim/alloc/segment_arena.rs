//! Policies 2 and 4 as the engine implements them: static graphs share a list of blocks, segment by segment.
//!
//! ```text
//! load A 100        [ A      ]
//! load B 200 + 80   [ 80   ..][ 200              ]     80 fits in the first block; 200 is a new block
//! load C 150 + 60   [ 60 ....][ 150         .....]     each load starts with empty blocks
//! ```
//!
//! In: segments at each load. Out: an address for each, driver calls, figures. Rules: blocks are never joined, shrunk
//! or moved, and freed with the last graph. Under policy 4 they are in one virtual range, which holds pages from a load
//! to the end of its first run and during each later run; a graph that waits for its first run cannot share a block
//! with one that runs. Invariants: blocks by total size, descending, equal ones by age; `users` counts the loaded
//! graphs.

mod backing;
mod placing;

use std::collections::{BTreeMap, BTreeSet};

use super::own_blocks::engine_bytes;
use super::{
    Address, ArenaBlock, ArenaFigures, ArenaSegment, LoadedSegments, RunError, Shortage, SimulatedDevice, StaticGraph,
    StaticMemory,
};
use backing::{Backing, BackingRange};
use highwater_model::units::Bytes;

/// Parts of blocks: address and bytes.
type Parts = Vec<(Address, Bytes)>;

#[derive(Debug, Default)]
struct Loaded {
    /// Parts of blocks that it uses.
    active: Parts,
    /// Parts whose pages are held for it now.
    held: Parts,
    /// Whether it ran since its load.
    has_run: bool,
}

/// Blocks that static graphs share.
#[derive(Debug)]
pub struct SegmentArena {
    backing: Backing,
    blocks: Vec<ArenaBlock>,
    loaded: BTreeMap<StaticGraph, Loaded>,
    peak: Bytes,
    users: u64,
    failed: LoadedSegments,
}

impl SegmentArena {
    /// Policy 2: blocks of device memory.
    pub fn on_device() -> Self {
        Self::with(Backing::Device)
    }

    /// Policy 4: blocks in a virtual range that holds pages only while graphs need them.
    pub fn in_range() -> Self {
        Self::with(Backing::Range(BackingRange::default()))
    }

    fn with(backing: Backing) -> Self {
        Self {
            backing,
            blocks: Vec::new(),
            loaded: BTreeMap::new(),
            peak: Bytes::ZERO,
            users: 0,
            failed: LoadedSegments::default(),
        }
    }

    /// Allocates memory for joined segments without memory; stops at the first failure. Returns the new blocks, and the
    /// refused bytes.
    fn make_blocks(
        &mut self,
        joined: &mut [placing::Joined],
        device: &mut SimulatedDevice,
    ) -> (Parts, Option<Shortage>) {
        let mut end = self.blocks.iter().map(|block| block.at.plus(block.total.get())).max();
        let mut made = Vec::new();
        for one in joined.iter_mut().filter(|one| one.piece.at.is_none()) {
            if one.by_caller {
                one.piece.at = end;
                continue;
            }
            let block = match self.backing.make(one.piece.bytes, device) {
                Ok(block) => block,
                Err(shortage) => return (made, Some(shortage)),
            };
            one.piece.at = Some(block.at);
            end = end.max(Some(block.at.plus(block.total.get())));
            made.push((block.at, one.piece.bytes));
            self.blocks.push(ArenaBlock {
                at: block.at,
                total: block.total,
                used: one.piece.bytes,
                is_new: true,
            });
        }
        (made, None)
    }

    /// Occupies and clears the parts of blocks that this load uses. Returns them and those whose pages are held.
    fn activate(&mut self, mut held: Parts, device: &mut SimulatedDevice) -> (Parts, Parts) {
        let used = self.blocks.iter().filter(|block| block.used > Bytes::ZERO);
        let active: Parts = used.map(|block| (block.at, block.used)).collect();
        for block in self.blocks.iter().filter(|block| block.used > Bytes::ZERO) {
            // Pages that another graph still holds do not fail the load.
            if !block.is_new && self.backing.occupy(block.at, block.used, device).is_ok() {
                held.push((block.at, block.used));
            }
            device.driver.memset(block.at, block.used);
        }
        // Pages are returned in block order.
        let is_held: BTreeSet<Address> = held.iter().map(|(at, _)| *at).collect();
        let held = active.iter().copied().filter(|(at, _)| is_held.contains(at)).collect();
        (active, held)
    }

    fn release_all(&mut self, device: &mut SimulatedDevice) {
        for block in self.blocks.drain(..) {
            if !block.at.is_virtual() {
                device.driver.free(block.at, block.total);
            }
        }
        self.backing.release(device);
        self.peak = Bytes::ZERO;
    }
}

impl StaticMemory for SegmentArena {
    fn load(
        &mut self,
        graph: StaticGraph,
        segments: &[ArenaSegment],
        device: &mut SimulatedDevice,
    ) -> Result<LoadedSegments, Shortage> {
        self.unload(graph, device);
        self.users += 1;
        for block in &mut self.blocks {
            block.used = Bytes::ZERO;
            block.is_new = false;
        }
        let places = placing::place(segments, &mut self.blocks);
        let mut joined = placing::join(segments, &places);
        let (made, refused) = self.make_blocks(&mut joined, device);
        self.blocks.sort_by_key(|block| std::cmp::Reverse(block.total));
        let (active, held) = self.activate(made, device);
        self.peak = self.peak.max(placing::used(&self.blocks));
        let pieces: Vec<_> = joined.into_iter().map(|one| one.piece).collect();
        let loaded = LoadedSegments {
            base: pieces.first().and_then(|piece| piece.at),
            segments: pieces,
            active: active.clone(),
            held: held.clone(),
        };
        // The engine judges a load by the peak only: a refused block of 0 bytes is ignored.
        let bytes = engine_bytes(segments);
        if self.peak < bytes {
            self.users -= 1;
            self.backing.recycle(&held, device);
            self.failed = loaded;
            return Err(refused.unwrap_or(Shortage { requested: bytes }));
        }
        let state = Loaded {
            active,
            held,
            has_run: false,
        };
        self.loaded.insert(graph, state);
        Ok(loaded)
    }

    fn begin(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) -> Result<(), RunError> {
        let Some(state) = self.loaded.get_mut(&graph) else {
            return Ok(());
        };
        if !std::mem::replace(&mut state.has_run, true) {
            return Ok(());
        }
        for (at, bytes) in &state.active {
            if let Err(error) = self.backing.occupy(*at, *bytes, device) {
                let held = std::mem::take(&mut state.held);
                self.backing.recycle(&held, device);
                return Err(error);
            }
            state.held.push((*at, *bytes));
        }
        Ok(())
    }

    fn finish(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        if let Some(state) = self.loaded.get_mut(&graph) {
            let held = std::mem::take(&mut state.held);
            self.backing.recycle(&held, device);
        }
    }

    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        let Some(state) = self.loaded.remove(&graph) else {
            return;
        };
        self.backing.recycle(&state.held, device);
        self.users -= 1;
        if self.users == 0 {
            self.release_all(device);
        }
    }

    fn placed_before_failure(&self) -> LoadedSegments {
        self.failed.clone()
    }

    fn figures(&self) -> Option<ArenaFigures> {
        Some(ArenaFigures {
            blocks: self.blocks.clone(),
            peak: self.peak,
            users: self.users,
            range_used: self.backing.range_used(),
            pages: self.backing.held(),
        })
    }
}

#[cfg(test)]
mod tests;
