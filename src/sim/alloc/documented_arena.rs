//! Policy 2 as documented by the vendor: one arena for all static graphs, as large as the largest of them.
//!
//! ```text
//! load A 100   [ A        ]
//! load B 300   [ B                          ]   freed and reallocated: larger
//! load C 200   [ C                ..........]   reused
//! ```
//!
//! In: loads and unloads. Out: driver calls, and the change of the arena at each load. Invariant: while a graph is
//! loaded the arena is the running maximum of the loaded sizes. The engine itself keeps a list of blocks:
//! `segment_arena`.

use std::collections::BTreeSet;

use super::own_blocks::engine_bytes;
use super::{
    Address, ArenaBlock, ArenaFigures, ArenaSegment, JoinedSegment, LoadedSegments, Shortage, SimulatedDevice,
    StaticGraph, StaticMemory,
};
use highwater_model::units::Bytes;

/// Change of the arena at a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArenaChange {
    /// The first arena.
    Made,
    /// Freed, and reallocated larger.
    Reallocated,
    /// Large enough.
    Reused,
}

#[derive(Debug, Default)]
pub struct DocumentedArena {
    arena: Option<(Address, Bytes)>,
    users: BTreeSet<StaticGraph>,
    used: Bytes,
    is_new: bool,
    last_change: Option<ArenaChange>,
}

impl DocumentedArena {
    /// An arena of at least `bytes`; where it does not fit, the previous arena is restored.
    fn ensure(&mut self, bytes: Bytes, device: &mut SimulatedDevice) -> Result<Option<Address>, Shortage> {
        self.last_change = None;
        self.is_new = false;
        if bytes == Bytes::ZERO {
            return Ok(self.arena.map(|(at, _)| at));
        }
        let old = self.arena.map(|(_, size)| size);
        if let Some((at, size)) = self.arena {
            if size >= bytes {
                self.last_change = Some(ArenaChange::Reused);
                return Ok(Some(at));
            }
            device.driver.free(at, size);
            self.arena = None;
        }
        match device.driver.malloc(bytes) {
            Ok(at) => {
                self.arena = Some((at, bytes));
                self.is_new = true;
                self.last_change = Some(old.map_or(ArenaChange::Made, |_| ArenaChange::Reallocated));
                Ok(Some(at))
            }
            Err(shortage) => {
                // It fitted before, so it fits again.
                let size = old.unwrap_or(Bytes::ZERO);
                if size > Bytes::ZERO {
                    self.arena = device.driver.malloc(size).ok().map(|at| (at, size));
                }
                Err(shortage)
            }
        }
    }
}

impl StaticMemory for DocumentedArena {
    fn load(
        &mut self,
        graph: StaticGraph,
        segments: &[ArenaSegment],
        device: &mut SimulatedDevice,
    ) -> Result<LoadedSegments, Shortage> {
        let bytes = engine_bytes(segments);
        let base = self.ensure(bytes, device)?;
        self.users.insert(graph);
        self.used = bytes;
        let mut loaded = LoadedSegments {
            base,
            ..LoadedSegments::default()
        };
        if let Some(at) = base.filter(|_| bytes > Bytes::ZERO) {
            device.driver.memset(at, bytes);
            loaded.active.push((at, bytes));
            loaded.segments.push(JoinedSegment {
                logical: 0,
                bytes,
                at: Some(at),
            });
        }
        Ok(loaded)
    }

    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        if !self.users.remove(&graph) || !self.users.is_empty() {
            return;
        }
        self.used = Bytes::ZERO;
        if let Some((at, size)) = self.arena.take() {
            device.driver.free(at, size);
        }
    }

    fn figures(&self) -> Option<ArenaFigures> {
        let block = |(at, total)| ArenaBlock {
            at,
            total,
            used: self.used,
            is_new: self.is_new,
        };
        Some(ArenaFigures {
            blocks: self.arena.map(block).into_iter().collect(),
            peak: self.arena.map_or(Bytes::ZERO, |(_, size)| size),
            users: self.users.len() as u64,
            ..ArenaFigures::default()
        })
    }

    /// `None` before the first load and for a load of no bytes.
    fn last_change(&self) -> Option<ArenaChange> {
        self.last_change
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{calls, device, plain};
    use super::*;

    #[test]
    fn the_arena_is_the_running_maximum() {
        let (mut memory, mut device) = (DocumentedArena::default(), device(Bytes::gib(1)));
        let mut found = Vec::new();
        for (graph, mib) in [(0, 100), (1, 300), (2, 200)] {
            memory
                .load(StaticGraph(graph), &plain(&[mib]), &mut device)
                .expect("room");
            found.push((memory.last_change(), device.driver.in_use()));
        }
        assert_eq!(
            found,
            [
                (Some(ArenaChange::Made), Bytes::mib(100)),
                (Some(ArenaChange::Reallocated), Bytes::mib(300)),
                (Some(ArenaChange::Reused), Bytes::mib(300)),
            ]
        );
        for graph in 0..3 {
            memory.unload(StaticGraph(graph), &mut device);
        }
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
        assert_eq!(
            calls(&device),
            ["malloc", "memset", "free", "malloc", "memset", "memset", "free"]
        );
    }

    #[test]
    fn what_does_not_fit_leaves_the_arena_as_it_was() {
        let (mut memory, mut device) = (DocumentedArena::default(), device(Bytes::mib(250)));
        memory.load(StaticGraph(0), &plain(&[100]), &mut device).expect("room");
        assert!(memory.load(StaticGraph(1), &plain(&[200, 60]), &mut device).is_err());
        assert_eq!(device.driver.in_use(), Bytes::mib(100));
        assert_eq!(memory.figures().map(|figures| figures.users), Some(1));
    }
}
