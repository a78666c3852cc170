//! Policies 0 and 3: every static graph has its own device block from load to unload.
//!
//! ```text
//! load A   [ A ]            one malloc of the exact sum of its segments, set to zero
//! load B   [ A ] [  B  ]    reserved is the sum over loaded graphs
//! unload A       [  B  ]
//! ```
//!
//! In: loads and unloads. Out: driver calls. Invariant: one block per loaded graph that needs memory. Memory supplied
//! by the caller is no part of the block. Runs do not touch memory.

use std::collections::BTreeMap;

use super::{Address, ArenaSegment, LoadedSegments, Shortage, SimulatedDevice, StaticGraph, StaticMemory};
use highwater_model::units::Bytes;

#[derive(Debug, Default)]
pub struct OwnBlocks {
    loaded: BTreeMap<StaticGraph, Option<(Address, Bytes)>>,
}

/// Bytes that the engine must allocate for these segments. Saturates.
pub(super) fn engine_bytes(segments: &[ArenaSegment]) -> Bytes {
    let own = segments.iter().filter(|segment| !segment.by_caller);
    own.map(|segment| segment.bytes).sum()
}

impl StaticMemory for OwnBlocks {
    fn load(
        &mut self,
        graph: StaticGraph,
        segments: &[ArenaSegment],
        device: &mut SimulatedDevice,
    ) -> Result<LoadedSegments, Shortage> {
        self.unload(graph, device);
        let bytes = engine_bytes(segments);
        let block = if bytes == Bytes::ZERO {
            None
        } else {
            let at = device.driver.malloc(bytes)?;
            device.driver.memset(at, bytes);
            Some((at, bytes))
        };
        self.loaded.insert(graph, block);
        Ok(LoadedSegments {
            base: block.map(|(at, _)| at),
            ..LoadedSegments::default()
        })
    }

    fn unload(&mut self, graph: StaticGraph, device: &mut SimulatedDevice) {
        if let Some(Some((at, bytes))) = self.loaded.remove(&graph) {
            device.driver.free(at, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{calls, device, plain};
    use super::*;

    #[test]
    fn reserved_is_the_sum_over_loaded_graphs() {
        let (mut memory, mut device) = (OwnBlocks::default(), device(Bytes::gib(1)));
        for (graph, mib) in [(0, 100), (1, 300), (2, 200)] {
            memory
                .load(StaticGraph(graph), &plain(&[mib]), &mut device)
                .expect("room");
        }
        assert_eq!(device.driver.in_use(), Bytes::mib(600));
        memory.unload(StaticGraph(1), &mut device);
        memory.unload(StaticGraph(1), &mut device);
        assert_eq!(device.driver.in_use(), Bytes::mib(300));
        assert_eq!(
            calls(&device),
            ["malloc", "memset", "malloc", "memset", "malloc", "memset", "free"]
        );
    }

    #[test]
    fn a_graph_without_feature_memory_needs_no_block_and_one_too_large_is_not_loaded() {
        let (mut memory, mut device) = (OwnBlocks::default(), device(Bytes::mib(10)));
        let mut callers = plain(&[100]);
        callers[0].by_caller = true;
        let loaded = memory
            .load(StaticGraph(0), &callers, &mut device)
            .expect("nothing to find");
        assert_eq!(loaded.base, None);
        let error = memory.load(StaticGraph(1), &plain(&[11]), &mut device);
        assert_eq!(
            error,
            Err(Shortage {
                requested: Bytes::mib(11)
            })
        );
        memory.unload(StaticGraph(1), &mut device);
        assert_eq!(device.driver.in_use(), Bytes::ZERO);
    }
}
