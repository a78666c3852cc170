//! Blocks that other streams used: who used which, and whose end waits for which stream.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::block::BlockId;

/// Events of one stream that were recorded and not yet reaped.
#[derive(Clone, Debug, Default)]
struct Queue {
    blocks: VecDeque<BlockId>,
    /// How many of them are done.
    done: usize,
}

/// Uses and events of all streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    /// Streams that used a live block, ascending.
    uses: BTreeMap<BlockId, Vec<u64>>,
    /// Streams that used a block during a capture.
    captured: BTreeMap<BlockId, BTreeSet<u64>>,
    queues: BTreeMap<u64, Queue>,
    /// Events in all queues, and how many of them are done.
    outstanding: usize,
    done: usize,
    /// Freed blocks whose events are recorded once no pool is open.
    pub(crate) deferred: Vec<BlockId>,
}

impl Streams {
    pub(crate) fn add_use(&mut self, block: BlockId, stream: u64) {
        let streams = self.uses.entry(block).or_default();
        if let Err(at) = streams.binary_search(&stream) {
            streams.insert(at, stream);
        }
    }

    /// Adds to the uses of an earlier block of that name where it is not the first of this one.
    pub(crate) fn add_captured_use(&mut self, block: BlockId, stream: u64, is_known: bool) {
        let streams = self.captured.entry(block).or_default();
        if !is_known {
            streams.clear();
        }
        streams.insert(stream);
    }

    /// Forgets uses of streams that used the block during a capture: the end of the capture has waited for them.
    pub(crate) fn drop_captured_uses(&mut self, block: BlockId) {
        let captured = self.captured.remove(&block).unwrap_or_default();
        if let Some(uses) = self.uses.get_mut(&block) {
            uses.retain(|stream| !captured.contains(stream));
        }
    }

    pub(crate) fn take_uses(&mut self, block: BlockId) -> Vec<u64> {
        self.uses.remove(&block).unwrap_or_default()
    }

    pub(crate) fn record(&mut self, stream: u64, block: BlockId) {
        self.queues.entry(stream).or_default().blocks.push_back(block);
        self.outstanding += 1;
    }

    /// Everything recorded on the stream so far is done.
    pub(crate) fn finish(&mut self, stream: u64) {
        if let Some(queue) = self.queues.get_mut(&stream) {
            self.done += queue.blocks.len() - queue.done;
            queue.done = queue.blocks.len();
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }

    pub(crate) fn has_done(&self) -> bool {
        self.done > 0
    }

    /// Blocks of events that are done, by stream, oldest first.
    pub(crate) fn take_done(&mut self) -> Vec<BlockId> {
        let mut blocks = Vec::with_capacity(self.done);
        for queue in self.queues.values_mut() {
            blocks.extend(queue.blocks.drain(..queue.done));
            queue.done = 0;
        }
        self.outstanding -= blocks.len();
        self.done = 0;
        blocks
    }

    /// All (stream, block) whose block is chosen, by stream, oldest first; they are no longer outstanding.
    pub(crate) fn take_all(&mut self, is_chosen: impl Fn(BlockId) -> bool) -> Vec<(u64, BlockId)> {
        let mut taken = Vec::with_capacity(self.outstanding);
        for (stream, queue) in &mut self.queues {
            let was_done = queue.done;
            let kept: VecDeque<BlockId> = queue
                .blocks
                .iter()
                .copied()
                .filter(|block| !is_chosen(*block))
                .collect();
            let done = queue.blocks.iter().take(was_done).filter(|block| !is_chosen(**block));
            queue.done = done.count();
            self.done -= was_done - queue.done;
            let chosen = queue.blocks.iter().copied().filter(|block| is_chosen(*block));
            taken.extend(chosen.map(|block| (*stream, block)));
            queue.blocks = kept;
        }
        self.outstanding -= taken.len();
        taken
    }
}
