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
//! with one that runs. A load that fails leaves the blocks that it got to the others. Invariants: blocks by total size, descending, equal ones by age; `users` counts the loaded
//! graphs.

mod backing;
mod placing;

use std::collections::BTreeMap;

use super::own_blocks::engine_bytes;
use super::{
    Address, ArenaBlock, ArenaFigures, ArenaSegment, LoadedSegments, RunError, Shortage, SimulatedDevice, StaticGraph,
    StaticMemory,
};
use backing::{Backing, BackingRange};
use highwater_model::units::Bytes;

/// Parts of blocks: address and bytes.
type Parts = Vec<(Address, Bytes)>;

/// What a loaded graph does to the pages of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its first run uses what the load mapped.
    BeforeFirstRun,
    Running,
    Idle,
}

#[derive(Debug)]
struct Loaded {
    /// Parts of blocks that it uses.
    active: Parts,
    phase: Phase,
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

    /// Allocates memory for joined segments without memory; the first failure ends it.
    fn make_blocks(&mut self, joined: &mut [placing::Joined], device: &mut SimulatedDevice) -> Result<(), Shortage> {
        let mut end = self.blocks.iter().map(|block| block.at.plus(block.total.get())).max();
        for one in joined.iter_mut().filter(|one| one.piece.at.is_none()) {
            if one.by_caller {
                one.piece.at = end;
                continue;
            }
            let block = self.backing.make(one.piece.bytes, device)?;
            one.piece.at = Some(block.at);
            end = end.max(Some(block.at.plus(block.total.get())));
            self.blocks.push(ArenaBlock {
                at: block.at,
                total: block.total,
                used: one.piece.bytes,
                is_new: true,
            });
        }
        Ok(())
    }

    /// Occupies and clears the parts of blocks that this load uses. Returns them and those that got their pages.
    fn activate(&mut self, device: &mut SimulatedDevice) -> (Parts, Parts) {
        let (mut active, mut held) = (Parts::new(), Parts::new());
        for block in self.blocks.iter().filter(|block| block.used > Bytes::ZERO) {
            // Pages that another graph still holds do not fail the load.
            if block.is_new || self.backing.occupy(block.at, block.used, device).is_ok() {
                held.push((block.at, block.used));
            }
            active.push((block.at, block.used));
            device.driver.memset(block.at, block.used);
        }
        (active, held)
    }

    /// Removes a user; the last one takes everything along.
    fn leave(&mut self, device: &mut SimulatedDevice) {
        self.users -= 1;
        if self.users == 0 {
            self.release_all(device);
        }
    }

    /// The engine loses the device blocks of an arena that has a range: they are never freed.
    fn release_all(&mut self, device: &mut SimulatedDevice) {
        let has_range = self.backing.has_range();
        for block in self.blocks.drain(..) {
            if !has_range {
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
        let made = self.make_blocks(&mut joined, device);
        self.blocks.sort_by_key(|block| std::cmp::Reverse(block.total));
        let (active, held) = if made.is_ok() {
            self.peak = self.peak.max(placing::used(&self.blocks));
            self.activate(device)
        } else {
            // A refused block ends the load before anything is cleared; blocks made so far keep their pages.
            (Parts::new(), Parts::new())
        };
        let pieces: Vec<_> = joined.into_iter().map(|one| one.piece).collect();
        let is_placed = pieces.iter().all(|piece| piece.at.is_some());
        let loaded = LoadedSegments {
            base: pieces.first().and_then(|piece| piece.at).filter(|_| is_placed),
            segments: pieces,
            active: active.clone(),
            held,
        };
        // The engine judges a load by the peak only, even one of earlier loads.
        let bytes = engine_bytes(segments);
        if self.peak < bytes {
            self.leave(device);
            self.failed = loaded;
            return Err(made.err().unwrap_or(Shortage { requested: bytes }));
        }
        let phase = Phase::BeforeFirstRun;
        self.loaded.insert(graph, Loaded { active, phase });
        Ok(loaded)
    }

    fn begin(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) -> Result<(), RunError> {
        let Some(state) = self.loaded.get_mut(&graph) else {
            return Ok(());
        };
        if std::mem::replace(&mut state.phase, Phase::Running) == Phase::BeforeFirstRun {
            return Ok(());
        }
        for (at, bytes) in &state.active {
            if let Err(error) = self.backing.occupy(*at, *bytes, device) {
                // Parts occupied before keep their pages: the engine does not take them back.
                state.phase = Phase::Idle;
                return Err(error);
            }
        }
        Ok(())
    }

    fn finish(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        if let Some(state) = self.loaded.get_mut(&graph) {
            // Every active part, also one whose pages another graph holds.
            self.backing.recycle(&state.active, device);
            state.phase = Phase::Idle;
        }
    }

    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        let Some(state) = self.loaded.remove(&graph) else {
            return;
        };
        if state.phase != Phase::Idle {
            self.backing.recycle(&state.active, device);
        }
        self.leave(device);
    }

    fn placed_before_failure(&self) -> LoadedSegments {
        self.failed.clone()
    }

    fn lacks_pages(&self, at: Address, bytes: Bytes) -> bool {
        self.backing.lacks_pages(at, bytes)
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
