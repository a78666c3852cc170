//! A pool: its free blocks by stream, and the unmapped parts of its expandable segments.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::{Block, BlockId};
use crate::free_set::{FreeSet, Key};

/// Blocks of one size class of the default pools or of one private pool.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) is_small: bool,
    /// The private pool that it belongs to, by place.
    pub(crate) private: Option<u32>,
    /// Searches while ages are kept.
    pub(crate) searches: u64,
    /// By handle of the stream.
    streams: BTreeMap<u64, FreeSet>,
    /// (stream, address, block) of unmapped blocks.
    pub(crate) unmapped: BTreeSet<(u64, u64, BlockId)>,
}

impl Pool {
    pub(crate) fn new(is_small: bool, private: Option<u32>) -> Self {
        Self {
            is_small,
            private,
            searches: 0,
            streams: BTreeMap::new(),
            unmapped: BTreeSet::new(),
        }
    }

    pub(crate) fn free_of(&self, stream: u64) -> Option<&FreeSet> {
        self.streams.get(&stream)
    }

    pub(crate) fn free_of_mut(&mut self, stream: u64) -> &mut FreeSet {
        self.streams.entry(stream).or_default()
    }

    /// Forgets streams without free blocks, so that [`Self::iter`] does not visit each stream that ever had one.
    pub(crate) fn forget_empty(&mut self) {
        self.streams.retain(|_, set| set.iter().next().is_some());
    }

    pub(crate) fn insert(&mut self, id: BlockId, block: &Block) {
        self.free_of_mut(block.stream).insert(key(id, block));
    }

    pub(crate) fn remove(&mut self, id: BlockId, block: &Block) {
        self.free_of_mut(block.stream).remove(&key(id, block));
    }

    /// All free blocks, in the pool's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BlockId> {
        self.streams.values().flat_map(FreeSet::iter)
    }
}

fn key(id: BlockId, block: &Block) -> Key {
    Key {
        size: block.size,
        number: block.number,
        addr: block.addr,
        block: id,
    }
}
